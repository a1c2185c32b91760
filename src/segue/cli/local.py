"""`segue local`: a small real model on loopback, without a network, until it is interrupted."""

import argparse
import threading

from ..testing.local import CONTEXT, MODEL, PORT, LocalModel
from .standin import port
from .terminal import print_note, say


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", metavar="N", type=port, default=PORT, help=f"the port to listen on; {PORT}, 0 for any"
    )
    parser.add_argument("--weights", metavar="FILE", help="another model, as a GGUF file; SmolLM2-135M if not given")
    parser.add_argument("--context", metavar="N", type=int, default=CONTEXT, help=f"its window in tokens; {CONTEXT}")


def run(args: argparse.Namespace) -> int:
    with LocalModel(args.weights, port=args.port, context=args.context) as server:
        print_note(f"local/{MODEL} listens at {server.url}; Ctrl-C ends it")
        say(server.url)
        threading.Event().wait()
    return 0
