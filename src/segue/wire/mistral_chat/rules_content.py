"""Checks of chunks, names, schemas and options. The rules that use them are in ``rules.py``."""

import re
from collections.abc import Iterator
from typing import Any

from ...dialects import SCHEMA_SHAPES, MistralChat
from ...types import Model
from ..common.checks import arguments_fault, half_characters, repeated, schema_fault, shown
from ..common.images import data_fault
from ..common.schema import refused
from .rules_order import Body, Found, calls_of, role_of, turns

_NOT_IN_ANSWERS = ("image_url", "input_audio", "document_url", "file")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch


def chunks_of(message: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The path of each chunk in a message, and the chunk."""
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


def empty_answers(body: Body, model: Model | None) -> Found:
    is_old = model is not None and isinstance(model.dialect, MistralChat) and not model.dialect.text_with_calls
    for path, message in turns(body):
        if role_of(message) != "assistant":
            continue
        has_content, has_calls = bool(message.get("content")), bool(message.get("tool_calls"))
        if not has_content and not has_calls:
            yield path, "the answer has neither content nor calls"
        elif has_content and has_calls and is_old:
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
        yield path, f"{shown(name)!r} is not a valid function name"


def arguments(body: Body, model: Model | None) -> Found:
    """Arguments must be a string with a JSON object; the API also accepts the object itself."""
    for path, message in turns(body):
        for where, call in calls_of(message):
            function = call.get("function")
            value = function.get("arguments") if isinstance(function, dict) else None
            if not isinstance(value, dict) and (fault := arguments_fault(value)):
                yield f"{path}.{where}.function.arguments", fault


def media(body: Body, model: Model | None) -> Found:
    for path, message in turns(body):
        for where, chunk in chunks_of(message):
            kind = shown(chunk.get("type"))
            if kind in ("image_url", "document_url") and (fault := _address_fault(chunk.get(kind))):
                yield f"{path}.{where}.{kind}", fault
            if kind == "file" and chunk.get("file_id") == "":
                yield f"{path}.{where}.file_id", "an empty string"
            if kind == "input_audio" and (fault := _audio_fault(chunk.get("input_audio"))):
                yield f"{path}.{where}.input_audio", fault


def _address_fault(chunk: Any) -> str:
    url = chunk.get("url") if isinstance(chunk, dict) else chunk
    if not isinstance(url, str) or not url.lower().startswith(("https://", "http://", "data:")):
        return "must be an http URL or a data URL"
    if not url.lower().startswith("data:"):
        return ""
    label, found, data = url[5:].partition(";base64,")
    return data_fault(data, label or None) if found else "the data is not base64"


def _audio_fault(audio: Any) -> str:
    """Audio is base64, a data URL, or an address (mistral-common 1.13, AudioChunk)."""
    if not isinstance(audio, str) or audio.lower().startswith(("https://", "http://")):
        return ""
    return data_fault(audio.partition(";base64,")[2] if audio.startswith("data:") else audio, None)


def surrogates(body: Body, model: Model | None) -> Found:
    return half_characters(body)


def single_tools(body: Body, model: Model | None) -> Found:
    return repeated(((f"{path}.name", function.get("name")) for path, function in functions_of(body)), "the tool")


def choice(body: Body, model: Model | None) -> Found:
    wanted = body.get("tool_choice")
    function = wanted.get("function") if isinstance(wanted, dict) else None
    forced = function.get("name") if isinstance(function, dict) else None
    if not body.get("tools"):
        if forced is not None or wanted in ("any", "required"):
            yield "tool_choice", "a call is forced, but there are no tools"
    elif forced is not None and forced not in [function.get("name") for _, function in functions_of(body)]:
        yield "tool_choice", f"no tool has the name {shown(forced)!r}"


def formats(body: Body, model: Model | None) -> Found:
    wanted = body.get("response_format")
    if isinstance(wanted, dict) and wanted.get("type") == "json_schema" and wanted.get("json_schema") is None:
        yield "response_format.json_schema", "the type json_schema requires a schema"


def no_parts(body: Body, model: Model | None) -> Found:
    for path, message in turns(body):
        if message.get("content") == [] and role_of(message) != "assistant":
            yield f"{path}.content", "an empty list of chunks"


def schemas(body: Body, model: Model | None) -> Found:
    for path, function in functions_of(body):
        parameters = function.get("parameters")
        if not isinstance(parameters, dict):
            yield f"{path}.parameters", "the parameters must be an object"
        elif parameters.get("type", "object") != "object":
            yield f"{path}.parameters", schema_fault(parameters)
        else:
            yield from refused(parameters, SCHEMA_SHAPES["draft-7"], f"{path}.parameters")


def thinking(body: Body, model: Model | None) -> Found:
    refused = model is not None and model.dialect.own_reasoning == "none"
    for path, message in turns(body):
        role, is_first = role_of(message), True
        for where, chunk in chunks_of(message):
            if chunk.get("type") != "thinking":
                is_first = False
            elif role in ("user", "tool"):
                yield f"{path}.{where}", f"thinking is not allowed in a message of the role {role!r}"
            elif role == "assistant" and refused:
                yield f"{path}.{where}", "this model does not accept thinking"
            elif role == "assistant" and not is_first:
                yield f"{path}.{where}", "thinking must come before other chunks"


def images_in_results(body: Body, model: Model | None) -> Found:
    yield from _chunks(body, "tool", ("image_url", "image"), "a tool message can have only text")


def chunks_of_answers(body: Body, model: Model | None) -> Found:
    yield from _chunks(body, "assistant", _NOT_IN_ANSWERS, "an answer can have only text, thinking and references")


def _chunks(body: Body, role: str, kinds: tuple[str, ...], fault: str) -> Iterator[tuple[str, str]]:
    for path, message in turns(body):
        if role_of(message) == role:
            for where, chunk in chunks_of(message):
                if chunk.get("type") in kinds:
                    yield f"{path}.{where}", fault


def effort(body: Body, model: Model | None) -> Found:
    level = body.get("reasoning_effort")
    if level is None:
        return
    known = model.dialect.effort if model is not None and isinstance(model.dialect, MistralChat) else ()
    if level not in known:
        which = "not every model has" if model is None else "this model does not have"
        yield "reasoning_effort", f"{which} the level {shown(level)!r}"


def max_tokens(body: Body, model: Model | None) -> Found:
    limit = body.get("max_tokens")
    if model is not None and isinstance(limit, int) and limit >= model.context_window:
        yield "max_tokens", f"{limit} leaves no room for a prompt in a context window of {model.context_window}"


def audio_with_system(body: Body, model: Model | None) -> Found:
    if any(role_of(message) == "system" for _, message in turns(body)):
        yield from _chunks(body, "user", ("input_audio", "audio_url"), "audio in a request with a system message")
