"""Rules about the shape of a body: its fields and chunks, from the request types of the SDK (``shape.json``)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...rules import Fault, Rule
from ...rules.shape import faults, load
from ...types import Model

_TABLE = Path(__file__).with_name("shape.json")
_ENCODER = "wire/mistral_chat/encode.py"
_SDK = "the request types of mistralai 3.7.0, 2026-11"


def _shape(body: Any, model: Model | None) -> Iterator[Fault]:
    return faults(body, load(_TABLE))


SHAPE: tuple[Rule, ...] = (
    Rule(
        number="MIS-09",
        title="No unknown fields in the body, in messages, chunks, calls and tools",
        answers="Extra inputs are not permitted (HTTP 422, extra_forbidden)",
        source=f"charmbracelet/crush#1590, litellm#30835, litellm#30882, OpenHands-CLI#83, 2025-26; {_SDK}",
        prevented_by=_ENCODER,
        shape=_shape,
        sorts=("unknown",),
    ),
    Rule(
        number="MIS-60",
        title="No required field is missing",
        answers="Field required (HTTP 422, missing)",
        source=f"the form of MIS-09 (pydantic's errors), wording not seen; {_SDK}",
        prevented_by=_ENCODER,
        shape=_shape,
        sorts=("missing",),
    ),
    Rule(
        number="MIS-61",
        title="Every field has a value of the right type, and a known one",
        answers="Input should be a valid string (HTTP 422, string_type)",
        source=f"the form of MIS-09 (pydantic's errors), wording not seen; {_SDK}",
        prevented_by=_ENCODER,
        shape=_shape,
        sorts=("kind", "null", "value", "union", "size"),
    ),
)
