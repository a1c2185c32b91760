"""What a request says besides its conversation, and which of its fields are not read.

Fields: the request types of SDK mistralai 3.7.0 (2026-11).
"""

from typing import Any

from ..common.asked import Asked, as_dict
from ..common.coverage import Each, Fields, Kinds, Left, Object
from ..common.requests import (
    CHAT_FORMAT,
    HOSTED,
    SHOWN_AS_TEXT,
    RequestForm,
    kind_of,
    read_chat_format,
    read_sampling,
)
from .ingest import user_block

_CHOICES = {"auto": "auto", "none": "none", "any": "required", "required": "required"}
_AS_TEXT = Left(SHOWN_AS_TEXT)

_TEXT = Fields("type", "text")
_THOUGHTS = Each(Kinds(kind_of, {"text": _TEXT}, _AS_TEXT))
_IMAGE = Fields("type", image_url=Fields("url", detail=Left(harmless=("auto",))))
_SHOWN: dict[str, Any] = {
    "text": _TEXT,
    "image_url": _IMAGE,
    "document_url": Kinds(
        lambda chunk: user_block("document_url", chunk, "").type,
        {"file": Fields("type", "document_url", "document_name")},
        _AS_TEXT,
    ),
    "input_audio": Fields("type", "input_audio"),
}
_THINKING = Fields("type", "signature", "closed", thinking=_THOUGHTS)
_CALL = Fields("id", "type", "index", function=Fields("name", "arguments"))
_TOOL = Kinds(
    lambda tool: tool.get("type", "function"),
    {"function": Fields("type", function=Fields("name", "description", "parameters"))},
    Left(HOSTED),
)
_MESSAGE = Kinds(
    lambda message: message.get("role"),
    {
        "system": Fields(
            "role",
            content=Each(
                Kinds(kind_of, {"text": _TEXT, "thinking": Fields("type", "closed", thinking=_THOUGHTS)}, _AS_TEXT)
            ),
        ),
        "assistant": Fields(
            "role",
            content=Each(Kinds(kind_of, {"text": _TEXT, "thinking": _THINKING}, _AS_TEXT)),
            tool_calls=Each(_CALL),
            prefix=Left(harmless=(False,)),
        ),
    },
    Fields("role", "tool_call_id", "name", content=Each(Kinds(kind_of, _SHOWN, _AS_TEXT))),
)

FIELDS = Fields(
    "model",
    "max_tokens",
    "temperature",
    "top_p",
    "stop",
    "stream",
    "parallel_tool_calls",
    "reasoning_effort",
    "metadata",
    "prompt_cache_key",
    messages=Each(_MESSAGE),
    tools=Each(_TOOL),
    tool_choice=Fields("type", function=Fields("name")),
    response_format=CHAT_FORMAT,
    n=Left(harmless=(1,)),
    safe_prompt=Left(harmless=(False,)),
    logprobs=Left(harmless=(False,)),
    frequency_penalty=Left(harmless=(0,)),
    presence_penalty=Left(harmless=(0,)),
)


def _options(body: Object, asked: Asked) -> None:
    read_sampling(body, asked)
    asked.effort(body.get("reasoning_effort"), "reasoning_effort")
    read_chat_format(body.get("response_format"), asked)
    asked.cache_key(body.get("prompt_cache_key"), "prompt_cache_key")
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        asked.tool(as_dict(choice.get("function")).get("name"), "tool_choice.function.name")
    elif choice is not None:
        asked.mode(choice, "tool_choice", _CHOICES)


REQUEST_FORM = RequestForm(fields=FIELDS, options=_options)
