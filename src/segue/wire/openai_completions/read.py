"""What a request says besides its conversation, and which of its fields are not read.

Fields: the request types of SDK openai 3.49.0, and the switches for reasoning of the family (2026-11).
"""

from typing import Any

from ...dialects import REASONING_FIELDS
from ..common.asked import Asked, as_dict
from ..common.coverage import Each, Fields, Kinds, Left, Object
from ..common.reading import DATA_URL
from ..common.requests import (
    CACHE_MARKER,
    CHAT_FORMAT,
    HOSTED,
    SHOWN_AS_TEXT,
    RequestForm,
    kind_of,
    read_chat_format,
    read_sampling,
)
from .reasoning import DETAILS, EXTRA

_CHOICES = {"auto": "auto", "none": "none", "required": "required"}
_AS_TEXT = Left(SHOWN_AS_TEXT)
_MARKED: dict[str, Any] = {"prompt_cache_breakpoint": CACHE_MARKER, "cache_control": CACHE_MARKER}

_FILE = Kinds(
    lambda file: DATA_URL.fullmatch(str(file.get("file_data"))) is not None,
    {True: Fields("filename", "file_data", file_id=_AS_TEXT)},
    _AS_TEXT,
)
_PARTS = Kinds(
    kind_of,
    {
        "text": Fields("type", "text", **_MARKED),
        "refusal": Fields("type", "refusal", **_MARKED),
        "image_url": Fields("type", image_url=Fields("url", detail=Left(harmless=("auto",))), **_MARKED),
        "file": Fields("type", file=_FILE, **_MARKED),
        "input_audio": Fields("type", input_audio=Fields("data", "format"), **_MARKED),
    },
    _AS_TEXT,
)
_CALL = Kinds(
    kind_of,
    {"custom": Fields("type", "id", custom=Fields("name", "input"))},
    Fields("type", "id", "index", EXTRA, function=Fields("name", "arguments")),
)
_FUNCTION = Fields("name", "description", "parameters")
_TOOL = Kinds(
    lambda tool: tool.get("type", "function"),
    {
        "function": Fields("type", function=_FUNCTION, cache_control=CACHE_MARKER),
        "custom": Fields("type", custom=Fields("name", "description", "format")),
    },
    Left(HOSTED),
)
_MESSAGE = Kinds(
    lambda message: message.get("role"),
    {
        "system": Fields("role", content=Each(_PARTS)),
        "developer": Fields("role", content=Each(_PARTS)),
        "assistant": Fields(
            "role",
            "refusal",
            *REASONING_FIELDS,
            DETAILS,
            content=Each(_PARTS),
            tool_calls=Each(_CALL),
            function_call=Fields("name", "arguments"),
            audio=_AS_TEXT,
        ),
    },
    Fields("role", "name", "tool_call_id", content=Each(_PARTS)),
)
_NAMED = Kinds(
    kind_of,
    {
        "function": Fields("type", function=Fields("name")),
        "custom": Fields("type", custom=Fields("name")),
    },
    Left(),
)

FIELDS = Fields(
    "model",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "stop",
    "stream",
    "parallel_tool_calls",
    "reasoning_effort",
    "enable_thinking",
    "thinking_budget",
    "metadata",
    "user",
    "safety_identifier",
    messages=Each(_MESSAGE),
    tools=Each(_TOOL),
    functions=Each(_FUNCTION),
    tool_choice=_NAMED,
    function_call=Fields("name"),
    response_format=CHAT_FORMAT,
    reasoning=Fields("effort", "enabled", "max_tokens"),
    # What the encoder adds for targets that have it: reasoning stays in the history, arguments are streamed.
    thinking=Fields("type", clear_thinking=Left(harmless=(False,))),
    preserve_thinking=Left(harmless=(True,)),
    tool_stream=Left(harmless=(True,)),
    reasoning_format=Left(harmless=("parsed",)),  # Groq: reasoning in its own field
    prompt_cache_retention=None,
    prompt_cache_key=None,
    prompt_cache_options=Fields("ttl"),
    n=Left(harmless=(1,)),
    store=Left("nothing is stored", harmless=(False,)),
    stream_options=Fields(include_usage=Left(harmless=(True,))),
    logprobs=Left(harmless=(False,)),
    frequency_penalty=Left(harmless=(0,)),
    presence_penalty=Left(harmless=(0,)),
    modalities=Left(harmless=(["text"],)),
)


def _options(body: Object, asked: Asked) -> None:
    read_sampling(body, asked)
    asked.limit(body.get("max_completion_tokens"), "max_completion_tokens")
    asked.user(body.get("user"), "user")
    asked.user(body.get("safety_identifier"), "safety_identifier")
    _read_reasoning(body, asked)
    _read_choice(body, asked)
    read_chat_format(body.get("response_format"), asked)
    _read_cache(body, asked)


def _read_reasoning(body: Object, asked: Asked) -> None:
    """Each member of the family has its own switch."""
    reasoning, thinking = as_dict(body.get("reasoning")), as_dict(body.get("thinking"))
    if reasoning.get("enabled") is False or thinking.get("type") == "disabled" or body.get("enable_thinking") is False:
        asked.set("reasoning", "off")
    elif reasoning.get("enabled") is True or thinking.get("type") == "enabled" or body.get("enable_thinking") is True:
        asked.set("reasoning", "medium")
    asked.budget(reasoning.get("max_tokens"), "reasoning.max_tokens")
    asked.budget(body.get("thinking_budget"), "thinking_budget")
    asked.effort(reasoning.get("effort"), "reasoning.effort")
    asked.effort(body.get("reasoning_effort"), "reasoning_effort")


def _read_choice(body: Object, asked: Asked) -> None:
    for path in ("function_call", "tool_choice"):
        choice: Any = body.get(path)
        if isinstance(choice, dict):
            inner = as_dict(choice.get("function") or choice.get("custom")) or choice
            if isinstance(inner.get("name"), str):
                asked.set("tool_choice", inner["name"])
        elif choice is not None:
            asked.mode(choice, path, _CHOICES)


def _read_cache(body: Object, asked: Asked) -> None:
    asked.cache_key(body.get("prompt_cache_key"), "prompt_cache_key")
    retention, options = body.get("prompt_cache_retention"), as_dict(body.get("prompt_cache_options"))
    if retention is not None:
        asked.cache(retention == "24h")
    if options.get("ttl") is not None:
        asked.cache(options["ttl"] in ("12h", "24h"))


REQUEST_FORM = RequestForm(fields=FIELDS, options=_options)
