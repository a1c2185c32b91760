"""`segue standin`: serve a strict stand-in for a provider on loopback, until Ctrl-C."""

import argparse
import threading

from ..catalog import list_providers
from ..errors import SettingError
from ..testing import StandIn
from ..types.text import whole_number
from ..wire import PROTOCOLS
from .terminal import print_note, print_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("provider", metavar="PROVIDER", help=f"one of {', '.join(list_providers())}")
    parser.add_argument("--protocol", choices=PROTOCOLS, help="the protocol, if the provider speaks more than one")
    parser.add_argument("--port", type=port, default=0, help="the port to listen on (default: any free one)")
    parser.add_argument("--key", default="standin-key", help="the API key that it accepts (default: standin-key)")
    parser.add_argument(
        "--say",
        metavar="TEXT",
        action="append",
        default=[],
        help="the answer to a request; repeat it for further requests",
    )


def port(text: str) -> int:
    """Parse the number of a port."""
    number = whole_number(text)
    if number is None or number > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; use a number from 0 to 65535")
    return number


def run(args: argparse.Namespace) -> int:
    if not args.key:
        raise SettingError("--key is empty; use a key of at least one character")
    server = StandIn(args.provider, protocol=args.protocol, key=args.key, port=args.port, script=args.say)
    try:
        server.start()
    except OSError as error:
        raise SettingError(
            f"port {args.port} cannot be used: {error.strerror}; use --port 0 for any free one"
        ) from None
    try:
        print_text(server.url)
        print_note(f"{server.provider} ({server.protocol}) listens at {server.url}, key {args.key!r}; Ctrl-C stops it")
        threading.Event().wait()
    finally:
        server.stop()
    return 0
