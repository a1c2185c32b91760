"""A rule is a row: its number, what the provider answers, where that was seen, and a function that finds violations.

The function is given the request body and the model, and yields the path of each violation, with words where the path
alone does not say it. It must take any JSON: whatever is not of the shape that it looks at is some other rule's affair.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct

from ..types import Model
from .walks import Document

Severity = Literal["error", "warning"]
Check = Callable[[dict[str, Any], Model | None], Iterable[tuple[str, str]]]


class Rule(Struct, frozen=True, kw_only=True):
    """One rule of one protocol or of some of its dialects."""

    number: str
    title: str
    # What the provider answers to a violation, as it was seen; "" where it says nothing and only degrades.
    answers: str
    # Where and when it was seen: an issue, an SDK's types, documentation.
    source: str
    # The pass or encoder that prevents it.
    prevented_by: str
    check: Check
    severity: Severity = "error"
    # Whether it holds for this model; None: for every model of the protocol. A rule for some models is a warning when
    # no model is given.
    only: Callable[[Model], bool] | None = None


class Finding(Struct, frozen=True, kw_only=True):
    """A violation: which rule, where in the body, and what the provider would answer."""

    rule: str
    severity: Severity
    path: str
    message: str
    answers: str
    source: str
    prevented_by: str


def run(rules: Sequence[Rule], body: dict[str, Any], model: Model | None = None) -> list[Finding]:
    """Every finding of every rule, in the order of the rules."""
    document = Document(body)
    return [finding for rule in rules for finding in _findings(rule, document, model)]


def _findings(rule: Rule, body: dict[str, Any], model: Model | None) -> Iterator[Finding]:
    if rule.only is not None and model is not None and not rule.only(model):
        return
    severity: Severity = "warning" if rule.only is not None and model is None else rule.severity
    for path, words in rule.check(body, model):
        yield Finding(
            rule=rule.number,
            severity=severity,
            path=path,
            message=words or rule.title,
            answers=rule.answers,
            source=rule.source,
            prevented_by=rule.prevented_by,
        )
