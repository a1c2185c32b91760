"""The `segue` command: one file per command, imported only when that command is chosen.

Data goes to stdout and all else to stderr. Exit status: 0 fine, 1 findings, 2 bad input or usage, 130 cancelled.
"""

import sys

from .. import __version__

TYPE_CHECKING = False  # typing itself would cost more than all of `segue --version`
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

COMMANDS = {
    "chat": "a conversation in the terminal, also without a key",
    "run": "one prompt for scripts, with the same agent",
    "show": "a readable picture of a conversation",
    "models": "the models of the catalog",
    "project": "what another model would get of a conversation",
    "encode": "the request body that sends a conversation to a model",
    "lint": "what a provider would refuse in a request body, and why",
    "import": "the conversation that a request body holds",
    "sessions": "stored conversations: show, check, fork, export, …",
    "standin": "a strict stand-in for a provider, on loopback",
    "local": "a small real model, on loopback and offline",
}
"""Each command, and what it gives; its module is the file of its name (``import_`` for a word that Python keeps)."""

MODULES = {"import": "import_"}


def main(argv: "Sequence[str] | None" = None) -> int:
    """Run the command line; the exit status is returned."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    if arguments == ["--version"]:
        try:
            print(f"segue {__version__}", flush=True)
            return 0
        except OSError:
            pass  # the long way knows what to do
    from . import terminal

    try:
        with terminal.guarded():
            return _run(arguments)
    except BrokenPipeError:  # the reader (`head`, a pager) has seen enough
        return 0
    finally:
        terminal.settle()


def _run(arguments: list[str]) -> int:
    import os
    import warnings

    from ..errors import SegueError
    from . import terminal

    if not terminal.is_open():
        return _complain("standard input and output must be open")
    terminal.prepare()
    if faults := [fault for fault in map(_fault_of, arguments) if fault]:
        return _complain(faults[0])
    try:
        args = _parser(arguments).parse_args(arguments)
        warnings.showwarning = _say_warning
        status: int = args.run(args)
        terminal.flush()
    except SegueError as error:
        return _complain(str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        return _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if os.environ.get("SEGUE_DEBUG"):
            raise
        return _complain(f"a fault of segue's own ({type(error).__name__}: {error}); SEGUE_DEBUG=1 shows where")
    return status


def _fault_of(word: str) -> str:
    """What is wrong with an argument in any place; empty if nothing is."""
    import os

    try:
        os.fsencode(word)
    except UnicodeEncodeError:
        return f"{word}: half a character is not text"
    if "\0" in word:
        return f"{word}: no argument holds a NUL"
    # argparse would take it for the end of the options.
    return f"{word}: -- is not a value" if word.startswith("--") and word.endswith("=--") else ""


def _parser(arguments: "Sequence[str]") -> "argparse.ArgumentParser":
    """The parser for this command line: only the command that it names is loaded."""
    import argparse
    from importlib import import_module

    parser = argparse.ArgumentParser(prog="segue", description="Change models in the middle of a conversation.")
    parser.add_argument("--version", action="version", version=f"segue {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    chosen = next((word for word in arguments if not word.startswith("-")), None)
    for name, purpose in COMMANDS.items():
        command = commands.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        if name == chosen:
            module = import_module(f".{MODULES.get(name, name)}", __name__)
            module.configure(command)
            command.set_defaults(run=module.run)
    return parser


def _complain(text: str) -> int:
    from .terminal import print_note

    print_note(text)
    return 2


def _say_warning(message: Warning | str, *_: object, **__: object) -> None:
    from .terminal import print_note

    print_note(f"note: {message}")
