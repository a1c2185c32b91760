"""`segue import`: the conversation that a request body holds, as canonical JSON."""

import argparse

from ..catalog import Catalog, get_model
from ..errors import FormatError
from ..render import ingest
from ..wire.registry import PROTOCOLS
from .files import read_bytes
from .terminal import write


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a request body as JSON; - for standard input")
    parser.add_argument("--from", dest="protocol", choices=PROTOCOLS, help="the protocol; recognised if not given")
    parser.add_argument("--model", metavar="PROVIDER/MODEL", help="the model that made the answers of the body")
    parser.add_argument("--catalog", metavar="FILE", help="a catalog file of your own")


def run(args: argparse.Namespace) -> int:
    catalog = Catalog.load(args.catalog) if args.catalog else None
    model = get_model(args.model, protocol=args.protocol, catalog=catalog) if args.model else None
    try:
        context = ingest(read_bytes(args.file), args.protocol, model)
    except FormatError as error:
        raise error.at("standard input" if args.file == "-" else args.file) from None
    write(context.to_json() + b"\n")
    return 0
