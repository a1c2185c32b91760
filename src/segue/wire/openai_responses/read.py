"""What a request says besides its conversation, and which of its fields are not read.

Fields: the request types of SDK openai 3.49.0 (2026-11).
"""

from typing import Any

from ..common.asked import Asked, as_dict
from ..common.coverage import Each, Fields, Kinds, Left, Object
from ..common.requests import CACHE_MARKER, HOSTED, SHOWN_AS_TEXT, STATE, RequestForm, kind_of
from .ingest import KEPT
from .shapes import MADE_BY_MODEL, kind_of as item_kind

_CHOICES = {"auto": "auto", "none": "none", "required": "required"}
_AS_TEXT = Left(SHOWN_AS_TEXT)
_STATUS = Left(harmless=("completed",))
_LOOKS: dict[str, Any] = {"prompt_cache_breakpoint": CACHE_MARKER}

_TEXT = Fields("type", "text", "annotations", logprobs=Left(), **_LOOKS)
_FILE_BY_ID = "a file that the provider keeps; a text names it"
_PARTS = Kinds(
    kind_of,
    {
        "input_text": _TEXT,
        "output_text": _TEXT,
        "text": _TEXT,
        "summary_text": _TEXT,
        "reasoning_text": _TEXT,
        "refusal": Fields("type", "refusal"),
        "input_image": Fields("type", "image_url", detail=Left(harmless=("auto",)), file_id=_AS_TEXT, **_LOOKS),
        "input_file": Fields(
            *("type", "filename", "file_data", "file_url"),
            detail=Left(harmless=("auto",)),
            file_id=Left(_FILE_BY_ID),
            **_LOOKS,
        ),
        "input_audio": Fields("type", input_audio=Fields("data", "format")),
    },
    _AS_TEXT,
)
_KEPT = Fields(others=None)
_RESULT = Fields("type", "call_id", "name", output=Each(_PARTS), status=_STATUS)
_FREE_TEXT = Fields("type", "name", "description", "format")
_FUNCTION = Fields("type", "name", "description", "parameters", strict=Left(harmless=(False,)))
_TOOLS: dict[str, Any] = {"function": _FUNCTION, "custom": _FREE_TEXT}
_TOOL = Kinds(
    kind_of,
    _TOOLS | {"namespace": Fields("type", "name", tools=Each(Kinds(kind_of, _TOOLS, Left(HOSTED))))},
    Left(HOSTED),
)
# The id of a message that is not an answer says nothing: there is no state that it could refer to.
_MESSAGE = Kinds(
    lambda message: message.get("role"),
    {"assistant": Fields("type", "role", "id", "phase", content=Each(_PARTS), status=_STATUS)},
    Fields("type", "role", "id", content=Each(_PARTS), status=_STATUS),
)
_ITEMS = Kinds(
    item_kind,
    {
        "message": _MESSAGE,
        # The signature is the whole item.
        "reasoning": Fields("type", "id", "encrypted_content", "status", summary=Each(_PARTS), content=Each(_PARTS)),
        "function_call": Fields("type", "id", "call_id", "name", "arguments", "namespace", status=_STATUS),
        "custom_tool_call": Fields("type", "id", "call_id", "name", "input", "namespace", status=_STATUS),
        "function_call_output": _RESULT,
        "custom_tool_call_output": _RESULT,
        "additional_tools": Fields("type", "role", tools=Each(_TOOL)),
        **dict.fromkeys((MADE_BY_MODEL | KEPT) - {"function_call", "custom_tool_call", "reasoning"}, _KEPT),
    },
    _AS_TEXT,
)
_SCHEMA = Fields("type", "name", "schema", strict=Left(harmless=(True,)))
_FORMAT = Kinds(
    kind_of,
    {"text": Fields("type"), "json_object": Fields("type"), "json_schema": _SCHEMA},
    Left(),
)
_NAMED = Kinds(kind_of, {"function": Fields("type", "name"), "custom": Fields("type", "name")}, Left())

FIELDS = Fields(
    "model",
    "instructions",
    "max_output_tokens",
    "temperature",
    "top_p",
    "stream",
    "parallel_tool_calls",
    "metadata",
    "user",
    "safety_identifier",
    "prompt_cache_retention",
    "prompt_cache_key",
    input=Each(_ITEMS),
    tools=Each(_TOOL),
    tool_choice=_NAMED,
    reasoning=Fields("effort"),
    text=Fields(format=_FORMAT),
    prompt_cache_options=Fields("ttl"),
    store=Left("nothing is stored", harmless=(False,)),
    include=Left(harmless=(["reasoning.encrypted_content"],)),
    background=Left(harmless=(False,)),
    truncation=Left(harmless=("disabled",)),
    top_logprobs=Left(harmless=(0,)),
    service_tier=Left(harmless=("auto",)),
    previous_response_id=Left(STATE),
    conversation=Left(STATE),
    prompt=Left(STATE),
)


def _options(body: Object, asked: Asked) -> None:
    asked.limit(body.get("max_output_tokens"), "max_output_tokens")
    asked.number("temperature", body.get("temperature"), "temperature")
    asked.number("top_p", body.get("top_p"), "top_p")
    asked.flag("stream", body.get("stream"), "stream")
    asked.flag("parallel_tool_calls", body.get("parallel_tool_calls"), "parallel_tool_calls")
    asked.metadata(body.get("metadata"), "metadata")
    asked.user(body.get("user"), "user")
    asked.user(body.get("safety_identifier"), "safety_identifier")
    asked.effort(as_dict(body.get("reasoning")).get("effort"), "reasoning.effort")
    _read_choice(body.get("tool_choice"), asked)
    form = as_dict(as_dict(body.get("text")).get("format"))
    if form.get("type") == "json_object":
        asked.schema({"type": "object"}, "text.format")
    elif form.get("type") == "json_schema":
        asked.schema(form.get("schema"), "text.format.schema", form.get("name"))
    _read_cache(body, asked)


def _read_choice(choice: Any, asked: Asked) -> None:
    if not isinstance(choice, dict):
        if choice is not None:
            asked.mode(choice, "tool_choice", _CHOICES)
    elif choice.get("type") in ("function", "custom"):
        asked.tool(choice.get("name"), "tool_choice.name")


def _read_cache(body: Object, asked: Asked) -> None:
    asked.cache_key(body.get("prompt_cache_key"), "prompt_cache_key")
    retention, options = body.get("prompt_cache_retention"), as_dict(body.get("prompt_cache_options"))
    if retention is not None:
        asked.cache(retention == "24h")
    if options.get("ttl") is not None:
        asked.cache(options["ttl"] in ("12h", "24h"))


REQUEST_FORM = RequestForm(fields=FIELDS, options=_options)
