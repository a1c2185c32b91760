"""Rules about the shape of a body: its fields, their sizes and patterns, from the service model of botocore
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


# A body may have the form on the wire, or the form of boto3 with the model's id and ``bytes`` for blobs.
_OF_BOTO3 = {"Body": frozenset({"modelId"})}
_BLOBS = (".bytes", ".redactedContent")


def _shape(body: Any, model: Model | None) -> Iterator[Fault]:
    for fault in faults(body, load(_TABLE), _OF_BOTO3):
        if not (fault.text.endswith("a Python bytes") and fault.path.endswith(_BLOBS)):
            yield fault


SHAPE: tuple[Rule, ...] = (
    Rule(
        number="BED-60",
        title="there are no fields that Converse does not know",
        answers='Unknown parameter in messages[0].content[0]: "type", must be one of: text, image, document',
        source=f"openclaw/openclaw#58128, 2026-03 (botocore); {_BOTOCORE}; whether the service itself refuses every "
        "unknown field is not known",
        prevented_by=_ENCODER,
        shape=_shape,
        sorts=("unknown",),
    ),
    Rule(
        number="BED-61",
        title="no required field is missing",
        answers='Missing required parameter in messages[0]: "content"',
        source=f"567-labs/instructor#1472, 2025-04 (botocore); {_BOTOCORE}",
        prevented_by=_ENCODER,
        shape=_shape,
        sorts=("missing",),
    ),
    Rule(
        number="BED-62",
        title="a block has exactly one field",
        answers="Invalid number of parameters set for tagged union structure messages[0].content[0]. Can only set one "
        "of the following keys: text, image, document",
        source=f"openclaw/openclaw#58128, 2026-03 (botocore); {_BOTOCORE}",
        prevented_by=_ENCODER,
        shape=_shape,
        sorts=("union",),
    ),
    Rule(
        number="BED-63",
        title="every field has a value of its type, in its limits and from its set of values",
        answers="Value at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or "
        "equal to 1",
        source=f"{_BOTOCORE}; the usual form of AWS constraint errors, wording for this field not seen",
        prevented_by=_ENCODER,
        shape=_shape,
        sorts=("kind", "null", "value", "size"),
    ),
)
