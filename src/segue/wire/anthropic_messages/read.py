"""What a request says besides its conversation, and which of its fields are not read.

Fields: the request types of SDK anthropic 2.8.0 (2026-11).
"""

from typing import Any

from ..common.asked import Asked, as_dict
from ..common.coverage import Each, Fields, Kinds, Left, Object
from ..common.requests import CACHE_MARKER, HOSTED, SHOWN_AS_TEXT, RequestForm, kind_of
from .ingest import PROVIDER_BLOCKS, is_own_tool

_CHOICES = {"auto": "auto", "any": "required", "none": "none"}
_DEFAULT_EFFORT = "high"
"""The effort of adaptive thinking if a request names none (platform.claude.com, "Effort", 2026-11)."""

_AS_TEXT = Left(SHOWN_AS_TEXT)
_TEXT = Fields("type", "text", cache_control=CACHE_MARKER)
_SOURCES: dict[str, Any] = {"base64": Fields("type", "data", "media_type"), "url": Fields("type", "url")}
_IMAGE = Fields("type", source=Kinds(kind_of, _SOURCES, _AS_TEXT), cache_control=CACHE_MARKER)
_INNER = Each(Kinds(kind_of, {"text": _TEXT, "image": _IMAGE}, _AS_TEXT))
_DOCUMENT_SOURCES = _SOURCES | {"text": Fields("type", "data", "media_type"), "content": Fields("type", content=_INNER)}
_DOCUMENT = Fields("type", "title", source=Kinds(kind_of, _DOCUMENT_SOURCES, _AS_TEXT), cache_control=CACHE_MARKER)
_SHOWN: dict[str, Any] = {"text": _TEXT, "image": _IMAGE, "document": _DOCUMENT}
_RESULT = Fields(
    "type",
    "tool_use_id",
    "is_error",
    content=Each(Kinds(kind_of, _SHOWN, _AS_TEXT)),
    cache_control=CACHE_MARKER,
)
_ANSWERED: dict[str, Any] = dict.fromkeys(PROVIDER_BLOCKS, Fields(cache_control=CACHE_MARKER, others=None)) | {
    "text": Fields("type", "text", "citations", cache_control=CACHE_MARKER),
    "thinking": Fields("type", "thinking", "signature"),
    "redacted_thinking": Fields("type", "data"),
    "tool_use": Fields("type", "id", "name", "input", cache_control=CACHE_MARKER),
}
_SYSTEM = Each(Kinds(kind_of, {"text": _TEXT}, _AS_TEXT))
_MESSAGE = Kinds(
    lambda message: message.get("role"),
    {
        "assistant": Fields("role", content=Each(Kinds(kind_of, _ANSWERED, _AS_TEXT))),
        "system": Fields("role", content=_SYSTEM),
    },
    Fields("role", content=Each(Kinds(kind_of, _SHOWN | {"tool_result": _RESULT}, _AS_TEXT))),
)
_TOOL = Fields("type", "name", "description", "input_schema", cache_control=CACHE_MARKER)
_BINDING = Fields("prefix_mismatch_behavior")  # segue decides what happens to thinking that is bound to something else
_THINKING = Kinds(
    kind_of,
    {
        "enabled": Fields("type", "budget_tokens", block_binding=_BINDING),
        "adaptive": Fields("type", block_binding=_BINDING),
        "disabled": Fields("type"),
    },
    Left(),
)
_FORMAT = Kinds(kind_of, {"json_schema": Fields("type", "schema")}, Left())

FIELDS = Fields(
    "model",
    "max_tokens",
    "temperature",
    "top_p",
    "stop_sequences",
    "stream",
    "anthropic_version",  # of Bedrock and Vertex, in place of a header
    messages=Each(_MESSAGE),
    system=_SYSTEM,
    tools=Each(Kinds(is_own_tool, {True: _TOOL}, Left(HOSTED))),
    tool_choice=Fields("type", "name", "disable_parallel_tool_use"),
    thinking=_THINKING,
    output_config=Fields("effort", format=_FORMAT),
    output_format=_FORMAT,  # its place in the beta
    metadata=Fields("user_id"),
    cache_control=CACHE_MARKER,
)


def _options(body: Object, asked: Asked) -> None:
    asked.limit(body.get("max_tokens"), "max_tokens")
    asked.number("temperature", body.get("temperature"), "temperature")
    asked.number("top_p", body.get("top_p"), "top_p")
    asked.stops(body.get("stop_sequences"), "stop_sequences")
    asked.flag("stream", body.get("stream"), "stream")
    asked.user(as_dict(body.get("metadata")).get("user_id"), "metadata.user_id")
    _read_choice(as_dict(body.get("tool_choice")), asked)
    config = as_dict(body.get("output_config"))
    _read_thinking(as_dict(body.get("thinking")), config, asked)
    for path, form in (("output_config.format", config.get("format")), ("output_format", body.get("output_format"))):
        if as_dict(form).get("type") == "json_schema":
            asked.schema(as_dict(form).get("schema"), f"{path}.schema")


def _read_choice(choice: Object, asked: Asked) -> None:
    if choice.get("type") == "tool" and isinstance(choice.get("name"), str):
        asked.set("tool_choice", choice["name"])
    elif choice:
        asked.mode(choice.get("type"), "tool_choice.type", _CHOICES)
    if choice.get("disable_parallel_tool_use") is True:
        asked.set("parallel_tool_calls", False)


def _read_thinking(thinking: Object, config: Object, asked: Asked) -> None:
    kind = thinking.get("type")
    if kind == "disabled":
        asked.set("reasoning", "off")
        if config.get("effort") is not None:
            asked.leave("output_config.effort", "the model does not think")
        return
    if kind == "enabled":
        asked.budget(thinking.get("budget_tokens"), "thinking.budget_tokens")
    elif kind == "adaptive":
        asked.set("reasoning", _DEFAULT_EFFORT)
    asked.effort(config.get("effort"), "output_config.effort")


REQUEST_FORM = RequestForm(fields=FIELDS, options=_options)
