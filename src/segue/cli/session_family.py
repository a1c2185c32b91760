"""Sessions of other tools in the store: the conversation, its branches and its sub-agents.

The key of an entry is a digest of everything up to it, so that a second import adds only what is new. If the session
was continued here meanwhile, the new rows become a fork. Imported entries have the time 0.
"""

import time
from collections.abc import Iterator, Sequence
from hashlib import blake2b

from ..errors import SessionError
from ..session import SEPARATOR, AnyEntry, Compacted, MessageAdded, SessionInfo, Store, SystemPromptSet
from ..transcripts import Branch, Compaction, Transcript
from ..types import Context, Message, UserMessage
from .formatting import text_of, title_of

_OLDER = 60_000
"""Milliseconds by which branches and sub-agents are older than the conversation, so that it is the last session."""
_EARLIER = "(Earlier messages are no longer shown.)"


def import_family(store: Store, found: Transcript, name: str | None = None) -> Iterator[tuple[str, int]]:
    """Store a transcript; yields each session and the number of its new entries."""
    name = name or f"{found.tool}-{(found.id or digest(repr(found.log).encode()))[:13]}"
    entries = entries_of(found.log, found.system_prompt)
    main, added = _import(store, name, entries, found.title or _title(found.messages))
    yield main, added
    for branch in found.branches:
        yield _import_branch(store, main, branch, found)


def _import_branch(store: Store, main: str, branch: Branch, found: Transcript) -> tuple[str, int]:
    prompt = found.system_prompt if branch.shared else None
    entries = entries_of(branch.context.messages, prompt)
    title = branch.title or _title(branch.context.messages[branch.shared :])
    name = f"{main}{SEPARATOR if branch.kind == 'subagent' else '-'}{digest(branch.id.encode())[:6]}"
    at = branch.shared + bool(prompt) if branch.shared else None
    return _import(store, name, entries, title, parent=main, parent_entry=at, continues=False)


def _title(messages: Sequence[Message]) -> str:
    typed = (each for each in messages if isinstance(each, UserMessage) and not each.injected)
    first = next(typed, None)
    return title_of(text_of(first)) if first is not None else ""


def _import(
    store: Store,
    name: str,
    entries: list[AnyEntry],
    title: str,
    parent: str | None = None,
    parent_entry: int | None = None,
    continues: bool = True,
) -> tuple[str, int]:
    """Store a session, or what is new of it. ``continues``: it is the one that `--continue` continues."""
    now = time.time_ns() // 1_000_000
    info = SessionInfo(
        id=name,
        created=now,
        changed=now if continues else now - _OLDER,
        entries=len(entries),
        title=title,
        parent=parent,
        parent_entry=parent_entry,
    )
    try:
        stored = [each.entry for each in store.read(name)]
    except SessionError:
        return name, store.restore(info, entries)
    common = _common(stored, entries)
    if common == len(entries):
        return name, 0
    if common == len(stored):
        store.append(name, entries[common:], after=common)
        return name, len(entries) - common
    if all(entry.time == 0 for entry in stored):  # the tool has changed its last rows; nothing was added here
        store.delete(name)
        store.restore(info, entries)
        return name, len(entries) - common
    fork = f"{name}-{entries[common].key[:6]}"
    return _import(store, fork, entries, title, parent=name, parent_entry=common, continues=continues)


def _common(stored: Sequence[AnyEntry], entries: Sequence[AnyEntry]) -> int:
    """How many entries at the beginning are the same."""
    pairs = zip(stored, entries, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one.key != other.key), min(len(stored), len(entries)))


def entries_of(log: Sequence[Message | Compaction], system_prompt: str | None) -> list[AnyEntry]:
    """The entries of a conversation. Each key is a digest of everything up to it; their times are not known."""
    entries: list[AnyEntry] = []
    keys: list[str] = []  # of the entries with messages
    key = ""
    if system_prompt:
        key = digest(system_prompt.encode("utf-8", "replace"))
        entries.append(SystemPromptSet(key=key, time=0, system_prompt=system_prompt))
    for each in log:
        if isinstance(each, Compaction):
            first = each.messages[0] if each.messages else None
            summary = first if isinstance(first, UserMessage) else UserMessage(_EARLIER, injected=True)
            rest = each.messages[1:] if summary is first else each.messages
            key = digest(key.encode() + b"compaction" + Context(messages=[summary]).to_json())
            kept = keys[-each.kept] if 0 < each.kept <= len(keys) else ""
            entries.append(Compacted(key=key, time=0, summary=summary, first=kept, model=""))
        else:
            rest = (each,)
        for message in rest:
            key = digest(key.encode() + Context(messages=[message]).to_json())
            keys.append(key)
            entries.append(MessageAdded(key=key, time=0, message=message))
    return entries


def digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
