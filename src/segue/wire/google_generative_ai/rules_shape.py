"""Rules about the shape of a body: its fields, from the types and converters of google-genai (``shape.json``)."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ...rules import Fault, Rule
from ...rules.shape import Names, faults, load
from ...types import Model
from .rules_contents import ENCODER, only, surfaces, unreadable_files

_TABLE = Path(__file__).with_name("shape.json")


def _shape(body: Any, model: Model | None) -> Iterator[Fault]:
    return faults(body, load(_TABLE), absent=_absent(*surfaces(model)))


@cache
def _absent(*surfaces: str) -> Names:
    """The fields that one of these surfaces does not have."""
    found: dict[str, frozenset[str]] = {}
    for surface in surfaces:
        for record, fields in load(_TABLE).absent[surface].items():
            found[record] = found.get(record, frozenset()) | frozenset(fields)
    return found


RULES: tuple[Rule, ...] = (
    Rule(
        number="GEM-60",
        title="there are no fields that the API does not know",
        answers="Invalid JSON payload received. Unknown name \"const\" at 'tools[0]': Cannot find field.",
        source="zed-industries/zed#44875, danny-avila/LibreChat#11761, 2026; google-genai 3.1.0, 2026-11",
        prevented_by=ENCODER,
        shape=_shape,
        sorts=("unknown",),
    ),
    Rule(
        number="GEM-61",
        title="every field has a value of its type and from its set of values",
        answers="Invalid JSON payload received. Proto field is not repeating, cannot start list.",
        source="zed-industries/zed#53919, 2026; google-genai 3.1.0, 2026-11",
        prevented_by=ENCODER,
        shape=_shape,
        sorts=("kind", "null", "value", "union", "size", "missing"),
    ),
    Rule(
        number="GEM-24",
        title="there are no fields or file addresses that only the other surface (Gemini API or Vertex) supports",
        answers="Invalid JSON payload received. Unknown name: Cannot find field.",
        source="google-genai 3.1.0, models.py: the converters of the two surfaces raise, 2026-11",
        prevented_by=ENCODER,
        shape=_shape,
        sorts=("absent",),
        check=unreadable_files,
        only=only(lambda dialect: True),
    ),
)
