"""A rule is a row: its number, the provider's error text, where that was seen, and a function that finds violations.

The function gets the request body and the model, and yields each violation: its path, and a text that names the fault
in this body, not the rule. It must accept any JSON object and ignore what does not have the shape that it expects:
other rules check the shape. Rules about the shape of a body share one function that sorts its faults; it runs once for
all of them.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from ..types import Model
from .walks import Document

Severity = Literal["error", "warning"]
Check = Callable[[dict[str, Any], Model | None], Iterable[tuple[str, str]]]


class Fault(NamedTuple):
    """Something in a body that does not have the shape of its protocol."""

    sort: str
    path: str
    text: str


Shape = Callable[[Any, Model | None], Iterable[Fault]]


def _nothing(body: dict[str, Any], model: Model | None) -> Iterable[tuple[str, str]]:
    return ()


class Rule(Struct, frozen=True, kw_only=True):
    """One rule of one protocol or of some of its dialects."""

    number: str
    title: str
    # The provider's error text for a violation, as it was seen; "" if it returns no error and only answers worse.
    answers: str
    # Where and when it was seen: an issue, an SDK's types, documentation.
    source: str
    # The pass or encoder that prevents it.
    prevented_by: str
    check: Check = _nothing
    # The function that rules about the shape of bodies share, and the sorts of faults that belong to this rule. The
    # function accepts any JSON.
    shape: Shape | None = None
    sorts: tuple[str, ...] = ()
    severity: Severity = "error"
    # Whether the rule applies to a model; None: to every model of the protocol. Without a model, a violation of a rule
    # for some models is a warning.
    only: Callable[[Model], bool] | None = None
    # Whether `check` looks at the model, although the rule applies to all.
    by_model: bool = False
    # Whether the rule depends on a header. Where only the body is known, a violation is a warning.
    in_header: bool = False


class Finding(Struct, frozen=True, kw_only=True):
    """A violation: the rule, the place in the body, and the provider's error text."""

    rule: str
    severity: Severity
    path: str
    message: str
    answers: str
    source: str
    prevented_by: str


UNKNOWN = frozenset({"unknown", "unknown inside", "value"})
"""Sorts of faults that are perhaps none: a field or a value may be newer than our tables."""


def quirks(rules: Sequence[Rule], model: Model) -> list[Rule]:
    """The rules by which ``model`` refuses what other models of its protocol accept, as far as that is certain."""
    found = [
        rule for rule in rules
        if rule.severity == "error" and (rule.by_model if rule.only is None else rule.only(model))
    ]  # fmt: skip
    return [
        rule if UNKNOWN.isdisjoint(rule.sorts) else replace(rule, sorts=tuple(set(rule.sorts) - UNKNOWN))
        for rule in found
    ]


def run(rules: Sequence[Rule], body: Any, model: Model | None = None, *, body_only: bool = False) -> list[Finding]:
    """Return all findings of all rules, in the order of the rules. If the body is not an object, only its shape is
    checked. ``body_only``: the headers are not known; otherwise they are those that segue sends to ``model``."""
    document = Document(body) if isinstance(body, dict) else None
    shared: dict[Shape, list[Fault]] = {}
    findings: list[Finding] = []
    for rule in rules:
        if rule.only is not None and model is not None and not rule.only(model):
            continue
        if rule.in_header and body_only:
            rule = replace(rule, severity="warning")
        if rule.shape is not None:
            if rule.shape not in shared:
                shared[rule.shape] = list(rule.shape(body, model))
            faults = [fault for fault in shared[rule.shape] if fault.sort in rule.sorts]
            findings += [_finding(rule, fault.path, fault.text, model) for fault in faults]
        if document is not None:
            findings += [_finding(rule, path, text, model) for path, text in rule.check(document, model)]
    return findings


def _finding(rule: Rule, path: str, text: str, model: Model | None) -> Finding:
    return Finding(
        rule=rule.number,
        severity="warning" if rule.only is not None and model is None else rule.severity,
        path=path,
        message=text,
        answers=rule.answers,
        source=rule.source,
        prevented_by=rule.prevented_by,
    )
