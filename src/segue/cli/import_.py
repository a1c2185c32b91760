"""`segue import`: convert a conversation in any known format to segue's own, as canonical JSON, and show what could not
be carried."""

import argparse

import msgspec
from msgspec import Raw

from ..catalog import Catalog, get_model
from ..render import ReadRequest, read_request
from ..types import Options
from ..types.text import count_of
from ..wire import PROTOCOLS
from .files import FILE_HELP, Conversations
from .formats import Found, Source
from .terminal import print_note, write_json

MOST_SHOWN = 20
"""Fields that are listed; with `--json`, all are."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=FILE_HELP)
    parser.add_argument(
        "--from", dest="protocol", choices=PROTOCOLS, help="the protocol of a request body (default: recognised)"
    )
    parser.add_argument("--model", metavar="PROVIDER/MODEL", help="the model that wrote the answers in a request body")
    parser.add_argument("--catalog", metavar="FILE", help="your own catalog file")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print everything that the request says: the conversation, the model, the options, what was left out",
    )


def run(args: argparse.Namespace) -> int:
    catalog = Catalog.load(args.catalog) if args.catalog else None
    model = get_model(args.model, protocol=args.protocol, catalog=catalog) if args.model else None
    conversations = Conversations(args.file, args.protocol, model)
    for found in conversations.found():
        request = _request(found, conversations.source)
        write_json((_as_json(request) if args.json else request.context.to_json()) + b"\n")
        if not args.json:
            _print_left_out(request)
    return conversations.status


def _request(found: Found, source: Source) -> ReadRequest:
    """Everything that the document says. Only request bodies say more than a conversation."""
    if found.body is None:
        return ReadRequest(None, found.context, "", Options(), [])
    return read_request(found.body, found.protocol, source.model, now=0)


def _print_left_out(request: ReadRequest) -> None:
    for change in request.changes[:MOST_SHOWN]:
        print_note(f"left out: {change.detail}")
    if len(request.changes) > MOST_SHOWN:
        print_note(f"{count_of(len(request.changes) - MOST_SHOWN, 'more field')} left out; --json lists all")


def _as_json(request: ReadRequest) -> bytes:
    document = {
        "protocol": request.protocol,
        "model": request.model,
        "options": _set_options(request.options),
        "context": Raw(request.context.to_json()),
        "changes": request.changes,
    }
    return msgspec.json.encode(document)


def _set_options(options: Options) -> dict[str, object]:
    """The options that the request sets."""
    default = Options()
    chosen = {name: getattr(options, name) for name in options.__struct_fields__}
    return {name: value for name, value in chosen.items() if value != getattr(default, name)}
