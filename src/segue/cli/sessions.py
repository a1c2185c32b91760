"""`segue sessions`: work with stored sessions. One function for each action, listed in ``ACTIONS``."""

import argparse
import os
import time
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from ..errors import SessionError
from ..session import STORE_VARIABLE, MessageAdded, SessionInfo, Store, default_path, open_store
from ..transcripts import shown_time
from ..types import UserMessage
from . import check, session_transfer
from .formats import whole_conversation
from .formatting import text_of, title_of
from .session_names import free_name, named_session
from .session_view import SessionView
from .terminal import Screen, busy, print_note, print_text, write_json


def configure(parser: argparse.ArgumentParser) -> None:
    where = argparse.ArgumentParser(add_help=False)
    text = f"a path, sqlite:///… or postgresql://… (default: ${STORE_VARIABLE} or {default_path()})"
    # --store may come before or after the action: its absence after the action must not reset the value from before.
    parser.add_argument("--store", metavar="WHERE", help=text.replace("%", "%%"))
    where.add_argument("--store", metavar="WHERE", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.set_defaults(act=run_list, json=False)
    actions = parser.add_subparsers(title="actions (default: list)", metavar="ACTION")
    for name, action in ACTIONS.items():
        command = actions.add_parser(
            name, help=action.purpose, description=f"{action.purpose[0].upper()}{action.purpose[1:]}.", parents=[where]
        )
        action.configure(command)
        command.set_defaults(act=action.run)


def run(args: argparse.Namespace) -> int:
    status: int = args.act(args)
    return status


# -- list -------------------------------------------------------------------------------------------------------------


COLUMNS = ("id", "changed", "entries", "title")


def configure_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one line of JSON per session")


def run_list(args: argparse.Namespace) -> int:
    where = args.store or os.environ.get(STORE_VARIABLE)
    if not where and not default_path().exists():
        _print_none(args)
        return 0
    with busy("reading the sessions"), open_store(where, create=False) as store:
        infos = store.sessions()
        rows = [] if args.json else [_row(store, info) for info in infos]
    if not infos:
        _print_none(args)
    elif args.json:
        for info in infos:
            write_json(msgspec.json.encode(info) + b"\n")
    else:
        Screen().table(COLUMNS, rows, left=("id", "changed", "title"), cuts="title")
    return 0


def _print_none(args: argparse.Namespace) -> None:
    if not args.json:
        print_note("there are no sessions yet; segue chat and segue run store theirs")


def _row(store: Store, info: SessionInfo) -> tuple[str, ...]:
    origin = f"  (from {info.parent}, entry {info.parent_entry})" if info.parent is not None else ""
    return (
        info.id,
        shown_time(info.changed),
        f"{info.entries:,}",
        f"{info.title or _first_words(store, info.id)}{origin}",
    )


def _first_words(store: Store, session: str) -> str:
    """The title of a session without one: its first message."""
    for stored in store.read(session):
        if isinstance(stored.entry, MessageAdded) and isinstance(stored.entry.message, UserMessage):
            return title_of(text_of(stored.entry.message))
    return ""


# -- show -------------------------------------------------------------------------------------------------------------


def configure_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION", help="its id, or the beginning of it")
    parser.add_argument("--thinking", action="store_true", help="show the thinking in full")
    parser.add_argument("--full", action="store_true", help="do not shorten long texts and results")
    parser.add_argument("--json", action="store_true", help="print the whole conversation as canonical JSON")


def run_show(args: argparse.Namespace) -> int:
    with busy("reading the session"), open_store(args.store, create=False) as store:
        session = named_session(store, args.session)
        info, log = store.info(session), list(store.read(session))
    if args.json:
        write_json(whole_conversation(stored.entry for stored in log).to_json() + b"\n")
        return 0
    SessionView(Screen(), info, log, thinking=args.thinking, full=args.full).draw()
    return 0


# -- fork -------------------------------------------------------------------------------------------------------------


def configure_fork(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION", help="its id, or the beginning of it")
    parser.add_argument("--at", metavar="N", type=int, help="the last entry of the fork (default: all entries)")
    parser.add_argument("--as", dest="name", metavar="NAME", help="the name of the fork")


def run_fork(args: argparse.Namespace) -> int:
    with open_store(args.store, create=False) as store:
        session = named_session(store, args.session)
        at = store.head(session) if args.at is None else args.at
        name = args.name or free_name(store, f"{session}-at-{at}")
        store.fork(session, at, name, time=time.time_ns() // 1_000_000)
    print_text(name)
    return 0


# -- delete -----------------------------------------------------------------------------------------------------------


def configure_delete(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sessions", metavar="SESSION", nargs="+")


def run_delete(args: argparse.Namespace) -> int:
    status = 0
    with open_store(args.store, create=False) as store:
        for session in args.sessions:
            try:
                store.delete(named_session(store, session))
            except SessionError as error:
                status = 2
                print_note(error.for_shell())
    return status


class Action(NamedTuple):
    purpose: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


ACTIONS = {
    "list": Action("list all sessions, the last changed first", configure_list, run_list),
    "show": Action(
        "print a session in readable form, with failures, switches and compactions", configure_show, run_show
    ),
    "check": Action("show a session as a model would receive it, and what it would refuse", check.configure, check.run),
    "fork": Action("make a new session that begins with the entries of another one", configure_fork, run_fork),
    "export": Action("write a session as JSONL", session_transfer.configure_export, session_transfer.run_export),
    "import": Action(
        "add an exported session, or any conversation, to the store",
        session_transfer.configure_import,
        session_transfer.run_import,
    ),
    "delete": Action("delete sessions and their logs", configure_delete, run_delete),
}
