"""`segue sessions`: what is stored. One function for each thing that can be done, listed in ``ACTIONS``."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from ..errors import SessionError, TransferError
from ..session import Compacted, SessionInfo, Store, default_path, export_session, import_session, open_store
from ..session.location import STORE_VARIABLE
from ..types import Context
from . import check
from .files import private_file
from .log import LogPicture
from .printable import flat
from .terminal import Screen, print_note, say, write


def configure(parser: argparse.ArgumentParser) -> None:
    where = argparse.ArgumentParser(add_help=False)
    text = f"a path, sqlite:///… or postgresql://…; ${STORE_VARIABLE} or {default_path()} if not given"
    # Before the action or behind it: what is not said behind must not undo what was said before.
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
    parser.add_argument("--json", action="store_true", help="write one line of JSON for each session")


def run_list(args: argparse.Namespace) -> int:
    infos = _listed(args.store)
    if args.json:
        for info in infos:
            write(msgspec.json.encode(info) + b"\n")
        return 0
    names = [flat(info.id) for info in infos]
    width = max(map(len, names), default=0)
    for name, info in zip(names, infos, strict=True):
        origin = f"  (from {flat(info.parent)}, entry {info.parent_entry})" if info.parent is not None else ""
        say(f"{name:<{width}}  {_day(info.changed)}  {info.entries:>6}  {flat(info.title)}{origin}".rstrip())
    return 0


def _listed(where: str | None) -> list[SessionInfo]:
    if not where and not os.environ.get(STORE_VARIABLE) and not default_path().exists():
        return []  # nobody has stored anything yet, which is no fault
    with open_store(where, create=False) as store:
        return store.sessions()


def _day(milliseconds: int) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):  # any number may stand there
        return f"{'?':<16}"


# -- show -------------------------------------------------------------------------------------------------------------


def configure_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION")
    parser.add_argument("--thinking", action="store_true", help="unfold the thinking")
    parser.add_argument("--full", action="store_true", help="do not cut long texts and results")
    parser.add_argument("--json", action="store_true", help="write the whole conversation as canonical JSON")


def run_show(args: argparse.Namespace) -> int:
    with open_store(args.store, create=False) as store:
        info, log = store.info(args.session), list(store.read(args.session))
    if args.json:
        from ..agent.state import rebuilt  # with all that an agent needs: the other actions do without

        # The whole conversation, so without the summaries of compactions.
        whole = rebuilt(stored.entry for stored in log if not isinstance(stored.entry, Compacted))
        context = Context(system_prompt=whole.system_prompt, messages=whole.messages)
        write(context.to_json() + b"\n")
        return 0
    LogPicture(Screen(), info, log, thinking=args.thinking, full=args.full).draw()
    return 0


# -- fork -------------------------------------------------------------------------------------------------------------


def configure_fork(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION")
    parser.add_argument("--at", metavar="N", type=int, help="the last entry that the fork keeps; all if not given")
    parser.add_argument("--as", dest="name", metavar="NAME", help="what the fork is called")


def run_fork(args: argparse.Namespace) -> int:
    with open_store(args.store, create=False) as store:
        at = store.head(args.session) if args.at is None else args.at
        name = args.name or next(free_names(store, f"{args.session}-at-{at}"))
        store.fork(args.session, at, name, time=time.time_ns() // 1_000_000)
    say(name)
    return 0


def free_names(store: Store, wish: str) -> Iterator[str]:
    """Names like the one that is wished for which no session has."""
    taken = {info.id for info in store.sessions()}
    names = (wish if number == 1 else f"{wish}-{number}" for number in range(1, len(taken) + 2))
    return (name for name in names if name not in taken)


# -- export and import ------------------------------------------------------------------------------------------------


def configure_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write; standard output if not given")


def run_export(args: argparse.Namespace) -> int:
    with open_store(args.store, create=False) as store:
        lines = export_session(store, args.session)
        if args.output:
            with private_file(args.output) as file:
                file.writelines(lines)
        else:
            for line in lines:
                write(line)
    return 0


def configure_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="an exported session; - for standard input")
    parser.add_argument("--as", dest="name", metavar="NAME", help="what it is called here")


def run_import(args: argparse.Namespace) -> int:
    source = "standard input" if args.file == "-" else args.file
    try:
        with (
            nullcontext(sys.stdin.buffer) if args.file == "-" else open(args.file, "rb") as file,
            open_store(args.store) as store,
        ):
            session, added = import_session(store, file, session=args.name, source=source)
    except TransferError as error:
        for fault in error.faults:
            print_note(str(fault))
        return 2
    say(session)
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
    "list": Action("all sessions, the last changed first", configure_list, run_list),
    "show": Action("a readable picture of a session, with what happened besides", configure_show, run_show),
    "check": Action("what a model would get of a session, and what it would refuse", check.configure, check.run),
    "fork": Action("a new session that begins with the entries of another", configure_fork, run_fork),
    "export": Action("a session as JSONL", configure_export, run_export),
    "import": Action("an exported session, put into the store", configure_import, run_import),
    "delete": Action("remove sessions and their logs", configure_delete, run_delete),
}
