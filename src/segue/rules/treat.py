"""Find the cures for a refused request, and combine them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from ..types import Model
from ..types.secret import LONGEST_TEXT
from .cure import Case, Cure, Treatment
from .cure_readers import combined, pattern
from .cures import CURES
from .refusal import Refused


class Diagnosis(Struct, frozen=True):
    """The rows that match a refusal, and what to change; ``None`` if they are only reported. ``words`` are those of the
    first row, without content."""

    cures: tuple[Cure, ...]
    treatment: Treatment | None
    words: str


UNTREATED = frozenset({401, 403, 429})
"""Statuses that no change of the request cures."""
_POLICY = re.compile(r"content_?(?:policy|filter)|responsible_?ai|safety system|flagged|usage polic", re.IGNORECASE)


def treat(refused: Refused, model: Model, body: Mapping[str, Any]) -> Diagnosis | None:
    """The rows that match a refusal of ``body`` by ``model``, and the change that combines them."""
    if refused.status < 400 or refused.status in UNTREATED or _POLICY.search(refused.text[:LONGEST_TEXT]):
        return None
    found = list(_matching(refused, model, body))
    treated = [(cure, case, each) for cure, case in found if (each := _treatment(cure, case)) is not None]
    if treated:
        cure, case, _ = treated[0]
        together = combined([each for _, _, each in treated])
        return Diagnosis(tuple(cure for cure, _, _ in treated), together, case.words(cure))
    reported = [(cure, case) for cure, case in found if cure.reported]
    if not reported:
        return None
    cure, case = reported[0]
    return Diagnosis(tuple(cure for cure, _ in reported), None, case.words(cure))


def _matching(refused: Refused, model: Model, body: Mapping[str, Any]) -> Iterator[tuple[Cure, Case]]:
    text = refused.text[:LONGEST_TEXT]
    for cure in CURES:
        if cure.protocols and model.protocol not in cure.protocols:
            continue
        named = refused.code in cure.codes or (refused.param is not None and refused.param in cure.params)
        match = pattern(cure.words).search(text)
        if cure.applies is not None and not cure.applies(text, model.provider):
            continue
        if named or (match is not None and refused.status < 500):
            yield cure, Case(match, refused, model, body)


def _treatment(cure: Cure, case: Case) -> Treatment | None:
    if cure.reported:
        return None
    return cure.treatment if cure.read is None else cure.read(case)
