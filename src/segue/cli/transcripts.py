"""`segue transcripts`: list the sessions of other tools on this machine."""

import argparse
import os
from itertools import islice

import msgspec

from ..errors import SegueError
from ..transcripts import TranscriptInfo, formats, places, shown_time
from .found_transcripts import count_messages, infos
from .terminal import Screen, busy, print_note, write_json

COLUMNS = ("tool", "time", "project", "title", "model", "id")
NEWEST = 20


def configure(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(form.name for form in formats() if form.find is not None)
    parser.add_argument("tool", metavar="TOOL", nargs="?", help=f"only those of this tool: {names}")
    parser.add_argument("--all", action="store_true", help=f"list all, not only the newest {NEWEST}")
    parser.add_argument("--count", action="store_true", help="count the messages, for which whole files are read")
    parser.add_argument("--json", action="store_true", help="print one line of JSON per session")


def run(args: argparse.Namespace) -> int:
    with busy("looking for sessions"):
        files = list(places(args.tool))
        found = sorted(infos(files if args.all else islice(files, NEWEST)), key=lambda each: -(each.updated or 0))
        found = found if args.all else found[:NEWEST]
        if args.count:
            found = [msgspec.structs.replace(info, messages=_count(info)) for info in found]
    if args.json:
        for info in found:
            write_json(msgspec.json.encode(info) + b"\n")
    elif not found:
        print_note("there are no sessions of other tools on this machine")
    else:
        columns = (*COLUMNS, "messages") if args.count else COLUMNS
        Screen().table(columns, [_row(info, args.count) for info in found], left=COLUMNS, cuts="title")
    return 0


def _count(info: TranscriptInfo) -> int | None:
    try:
        return count_messages(info)
    except (SegueError, OSError) as error:
        print_note(f"{info.path}: {error}")
        return None


def _row(info: TranscriptInfo, counted: bool) -> tuple[str, ...]:
    moment = shown_time(info.updated) if info.updated else "?"
    project = os.path.basename((info.cwd or "").rstrip("/")) or info.cwd or ""
    row = (info.tool, moment, project, info.title or "", info.model or "", (info.id or "")[:12])
    return (*row, f"{info.messages:,}" if info.messages is not None else "?") if counted else row
