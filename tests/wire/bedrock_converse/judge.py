"""What botocore says of a request, taken at its word: its own validator, and every constraint of the service model that
the validator leaves to the server (longest lengths, patterns, enums)."""

import json
import re
from typing import Any

import botocore.session
from botocore.model import Shape
from botocore.serialize import create_serializer
from botocore.validate import ParamValidator

from segue.render import Request

SERVICE = botocore.session.get_session().get_service_model("bedrock-runtime")
VALIDATOR = ParamValidator()
SERIALIZER = create_serializer("rest-json")


def operation(request: Request) -> Any:
    return SERVICE.operation_model("ConverseStream" if request.path.endswith("-stream") else "Converse")


def faults(request: Request) -> list[str]:
    """All faults of the keyword arguments for boto3."""
    kwargs, shape = request.sdk_kwargs(), operation(request).input_shape
    report = VALIDATOR.validate(kwargs, shape)
    return [*report.generate_report().splitlines(), *_walk(kwargs, shape, "")]


def body_faults(body: dict[str, Any]) -> list[str]:
    """All faults of a body in the form on the wire, where bytes are base64."""
    kwargs, shape = {"modelId": "any", **body}, SERVICE.operation_model("Converse").input_shape
    return [*VALIDATOR.validate(kwargs, shape).generate_report().splitlines(), *_walk(kwargs, shape, "")]


def on_the_wire(request: Request) -> tuple[str, Any]:
    """The path and the body that boto3 would send for the keyword arguments."""
    sent = SERIALIZER.serialize_to_request(request.sdk_kwargs(), operation(request))
    return sent["url_path"], json.loads(sent["body"])


def _walk(value: Any, shape: Shape, path: str) -> list[str]:
    if getattr(shape, "is_document_type", False):
        return []
    found = _own_faults(value, shape, path)
    if shape.type_name == "structure":
        found += [f"{path}: unknown member {name}" for name in value if name not in shape.members]
        found += [f"{path}: {name} is missing" for name in shape.required_members if name not in value]
        if getattr(shape, "is_tagged_union", False) and len(value) != 1:
            found.append(f"{path}: a union of {len(value)} members")
        for name, inner in value.items():
            if name in shape.members:
                found += _walk(inner, shape.members[name], f"{path}.{name}")
    elif shape.type_name == "list":
        for index, inner in enumerate(value):
            found += _walk(inner, shape.member, f"{path}[{index}]")
    elif shape.type_name == "map":
        for name, inner in value.items():
            found += _walk(name, shape.key, f"{path}.{name}") + _walk(inner, shape.value, f"{path}.{name}")
    return found


def _own_faults(value: Any, shape: Shape, path: str) -> list[str]:
    facts, found = shape.metadata, []
    size = value if isinstance(value, int | float) else len(value)
    if size < facts.get("min", size) or size > facts.get("max", size):
        found.append(f"{path}: {size} is not from {facts.get('min')} to {facts.get('max')}")
    if "enum" in facts and value not in facts["enum"]:
        found.append(f"{path}: {value!r} is none of {facts['enum']}")
    if "pattern" in facts and not re.fullmatch(facts["pattern"], value):
        found.append(f"{path}: {value!r} does not match {facts['pattern']}")
    return found
