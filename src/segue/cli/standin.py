"""`segue standin`: a strict stand-in for a provider, on loopback, until it is interrupted."""

import argparse
import threading

from ..catalog import list_providers
from ..errors import SettingError
from ..testing import StandIn
from ..wire.registry import PROTOCOLS
from .terminal import print_note, say


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("provider", metavar="PROVIDER", help=f"one of {', '.join(list_providers())}")
    parser.add_argument("--protocol", choices=PROTOCOLS, help="which of the protocols that the provider speaks")
    parser.add_argument("--port", type=port, default=0, help="the port to listen on; a free one if not given")
    parser.add_argument("--key", default="standin-key", help="the key that it accepts")
    parser.add_argument("--say", metavar="TEXT", action="append", default=[], help="an answer; once for each request")


def port(text: str) -> int:
    """The number of a port, as an argument."""
    if not text.isascii() or not text.isdigit() or len(text) > 5 or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a number from 0 to 65535")
    return int(text)


def run(args: argparse.Namespace) -> int:
    if not args.key:
        raise SettingError("--key is empty: name the key that is accepted")
    server = StandIn(args.provider, protocol=args.protocol, key=args.key, port=args.port, script=args.say)
    try:
        server.start()
    except OSError as error:
        raise SettingError(f"port {args.port} cannot be used: {error.strerror}; --port 0 chooses a free one") from None
    try:
        say(server.url)
        print_note(f"{server.provider} ({server.protocol}) listens at {server.url}, key {args.key!r}; Ctrl-C ends it")
        threading.Event().wait()
    finally:
        server.stop()
    return 0
