"""The body of a Mistral chat completion to a conversation.

encode → ingest → encode gives the same body, apart from what a conversation does not hold: every field beside
``messages`` and ``tools`` (``model`` and the options), ``prefix`` of the last answer, ``index`` of calls, ``strict`` of
tools, ``detail`` of images, and tools that are not functions. A failed result reads ``Error: …`` and stays that text. A
system message after the first words of the conversation becomes words of the user in its place.
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from ...errors import FormatError
from ...types import (
    AssistantContent,
    Context,
    Diagnostic,
    ImageContent,
    Message,
    Model,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ..common.reading import DATA_URL, Object, answer, as_list, as_object, optional_text, text_in

NAME = "mistral-chat"


def ingest(body: Object, model: Model | None, now: int) -> Context:
    """The conversation that ``body`` holds; ``model`` is the origin of its answers."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise FormatError("a list of messages is needed", path="messages")
    reader = _Reader(model, now)
    for index, message in enumerate(messages):
        reader.take(message, f"messages[{index}]")
    return Context(
        system_prompt="\n\n".join(reader.system) or None, messages=reader.messages, tools=_tools(body.get("tools"))
    )


class _Reader:
    """The messages so far, and the names of the calls in them, by id."""

    def __init__(self, model: Model | None, now: int) -> None:
        self.system: list[str] = []
        self.messages: list[Message] = []
        self.called: dict[str, str] = {}
        self.model, self.now = model, now

    def take(self, message: Any, path: str) -> None:
        role = as_object(message, path).get("role")
        read = _ROLES.get(role) if isinstance(role, str) else None
        if read is None:
            raise FormatError(f"{role!r} is none of {', '.join(_ROLES)}", path=f"{path}.role")
        read(self, message, path)

    def take_system(self, message: Object, path: str) -> None:
        text = "\n\n".join(_system_texts(message.get("content"), f"{path}.content"))
        if self.messages:
            self.messages.append(UserMessage(text))
        elif text:
            self.system.append(text)

    def take_user(self, message: Object, path: str) -> None:
        self.messages.append(UserMessage(_shown(message.get("content"), f"{path}.content")))

    def take_answer(self, message: Object, path: str) -> None:
        diagnostics: list[Diagnostic] = []
        content: list[AssistantContent] = _said(message.get("content"), f"{path}.content")
        calls = message.get("tool_calls") or []
        for index, call in enumerate(as_list(calls, f"{path}.tool_calls")):
            made, repaired = _call(call, f"{path}.tool_calls[{index}]")
            self.called[made.id] = made.name
            content.append(made)
            if repaired:
                details = {"id": made.id, "name": made.name}
                diagnostics.append(Diagnostic("arguments-not-an-object", self.now, None, details))
        self.messages.append(answer(NAME, self.model, content, self.now, diagnostics))

    def take_result(self, message: Object, path: str) -> None:
        id_ = optional_text(message, "tool_call_id", path)
        name = self.called.get(id_) or optional_text(message, "name", path)
        self.messages.append(ToolResultMessage(id_, name, _shown(message.get("content"), f"{path}.content")))


_ROLES: dict[str, Callable[[_Reader, Object, str], None]] = {
    "system": _Reader.take_system,
    "user": _Reader.take_user,
    "assistant": _Reader.take_answer,
    "tool": _Reader.take_result,
}


# -- content ---------------------------------------------------------------------------------------------------------


def _chunks(content: Any, path: str) -> list[tuple[str, Object, str]]:
    """Type, chunk and path of each chunk; a string is one text, null is none."""
    if content is None:
        return []
    if isinstance(content, str):
        return [("text", {"text": content}, path)]
    found = []
    for index, chunk in enumerate(as_list(content, path)):
        where = f"{path}[{index}]"
        found.append((text_in(as_object(chunk, where), "type", where), chunk, where))
    return found


