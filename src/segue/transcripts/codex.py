"""Codex CLI: one JSONL file per session, also compressed with zstd, with what the model saw and what the screen showed.

Three generations: bare items (2025), items in envelopes, and paginated files, whose beginning may be in another file.
Seen: 0.50 to 0.166; the source of 2026-08-22; 0.166.0 was run (2026-11-16).
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..types import Context, UserMessage
from ..types.text import whole_number
from .codex_items import Facts, Messages, Step, is_injected, is_typed
from .codex_write import write
from .format import Format
from .reading import ends_of, first_prompt, json_rows, last_model, number_in, object_in, short_title, text_in, unix_ms
from .source import Object, Source
from .values import Branch, Compaction, Report, Transcript, TranscriptInfo, seen

NAME = "codex"
_ENVELOPES = frozenset(
    {
        "session_meta",
        "turn_context",
        "response_item",
        "event_msg",
        "compacted",
        "world_state",
        "token_usage_record",
        "security_risk_score",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
    }
)
_SILENT = frozenset({"token_count", "item_completed", "exec_command_end", "thread_name_updated"})
"""Events that are read, at least in part."""


def recognise(source: Source) -> bool:
    """Rows in envelopes; or a first row with an id and instructions, and bare items."""
    rows = source.rows
    if any(text_in(row, "type") in _ENVELOPES and isinstance(row.get("payload"), dict) for row in rows):
        return True
    return bool(rows) and {"id", "timestamp", "instructions"} <= rows[0].keys() and "type" not in rows[0]


class _State(Struct):
    """What is known at a line."""

    meta: Object | None = None
    model: str = ""
    title: str | None = None
    updated: str | None = None
    steps: list[Step] = []
    undone: list[list[Step]] = []
    bare: bool = False


class _Reader:
    def __init__(self, source: Source, report: Report) -> None:
        self.source, self.report = source, report
        self.state = _State(steps=[], undone=[])
        self.facts = Facts("", {}, {})

    def read(self, end: int | None = None) -> None:
        """Read all rows, or those whose ordinal is below ``end``."""
        for number, row in json_rows(self.source, self.report):
            if end is None or number_in(row, "ordinal") < end:
                self._row(number, row)

    def _row(self, line: int, row: Object) -> None:
        kind, payload = text_in(row, "type"), row.get("payload")
        state = self.state
        state.updated = text_in(row, "timestamp") or state.updated
        if state.meta is None and "type" not in row and "record_type" not in row:
            state.meta, state.bare = row, True
        elif kind in _ENVELOPES and isinstance(payload, dict):
            read = {"session_meta": self._meta, "turn_context": self._turn, "event_msg": self._event}.get(kind)
            if kind in ("response_item", "compacted"):
                item = payload if kind == "response_item" else {**payload, "type": "compacted"}
                state.steps.append(Step(line, item, state.model, text_in(row, "timestamp")))
            elif read is not None:
                read(line, payload)
            else:
                self.report.add("row-left-out", f"a row of type {kind}", line)
        elif state.bare and isinstance(kind, str):
            state.steps.append(Step(line, row, state.model))
        elif "record_type" in row:
            self.report.add("row-left-out", f"a record of {row['record_type']}", line)
        else:
            self.report.add("row-unknown", f"a row of type {kind!r}", line)

    def _meta(self, line: int, payload: Object) -> None:
        state = self.state
        if state.meta is not None:
            self.report.add("row-left-out", "the description of another session, which this one began with", line)
            return
        state.meta = payload
        self.facts.provider = text_in(payload, "model_provider") or "openai"
        base = object_in(payload, "history_base")
        if thread := text_in(base, "thread_id"):
            self._prefix(line, thread, number_in(base, "end_ordinal_exclusive"))

    def _prefix(self, line: int, thread: str, end: int) -> None:
        """Read the beginning of the conversation, which is in another file."""
        own = self.source.path.resolve()
        dated = all(whole_number(folder.name) is not None for folder in own.parents[:3])  # sessions/YYYY/MM/DD
        found = own.parents[3].glob(f"*/*/*/*{thread}*") if dated else own.parent.glob(f"*{thread}*")
        files = [each for each in found if each != own]
        if not files:
            self.report.add("file-missing", f"the beginning is in the file of {thread}, which was not found", line)
            return
        other = _Reader(Source(files[0]), Report())
        other.read(end)
        self.state.steps += other.state.steps
        self.facts.exits |= other.facts.exits

    def _turn(self, line: int, payload: Object) -> None:
        self.state.model = text_in(payload, "model") or self.state.model

    def _event(self, line: int, payload: Object) -> None:
        kind, state = text_in(payload, "type"), self.state
        item = object_in(payload, "item")
        last = object_in(object_in(payload, "info"), "last_token_usage")
        if kind == "token_count" and last and state.steps:
            self.facts.usage[state.steps[-1].line] = last
        elif kind == "exec_command_end" or item.get("type") == "CommandExecution":
            call, code = (
                text_in(payload, "call_id") or text_in(item, "id"),
                payload.get("exit_code", item.get("exit_code")),
            )
            if call is not None and isinstance(code, int):
                self.facts.exits[call] = code
        elif kind == "thread_name_updated":
            state.title = text_in(payload, "thread_name", "name") or state.title
        elif kind == "thread_rolled_back":
            self._roll_back(number_in(payload, "num_turns"))
        if kind not in _SILENT:
            self.report.add("row-left-out", f"an event of type {kind}", line)

    def _roll_back(self, turns: int) -> None:
        """Undo the last turns; what was in them is another branch."""
        steps = self.state.steps
        typed = [at for at, step in enumerate(steps) if is_typed(step.item)]
        if not turns or not typed:
            return
        self.state.undone.append(list(steps))
        del steps[typed[max(len(typed) - turns, 0)] :]

    # -- conversations ------------------------------------------------------------------------------------------------

    def log(self, steps: list[Step], report: Report) -> tuple[list[Any], list[str]]:
        """The messages of the steps with the compactions, and the parts of the system prompt."""
        log: list[Any] = []
        system: list[str] = []
        messages = Messages(self.facts, report)
        for step in steps:
            if step.item.get("type") != "compacted":
                messages.add(step)
                continue
            messages.close()
            log += messages.messages
            system = system or messages.system
            log.append(self._compaction(step, log, report))
            messages.messages = []
        messages.close()
        return [*log, *messages.messages], system or messages.system

    def _compaction(self, step: Step, log: list[Any], report: Report) -> Compaction:
        history = step.item.get("replacement_history")
        if isinstance(history, list):
            inner = Messages(self.facts, report)
            for item in history:
                if isinstance(item, dict):
                    inner.add(Step(step.line, item, step.model, step.time))
            inner.close()
            return Compaction(tuple(inner.messages))
        typed = [each for each in seen(log) if isinstance(each, UserMessage) and not is_injected(each.content)]
        summary = text_in(step.item, "message")
        return Compaction((*typed, *([UserMessage(summary, injected=True)] if summary else [])))


def read(source: Source, identity: str | None) -> Transcript:
    """Read a session, with the turns that were undone and its sub-agents."""
    report = Report()
    reader = _Reader(source, report)
    reader.read()
    state = reader.state
    log, system = reader.log(state.steps, report)
    meta = state.meta or {}
    prompt = text_in(object_in(meta, "base_instructions"), "text") or text_in(meta, "instructions")
    name = text_in(meta, "id", "session_id")
    branches = [_undone(reader, steps, log, at) for at, steps in enumerate(state.undone)]
    return Transcript(
        tool=NAME,
        form="bare" if state.bare else text_in(meta, "history_mode") or "",
        log=tuple(log),
        system_prompt="\n\n".join([*([prompt] if prompt else []), *system]) or None,
        id=name,
        version=text_in(meta, "cli_version"),
        title=state.title,
        cwd=text_in(meta, "cwd"),
        model=last_model(each for each in log if not isinstance(each, Compaction)) or state.model or None,
        started=unix_ms(meta.get("timestamp")),
        updated=unix_ms(state.updated),
        branches=(*branches, *_agents(source, name)),
        changes=tuple(report),
        meta={"provider": reader.facts.provider} if reader.facts.provider else {},
    )


def _undone(reader: _Reader, steps: list[Step], main: list[Any], number: int) -> Branch:
    log, _ = reader.log(steps, Report())
    shared = next((at for at, (one, other) in enumerate(zip(log, main, strict=False)) if one != other), len(main))
    return Branch(f"undone-{number + 1}", "branch", Context(seen(log)), shared=min(shared, len(log)))


def _agents(source: Source, name: str | None) -> Iterator[Branch]:
    """The sub-agents of a session, in files beside it."""
    if name is None:
        return
    for path in sorted(source.path.parent.glob("rollout-*.jsonl*")):
        other = Source(path)
        meta = object_in(other.rows[0], "payload") if other.rows and path != source.path else {}
        if text_in(meta, "parent_thread_id") == name:
            reader = _Reader(other, Report())
            reader.read()
            log, _ = reader.log(reader.state.steps, Report())
            title = text_in(meta, "agent_nickname", "agent_role", "agent_path")
            yield Branch(text_in(meta, "id") or path.stem, "subagent", Context(seen(log)), title=title)


def listed(source: Source) -> tuple[TranscriptInfo, ...]:
    """The session, from the first and last rows of the file."""
    first, last = ends_of(source)
    meta = object_in(first[0], "payload") or first[0] if first else {}
    payloads = [object_in(row, "payload") or row for row in [*first, *last]]
    models = [model for each in payloads if (model := text_in(each, "model"))]
    titles = [title for each in payloads if (title := text_in(each, "thread_name"))]
    times = [time for row in [*first, *last] if (time := unix_ms(row.get("timestamp")))]
    return (
        TranscriptInfo(
            NAME,
            str(source.path),
            text_in(meta, "id"),
            short_title(titles[-1] if titles else _prompt(payloads)),
            text_in(meta, "cwd"),
            models[-1] if models else None,
            text_in(meta, "cli_version"),
            times[-1] if times else None,
        ),
    )


def _prompt(payloads: list[Object]) -> str | None:
    messages = Messages(Facts(""), Report())
    for each in payloads:
        if is_typed(each):
            messages.add(Step(0, each))
    return first_prompt(messages.messages)


def home() -> Path:
    """The directory of Codex's settings and sessions."""
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")


def find() -> Iterator[Path]:
    """The files of sessions on this machine."""
    for folder in ("sessions", "archived_sessions"):
        yield from (home() / folder).glob("**/rollout-*.jsonl*")


FORMAT = Format(
    name=NAME,
    title="Codex CLI",
    recognise=recognise,
    read=read,
    list=listed,
    find=find,
    home=home,
    speaks="openai/gpt-5.1-codex",
    write=write,
    error_flags=False,
    resumes=True,
    verified=True,
    source="0.166.0 and 0.169.0, run in 2026-11; its source of 2026-08-22",
)
