"""`segue export`: print a conversation in the form of a protocol. It is the inverse of `segue import`."""

import argparse
from collections import Counter

from ..errors import FormatError
from ..render import export
from ..types.text import count_of
from ..wire import PROTOCOLS
from .files import FILE_HELP, Conversations
from .terminal import print_note, write_json


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=FILE_HELP)
    parser.add_argument("--as", dest="protocol", required=True, choices=PROTOCOLS, help="the protocol")


def run(args: argparse.Namespace) -> int:
    conversations = Conversations(args.file)
    count, changes = 0, Counter[str]()
    for number, context in enumerate(conversations, 1):
        try:
            exported = export(context, args.protocol)
        except FormatError as error:
            conversations.report_error(f"{conversations.name}: conversation {number}: {error}")
            continue
        write_json(exported.json() + b"\n")
        count += 1
        changes.update(change.code for change in exported.changes)
    summary = ", ".join(f"{times} × {code}" for code, times in sorted(changes.items()))
    print_note(f"{count_of(count, 'conversation')} as {args.protocol}: {summary or 'no changes'}")
    return conversations.status
