"""The report of a run: what became of the rows, by code, with example rows."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from .inputs import Shard
from .tally import EXAMPLES, OTHER, REASONS, Count, Tally
from .work import Sizes


class Example(Struct, frozen=True):
    """A row: its file, and its number (from 1; in JSONL, its line)."""

    file: str
    row: int


class Line(Struct, omit_defaults=True):
    """How many rows have something, how often in all, and the first of them."""

    rows: int = 0
    times: int = 0
    examples: list[Example] = []


class Report(Struct):
    """What became of all rows. See ``Tally`` for the counts."""

    command: str
    target: str
    rows: int = 0
    fine: int = 0
    changed: int = 0
    lost: int = 0
    faulty: int = 0
    rejected: int = 0
    duplicates: int = 0
    dropped: int = 0
    changes: dict[str, Line] = {}
    losses: dict[str, Line] = {}
    findings: dict[str, Line] = {}
    reasons: dict[str, Line] = {}
    forms: dict[str, int] = {}
    sizes: Sizes | None = None


COUNTS = ("rows", "fine", "changed", "lost", "faulty", "rejected", "dropped")
CODES = ("changes", "losses", "findings", "reasons")


def merged(report: Report, shards: Iterable[Shard], tallies: Mapping[str, Tally]) -> Report:
    """Add the counts of all shards to a report; rows are numbered in their files."""
    before: dict[str, int] = {}
    for shard in shards:
        tally = tallies[shard.output]
        first = before.get(shard.path, 0)
        for name in COUNTS:
            setattr(report, name, getattr(report, name) + getattr(tally, name))
        for name in CODES:
            _add_counts(getattr(report, name), getattr(tally, name), shard.path, first)
        for form, rows in tally.forms.items():
            report.forms[form] = report.forms.get(form, 0) + rows
        if tally.sizes is not None:
            report.sizes = report.sizes or Sizes()
            report.sizes.add(tally.sizes)
        before[shard.path] = first + tally.lines
    return report


def _add_counts(lines: dict[str, Line], counts: Mapping[str, Count], file: str, first: int) -> None:
    for code, count in counts.items():
        line = lines.setdefault(code if code in lines or len(lines) < REASONS else OTHER, Line())
        line.rows += count.rows
        line.times += count.times
        missing = EXAMPLES - len(line.examples)
        line.examples += [Example(file, first + row) for row in count.examples[:missing]]
