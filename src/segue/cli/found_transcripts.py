"""Transcripts of other tools on this machine, and in files that commands get as arguments."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..errors import FormatError, SettingError
from ..transcripts import (
    Branch,
    Format,
    Source,
    Transcript,
    TranscriptInfo,
    format_named,
    formats,
    list as list_transcripts,
    places,
    read,
    recognised,
    refuse_side_file,
)
from ..types.text import count_of
from .terminal import print_note, progress_of_rows

LARGE = 1 << 24
"""Bytes of a file that is read with a progress bar."""


def transcript_format(path: str) -> Format | None:
    """The format of a file that another tool wrote; ``None`` if segue's own readers read it, or nothing does. A
    ``FormatError`` if it belongs to a conversation of a tool, but is not one."""
    if not os.path.isfile(path) and not os.path.isdir(path):  # a pipe can be read only once
        return None
    source = Source(path)
    found = recognised(source)
    if found is None:
        refuse_side_file(source)
    return None if found is None or found.is_plain(source) else found


def read_transcript(path: str, identity: str | None = None) -> Transcript:
    """Read a transcript, with a progress bar for large ones."""
    if not os.path.isfile(path) or os.path.getsize(path) < LARGE:
        return read(path, identity)
    done = 0
    with progress_of_rows() as advance:

        def progress(size: int, total: int) -> None:
            nonlocal done
            advance(0, size - done, total)
            done = size

        return read(path, identity, progress=progress)


def print_others(path: str, found: Transcript) -> None:
    """Print how many conversations a file has besides the one that was read."""
    count = len(list_transcripts(path))
    if count > 1:
        hint = "segue transfer and segue sessions import read another one with --id"
        print_note(f"{path}: 1 of {count:,} conversations, with the id {found.id}; {hint}")


def name_of(found: Transcript) -> str:
    """The tool, the version and the form of a transcript."""
    title = format_named(found.tool).title
    more = ", ".join(each for each in (found.version, found.form) if each)
    return f"a session of {title}{f' ({more})' if more else ''}"


def print_left_out(found: Transcript, name: str, every: bool = False) -> None:
    """Print what was left out: each place, or how much of each kind."""
    if every:
        for change in found.changes:
            print_note(f"{name}: {change}")
        return
    kinds: dict[str, int] = {}
    for change in found.changes:
        kinds[change.code] = kinds.get(change.code, 0) + 1
    if kinds:
        print_note(f"{name}: {', '.join(f'{count} × {code}' for code, count in sorted(kinds.items()))}")
    others = [each.kind for each in found.branches]
    if others:
        agents = others.count("subagent")
        left = len(others) - agents
        parts = [f"{left} other branch{'' if left == 1 else 'es'}"] if left else []
        parts += [count_of(agents, "sub-agent")] if agents else []
        print_note(f"{name}: also {' and '.join(parts)}")


def infos(files: Iterable[tuple[Format, Path, float]]) -> Iterator[TranscriptInfo]:
    """The conversations in these files. Files that cannot be read are reported and skipped."""
    for form, path, _ in files:
        try:
            yield from form.list(Source(path))
        except (FormatError, OSError) as error:
            print_note(f"{path}: {error}")


def latest(tool: str, cwd: str) -> TranscriptInfo:
    """The newest session of a tool in a directory."""
    here = os.path.realpath(cwd)
    for info in infos(places(tool)):
        if info.cwd is not None and os.path.realpath(info.cwd) == here:
            return info
    raise SettingError(f"there is no session of {tool} in {cwd}; segue transcripts lists all that there are")


def chosen(name: str, cwd: str, among: str | None = None) -> tuple[str, str | None]:
    """The path and the id of the transcript that the user names: a tool, a file, or an id."""
    if os.path.exists(name):
        return name, among
    if any(form.name == name and form.find is not None for form in formats()):
        info = next((each for each in infos(places(name)) if each.id == among), None) if among else latest(name, cwd)
        if info is None:
            raise SettingError(f"{name} has no session {among!r}; segue transcripts lists all that there are")
        return info.path, info.id
    for info in infos(places()):
        if info.id is not None and info.id.startswith(name):
            return info.path, info.id
    tools = ", ".join(form.name for form in formats() if form.find is not None)
    raise SettingError(f"{name!r} is not a file, the id of a session, or a tool ({tools})")


def branch_named(found: Transcript, name: str) -> Branch:
    """The branch whose id begins with this."""
    for branch in found.branches:
        if branch.id.startswith(name):
            return branch
    names = ", ".join(branch.id for branch in found.branches) or "none"
    raise SettingError(f"there is no branch {name!r}; the branches are: {names}")


def count_messages(info: TranscriptInfo) -> int:
    """The number of messages, for which the whole file is read."""
    return len(read(info.path, info.id if len(list_transcripts(info.path)) > 1 else None).context.messages)
