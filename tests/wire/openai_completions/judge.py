"""Independent checks of a request: the request types of the openai, groq and cerebras SDKs with unknown fields refused,
and, for servers with an unknown chat template, the careful form, written independently of the encoder and of lint."""

import json
import re
import types
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints

import cerebras.cloud.sdk.types.chat.completion_create_params as cerebras_types
import groq.types.chat.completion_create_params as groq_types
import openai.types.chat.completion_create_params as openai_types
from typing_extensions import TypeAliasType, is_typeddict

from segue.catalog import get_provider
from segue.render import Request

# What members of the family accept in addition to OpenAI's types: fields of an answer, fields of the body, and whether
# tool messages may have a `name` (compatibility matrix and SDK types, 2026-10). All others accept nothing else.
EXTENSIONS: dict[str, tuple[set[str], set[str], bool]] = {
    "groq": (set(), {"stream_options"}, False),  # only the types of its chunks mention it (SDK groq 1.7.0)
    "moonshot": ({"reasoning_content"}, {"thinking"}, False),
    "deepseek": ({"reasoning_content"}, {"thinking"}, False),
    "together": ({"reasoning", "reasoning_content"}, {"reasoning"}, False),
    "fireworks": ({"reasoning_content"}, set(), False),
    "openrouter": ({"reasoning", "reasoning_content", "reasoning_details"}, {"reasoning"}, False),
    "dashscope": ({"reasoning_content"}, {"enable_thinking", "thinking_budget", "preserve_thinking"}, False),
    "zai": ({"reasoning_content"}, {"thinking", "tool_stream"}, False),
    "minimax": ({"reasoning_details"}, set(), False),
    "ollama": ({"reasoning"}, set(), True),
    "llamacpp": ({"reasoning_content"}, set(), True),
    "vllm": ({"reasoning", "reasoning_content"}, set(), False),
    # Hosts of open models; others are like the first.
    "deepinfra": ({"reasoning", "reasoning_content"}, set(), False),
    "google-vertex": ({"reasoning", "reasoning_content"}, set(), False),
    "azure": ({"reasoning", "reasoning_content"}, set(), False),
    "xiaomi": ({"reasoning", "reasoning_content"}, {"thinking"}, False),
}
SELF_HOSTED = ("ollama", "llamacpp", "vllm")
SDKS: dict[str, Any] = {
    "groq": groq_types.CompletionCreateParams,
    "cerebras": cerebras_types.CompletionCreateParams,
}


def faults(request: Request) -> list[str]:
    """Every fault that the checks find in a request."""
    provider, body = request.model.provider, json.loads(request.json())
    found = _tool_faults(body)
    if provider in SELF_HOSTED:
        found += careful_faults(body, request)
    expected = SDKS.get(provider)
    if expected is None:
        streams = body.get("stream") is True
        kinds = (openai_types.CompletionCreateParamsNonStreaming, openai_types.CompletionCreateParamsStreaming)
        expected = kinds[streams]
    like = get_provider(provider).like or ""
    body = _without_extensions(body, *EXTENSIONS.get(provider, EXTENSIONS.get(like, (set(), set(), False))))
    return found + _check(body, expected, "body")


def type_faults(body: dict[str, Any]) -> list[str]:
    """Every fault of a body that is not streamed, by the types of the openai SDK."""
    return _check(body, openai_types.CompletionCreateParamsNonStreaming, "body")


def _without_extensions(body: Any, of_answers: set[str], of_body: set[str], name_of_tool: bool) -> Any:
    kept = {name: value for name, value in body.items() if name not in of_body}
    kept["messages"] = [
        {
            name: _unmarked(value)
            for name, value in message.items()
            if not (message["role"] == "assistant" and name in of_answers)
            and not (message["role"] == "tool" and name == "name" and name_of_tool)
        }
        for message in body["messages"]
    ]
    return kept


def _unmarked(content: Any) -> Any:
    """Content without cache markers, which OpenAI's types do not have."""
    if not isinstance(content, list):
        return content
    return [{key: value for key, value in part.items() if key != "cache_control"} for part in content]


# -- types ------------------------------------------------------------------------------------------------------------


@cache
def _fields(kind: Any) -> tuple[dict[str, Any], frozenset[str]]:
    hints = get_type_hints(kind, include_extras=True)
    required = {name for name, hint in hints.items() if get_origin(hint) is Required}
    optional = {name for name, hint in hints.items() if get_origin(hint) is NotRequired}
    return hints, frozenset(required | kind.__required_keys__ - optional)