def _shown(content: Any, path: str) -> list[UserContent]:
    """What a user or a tool shows."""
    return [
        _image(chunk, where) if kind == "image_url" else TextContent(_readable(kind, chunk, where))
        for kind, chunk, where in _chunks(content, path)
    ]


def _said(content: Any, path: str) -> list[AssistantContent]:
    """What an answer says and thinks."""
    return [
        ThinkingContent(_thought(chunk, where), optional_text(chunk, "signature", where))
        if kind == "thinking"
        else TextContent(_readable(kind, chunk, where))
        for kind, chunk, where in _chunks(content, path)
    ]


def _system_texts(content: Any, path: str) -> list[str]:
    """Magistral's own system prompt holds a chunk of thinking, which its template writes between these marks."""
    return [
        f"[THINK]{_thought(chunk, where)}[/THINK]" if kind == "thinking" else _readable(kind, chunk, where)
        for kind, chunk, where in _chunks(content, path)
    ]


def _image(chunk: Object, path: str) -> UserContent:
    url = _url(chunk, "image_url", path)
    match = DATA_URL.fullmatch(url)
    if match is None:
        return TextContent(f"(image at {_short(url)})")
    return ImageContent(match[2], match[1] or "image/png")


def _readable(kind: str, chunk: Object, path: str) -> str:
    """A chunk as text; one that a conversation cannot hold says what stood there."""
    read = _READABLE.get(kind)
    return f"({kind} omitted)" if read is None else read(chunk, path)


def _thought(chunk: Object, path: str) -> str:
    """The text of a thinking chunk: a list of chunks in the API, a string in mistral-common."""
    where = f"{path}.thinking"
    return "".join(_readable(kind, each, place) for kind, each, place in _chunks(chunk.get("thinking"), where))


def _references(chunk: Object, path: str) -> str:
    return f"(references {', '.join(map(str, as_list(chunk.get('reference_ids', []), f'{path}.reference_ids')))})"


_READABLE: dict[str, Callable[[Object, str], str]] = {
    "text": lambda chunk, path: text_in(chunk, "text", path),
    "thinking": lambda chunk, path: _thought(chunk, path),
    "image_url": lambda chunk, path: f"(image at {_short(_url(chunk, 'image_url', path))})",
    "document_url": lambda chunk, path: f"(document at {_short(_url(chunk, 'document_url', path))})",
    "file": lambda chunk, path: f"(file {_short(str(chunk.get('file_id')))})",
    "input_audio": lambda chunk, path: "(audio omitted)",
    "reference": _references,
}


# -- calls and tools -------------------------------------------------------------------------------------------------


def _call(call: Any, path: str) -> tuple[ToolCall, bool]:
    """A call, and whether its arguments had to be put into an object."""
    function = as_object(as_object(call, path).get("function"), f"{path}.function")
    arguments = _parsed(function.get("arguments"))
    id_ = optional_text(call, "id", path)
    made = ToolCall(
        "" if id_ == "null" else id_,  # how the API writes a call without an id
        text_in(function, "name", f"{path}.function"),
        arguments if isinstance(arguments, dict) else {"arguments": arguments},
    )
    return made, not isinstance(arguments, dict)


def _parsed(arguments: Any) -> Any:
    """Arguments come as JSON text or as an object; what is no JSON stays the text that the model wrote."""
    if arguments is None or arguments == "":
        return {}
    if not isinstance(arguments, str):
        return arguments
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return arguments


def _tools(tools: Any) -> list[ToolDefinition]:
    if tools is None:
        return []
    read = [_tool(tool, f"tools[{index}]") for index, tool in enumerate(as_list(tools, "tools"))]
    return [tool for tool in read if tool is not None]


def _tool(tool: Any, path: str) -> ToolDefinition | None:
    """A function; what the provider itself runs (image generation, libraries, connectors) is no tool of ours."""
    if as_object(tool, path).get("type", "function") != "function":
        return None
    function = as_object(tool.get("function"), f"{path}.function")
    name = text_in(function, "name", f"{path}.function")
    description = optional_text(function, "description", f"{path}.function")
    if function.get("parameters") is None:
        return ToolDefinition(name, description)
    return ToolDefinition(name, description, as_object(function["parameters"], f"{path}.function.parameters"))


