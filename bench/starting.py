"""The cost of starting: imports, and the smallest command. Each in its own process, in wall time."""

import os
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from .measure import Effort, Figure, Spent, processes
from .report import Bars, Part, Section, Table, cell, ratio

BARE = "python -c pass"
IMPORTS = {
    "msgspec": ("import msgspec", "msgspec"),
    "segue": ("import segue", "segue"),
    "segue, ready to encode": ("from segue import Context, encode, get_model", "segue"),
    "segue, ready to talk": ("from segue import Session, stream", "segue"),
    "any-llm": ("import any_llm", "any-llm-sdk"),
    "pydantic-ai": ("import pydantic_ai", "pydantic-ai-slim"),
    "LangChain": ("import langchain_anthropic", "langchain-anthropic"),
    "litellm": ("import litellm", "litellm"),
    "anthropic": ("import anthropic", "anthropic"),
    "openai": ("import openai", "openai"),
}
MEASURE = "msgspec"
COMMAND = "segue --version"
EFFORTS = Effort(7, 30), Effort(31, 15)


def run() -> Iterator[Part]:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # otherwise importing litellm uses the network
    bare = [sys.executable, "-c", "pass"]
    imports: dict[tuple[str, bool], list[str]] = {}
    for name, (code, _) in IMPORTS.items():
        imports[name, False] = bare
        imports[name, True] = [sys.executable, "-c", code]
    yield from imported(processes(imports, EFFORTS[0]))
    commands = {BARE: bare, COMMAND: [str(Path(sys.executable).parent / "segue"), "--version"]}
    yield commanded(processes(commands, EFFORTS[1]))


def imported(taken: dict[tuple[str, bool], list[Spent]]) -> Iterator[Part]:
    """The time that imports add to a bare interpreter, which is started right before."""
    wall, processor = (
        {
            name: Figure.of(
                each[which] - bare[which] for bare, each in zip(taken[name, False], taken[name, True], strict=True)
            )
            for name in IMPORTS
        }
        for which in (0, 1)
    )
    yield Table(
        "Imports, beyond a bare interpreter",
        ("", "wall clock", "ratio", "CPU", "ratio", "called"),
        [
            (
                f"{name} {version(package)}",
                cell(wall[name].times(1e3), "ms"),
                ratio(wall[name], wall[MEASURE], MEASURE),
                cell(processor[name].times(1e3), "ms"),
                ratio(processor[name], processor[MEASURE], MEASURE),
                code,
            )
            for name, (code, package) in IMPORTS.items()
        ],
    )
    shown = {f"{name} {version(package)}": wall[name].times(1e3) for name, (_, package) in IMPORTS.items()}
    yield Bars("bench-import.svg", "Import, beyond a bare interpreter, on the wall", "ms", {"": shown})


def commanded(taken: dict[str, list[Spent]]) -> Table:
    wall, processor = (
        {name: Figure.of(each[which] for each in rounds) for name, rounds in taken.items()} for which in (0, 1)
    )
    return Table(
        "The smallest command",
        ("", "wall clock", "ratio", "CPU", "ratio"),
        [
            (
                name,
                cell(wall[name].times(1e3), "ms"),
                ratio(wall[name], wall[BARE]),
                cell(processor[name].times(1e3), "ms"),
                ratio(processor[name], processor[BARE]),
            )
            for name in taken
        ],
    )


SECTION = Section("start", "Imports and the command", run)
