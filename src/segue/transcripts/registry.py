"""The table of formats, and finding the one that a file has."""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

from ..errors import FormatError, SettingError
from .format import Format
from .side_files import side_file
from .source import Source

MODULES: tuple[str, ...] = (
    "qwen_code",
    "claude_code",
    "codex",
    "opencode",
    "pi",
    "gemini_cli",
    "llxprt",
    "copilot",
    "kimi",
    "cursor",
    "vibe",
    "cline",
    "amp",
    "goose",
    "crush",
    "zed",
    "continue_dev",
    "openhands",
    "inspect_ai",
    "atif",
    "swe_agent",
    "chatgpt",
    "claude_ai",
    "pydantic_ai",
    "langchain",
    "openai_agents",
    "vercel",
    "sharegpt",
    "alpaca",
    "fine_tuning",
    "anthropic_batches",
    "aider",
)
"""The modules of formats, in the order in which they are tried: the more specific before the more general."""


@cache
def formats() -> tuple[Format, ...]:
    """All formats, in the order in which they are tried."""
    return tuple(import_module(f".{name}", __package__).FORMAT for name in MODULES)


def format_of(source: Source) -> Format:
    """The format of a file, by its content. A ``FormatError`` if none has it."""
    if not source.path.exists():
        raise FileNotFoundError(2, "No such file or directory", str(source))
    found = recognised(source)
    if found is None:
        refuse_side_file(source)
        names = ", ".join(each.title for each in formats())
        raise FormatError(f"this is not a transcript in a known form: {names}", source=str(source))
    return found


def recognised(source: Source) -> Format | None:
    """The format of a file, by its content; ``None`` if none has it."""
    return next((each for each in formats() if each.recognise(source)), None)


def refuse_side_file(source: Source) -> None:
    """Raise a ``FormatError`` for a file that belongs to a conversation of a tool, but is not one."""
    if (text := side_file(source)) is not None:
        raise FormatError(f"this is {text}", source=str(source))


def format_named(name: str) -> Format:
    """The format of that name."""
    for each in formats():
        if each.name == name:
            return each
    names = ", ".join(each.name for each in formats())
    raise SettingError(f"{name!r} is not a known tool; known are {names}")


def places(tool: str | None = None) -> Iterator[tuple[Format, Path, float]]:
    """The files in which tools on this machine store conversations, or one tool does, with the time of their last
    change, the newest first."""
    chosen = formats() if tool is None else (format_named(tool),)
    found: list[tuple[Format, Path, float]] = []
    for form in chosen:
        for path in form.find() if form.find is not None else ():
            with suppress(OSError):  # it was deleted meanwhile
                found.append((form, path, path.stat().st_mtime))
    yield from sorted(found, key=lambda each: -each[2])
