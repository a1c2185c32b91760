"""Judges that know nothing of segue's own rules: the request types and the client of google-genai, and a checker of
turns written from Google's error texts."""

import contextlib
import json
import re
from functools import cache
from typing import Any

from google import genai
from google.genai import types
from pydantic import TypeAdapter, ValidationError

from segue.render import Request
from segue.types import Model

# The REST body, field by field; google-genai's types refuse unknown fields (extra = "forbid").
FIELDS: dict[str, Any] = {
    "contents": list[types.Content],
    "systemInstruction": types.Content,
    "tools": list[types.Tool],
    "toolConfig": types.ToolConfig,
    "generationConfig": types.GenerationConfig,
    "labels": dict[str, str],
}
ADAPTERS = {name: TypeAdapter(kind) for name, kind in FIELDS.items()}


def faults(body: dict[str, Any], model: Model) -> list[str]:
    """All faults that either judge finds in ``body``."""
    assert types.Content.model_config.get("extra") == "forbid"
    return type_faults(body) + turn_faults(body, model)


def type_faults(body: dict[str, Any]) -> list[str]:
    found = [f"{name}: no field of the request" for name in body if name not in ADAPTERS]
    for name in body.keys() & ADAPTERS.keys():
        try:
            ADAPTERS[name].validate_json(json.dumps(body[name]))
        except ValidationError as error:
            found += [f"{name}.{fault['loc']}: {fault['msg']}" for fault in error.errors()]
    return found


def turn_faults(body: dict[str, Any], model: Model) -> list[str]:
    """Check the order of contents with a small state machine."""
    found: list[str] = []
    dialect: Any = model.dialect
    expected: list[str] = []  # names of calls that the next content must answer
    last = "nothing"
    for index, content in enumerate(body["contents"]):
        where = f"contents[{index}]"
        if set(content) != {"role", "parts"} or content["role"] not in ("user", "model") or not content["parts"]:
            found.append(f"{where}: not a content")
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        responses = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        if expected or responses:
            if [response["name"] for response in responses] != expected:
                found.append(f"{where}: answers {responses}, expected {expected}")
            if len(responses) != len(content["parts"]):
                found.append(f"{where}: something beside function responses")
        if calls and last not in ("user", "responses"):
            found.append(f"{where}: a call after {last}")
        if content["role"] == "model" and last in ("model", "nothing"):
            found.append(f"{where}: the model after {last}")
        if calls and dialect.dummy_signature is not None and dialect.signature_required:
            first = next(part for part in content["parts"] if "functionCall" in part)
            if not first.get("thoughtSignature"):
                found.append(f"{where}: the first call is not signed")
        if not dialect.send_ids and any("id" in each for each in [*calls, *responses]):
            found.append(f"{where}: an id")
        if not dialect.images_in_results and any("parts" in each for each in responses):
            found.append(f"{where}: images in a response")
        found += [f"{where}: {fault}" for part in content["parts"] for fault in _part_faults(part)]
        expected = [call["name"] for call in calls]
        last = "responses" if responses else content["role"]
    if expected:
        found.append("calls at the end")
    if last == "model" and not dialect.prefill:
        found.append("the model has the last word")
    return found


def _part_faults(part: dict[str, Any]) -> list[str]:
    found = []
    data = set(part) - {"thought", "thoughtSignature"}
    if len(data) != 1 or not data <= {"text", "inlineData", "fileData", "functionCall", "functionResponse"}:
        found.append(f"holds {sorted(data)}")
    if "text" in part and not part["text"].strip() and "thoughtSignature" not in part:
        found.append("a blank text")
    if not re.fullmatch(r"(?:[\w+/-]{4})*(?:[\w+/-]{2}==|[\w+/-]{3}=)?", part.get("thoughtSignature", "")):
        found.append("a signature that is not base64")
    for held in (part.get("functionCall", {}), part.get("functionResponse", {})):
        if held and not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}", held["name"]):
            found.append(f"the name {held['name']!r}")
    return found


# -- through the client ----------------------------------------------------------------------------------------------


class _Caught(Exception):
    pass


@cache
def _client(vertex: bool) -> genai.Client:
    return genai.Client(vertexai=vertex, api_key="none")


def sent_by_sdk(request: Request, monkeypatch: Any) -> tuple[str, dict[str, Any]]:
    """The path and the body that google-genai would send for the keyword arguments of ``request``."""
    client = _client(request.model.dialect.surface == "vertex")  # type: ignore[attr-defined]
    caught: list[Any] = []

    def catch(method: str, path: str, body: dict[str, Any], *rest: Any) -> None:
        caught.append((path, body))
        raise _Caught

    monkeypatch.setattr(client._api_client, "request", catch)
    with contextlib.suppress(_Caught):
        client.models.generate_content(**request.sdk_kwargs())
    path, body = caught[0]
    return path, normal({name: value for name, value in body.items() if not name.startswith("_")})


def normal(value: Any, key: str = "") -> Any:
    """One spelling of a body: camelCase fields (not inside what users made) and one alphabet of base64."""
    if key in ("args", "response", "parametersJsonSchema", "labels"):
        return value
    if isinstance(value, dict):
        camel = {re.sub(r"_(.)", lambda match: match[1].upper(), name): item for name, item in value.items()}
        return {name: normal(item, name) for name, item in camel.items()}
    if isinstance(value, list):
        return [normal(item) for item in value]
    if key in ("data", "thoughtSignature"):
        return value.replace("-", "+").replace("_", "/")
    return getattr(value, "value", value)
