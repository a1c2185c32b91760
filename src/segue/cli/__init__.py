"""The `segue` command: one file per command, imported only when that command is run.

Data goes to stdout and everything else to stderr. Exit status: 0 success, 1 findings, 2 bad input or usage,
130 cancelled.
"""

import sys

from .. import __version__

TYPE_CHECKING = False  # importing `typing` would take longer than all of `segue --version`
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

COMMANDS = {
    "chat": "chat in the terminal, with or without an API key",
    "run": "run one prompt from a script, with the same agent as chat",
    "show": "print a conversation in readable form",
    "models": "list the models of the catalog",
    "project": "show a conversation as another model would receive it",
    "encode": "print the request body that sends a conversation to a model",
    "lint": "list what a provider would refuse in a request body, and why",
    "reproduce": "make a small reproduction of a refused request, without anything of yours",
    "import": "convert a conversation in any known format to segue's own",
    "export": "print a conversation in the form of a protocol",
    "bulk": "check, convert or measure many conversations, in JSONL and Parquet files",
    "sessions": "manage stored sessions (list, show, check, fork, export, import)",
    "transcripts": "list the sessions of other tools on this machine: Claude Code, Codex, …",
    "transfer": "take a session from one tool to another, which resumes it",
    "studio": "show in a browser what each model would receive of a conversation",
    "gateway": "serve every model to existing clients: Claude Code, Codex, Gemini CLI, SDKs",
    "learn": "list what was learnt from refused requests, remove it, or export it",
    "standin": "serve a strict stand-in for a provider on loopback",
    "local": "serve a small real model on loopback, offline",
    "doctor": "show which keys are set, which servers answer, and where things are",
    "completion": "print a script that completes commands in a shell: bash, zsh or fish",
}
"""Each command and its help text. Its module has the same name, except those in ``MODULES``."""

MODULES = {"import": "import_"}
"""Modules of commands whose name is a keyword in Python."""


def main(argv: "Sequence[str] | None" = None) -> int:
    """Run the command line and return the exit status."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    if arguments == ["--version"]:
        try:
            print(f"segue {__version__}", flush=True)
            return 0
        except OSError:
            pass  # handled below, as for any other command
    from . import terminal

    try:
        with terminal.safe_output():
            return _run(arguments)
    except BrokenPipeError:  # the reader (`head`, a pager) has closed the pipe
        return 0
    finally:
        terminal.flush_at_exit()


def _run(arguments: list[str]) -> int:
    import warnings

    from ..errors import SegueError
    from . import terminal

    if not terminal.is_open():
        return _fail("standard input and output must be open")
    terminal.prepare()
    if not arguments:
        _parser(arguments).print_help()
        return 0
    if errors := [error for error in map(_check_argument, arguments) if error]:
        return _fail(errors[0])
    try:
        args, unknown = _parser(arguments).parse_known_args(arguments)
        if unknown:
            args.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
        warnings.showwarning = _print_warning
        status: int = args.run(args)
        terminal.flush()
    except SegueError as error:
        return _fail(error.for_shell())
    except BrokenPipeError:
        raise
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if is_debugging():
            raise
        return _fail(internal_error(error))
    return status


def is_debugging() -> bool:
    """Whether unexpected exceptions are raised, with a traceback, instead of printed in one line."""
    import os

    return bool(os.environ.get("SEGUE_DEBUG"))


def internal_error(error: Exception) -> str:
    """The message for an exception that is a bug in segue."""
    return f"internal error ({type(error).__name__}: {error}); set SEGUE_DEBUG=1 to see where it happened"


def _check_argument(argument: str) -> str:
    """The error message for an argument that no command can use; empty if it is fine."""
    import os

    try:
        os.fsencode(argument)
    except UnicodeEncodeError:
        return f"{argument}: an argument contains half of a surrogate pair, which is not a character"
    if "\0" in argument:
        return f"{argument}: an argument must not contain a NUL character"
    # argparse would read it as the end of the options.
    return f"{argument}: -- is not a value" if argument.startswith("--") and argument.endswith("=--") else ""


def _parser(arguments: "Sequence[str]") -> "argparse.ArgumentParser":
    """The parser for this command line. A command at its beginning is the only one that the parser needs; otherwise it
    knows all of them, for the help, but only the module of the one that is named is imported."""
    import argparse
    from importlib import import_module

    parser = argparse.ArgumentParser(prog="segue", description="Change models in the middle of a conversation.")
    parser.add_argument("--version", action="version", version=f"segue {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    chosen = next((word for word in arguments if not word.startswith("-")), None)
    needed = arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS
    for name in needed:
        purpose = COMMANDS[name]
        command = commands.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        if name == chosen:
            module = import_module(f".{MODULES.get(name, name)}", __name__)
            module.configure(command)
            command.set_defaults(run=module.run, parser=command)  # whose usage an error shows
    return parser


def _fail(text: str) -> int:
    from .terminal import print_note

    print_note(text)
    return 2


def _print_warning(message: Warning | str, *_: object, **__: object) -> None:
    from .terminal import print_note

    print_note(f"note: {message}")
