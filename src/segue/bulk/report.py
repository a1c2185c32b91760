"""What became of the rows of a shard, and of all shards: counts, with a few example rows each."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from .inputs import Shard
from .work import Outcome, Sizes

EXAMPLES = 3
DIFFERENT = 1_000
"""Different codes or reasons that are counted apart: a reason may quote a row."""
OTHER = "others"


class Example(Struct, frozen=True, omit_defaults=True):
    """A row: its file, and its number (from 1; in JSONL, its line). In a shard, the number is that in the shard."""

    file: str = ""
    row: int = 0


class Line(Struct, omit_defaults=True):
    """How many rows have something, how often in all, and the first of them."""

    rows: int = 0
    times: int = 0
    examples: list[Example] = []

    def add(self, rows: int, times: int, examples: Iterable[Example]) -> None:
        self.rows += rows
        self.times += times
        for example in examples:
            if len(self.examples) < EXAMPLES:
                self.examples.append(example)


class Tally(Struct, omit_defaults=True, kw_only=True):
    """Counts of rows.

    Every row is one of ``fine``, ``changed``, ``faulty``, ``rejected`` and ``dropped`` (a duplicate). Of the changed
    ones, ``lost`` have lost something. ``lines`` includes blank lines.
    """

    lines: int = 0
    rows: int = 0
    fine: int = 0
    changed: int = 0
    lost: int = 0
    faulty: int = 0
    rejected: int = 0
    dropped: int = 0
    changes: dict[str, Line] = {}
    losses: dict[str, Line] = {}
    findings: dict[str, Line] = {}
    reasons: dict[str, Line] = {}
    forms: dict[str, int] = {}
    sizes: Sizes | None = None

    def add(self, row: int, outcome: Outcome) -> None:
        """Count a row; ``row`` is its number in the shard."""
        self.rows += 1
        here = [Example(row=row)]
        if outcome.rejected is not None:
            self.rejected += 1
            _line(self.reasons, outcome.reason).add(1, 1, here)
            return
        self.forms[outcome.form] = self.forms.get(outcome.form, 0) + 1
        self.faulty += bool(outcome.findings)
        self.changed += bool(outcome.changes) and not outcome.findings
        self.lost += bool(outcome.lost)
        self.fine += not outcome.changes and not outcome.findings
        for lines, codes in ((self.changes, outcome.changes), (self.findings, outcome.findings or {})):
            for code, times in codes.items():
                _line(lines, code).add(1, times, here)
        for code in outcome.lost:
            _line(self.losses, code).add(1, 1, here)
        if outcome.sizes is not None:
            self.sizes = self.sizes or Sizes()
            self.sizes.add(outcome.sizes)

    def include(self, other: "Tally", file: str, first: int) -> None:
        """Add the counts of a shard, whose rows come after the first ``first`` ones of a file."""
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in CODES:
            for code, line in getattr(other, name).items():
                examples = [Example(file, first + each.row) for each in line.examples]
                _line(getattr(self, name), code).add(line.rows, line.times, examples)
        for form, rows in other.forms.items():
            self.forms[form] = self.forms.get(form, 0) + rows
        if other.sizes is not None:
            self.sizes = self.sizes or Sizes()
            self.sizes.add(other.sizes)


COUNTS = ("lines", "rows", "fine", "changed", "lost", "faulty", "rejected", "dropped")
CODES = ("changes", "losses", "findings", "reasons")


class Report(Tally, omit_defaults=False, kw_only=True):
    """What became of all rows of a run, and how many have the same conversation as an earlier one."""

    command: str
    target: str
    duplicates: int = 0


def fill(report: Report, shards: Iterable[Shard], tallies: Mapping[str, Tally]) -> Report:
    """Add the counts of all shards to a report; rows are numbered in their files."""
    before: dict[str, int] = {}
    for shard in shards:
        first, tally = before.get(shard.path, 0), tallies[shard.output]
        report.include(tally, shard.path, first)
        before[shard.path] = first + tally.lines
    return report


def _line(lines: dict[str, Line], code: str) -> Line:
    return lines.setdefault(code if code in lines or len(lines) < DIFFERENT else OTHER, Line())
