"""What a request says besides its conversation, and which of its fields are not read.

Fields: botocore 1.44.0, the service model of Converse (2026-11). The model and streaming are in the path; boto3 has the
model as ``modelId``.
"""

from typing import Any

import msgspec

from ..common.asked import Asked, as_dict
from ..common.binding import BETA
from ..common.coverage import Each, Fields, Kinds, Left, Object
from ..common.requests import CACHE_MARKER, HOSTED, SHOWN_AS_TEXT, RequestForm
from .files import TYPES

_AS_TEXT = Left(SHOWN_AS_TEXT)
_IMAGE = Fields("format", source=Fields("bytes", s3Location=_AS_TEXT))
_SOURCE = Fields("bytes", "text", s3Location=_AS_TEXT, content=_AS_TEXT)
_DOCUMENT = Fields("format", "name", source=_SOURCE, context=Left(), citations=Left(harmless=({"enabled": False},)))
_BYTES = Fields("format", source=Fields("bytes", s3Location=_AS_TEXT), error=Left())


def _recording(kind: str) -> Kinds:
    return Kinds(lambda media: (kind, str(media.get("format"))) in TYPES, {True: _BYTES}, _AS_TEXT)


_MEDIA: dict[str, Any] = {"image": _IMAGE, "document": _DOCUMENT} | {
    kind: _recording(kind) for kind in ("video", "audio")
}
_SHOWN: dict[str, Any] = {"text": None, "json": None, **_MEDIA}
_KEPT = Fields(others=None)
_REASONING = Fields("redactedContent", reasoningText=Fields("text", "signature"))
_RESULT = Fields("toolUseId", "status", content=Each(Fields(**_SHOWN, others=_AS_TEXT)))
_MESSAGE = Kinds(
    lambda message: message.get("role"),
    {
        "assistant": Fields(
            "role",
            content=Each(
                Fields(
                    "text",
                    citationsContent=Fields("citations", content=Each(Fields("text"))),
                    toolUse=Kinds(
                        lambda use: bool(use.get("type")), {True: _KEPT}, Fields("toolUseId", "name", "input")
                    ),
                    toolResult=_KEPT,
                    reasoningContent=_REASONING,
                    cachePoint=CACHE_MARKER,
                    others=_AS_TEXT,
                )
            ),
        )
    },
    Fields(
        "role",
        content=Each(Fields("text", toolResult=_RESULT, cachePoint=CACHE_MARKER, others=_AS_TEXT, **_MEDIA)),
    ),
)
_SPEC = Fields("name", "description", inputSchema=Fields("json"))

FIELDS = Fields(
    "modelId",
    "requestMetadata",
    messages=Each(_MESSAGE),
    system=Each(Fields("text", cachePoint=CACHE_MARKER, others=_AS_TEXT)),
    inferenceConfig=Fields("maxTokens", "temperature", "topP", "stopSequences"),
    toolConfig=Fields(
        tools=Each(Fields(toolSpec=_SPEC, cachePoint=CACHE_MARKER, others=Left(HOSTED))),
        toolChoice=Fields("auto", "any", tool=Fields("name")),
    ),
    additionalModelRequestFields=Fields(
        "reasoning_config",
        "reasoning_effort",
        reasoningConfig=Fields("type", "maxReasoningEffort"),  # Nova
        thinking=Fields("type", "budget_tokens", block_binding=Fields("prefix_mismatch_behavior")),
        anthropic_beta=Left(harmless=([BETA],)),  # what segue itself sends
        output_config=Fields("effort"),
    ),
    outputConfig=Fields("effort", textFormat=Fields("type", structure=Fields(jsonSchema=Fields("schema", "name")))),
)


def _options(body: Object, asked: Asked) -> None:
    config = as_dict(body.get("inferenceConfig"))
    asked.limit(config.get("maxTokens"), "inferenceConfig.maxTokens")
    asked.number("temperature", config.get("temperature"), "inferenceConfig.temperature")
    asked.number("top_p", config.get("topP"), "inferenceConfig.topP")
    asked.stops(config.get("stopSequences"), "inferenceConfig.stopSequences")
    asked.metadata(body.get("requestMetadata"), "requestMetadata")
    choice = as_dict(as_dict(body.get("toolConfig")).get("toolChoice"))
    if choice.get("tool") is not None:
        asked.tool(as_dict(choice["tool"]).get("name"), "toolConfig.toolChoice.tool.name")
    elif "any" in choice or "auto" in choice:
        asked.set("tool_choice", "required" if "any" in choice else "auto")
    _read_reasoning(as_dict(body.get("additionalModelRequestFields")), asked)
    _read_output(as_dict(body.get("outputConfig")), asked)


def _read_reasoning(fields: Object, asked: Asked) -> None:
    """Each maker of models has its own switch."""
    path, thinking = "additionalModelRequestFields", as_dict(fields.get("thinking"))
    config = as_dict(fields.get("reasoningConfig"))
    if "disabled" in (thinking.get("type"), config.get("type")):
        asked.set("reasoning", "off")
    elif thinking.get("type") == "adaptive":
        asked.set("reasoning", "high")
    asked.budget(thinking.get("budget_tokens"), f"{path}.thinking.budget_tokens")
    asked.effort(as_dict(fields.get("output_config")).get("effort"), f"{path}.output_config.effort")
    asked.effort(config.get("maxReasoningEffort"), f"{path}.reasoningConfig.maxReasoningEffort")
    for name in ("reasoning_config", "reasoning_effort"):
        asked.effort(fields.get(name), f"{path}.{name}")


def _read_output(config: Object, asked: Asked) -> None:
    asked.effort(config.get("effort"), "outputConfig.effort")
    schema = as_dict(as_dict(as_dict(config.get("textFormat")).get("structure")).get("jsonSchema"))
    if schema.get("schema") is not None:
        path = "outputConfig.textFormat.structure.jsonSchema.schema"
        try:
            read = msgspec.json.decode(schema["schema"])  # JSON in a text
        except (msgspec.DecodeError, TypeError, UnicodeEncodeError, RecursionError):
            read = None
        asked.schema(read, path, schema.get("name"))


REQUEST_FORM = RequestForm(fields=FIELDS, options=_options, model="modelId")
