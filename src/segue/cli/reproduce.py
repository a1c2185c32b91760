"""`segue reproduce`: make a small reproduction of a refused request, without your texts, names, values and ids.

It can be pasted into an issue: what is refused, by which rule, and the smallest request that is refused for the same
reason. A conversation is checked as if it were sent to the model without any change.
"""

import argparse

import msgspec

from ..testing import reproduce
from ..types.codec import json_text
from ..wire import PROTOCOLS
from .files import FILE_HELP, open_input
from .terminal import Screen, busy, write_json


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=f"a request body, or {FILE_HELP}")
    parser.add_argument("--as", dest="protocol", choices=PROTOCOLS, help="the protocol (default: recognised)")
    parser.add_argument("--model", metavar="PROVIDER/MODEL", help="the model that refused it")
    parser.add_argument("--rule", metavar="NUMBER", help="the rule, as `segue lint` prints it (default: the first)")
    parser.add_argument("--json", action="store_true", help="print the reproduction as JSON")


def run(args: argparse.Namespace) -> int:
    with open_input(args.file) as file:
        data = file.read()
    with busy("looking for the smallest request"):
        found = reproduce(data, args.protocol, args.model, args.rule)
    if args.json:
        write_json(json_text(msgspec.to_builtins(found)).encode() + b"\n")
    else:
        screen = Screen()
        for line in found.text().splitlines():
            screen.line((line, ""), wrap=False)
    return 0
