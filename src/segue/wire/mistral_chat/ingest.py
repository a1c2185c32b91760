"""Read the body of a Mistral chat completion as a conversation.

encode → ingest → encode returns the same body, except for what a conversation does not hold: every field other than
``messages`` and ``tools`` (``model`` and the options), ``prefix`` of the last answer, ``index`` of calls, ``strict`` of
tools, ``detail`` of images, and tools that are not functions. A failed result is the text ``Error: …`` and remains that
text. A system message in mid-conversation becomes a user message.
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
    FileContent,
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
from ...types.media import is_address, type_of_address
from ..common.reading import DATA_URL, Object, answers, as_list, as_object, optional_text, text_in

NAME = "mistral-chat"


def ingest(body: Object, model: Model | None, now: int) -> Context:
    """Return the conversation in ``body``; ``model`` is the origin of its answers."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise FormatError("messages must be a list", path="messages")
    reader = _Reader(model, now)
    for index, message in enumerate(messages):
        reader.read(message, f"messages[{index}]")
    return Context(
        system_prompt="\n\n".join(reader.system) or None, messages=reader.messages, tools=_tools(body.get("tools"))
    )


class _Reader:
    """The messages read so far, and the names of their calls by id."""

    def __init__(self, model: Model | None, now: int) -> None:
        self.system: list[str] = []
        self.messages: list[Message] = []
        self.call_names: dict[str, str] = {}
        self.now = now
        self._answer = answers(NAME, model, now)

    def read(self, message: Any, path: str) -> None:
        role = as_object(message, path).get("role")
        read_role = _ROLES.get(role) if isinstance(role, str) else None
        if read_role is None:
            raise FormatError(f"the role {role!r} is not one of {', '.join(_ROLES)}", path=f"{path}.role")
        read_role(self, message, path)

    def read_system(self, message: Object, path: str) -> None:
        text = "\n\n".join(_system_texts(message.get("content"), f"{path}.content"))
        if self.messages:
            self.messages.append(UserMessage(text, injected=True))
        elif text:
            self.system.append(text)

    def read_user(self, message: Object, path: str) -> None:
        self.messages.append(UserMessage(_blocks(message.get("content"), f"{path}.content")))

    def read_answer(self, message: Object, path: str) -> None:
        diagnostics: list[Diagnostic] = []
        content: list[AssistantContent] = _answer_blocks(message.get("content"), f"{path}.content")
        calls = message.get("tool_calls") or []
        for index, raw in enumerate(as_list(calls, f"{path}.tool_calls")):
            call, repaired = _call(raw, f"{path}.tool_calls[{index}]")
            self.call_names[call.id] = call.name
            content.append(call)
            if repaired:
                details = {"id": call.id, "name": call.name}
                diagnostics.append(Diagnostic("arguments-not-an-object", self.now, None, details))
        self.messages.append(self._answer(content, diagnostics))

    def read_result(self, message: Object, path: str) -> None:
        call_id = optional_text(message, "tool_call_id", path)
        name = self.call_names.get(call_id) or optional_text(message, "name", path)
        self.messages.append(ToolResultMessage(call_id, name, _blocks(message.get("content"), f"{path}.content")))


_ROLES: dict[str, Callable[[_Reader, Object, str], None]] = {
    "system": _Reader.read_system,
    "user": _Reader.read_user,
    "assistant": _Reader.read_answer,
    "tool": _Reader.read_result,
}


# -- content ---------------------------------------------------------------------------------------------------------


def _chunks(content: Any, path: str) -> list[tuple[str, Object, str]]:
    """Type, chunk and path of each chunk; a string is one text chunk, null has none."""
    if content is None:
        return []
    if isinstance(content, str):
        return [("text", {"text": content}, path)]
    found = []
    for index, chunk in enumerate(as_list(content, path)):
        where = f"{path}[{index}]"
        found.append((text_in(as_object(chunk, where), "type", where), chunk, where))
    return found


def _blocks(content: Any, path: str) -> list[UserContent]:
    """The content of a user message or a result."""
    return [user_block(kind, chunk, where) for kind, chunk, where in _chunks(content, path)]


def user_block(kind: str, chunk: Object, path: str) -> UserContent:
    """A chunk as text, image or file. Anything else becomes a text that names it."""
    return _MEDIA[kind](chunk, path) if kind in _MEDIA else TextContent(_readable(kind, chunk, path))


def _answer_blocks(content: Any, path: str) -> list[AssistantContent]:
    """The text and thinking of an answer."""
    return [
        ThinkingContent(_thought(chunk, where), optional_text(chunk, "signature", where))
        if kind == "thinking"
        else TextContent(_readable(kind, chunk, where))
        for kind, chunk, where in _chunks(content, path)
    ]


def _system_texts(content: Any, path: str) -> list[str]:
    """The texts of a system prompt. Magistral's own has a thinking chunk, which its template writes in these marks."""
    return [
        f"[THINK]{_thought(chunk, where)}[/THINK]" if kind == "thinking" else _readable(kind, chunk, where)
        for kind, chunk, where in _chunks(content, path)
    ]


