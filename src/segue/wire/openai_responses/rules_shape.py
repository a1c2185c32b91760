"""Rules about the shape of a body: its parameters, items and parts, from the request types of the SDK
(``shape.json``)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...rules import Fault, Rule
from ...rules.shape import faults, load
from ...types import Model
from .rules_items import ENCODER, PROBED, SDK, trigger_is_last

_TABLE = Path(__file__).with_name("shape.json")


def shape(body: Any, model: Model | None) -> Iterator[Fault]:
    """All faults of shape; those inside an item get their own sort, for OAR-02."""
    for fault in faults(body, load(_TABLE)):
        inside = fault.path.startswith("input[") and fault.sort != "missing"
        yield fault._replace(sort="item") if inside else fault


SHAPE: tuple[Rule, ...] = (
    Rule(
        number="OAR-02",
        title="Items have known types, roles and members, and each member has a value of the right type",
        answers="Unknown parameter: 'input[].….' / Invalid value: '…'. Supported values are: …",
        source=PROBED,
        prevented_by=ENCODER,
        shape=shape,
        sorts=("item",),
        check=trigger_is_last,
    ),
    Rule(
        number="OAR-60",
        title="No required member is missing",
        answers="Missing required parameter: 'input[1].summary[0].type'.",
        source=f"64bit/async-openai#467, 2025-11; {SDK}",
        prevented_by=ENCODER,
        shape=shape,
        sorts=("missing",),
    ),
    Rule(
        number="OAR-61",
        title="Every parameter has a value of the right type, and null only where it is allowed",
        answers="Invalid type for 'max_output_tokens': expected an integer, but got a string instead.",
        source=f"{SDK}; the form of OpenAI's errors of code invalid_type, wording for this parameter not seen",
        prevented_by=ENCODER,
        shape=shape,
        sorts=("kind", "null", "union", "size"),
    ),
)
