"""`segue import`: convert a request body to a conversation, as canonical JSON."""

import argparse

from ..catalog import Catalog, get_model
from ..errors import FormatError
from ..render import ingest
from ..wire import PROTOCOLS
from .files import read_bytes, source_name
from .terminal import write_json


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a request body as JSON; - for standard input")
    parser.add_argument("--from", dest="protocol", choices=PROTOCOLS, help="the protocol (default: detected)")
    parser.add_argument("--model", metavar="PROVIDER/MODEL", help="the model that wrote the answers in the body")
    parser.add_argument("--catalog", metavar="FILE", help="your own catalog file")


def run(args: argparse.Namespace) -> int:
    catalog = Catalog.load(args.catalog) if args.catalog else None
    model = get_model(args.model, protocol=args.protocol, catalog=catalog) if args.model else None
    try:
        context = ingest(read_bytes(args.file), args.protocol, model)
    except FormatError as error:
        raise error.at(source_name(args.file)) from None
    write_json(context.to_json() + b"\n")
    return 0
