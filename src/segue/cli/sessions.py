"""`segue sessions`: work with stored sessions. One function for each action, listed in ``ACTIONS``."""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from ..errors import SessionError, TransferError
from ..session import (
    STORE_VARIABLE,
    Compacted,
    SessionInfo,
    Store,
    default_path,
    export_session,
    import_session,
    open_store,
)
from ..types import Context
from . import check
from .files import open_input, private_file, source_name
from .printable import one_line
from .session_view import SessionView
from .terminal import Screen, print_note, print_text, write_json


def configure(parser: argparse.ArgumentParser) -> None:
    where = argparse.ArgumentParser(add_help=False)
    text = f"a path, sqlite:///… or postgresql://… (default: ${STORE_VARIABLE} or {default_path()})"
    # --store may come before or after the action: its absence after the action must not reset the value from before.
    parser.add_argument("--store", metavar="WHERE", help=text.replace("%", "%%"))
    where.add_argument("--store", metavar="WHERE", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
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


def configure_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one line of JSON per session")


def run_list(args: argparse.Namespace) -> int:
    infos = _stored_sessions(args.store)
    if args.json:
        for info in infos:
            write_json(msgspec.json.encode(info) + b"\n")
        return 0
    names = [one_line(info.id) for info in infos]
    width = max(map(len, names), default=0)
    for name, info in zip(names, infos, strict=True):
        origin = f"  (from {one_line(info.parent)}, entry {info.parent_entry})" if info.parent is not None else ""
        print_text(
            f"{name:<{width}}  {_date(info.changed)}  {info.entries:>6}  {one_line(info.title)}{origin}".rstrip()
        )
    return 0


def _stored_sessions(where: str | None) -> list[SessionInfo]:
    if not where and not os.environ.get(STORE_VARIABLE) and not default_path().exists():
        return []  # nothing has been stored yet, which is not an error
    with open_store(where, create=False) as store:
        return store.sessions()


def _date(milliseconds: int) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):  # an imported session may have any number here
        return f"{'?':<16}"


# -- show -------------------------------------------------------------------------------------------------------------


def configure_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION")
    parser.add_argument("--thinking", action="store_true", help="show the thinking in full")
    parser.add_argument("--full", action="store_true", help="do not shorten long texts and results")
    parser.add_argument("--json", action="store_true", help="print the whole conversation as canonical JSON")


def run_show(args: argparse.Namespace) -> int:
    with open_store(args.store, create=False) as store:
        info, log = store.info(args.session), list(store.read(args.session))
    if args.json:
        from ..agent import rebuilt  # imports all that an agent needs, which the other actions do not

        # Without compactions, the state has the messages that they replaced.
        whole = rebuilt(stored.entry for stored in log if not isinstance(stored.entry, Compacted))
        context = Context(system_prompt=whole.system_prompt, messages=whole.messages)
        write_json(context.to_json() + b"\n")
        return 0
    SessionView(Screen(), info, log, thinking=args.thinking, full=args.full).draw()
    return 0


# -- fork -------------------------------------------------------------------------------------------------------------


def configure_fork(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION")
    parser.add_argument("--at", metavar="N", type=int, help="the last entry of the fork (default: all entries)")
    parser.add_argument("--as", dest="name", metavar="NAME", help="the name of the fork")


def run_fork(args: argparse.Namespace) -> int:
    with open_store(args.store, create=False) as store:
        at = store.head(args.session) if args.at is None else args.at
        name = args.name or next(free_names(store, f"{args.session}-at-{at}"))
        store.fork(args.session, at, name, time=time.time_ns() // 1_000_000)
    print_text(name)
    return 0


def free_names(store: Store, wanted: str) -> Iterator[str]:
    """Names that no session has: the one that is wanted, then the same with a number."""
    taken = {info.id for info in store.sessions()}
    names = (wanted if number == 1 else f"{wanted}-{number}" for number in range(1, len(taken) + 2))
    return (name for name in names if name not in taken)


# -- export and import ------------------------------------------------------------------------------------------------


def configure_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION")
    parser.add_argument("-o", "--output", metavar="FILE", help="the file to write (default: standard output)")


def run_export(args: argparse.Namespace) -> int:
    with open_store(args.store, create=False) as store:
        lines = export_session(store, args.session)
        if args.output:
            with private_file(args.output) as file:
                file.writelines(lines)
        else:
            for line in lines:
                write_json(line)
    return 0


def configure_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="an exported session; - for standard input")
    parser.add_argument("--as", dest="name", metavar="NAME", help="the name of the session in this store")


def run_import(args: argparse.Namespace) -> int:
    try:
        with open_input(args.file) as file, open_store(args.store) as store:
            session, added = import_session(store, file, session=args.name, source=source_name(args.file))
    except TransferError as error:
        for fault in error.faults:
            print_note(str(fault))
        return 2
    print_text(session)
    print_note(f"new entries: {added}")
    return 0


# -- delete -----------------------------------------------------------------------------------------------------------


def configure_delete(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sessions", metavar="SESSION", nargs="+")


def run_delete(args: argparse.Namespace) -> int:
    status = 0
    with open_store(args.store, create=False) as store:
        for session in args.sessions:
            try:
                store.delete(session)
            except SessionError as error:
                status = 2
                print_note(str(error))
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
    "export": Action("write a session as JSONL", configure_export, run_export),
    "import": Action("add an exported session to the store", configure_import, run_import),
    "delete": Action("delete sessions and their logs", configure_delete, run_delete),
}
