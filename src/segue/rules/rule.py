"""A rule is a row: its number, what the provider answers, where that was seen, and a function that finds violations.

The function is given the request body and the model, and yields the path of each violation, with words where the path
alone does not say it. It must take any JSON object: whatever is not of the shape that it looks at is some other rule's
affair. Rules about that shape share one function, which sorts what it finds; it is run once for all of them.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from ..types import Model
from .walks import Document

Severity = Literal["error", "warning"]
Check = Callable[[dict[str, Any], Model | None], Iterable[tuple[str, str]]]


class Fault(NamedTuple):
    """Something in a body that does not have the shape of its protocol."""

    sort: str
    path: str
    words: str


Shape = Callable[[Any, Model | None], Iterable[Fault]]


def _nothing(body: dict[str, Any], model: Model | None) -> Iterable[tuple[str, str]]:
    return ()


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
    check: Check = _nothing
    # The function that a rule about the shape of bodies shares with others, and which sorts of its faults are this
    # rule's. It takes any JSON.
    shape: Shape | None = None
    sorts: tuple[str, ...] = ()
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


def run(rules: Sequence[Rule], body: Any, model: Model | None = None) -> list[Finding]:
    """Every finding of every rule, in the order of the rules. Of what is not an object, only its shape is judged."""
    document = Document(body) if isinstance(body, dict) else None
    shared: dict[Shape, list[Fault]] = {}
    findings: list[Finding] = []
    for rule in rules:
        if rule.only is not None and model is not None and not rule.only(model):
            continue
        if rule.shape is not None:
            if rule.shape not in shared:
                shared[rule.shape] = list(rule.shape(body, model))
            faults = [fault for fault in shared[rule.shape] if fault.sort in rule.sorts]
            findings += [_finding(rule, fault.path, fault.words, model) for fault in faults]
        if document is not None:
            findings += [_finding(rule, path, words, model) for path, words in rule.check(document, model)]
    return findings


def _finding(rule: Rule, path: str, words: str, model: Model | None) -> Finding:
    return Finding(
        rule=rule.number,
        severity="warning" if rule.only is not None and model is None else rule.severity,
        path=path,
        message=words or rule.title,
        answers=rule.answers,
        source=rule.source,
        prevented_by=rule.prevented_by,
    )