def _check(value: Any, kind: Any, path: str) -> list[str]:
    """Every fault of ``value`` as a value of the type ``kind``."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in (Any, object):
        return []
    if isinstance(kind, TypeAliasType):
        return _check(value, kind.__value__, path)
    if isinstance(origin, TypeAliasType):
        return _check(value, origin.__value__[arguments], path)
    if origin in (Required, NotRequired) or (origin is not None and hasattr(kind, "__metadata__")):
        return _check(value, arguments[0], path)
    if origin in (Union, types.UnionType):
        return _check_one_of(value, arguments, path)
    if origin is Literal:
        return [] if value in arguments else [f"{path}: {value!r} is not one of {arguments}"]
    if is_typeddict(kind):
        return _check_object(value, kind, path)
    if origin in (list, Iterable, Sequence) or "SequenceNotStr" in str(origin):
        if not isinstance(value, list):
            return [f"{path}: must be a list"]
        return [fault for at, item in enumerate(value) for fault in _check(item, arguments[0], f"{path}[{at}]")]
    if origin is dict:
        if not isinstance(value, dict):
            return [f"{path}: must be an object"]
        return [fault for key, item in value.items() for fault in _check(item, arguments[1], f"{path}.{key}")]
    return _check_plain(value, kind, path)


def _check_one_of(value: Any, kinds: tuple[Any, ...], path: str) -> list[str]:
    """The faults of the alternative that fits best; message types of another role are skipped."""
    role = value.get("role") if isinstance(value, dict) else None
    best: list[str] | None = None
    for kind in kinds:
        if role is not None and is_typeddict(kind) and role not in _roles(kind):
            continue
        found = _check(value, kind, path)
        if not found:
            return []
        best = found if best is None or len(found) < len(best) else best
    return [f"{path}: {value!r} matches no alternative"] if best is None else best


@cache
def _roles(kind: Any) -> tuple[Any, ...]:
    hint = _fields(kind)[0].get("role")
    while hint is not None and get_origin(hint) is not Literal:
        hint = next(iter(get_args(hint)), None)
    return get_args(hint)


def _check_object(value: Any, kind: Any, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path}: must be an object"]
    hints, required = _fields(kind)
    found = [f"{path}.{name}: not in {kind.__name__}" for name in value if name not in hints]
    found += [f"{path}.{name}: missing in {kind.__name__}" for name in required if name not in value]
    for name, item in value.items():
        if name in hints:
            found += _check(item, hints[name], f"{path}.{name}")
    return found


def _check_plain(value: Any, kind: Any, path: str) -> list[str]:
    if kind is float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    elif kind is int:
        fits = isinstance(value, int) and not isinstance(value, bool)
    else:
        fits = isinstance(value, kind)
    return [] if fits else [f"{path}: {value!r} is not a {kind}"]


# -- calls and results ------------------------------------------------------------------------------------------------


def _tool_faults(body: Any) -> list[str]:
    """Check that each call is answered once, directly after it and in order, arguments are objects, and no answer is
    empty."""
    found: list[str] = []
    waiting: list[str] = []
    for at, message in enumerate(body["messages"]):
        if message["role"] == "tool":
            if not waiting or waiting.pop(0) != message["tool_call_id"]:
                found.append(f"messages[{at}]: not the result that is expected next")
            continue
        if waiting:
            found.append(f"messages[{at}]: {waiting} have no result")
        waiting = [call["id"] for call in message.get("tool_calls", [])]
        for call in message.get("tool_calls", []):
            if call["type"] == "custom":
                if not isinstance(call["custom"]["input"], str):
                    found.append(f"messages[{at}]: a free-text call without a text")
            elif not isinstance(json.loads(call["function"]["arguments"]), dict):
                found.append(f"messages[{at}]: arguments that are not an object")
        if message["role"] == "assistant" and not message.get("content") and not waiting:
            found.append(f"messages[{at}]: an empty answer")
    return found + [f"{waiting} have no result at the end"] * bool(waiting)


def careful_faults(body: Any, request: Request) -> list[str]:
    """Check what every template renders: string content, one leading system message, alternating roles, ids of nine
    characters."""
    dialect: Any = request.model.dialect
    found: list[str] = []
    before = ""
    for at, message in enumerate(body["messages"]):
        role, content, where = message["role"], message.get("content"), f"messages[{at}]"
        if role not in ("system", "user", "assistant", "tool") or (role == "system" and at > 0):
            found.append(f"{where}: {role}")
        is_text = isinstance(content, str) or (content is None and dialect.empty_content == "null")
        has_image = isinstance(content, list) and any(part["type"] == "image_url" for part in content)
        if not is_text and not (role == "user" and has_image):
            found.append(f"{where}: content is not a string")
        if dialect.alternate_roles and role == before and role in ("user", "assistant"):
            found.append(f"{where}: two {role} messages in a row")
        if role == "user" and before == "tool":
            found.append(f"{where}: a user message after a tool message")
        if role == "assistant" and before in ("", "system"):
            found.append(f"{where}: the first message is an answer")
        ids = [call["id"] for call in message.get("tool_calls", [])] + [message.get("tool_call_id", "000000000")]
        counts = dialect.id_form == "kimi"
        found += [f"{where}: id {each!r}" for each in ids if not (counts or re.fullmatch(r"[A-Za-z0-9]{9}", each))]
        before = role
    return found + ["the last message is an answer"] * (before == "assistant")
