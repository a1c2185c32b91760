"""Checks of fields, chunks, names, schemas and options. The rows that use them are in ``rules.py``."""

import re
from collections.abc import Iterator
from typing import Any

from ...dialects import MistralChat
from ...types import Model
from ..common.checks import arguments_fault, half_characters, shown
from ..common.images import data_fault
from .rules_order import Body, Found, calls_of, role_of, turns
from .schema import faults

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch

# The fields of the request types of mistralai 3.7.0; the API refuses all others (MIS-09).
BODY_FIELDS = frozenset(
    {"model", "messages", "temperature", "top_p", "max_tokens", "stream", "stop", "random_seed", "metadata"}
    | {"response_format", "tools", "tool_choice", "presence_penalty", "frequency_penalty", "min_tokens"}
    | {"repetition_penalty", "top_k", "logprobs", "top_logprobs", "prompt_logprobs", "top_prompt_logprobs", "n"}
    | {"prediction", "parallel_tool_calls", "reasoning_effort", "prompt_mode", "guardrails", "prompt_cache_key"}
    | {"service_tier", "safe_prompt"}
)
MESSAGE_FIELDS: dict[str, frozenset[str]] = {
    "system": frozenset({"role", "content"}),
    "user": frozenset({"role", "content"}),
    "assistant": frozenset({"role", "content", "tool_calls", "prefix"}),
    "tool": frozenset({"role", "content", "tool_call_id", "name"}),
}
CALL_FIELDS = frozenset({"id", "type", "index", "function"})
CALLED_FIELDS = frozenset({"name", "arguments"})
TOOL_FIELDS = frozenset({"type", "function"})
FUNCTION_FIELDS = frozenset({"name", "description", "parameters", "strict"})
# By type of chunk; where the API takes more than this table tells (files, audio, resources), None.
CHUNK_FIELDS: dict[str, frozenset[str] | None] = {
    "text": frozenset({"type", "text"}),
    "image_url": frozenset({"type", "image_url"}),
    "thinking": frozenset({"type", "thinking", "signature", "closed"}),
    "document_url": frozenset({"type", "document_url", "document_name"}),
    **dict.fromkeys(("reference", "file", "input_audio", "resource", "resource_link"), None),
}


