"""The results of a section as data: tables and plots; and tables as text, for a terminal and for a page."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .measure import Figure


class Table(NamedTuple):
    """Rows of texts below a header; the first column names the row."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    notes: tuple[str, ...] = ()


class Bars(NamedTuple):
    """A plot: one bar for each name, in a panel for each title."""

    file: str
    title: str
    unit: str
    panels: dict[str, dict[str, Figure]]
    logarithmic: bool = False


class Lines(NamedTuple):
    """A plot: one line for each name, in a panel for each title; both axes are logarithmic."""

    file: str
    title: str
    x: str
    y: str
    panels: dict[str, dict[str, dict[int, Figure]]]


Plot = Bars | Lines
Part = Table | Plot


class Section(NamedTuple):
    """A group of measurements: its name, its title, and how it is run."""

    name: str
    title: str
    run: Callable[[], Iterator[Part]]
    about: str = ""
    page: str = ""
    """A page of its own, for a section whose results do not depend on the machine."""


def number(value: float) -> str:
    """A number with three digits, or all digits before the point."""
    size = abs(float(f"{value:.3g}"))
    digits = 0 if size >= 100 else 1 if size >= 10 else 2
    return f"{value:,.{digits}f}"


def cell(figure: Figure, unit: str) -> str:
    """A median with its quartiles."""
    middle = f"{number(figure.median)} {unit}".rstrip()
    return f"{middle} ({number(figure.low)}–{number(figure.high)})"


def ratio(one: Figure, other: Figure, word: str = "") -> str:
    return f"{number(one.over(other))} × {word}".rstrip()


def as_text(table: Table) -> str:
    """A table for a terminal, with aligned columns."""
    rows = [table.head, *table.rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  " + "   ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join(["", table.title, *lines, *(f"  {note}" for note in table.notes)])


def as_markdown(part: Part) -> str:
    """A table or plot for a page; plots are files next to it."""
    if not isinstance(part, Table):
        return f"![{part.title}]({part.file})"
    rows = [table_row(row) for row in table_rows(part)]
    return "\n\n".join([f"**{part.title}**", "\n".join(rows), *part.notes])


def table_rows(table: Table) -> list[tuple[str, ...]]:
    return [table.head, tuple("---" for _ in table.head), *table.rows]


def table_row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in cells) + " |"
