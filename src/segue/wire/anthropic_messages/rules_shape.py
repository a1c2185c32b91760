"""Rules about the shape of a body: its fields and blocks, from the request types of the SDK (``shape.json``), within
the documented limits."""

from collections.abc import Iterator
from typing import Any

from ...rules import Fault, Rule
from ...rules.shape import faults
from ...types import Model
from .limits import limited
from .rules_messages import dialect

_ENCODER = "wire/anthropic_messages/encode.py"
_PROBED = "kangminlee-maker/local-OAuth-CLI-API-adapter (validation parity tests), 2026-09"


def _shape(body: Any, model: Model | None) -> Iterator[Fault]:
    """Check the fields. On Bedrock and Vertex, where the body has the version, the model is in the path."""
    vertex = model is not None and dialect(model).surface == "vertex"
    hosted = vertex or (isinstance(body, dict) and "anthropic_version" in body)
    for fault in faults(body, limited()):
        if not (hosted and fault.path == "model"):
            yield fault
    if vertex and isinstance(body, dict):
        if "anthropic_version" not in body:
            yield Fault("missing", "anthropic_version", "'anthropic_version' is required: on Vertex it is not a header")
        if "model" in body:
            yield Fault("unknown", "model", "unknown field 'model': on Vertex it is in the path")


SHAPE: tuple[Rule, ...] = (
    Rule(
        number="ANT-05",
        title="There are no fields that the API does not know.",
        answers="Extra inputs are not permitted",
        source=f"{_PROBED}; SDK anthropic 2.8.0, 2026-11",
        prevented_by=_ENCODER,
        shape=_shape,
        sorts=("unknown",),
    ),
    Rule(
        number="ANT-06",
        title="Every field has a valid value within its limits; every block has a type that is allowed in its place.",
        answers="messages.content: Input should be a valid array / server_tool_use.id: String should match pattern "
        "'^srvtoolu_[a-zA-Z0-9_]+$'",
        source=f"{_PROBED}; SDK anthropic 2.8.0, 2026-11; API reference, 2026-10; betmoar/cc-proxy-plugin#67",
        prevented_by=_ENCODER,
        shape=_shape,
        sorts=("kind", "null", "value", "union", "size"),
    ),
    Rule(
        number="ANT-60",
        title="No required field is missing.",
        answers="max_tokens: Field required",
        source="SDK anthropic 2.8.0, 2026-11; error texts in public clients",
        prevented_by=_ENCODER,
        shape=_shape,
        sorts=("missing",),
    ),
)
