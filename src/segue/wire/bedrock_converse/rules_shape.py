"""Rules about the shape of a body: its members, their sizes and patterns, from the service model of botocore
(``shape.json``)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...rules import Fault, Rule
from ...rules.shape import faults, load
from ...types import Model

_TABLE = Path(__file__).with_name("shape.json")
_ENCODER = "wire/bedrock_converse/encode.py"
_BOTOCORE = "botocore 1.44.0, 2026-11"


# A body is judged as it is on the wire, and as boto3 takes it: with the model's id, and with bytes for blobs.
_OF_BOTO3 = {"Body": frozenset({"modelId"})}
_BLOBS = (".bytes", ".redactedContent")


def _shape(body: Any, model: Model | None) -> Iterator[Fault]:
    for fault in faults(body, load(_TABLE), _OF_BOTO3):
        if not (fault.text.endswith("a Python bytes") and fault.path.endswith(_BLOBS)):
            yield fault


SHAPE: tuple[Rule, ...] = (
    Rule(
        number="BED-60",
        title="no member that Converse does not know, anywhere",
        answers='Unknown parameter in messages[0].content[0]: "type", must be one of: text, image, document',
        source=f"openclaw/openclaw#58128, 2026-03 (botocore); {_BOTOCORE}; whether the service itself refuses every "
        "unknown member is not known",
        prevented_by=_ENCODER,
        shape=_shape,
        sorts=("unknown",),
    ),
    Rule(
        number="BED-61",
        title="no required member is missing",
        answers='Missing required parameter in messages[0]: "content"',
        source=f"567-labs/instructor#1472, 2025-04 (botocore); {_BOTOCORE}",
        prevented_by=_ENCODER,
        shape=_shape,
        sorts=("missing",),
    ),
    Rule(
        number="BED-62",
        title="a block has exactly one member",
        answers="Invalid number of parameters set for tagged union structure messages[0].content[0]. Can only set one "
        "of the following keys: text, image, document",
        source=f"openclaw/openclaw#58128, 2026-03 (botocore); {_BOTOCORE}",
        prevented_by=_ENCODER,
        shape=_shape,
        sorts=("union",),
    ),
    Rule(
        number="BED-63",
        title="every member holds a value of its kind, of its size and among those that it knows",
        answers="Value at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or "
        "equal to 1",
        source=f"{_BOTOCORE}; the form of AWS's errors of constraints, wording for this member not seen",
        prevented_by=_ENCODER,
        shape=_shape,
        sorts=("kind", "null", "value", "size"),
    ),
)
