"""Read the body of a chat completion as a conversation.

encode → ingest → encode returns the same body, except for what a conversation does not hold: every field other than
``messages`` and ``tools`` (``model`` and the options), ``strict`` of tools, ``detail`` of images, ``index`` of calls,
and ``reasoning`` next to ``reasoning_details``, which has the same content. Content without a block type becomes a text
that names it: remote images, files, audio, names of participants, system messages in mid-conversation. A failed result
is the text ``Error: …`` and remains that text.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from ...dialects import REASONING_FIELDS, OpenAICompletions
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
    UserContent,
    UserMessage,
    plain_text,
)
from ...types.media import is_address
from ...types.texts import SYSTEM
from ..common.reading import (
    DATA_URL,
    Object,
    answers,
    as_list,
    as_object,
    optional_text,
    place,
    read_each,
    result_message,
    text_in,
    tool_call,
    user_message,
)
from .reasoning import DETAILS, EXTRA, attached, reads_tags

NAME = "openai-completions"
_OPEN, _CLOSE = "<think>", "</think>"
_REASONED = frozenset({*REASONING_FIELDS, DETAILS})
"""The fields of an answer that have its reasoning."""


def ingest(body: Object, model: Model | None, now: int) -> Context:
    """Return the conversation in ``body``; ``model`` is the origin of its answers."""
    reader = _Reader(model, now)
    read_each(as_list(body.get("messages"), "messages"), "messages", reader.read)
    return Context(system_prompt="\n\n".join(reader.system) or None, messages=reader.messages, tools=_tools(body))


class _Reader:
    """The messages read so far, and the names of their calls by id."""

    def __init__(self, model: Model | None, now: int) -> None:
        self.system: list[str] = []
        self.messages: list[Message] = []
        self.call_names: dict[str, str] = {}
        self.now = now
        self._answer = answers(NAME, model, now)
        dialect = model.dialect if model is not None else None
        self.dialect = dialect if isinstance(dialect, OpenAICompletions) else OpenAICompletions()
        self._reads_tags = reads_tags(self.dialect)

    def read(self, message: Any) -> None:
        """Read a message."""
        role = as_object(message).get("role")
        read_role = _ROLES.get(role) if isinstance(role, str) else None
        if read_role is None:
            raise FormatError(f"the role {role!r} is not one of {', '.join(_ROLES)}", path="role")
        read_role(self, message)

    def read_system(self, message: Object) -> None:
        text = "\n\n".join(block.text for block in _blocks(message) if type(block) is TextContent)
        if self.messages:
            self.messages.append(UserMessage(SYSTEM.format(text), injected=True))
        elif text:
            self.system.append(text)

    def read_user(self, message: Object) -> None:
        name, content = optional_text(message, "name"), _blocks(message)
        self.messages.append(user_message([plain_text(f"({name})"), *content] if name else content))

    def read_result(self, message: Object) -> None:
        call_id = optional_text(message, "tool_call_id")
        name = self.call_names.get(call_id) or optional_text(message, "name")
        self.messages.append(result_message(call_id, name, _blocks(message)))

    def read_answer(self, message: Object) -> None:
        content = self._thinking(message)
        content += self._texts(message)
        notes: list[Diagnostic] = []
        calls = as_list(message.get("tool_calls") or [], "tool_calls")
        if message.get("function_call") is not None:
            calls = [*calls, {"id": "", "function": message["function_call"]}]
        rest = iter(calls)
        try:
            for raw in rest:
                content.append(self._call(raw, notes))
        except FormatError as error:
            raise error.below(place("tool_calls", calls, rest)) from None
        self.messages.append(self._answer(content, notes))

    def _call(self, raw: Any, notes: list[Diagnostic]) -> ToolCall:
        call, repaired = _call(raw)
        self.call_names[call.id] = call.name
        if repaired:
            details = {"id": call.id, "name": call.name}
            notes.append(Diagnostic("arguments-not-an-object", self.now, None, details))
        return call

    def _thinking(self, message: Object) -> list[AssistantContent]:
        """Reasoning with the name of its field, or with all of ``reasoning_details``; placeholders are left out."""
        if _REASONED.isdisjoint(message):
            return []
        texts = {name: text for name in REASONING_FIELDS if (text := optional_text(message, name)).strip()}
        details = as_list(message.get(DETAILS) or [], DETAILS)
        entries = [as_object(entry, f"{DETAILS}[{index}]") for index, entry in enumerate(details)]
        if self.dialect.dummy_signature is not None:
            entries = [entry for entry in entries if entry.get("data") != self.dialect.dummy_signature]
        if entries:
            text = next(iter(texts.values()), "") or "".join(map(_readable, entries))
            return [ThinkingContent(text, msgspec.json.encode(entries).decode())]
        return [ThinkingContent(text, name) for name, text in texts.items()]

    def _texts(self, message: Object) -> list[AssistantContent]:
        """The text of the content, and a text in place of a refusal or audio."""
        blocks: list[AssistantContent] = []
        for block in _blocks(message):
            if type(block) is TextContent and not self._reads_tags:
                blocks.append(block)
            else:
                blocks += self._untagged(block.text if type(block) is TextContent else f"({block.type})")
        refusal, audio = optional_text(message, "refusal"), message.get("audio")
        if refusal:
            blocks.append(TextContent(refusal))
        if isinstance(audio, dict):
            blocks.append(TextContent(f"(audio {audio.get('id')})"))
        return blocks

    def _untagged(self, text: str) -> list[AssistantContent]:
        """Split ``text`` into text and thinking, if the target writes thinking in tags. All tags count if thinking is
        sent back in tags; otherwise only those at the start."""
        if not self._reads_tags:
            return [plain_text(text)]
        everywhere = self.dialect.reasoning_field == "think-tags"
        blocks: list[AssistantContent] = []
        at, opens = 0, text.find(_OPEN)
        while opens >= 0 and (everywhere or not (blocks or text[:opens].strip())):
            closes = text.find(_CLOSE, opens)
            if closes < 0:
                break
            before = text[at:opens].removesuffix("\n\n") if everywhere else ""
            thinking = text[opens + len(_OPEN) : closes].removeprefix("\n").removesuffix("\n")
            blocks += [TextContent(before), ThinkingContent(thinking)] if before else [ThinkingContent(thinking)]
            at = closes + len(_CLOSE)
            at += 2 * text.startswith("\n\n", at)
            opens = text.find(_OPEN, at)
        return [*blocks, TextContent(text[at:])] if at < len(text) or not blocks else blocks


_ROLES: dict[str, Callable[[_Reader, Object], None]] = {
    "system": _Reader.read_system,
    "developer": _Reader.read_system,
    "user": _Reader.read_user,
    "assistant": _Reader.read_answer,
    "tool": _Reader.read_result,
    "function": _Reader.read_result,
}


# -- content ---------------------------------------------------------------------------------------------------------


def _blocks(message: Object) -> list[UserContent]:
    """The content of a message: a string, a list of parts (or of strings), or nothing."""
    content = message.get("content")
    if isinstance(content, str):
        return [plain_text(content)] if content else []
    if content is None:
        return []
    blocks: list[UserContent] = []
    parts = as_list(content, "content")
    rest = iter(parts)
    try:
        for part in rest:
            blocks.append(TextContent(part) if isinstance(part, str) else _part(as_object(part)))
    except FormatError as error:
        raise error.below(place("content", parts, rest)) from None
    return blocks


def _part(part: Object) -> UserContent:
    kind = part.get("type")
    if not isinstance(kind, str):
        raise FormatError("a part must have a type", path="type")
    return _PARTS.get(kind, _unknown_part)(part)


def _text_part(part: Object) -> UserContent:
    return plain_text(text_in(part, str(part["type"])))


def _image_part(part: Object) -> UserContent:
    image = part.get("image_url", part.get("image"))
    url = image if isinstance(image, str) else text_in(as_object(image, "image_url"), "url", "image_url")
    match = DATA_URL.fullmatch(url)
    if match is not None:
        return ImageContent(match[2], match[1] or "image/png")
    return ImageContent(url=url) if is_address(url) else TextContent(f"(image at {url})")


def _file_part(part: Object) -> UserContent:
    file = as_object(part.get("file"), "file")
    name, data = file.get("filename"), file.get("file_data")
    if isinstance(data, str) and (match := DATA_URL.fullmatch(data)) is not None:
        return FileContent(match[2], match[1] or "application/pdf", name=name if isinstance(name, str) else None)
    return TextContent(f"(file {file.get('filename') or file.get('file_id') or 'without a name'})")


def _audio_part(part: Object) -> UserContent:
    sound = as_object(part.get("input_audio"), "input_audio")
    data, mime_type = sound.get("data"), _AUDIO.get(str(sound.get("format")))
    if isinstance(data, str) and data and mime_type is not None:
        return FileContent(data, mime_type)
    return _unknown_part(part)


_AUDIO = {"wav": "audio/wav", "mp3": "audio/mpeg"}


def _unknown_part(part: Object) -> UserContent:
    return TextContent(f"({part['type']} omitted)")


_PARTS: dict[str, Callable[[Object], UserContent]] = {
    "text": _text_part,
    "refusal": _text_part,
    "image_url": _image_part,
    "image": _image_part,
    "file": _file_part,
    "input_audio": _audio_part,
}


def _readable(entry: Object) -> str:
    text = entry.get("text") or entry.get("summary")
    return text if isinstance(text, str) else ""


# -- calls and tools -------------------------------------------------------------------------------------------------


def _call(value: Any) -> tuple[ToolCall, bool]:
    """The call, and whether its arguments had to be wrapped in an object."""
    call = as_object(value)
    if call.get("type") == "custom":
        custom = as_object(call.get("custom"), "custom")
        arguments = {"input": custom.get("input", "")}
        name = text_in(custom, "name", "custom")
        return ToolCall(optional_text(call, "id"), name, arguments, kind="custom"), False
    function = as_object(call.get("function"), "function")
    read = _arguments(function.get("arguments"))
    kept = {"arguments": function.get("arguments")} if read is None else read
    name, signature = text_in(function, "name", "function"), attached(call.get(EXTRA))
    return tool_call(optional_text(call, "id"), name, kept, signature), read is None


def _arguments(value: Any) -> Object | None:
    """The arguments as an object: from a JSON string, or from an object, which some servers send. Missing and empty
    arguments are ``{}``; anything else is ``None``."""
    if value is None or value == "":
        return {}
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def _tools(body: Object) -> list[ToolDefinition]:
    tools = [_tool(tool, f"tools[{at}]") for at, tool in enumerate(as_list(body.get("tools") or [], "tools"))]
    legacy = enumerate(as_list(body.get("functions") or [], "functions"))
    return [tool for tool in tools if tool is not None] + [_function(each, f"functions[{at}]") for at, each in legacy]


def _tool(value: Any, path: str) -> ToolDefinition | None:
    """A function, or a tool that accepts free text. Tools that the provider runs itself are left out."""
    tool = as_object(value, path)
    if tool.get("type", "function") == "function":
        return _function(tool.get("function"), f"{path}.function")
    if tool["type"] == "custom":
        custom = as_object(tool.get("custom"), f"{path}.custom")
        description = optional_text(custom, "description", f"{path}.custom")
        form = custom.get("format")
        name = text_in(custom, "name", f"{path}.custom")
        return ToolDefinition(name, description, kind="custom", format=form if isinstance(form, dict) else None)
    return None


def _function(value: Any, path: str) -> ToolDefinition:
    function = as_object(value, path)
    parameters = function.get("parameters")
    schema = {"type": "object", "properties": {}} if parameters is None else as_object(parameters, f"{path}.parameters")
    return ToolDefinition(text_in(function, "name", path), optional_text(function, "description", path), schema)