def _image(chunk: Object, path: str) -> UserContent:
    url = _url(chunk, "image_url", path)
    match = DATA_URL.fullmatch(url)
    if match is None:
        return ImageContent(url=url) if is_address(url) else TextContent(f"(image at {_short(url)})")
    return ImageContent(match[2], match[1] or "image/png")


def _document(chunk: Object, path: str) -> UserContent:
    url, name = _url(chunk, "document_url", path), chunk.get("document_name")
    name = name if isinstance(name, str) else None
    match = DATA_URL.fullmatch(url)
    if match is not None:
        return FileContent(match[2], match[1] or "application/pdf", name=name)
    if is_address(url):
        return FileContent(url=url, mime_type=type_of_address(url) or "application/pdf", name=name)
    return TextContent(_readable("document_url", chunk, path))


def _audio(chunk: Object, path: str) -> UserContent:
    """A sound: base64, or an address. Its type is that of its first bytes."""
    data = chunk.get("input_audio")
    if isinstance(data, str) and is_address(data):
        return FileContent(url=data, mime_type=type_of_address(data) or "audio/mpeg")
    if isinstance(data, str) and data:
        return FileContent(data, "audio/wav" if data.startswith(_RIFF) else "audio/mpeg")
    return TextContent(_readable("input_audio", chunk, path))


_RIFF = "UklGR"
"""How a wav file begins, in base64."""
_MEDIA: dict[str, Callable[[Object, str], UserContent]] = {
    "image_url": _image,
    "document_url": _document,
    "input_audio": _audio,
}


def _readable(kind: str, chunk: Object, path: str) -> str:
    """A chunk as text; a chunk that a conversation cannot hold becomes a text that names it."""
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
    """The call, and whether its arguments had to be wrapped in an object."""
    function = as_object(as_object(call, path).get("function"), f"{path}.function")
    arguments = _parsed(function.get("arguments"))
    call_id = optional_text(call, "id", path)
    read = ToolCall(
        "" if call_id == "null" else call_id,  # the API writes "null" for a call without an id
        text_in(function, "name", f"{path}.function"),
        arguments if isinstance(arguments, dict) else {"arguments": arguments},
    )
    return read, not isinstance(arguments, dict)


def _parsed(arguments: Any) -> Any:
    """Arguments from JSON text or from an object; text that is not JSON is returned unchanged."""
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
    """A function. Tools that the provider runs (image generation, libraries, connectors) are left out."""
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
    """The URL in ``{"image_url": "…"}`` or in ``{"image_url": {"url": "…"}}``, which are equivalent."""
    value = chunk.get(key)
    return text_in(value, "url", f"{path}.{key}") if isinstance(value, dict) else text_in(chunk, key, path)


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:199] + "…"


# -- recognising -----------------------------------------------------------------------------------------------------

# Fields of other protocols.
_OTHER_FORMS = frozenset({"contents", "input", "instructions", "system", "inferenceConfig", "toolConfig"})
# Fields that other chat completions accept and this API refuses: the body is more likely theirs, or has a mistake.
_OTHERS = frozenset({"max_completion_tokens", "stream_options", "store", "seed", "user", "logit_bias", "functions"})
_MARKS = frozenset({"safe_prompt", "random_seed", "prompt_mode", "guardrails"})
_NINE = re.compile(r"[A-Za-z0-9]{9}").fullmatch
# Model names of the provider itself; elsewhere they have a vendor as prefix (`mistralai/…`) or a size (`:7b`).
_OWN_MODEL = re.compile(
    r"(?:[a-z]+-)?(?:mi[sx]tral|ministral|magistral|codestral|devstral|pixtral|voxtral|leanstral|glm)-[a-z0-9.-]+(?:@[a-z0-9]+)?"
).fullmatch
_HOSTED = re.compile(r".*(?:-latest|-2[3-9][01][0-9])").fullmatch
_ANY_ROLE = frozenset({*_ROLES, "developer", "function"})


def recognise(body: Object) -> int:
    """Return how sure it is that ``body`` is Mistral's: 0 for no, 90 if something in it is only Mistral's.

    Without a specific field, a chat completion is more likely one of the large family with the same form.
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
    """Whether this can be a chunk. Calls and results as blocks are Anthropic's, blocks without a type Bedrock's."""
    return isinstance(chunk, dict) and isinstance(chunk.get("type"), str) and not chunk["type"].startswith("tool_")


def _is_own(chunk: Object) -> bool:
    """Whether a chunk is specific to Mistral: thinking as a list, or an image URL as a bare string."""
    return (chunk["type"] == "thinking" and isinstance(chunk.get("thinking"), list)) or (
        chunk["type"] == "image_url" and isinstance(chunk.get("image_url"), str)
    )


def _has_own_ids(messages: list[Object]) -> bool:
    """Whether ids have nine characters and results a name. Other templates require such ids, too, but seldom names."""
    results = [message for message in messages if message["role"] == "tool"]
    return bool(results) and all(
        isinstance(result.get("tool_call_id"), str) and _NINE(result["tool_call_id"]) and "name" in result
        for result in results
    )