# -- plain values ----------------------------------------------------------------------------------------------------


def _url(chunk: Object, key: str, path: str) -> str:
    """``{"image_url": "…"}`` and ``{"image_url": {"url": "…"}}`` are the same."""
    given = chunk.get(key)
    return text_in(given, "url", f"{path}.{key}") if isinstance(given, dict) else text_in(chunk, key, path)


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:199] + "…"


# -- recognising -----------------------------------------------------------------------------------------------------

# What bodies of other protocols have: no mistake, but another form.
_OTHER_FORMS = frozenset({"contents", "input", "instructions", "system", "inferenceConfig", "toolConfig"})
# What other chat completions take and this API refuses: more likely theirs, but it may be a mistake.
_OTHERS = frozenset({"max_completion_tokens", "stream_options", "store", "seed", "user", "logit_bias", "functions"})
_MARKS = frozenset({"safe_prompt", "random_seed", "prompt_mode", "guardrails"})
_NINE = re.compile(r"[A-Za-z0-9]{9}").fullmatch
# Names as the provider itself gives them; elsewhere a vendor stands before (`mistralai/…`) or a size behind (`:7b`).
_OWN_MODEL = re.compile(
    r"(?:[a-z]+-)?(?:mi[sx]tral|ministral|magistral|codestral|devstral|pixtral|voxtral|leanstral|glm)-[a-z0-9.-]+"
).fullmatch
_HOSTED = re.compile(r".*(?:-latest|-2[3-9][01][0-9])").fullmatch
_ANY_ROLE = frozenset({*_ROLES, "developer", "function"})


def recognise(body: Object) -> int:
    """How surely ``body`` is one of Mistral's: 0 for no, 90 where something in it is Mistral's alone.

    A chat completion without a mark is left to the large family that shares the form.
    """
    messages = body.get("messages")
    if not isinstance(messages, list) or not _OTHER_FORMS.isdisjoint(body) or not all(map(_may_be, messages)):
        return 0
    if not _OTHERS.isdisjoint(body) or any("reasoning_content" in message for message in messages):
        return 1
    chunks = [chunk for message in messages for chunk in _listed(message.get("content"))]
    if not _MARKS.isdisjoint(body) or any("prefix" in message for message in messages) or any(map(_is_own, chunks)):
        return 90
    model = body.get("model")
    name = model if isinstance(model, str) and _OWN_MODEL(model) else ""
    if _has_own_ids(messages):
        return 70 if name or model is None else 40
    return 60 if _HOSTED(name) else 1


def _may_be(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and isinstance(message.get("role"), str)
        and message["role"] in _ANY_ROLE
        and all(map(_is_chunk, _listed(message.get("content"))))
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_chunk(chunk: Any) -> bool:
    """Blocks of calls and results are Anthropic's, blocks without a type Bedrock's."""
    return isinstance(chunk, dict) and isinstance(chunk.get("type"), str) and not chunk["type"].startswith("tool_")


def _is_own(chunk: Object) -> bool:
    """Thinking as a list, and an image's address as a bare string, are written nowhere else."""
    return (chunk["type"] == "thinking" and isinstance(chunk.get("thinking"), list)) or (
        chunk["type"] == "image_url" and isinstance(chunk.get("image_url"), str)
    )


def _has_own_ids(messages: list[Object]) -> bool:
    """Ids of nine characters are Mistral's, but templates elsewhere want them too; there results seldom have a name."""
    results = [message for message in messages if message["role"] == "tool"]
    return bool(results) and all(
        isinstance(result.get("tool_call_id"), str) and _NINE(result["tool_call_id"]) and "name" in result
        for result in results
    )
