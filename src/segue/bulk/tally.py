"""What became of the rows of a shard, and of all shards: counts, with a few examples each."""

from msgspec import Struct

from .work import Outcome, Sizes

EXAMPLES = 3
REASONS = 100
"""Different reasons for rejecting rows that are counted apart."""
OTHER = "other reasons"


class Count(Struct, omit_defaults=True):
    """How many rows have something, how often in all, and the first rows that have it (from 1)."""

    rows: int = 0
    times: int = 0
    examples: list[int] = []

    def add(self, row: int, times: int = 1) -> None:
        self.rows += 1
        self.times += times
        if len(self.examples) < EXAMPLES:
            self.examples.append(row)


class Tally(Struct, omit_defaults=True):
    """Counts of the rows of a shard.

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
    changes: dict[str, Count] = {}
    losses: dict[str, Count] = {}
    findings: dict[str, Count] = {}
    reasons: dict[str, Count] = {}
    forms: dict[str, int] = {}
    sizes: Sizes | None = None

    def add(self, row: int, outcome: Outcome) -> None:
        """Count a row; ``row`` is its number in the shard."""
        self.rows += 1
        if outcome.rejected is not None:
            self.rejected += 1
            known = outcome.reason in self.reasons or len(self.reasons) < REASONS
            self.reasons.setdefault(outcome.reason if known else OTHER, Count()).add(row)
            return
        self.forms[outcome.form] = self.forms.get(outcome.form, 0) + 1
        self.faulty += bool(outcome.findings)
        self.changed += bool(outcome.changes) and not outcome.findings
        self.lost += bool(outcome.lost)
        self.fine += not outcome.changes and not outcome.findings
        for counts, codes in ((self.changes, outcome.changes), (self.findings, outcome.findings or {})):
            for code, times in codes.items():
                counts.setdefault(code, Count()).add(row, times)
        for code in outcome.lost:
            self.losses.setdefault(code, Count()).add(row)
        if outcome.sizes is not None:
            self.sizes = self.sizes or Sizes()
            self.sizes.add(outcome.sizes)
