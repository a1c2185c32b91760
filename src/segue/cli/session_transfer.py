"""`segue sessions export` and `import`: a session as a file, and files as sessions."""

import argparse
import time
from collections.abc import Iterable
from itertools import chain

from ..errors import TransferError
from ..session import (
    SessionInfo,
    Store,
    export_session,
    import_session,
    is_exported,
    open_store,
)
from ..types import Context, UserMessage, first_lines
from ..types.text import count_of
from .files import FILE_HELP, Conversations, open_input, private_file, source_name
from .formatting import text_of, title_of
from .found_transcripts import name_of, print_left_out, read_transcript, transcript_format
from .session_family import digest, entries_of, import_family
from .session_names import named_session
from .terminal import busy, print_note, print_text, write_json


def configure_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION", help="its id, or the beginning of it")
    parser.add_argument("-o", "--output", metavar="FILE", help="the file to write (default: standard output)")


def run_export(args: argparse.Namespace) -> int:
    with open_store(args.store, create=False) as store:
        lines = export_session(store, named_session(store, args.session))
        if args.output:
            with busy(f"writing {args.output}"), private_file(args.output) as file:
                file.writelines(lines)
        else:
            for line in lines:
                write_json(line)
    return 0


def configure_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=f"an exported session, or {FILE_HELP}")
    parser.add_argument("--as", dest="name", metavar="NAME", help="the name of the session in this store")
    parser.add_argument("--id", metavar="ID", help="the session, if the file of another tool has several")


def run_import(args: argparse.Namespace) -> int:
    if transcript_format(args.file) is not None:
        return _import_transcript(args)
    with open_input(args.file) as file:
        head = first_lines(iter(file))
        kind = _import_session if any(map(is_exported, head)) else _import_conversations
        return kind(args, chain(head, file))


def _import_session(args: argparse.Namespace, lines: Iterable[bytes]) -> int:
    try:
        with busy(f"reading {source_name(args.file)}"), open_store(args.store) as store:
            session, added = import_session(store, lines, session=args.name, source=source_name(args.file))
    except TransferError as error:
        for fault in error.faults:
            print_note(str(fault))
        return 2
    print_text(session)
    print_note(f"new entries: {added:,}")
    return 0


def _import_conversations(args: argparse.Namespace, lines: Iterable[bytes]) -> int:
    conversations = Conversations(args.file)
    with open_store(args.store) as store:
        for number, (context, *_) in enumerate(conversations.read(lines)):
            name = args.name if number == 0 or args.name is None else f"{args.name}-{number + 1}"
            session, added = _store(store, context, name)
            print_text(session)
            print_note(f"new entries: {added:,}")
            if context.tools:
                print_note(f"{count_of(len(context.tools), 'tool')} not stored: a session has the tools of its agent")
    return conversations.status


def _import_transcript(args: argparse.Namespace) -> int:
    """Import a session of another tool as a family: the conversation, its branches and its sub-agents."""
    found = read_transcript(args.file, args.id)
    print_note(f"{args.file}: {name_of(found)}")
    print_left_out(found, args.file)
    with open_store(args.store) as store:
        for session, added in import_family(store, found, args.name):
            print_text(session)
            print_note(f"new entries: {added:,}")
    return 0


def _store(store: Store, context: Context, name: str | None) -> tuple[str, int]:
    """Store a conversation as a session. The same conversation has the same entries, so that it is stored once."""
    now = time.time_ns() // 1_000_000
    entries = entries_of(context.messages, context.system_prompt)
    first = next((message for message in context.messages if isinstance(message, UserMessage)), None)
    info = SessionInfo(
        id=name or f"imported-{digest(b''.join(entry.key.encode() for entry in entries))[:12]}",
        created=now,
        changed=now,
        entries=len(entries),
        title=title_of(text_of(first)) if first is not None else "",
    )
    return info.id, store.restore(info, entries)
