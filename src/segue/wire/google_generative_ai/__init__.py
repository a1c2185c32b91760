"""Google generateContent, on the Gemini API and on Vertex."""

import base64
from typing import Any

from ...dialects import GoogleGenerativeAI
from ...types import Model, Options
from ..common.seals import whole_signature
from ..protocol import Body, Protocol
from .decode import Reader
from .encode import GoogleTurns, body
from .export import EXPORT_FORM
from .ingest import NAME, ingest, is_own_list, recognise
from .read import REQUEST_FORM
from .rules import RULES
from .shapes import standard_base64
from .write import ANSWER_FORM


def path(model: Model, options: Options, body: Body) -> str:
    """The path, with the model and whether the answer is streamed."""
    if options.stream:
        return f"/models/{model.id}:streamGenerateContent?alt=sse"
    return f"/models/{model.id}:generateContent"


def headers(model: Model, options: Options) -> dict[str, str]:
    """None but the content type, which every request has; the client adds keys."""
    return {}


def sdk_kwargs(body: Body, model: Model, options: Options) -> dict[str, Any]:
    """For ``generate_content`` and ``generate_content_stream`` of google-genai: everything except the contents is one
    flat config, and base64 is decoded."""
    config = dict(body.get("generationConfig", {}))
    config |= {name: value for name, value in body.items() if name not in ("contents", "generationConfig")}
    if options.extra:  # the SDK refuses what its types do not have, and adds this to the body as it is
        others = {name: value for name, value in options.extra.items() if name != "generationConfig"}
        wanted = options.extra.get("generationConfig", {})
        config = {name: value for name, value in config.items() if name not in others and name not in wanted}
        config["httpOptions"] = {"extraBody": dict(options.extra)}
    contents = [{**content, "parts": [_raw(part) for part in content["parts"]]} for content in body["contents"]]
    return {"model": model.id, "contents": contents, "config": config}


def _raw(part: dict[str, Any]) -> dict[str, Any]:
    """A part with decoded base64, as the SDK expects it."""
    raw = dict(part)
    if "thoughtSignature" in part:
        raw["thoughtSignature"] = _bytes(part["thoughtSignature"])
    if "inlineData" in part:
        raw["inlineData"] = {**part["inlineData"], "data": _bytes(part["inlineData"]["data"])}
    response = part.get("functionResponse")
    if response and "parts" in response:
        raw["functionResponse"] = {**response, "parts": [_raw(inner) for inner in response["parts"]]}
    return raw


def _bytes(text: str) -> bytes:
    return base64.b64decode(text.replace("-", "+").replace("_", "/"))


PROTOCOL = Protocol(
    name=NAME,
    dialect=GoogleGenerativeAI,
    history="contents",
    turns=GoogleTurns,
    body=body,
    export=EXPORT_FORM,
    path=path,
    headers=headers,
    sdk_kwargs=sdk_kwargs,
    ingest=ingest,
    recognise=recognise,
    is_own_list=is_own_list,
    rules=RULES,
    request=REQUEST_FORM,
    reader=Reader,
    answers=ANSWER_FORM,
    seals=lambda block: [standard_base64(signature) for signature in whole_signature(block)],
)
