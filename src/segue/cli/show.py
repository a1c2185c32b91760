"""`segue show`: print a conversation in readable form."""

import argparse

from .conversation_view import ConversationView
from .files import FILE_HELP, Conversations
from .terminal import Screen, write_json


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=FILE_HELP)
    parser.add_argument("--thinking", action="store_true", help="show the thinking in full")
    parser.add_argument("--full", action="store_true", help="do not shorten long texts and results")
    parser.add_argument("--json", action="store_true", help="print canonical JSON, one line per conversation")


def run(args: argparse.Namespace) -> int:
    conversations = Conversations(args.file)
    if args.json:
        for context in conversations:
            write_json(context.to_json() + b"\n")
        return conversations.status

    screen = Screen()
    for number, context in enumerate(conversations):
        if number:
            screen.rule()
        ConversationView(screen, context, thinking=args.thinking, full=args.full).draw()
    return conversations.status
