"""`segue local`: serve a small real model on loopback, offline, until Ctrl-C."""

import argparse
import threading

from ..testing.local import CONTEXT, MODEL, PORT, LocalModel
from .standin import port
from .terminal import busy, print_note, print_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port",
        metavar="N",
        type=port,
        default=PORT,
        help=f"the port to listen on (default: {PORT}); 0 for any free one",
    )
    parser.add_argument("--weights", metavar="FILE", help="another model, as a GGUF file (default: SmolLM2-135M)")
    parser.add_argument(
        "--context", metavar="N", type=int, default=CONTEXT, help=f"its context window in tokens (default: {CONTEXT})"
    )


def run(args: argparse.Namespace) -> int:
    server = LocalModel(args.weights, port=args.port, context=args.context)
    with busy("loading the weights"):
        server.start()
    try:
        print_note(f"local/{MODEL} listens at {server.url}; Ctrl-C stops it")
        print_text(server.url)
        threading.Event().wait()
    finally:
        server.stop()
    return 0