def chunks_of(message: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Where each chunk of a message stands in it, and the chunk."""
    content = message.get("content")
    if not isinstance(content, list):
        return []
    return [(f"content[{at}]", chunk) for at, chunk in enumerate(content) if isinstance(chunk, dict)]


def tools_of(body: Body) -> list[tuple[str, dict[str, Any]]]:
    """Path and definition of each tool that is a function."""
    tools = body.get("tools")
    if not isinstance(tools, list):
        return []
    return [
        (f"tools[{at}]", tool)
        for at, tool in enumerate(tools)
        if isinstance(tool, dict) and isinstance(tool.get("function"), dict)
    ]


def functions_of(body: Body) -> list[tuple[str, dict[str, Any]]]:
    return [(f"{path}.function", tool["function"]) for path, tool in tools_of(body)]


def _beyond(value: Any, known: frozenset[str], path: str) -> Found:
    if isinstance(value, dict):
        prefix = f"{path}." if path else ""
        for name in value:
            if name not in known:
                yield f"{prefix}{name}", f"{name!r} is not a field that the API knows here"


def fields(body: Body, model: Model | None) -> Found:
    yield from _beyond(body, BODY_FIELDS, "")
    for path, message in turns(body):
        yield from _beyond(message, MESSAGE_FIELDS.get(role_of(message), frozenset(message)), path)
        for where, chunk in chunks_of(message):
            yield from _chunk_fields(chunk, f"{path}.{where}")
        for where, call in calls_of(message):
            yield from _beyond(call, CALL_FIELDS, f"{path}.{where}")
            yield from _beyond(call.get("function"), CALLED_FIELDS, f"{path}.{where}.function")
    for path, tool in tools_of(body):
        yield from _beyond(tool, TOOL_FIELDS, path)
        yield from _beyond(tool["function"], FUNCTION_FIELDS, f"{path}.function")


def _chunk_fields(chunk: dict[str, Any], path: str) -> Found:
    kind = chunk.get("type")
    if not isinstance(kind, str) or kind not in CHUNK_FIELDS:
        yield f"{path}.type", f"{kind!r} is not a type of chunk that the API knows"
    else:
        yield from _beyond(chunk, CHUNK_FIELDS[kind] or frozenset(chunk), path)


def answers_say_something(body: Body, model: Model | None) -> Found:
    old = model is not None and isinstance(model.dialect, MistralChat) and not model.dialect.text_with_calls
    for path, message in turns(body):
        if role_of(message) != "assistant":
            continue
        says, calls = bool(message.get("content")), bool(message.get("tool_calls"))
        if not says and not calls:
            yield path, "the answer has neither content nor calls"
        elif says and calls and old:
            yield path, "the answer has both content and calls, which this model's tokenizer refuses"


def names(body: Body, model: Model | None) -> Found:
    for path, function in functions_of(body):
        yield from _name(function.get("name"), f"{path}.name")
    for path, message in turns(body):
        if role_of(message) == "tool" and message.get("name") is not None:
            yield from _name(message["name"], f"{path}.name")
        for where, call in calls_of(message):
            called = call.get("function")
            if isinstance(called, dict):
                yield from _name(called.get("name"), f"{path}.{where}.function.name")


def _name(name: Any, path: str) -> Found:
    if not isinstance(name, str) or not _NAME(name):
        yield path, f"{shown(name)!r} is no name of a function"


def arguments(body: Body, model: Model | None) -> Found:
    """The API takes an object as it is, too."""
    for path, message in turns(body):
        for where, call in calls_of(message):
            called = call.get("function")
            given = called.get("arguments") if isinstance(called, dict) else None
            if not isinstance(given, dict) and (fault := arguments_fault(given)):
                yield f"{path}.{where}.function.arguments", fault


def images(body: Body, model: Model | None) -> Found:
    for path, message in turns(body):
        for where, chunk in chunks_of(message):
            if chunk.get("type") == "image_url" and (fault := _image_fault(chunk.get("image_url"))):
                yield f"{path}.{where}.image_url", fault


def _image_fault(image: Any) -> str:
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str) or not url.lower().startswith(("https://", "http://", "data:")):
        return "an image has an http URL or a data URL"
    if not url.lower().startswith("data:"):
        return ""
    _, found, data = url.partition(";base64,")
    return data_fault(data, None) if found else "the data is not base64"


def surrogates(body: Body, model: Model | None) -> Found:
    return half_characters(body)


def schemas(body: Body, model: Model | None) -> Found:
    for path, function in functions_of(body):
        parameters = function.get("parameters")
        if not isinstance(parameters, dict):
            yield f"{path}.parameters", "the parameters are no object"
        else:
            yield from faults(parameters, f"{path}.parameters")


def thinking(body: Body, model: Model | None) -> Found:
    refused = model is not None and model.dialect.own_reasoning == "none"
    for path, message in turns(body):
        role, led = role_of(message), True
        for where, chunk in chunks_of(message):
            if chunk.get("type") != "thinking":
                led = False
            elif role in ("user", "tool"):
                yield f"{path}.{where}", f"thinking may not stand in a message of {role!r}"
            elif role == "assistant" and refused:
                yield f"{path}.{where}", "this model does not take thinking back"
            elif role == "assistant" and not led:
                yield f"{path}.{where}", "thinking stands before all else"


def images_in_results(body: Body, model: Model | None) -> Found:
    yield from _chunks(body, "tool", ("image_url", "image"), "a tool message holds text only")


def _chunks(body: Body, role: str, kinds: tuple[str, ...], words: str) -> Iterator[tuple[str, str]]:
    for path, message in turns(body):
        if role_of(message) == role:
            for where, chunk in chunks_of(message):
                if chunk.get("type") in kinds:
                    yield f"{path}.{where}", words


def effort(body: Body, model: Model | None) -> Found:
    given = body.get("reasoning_effort")
    if given is None:
        return
    known = model.dialect.effort if model is not None and isinstance(model.dialect, MistralChat) else ()
    if given not in known:
        yield "reasoning_effort", f"{shown(given)!r} is not known to {'every' if model is None else 'this'} model"


def max_tokens(body: Body, model: Model | None) -> Found:
    given = body.get("max_tokens")
    if model is not None and isinstance(given, int) and given >= model.context_window:
        yield "max_tokens", f"{given} leaves no room for a prompt in {model.context_window}"


def audio_with_system(body: Body, model: Model | None) -> Found:
    if any(role_of(message) == "system" for _, message in turns(body)):
        yield from _chunks(body, "user", ("input_audio", "audio_url"), "audio in a request with a system message")
