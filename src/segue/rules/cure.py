"""What a cure is: a row with the words of providers, and the treatment that would make them accept the request."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct

from ..types import ADDED_CELLS, Model
from .refusal import Refused

Cells = dict[str, Any]
Foreign = Literal["no", "once", "remembered"]


class Treatment(Struct, frozen=True, kw_only=True):
    """What to change in a request."""

    # Cells of the dialect, and fields of the model: facts about the target.
    cells: Cells = {}
    limits: Cells = {}
    # For this request alone: cells and options.
    once: Cells = {}
    options: Cells = {}
    # Whether signatures in the history count as foreign, and whether that is remembered.
    foreign: Foreign = "no"

    def joined(self, other: "Treatment") -> "Treatment":
        """Both changes; lists are joined, and for anything else the first one counts."""
        return Treatment(
            cells=_joined(self.cells, other.cells),
            limits=_joined(self.limits, other.limits),
            once=_joined(self.once, other.once),
            options=_joined(self.options, other.options),
            foreign=max(self.foreign, other.foreign, key=("no", "once", "remembered").index),
        )

    def amend(self, model: Model) -> Model:
        """The model with all cells and limits of this treatment."""
        return model.amended({**self.once, **self.cells, **self.limits})


def _joined(first: Cells, second: Cells) -> Cells:
    lists = {
        name: tuple(dict.fromkeys((*first[name], *value)))
        for name, value in second.items()
        if name in ADDED_CELLS and name in first
    }
    return second | first | lists


class Cure(Struct, frozen=True, kw_only=True):
    """One row. ``words`` is searched in the error's text, ignoring case; the groups of the match are read by ``read``.

    A row with ``codes`` or ``params`` also matches by these, whatever the words are, and then also for statuses of 500
    and above.
    """

    number: str
    title: str
    protocols: tuple[str, ...] = ()
    words: str
    codes: tuple[str, ...] = ()
    params: tuple[str, ...] = ()
    treatment: Treatment = Treatment()
    read: "Callable[[Case], Treatment | None] | None" = None
    # A further condition, from the text and the provider.
    applies: "Callable[[str, str], bool] | None" = None
    # Reported, not cured: a mistake of segue or of the body, or a matter of the session.
    reported: bool = False
    # The provider's words as they were seen, where, and when last.
    example: str
    source: str
    seen: str


class Case(Struct, frozen=True):
    """A refusal that a row matches: the match of its words, if these matched, the refusal, and what was refused."""

    match: re.Match[str] | None
    refused: Refused
    model: Model
    body: Mapping[str, Any]

    def group(self, *names: str) -> str | None:
        """The first of these groups that has matched."""
        found = self.match.groupdict() if self.match is not None else {}
        return next((found[name] for name in names if found.get(name)), None)

    def number(self, *names: str) -> int | None:
        """The number in the first of these groups that has matched."""
        digits = re.sub(r"\D", "", self.group(*names) or "")
        return int(digits) if digits and len(digits) < 12 else None

    def words(self, cure: Cure) -> str:
        """The words of the row with what was read from these: no other word of the refusal, which may quote content."""
        example = re.search(cure.words, cure.example, re.IGNORECASE)
        shown = {} if example is None else {name: value for name, value in example.groupdict().items() if value}
        found = {} if self.match is None else {name: value for name, value in self.match.groupdict().items() if value}
        if not found and self.refused.param is not None:
            found = {"field": self.refused.param}
        text = cure.example
        for name, old in shown.items():
            new = found.get(name) or (next(iter(found.values()), None) if shown.keys().isdisjoint(found) else None)
            text = text if new is None else text.replace(old, new)
        return text
