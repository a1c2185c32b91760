"""Encode a projected conversation as the body of ``POST /responses``, without state on the server (``store: false``).

Code that follows a rule cites its number in ``rules.py``. There is no rule about the order of roles (OAR-02), so no
messages are merged and no fillers are inserted.
"""

from typing import Any, assert_never

from msgspec import Struct

from ...dialects import OpenAIResponses
from ...projection import grammar_of, matches, same_origin
from ...types import (
    AssistantContent,
    AssistantMessage,
    FileContent,
    ImageContent,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ...types.media import type_of_file
from ...types.texts import CLOSING
from ..common.dataurl import DataUrl, to_json
from ..common.images import COMMON_TYPES, sendable
from ..common.outgoing import Outgoing
from ..common.results import hold_media, mark_failed
from ..common.turns import Mark, Turns
from ..common.writing import input_of
from .options import add_options
from .replay import annotations_of, has_annotations, items_of, message_of, names_item

Out = Outgoing[OpenAIResponses]
UNNAMED = "document.pdf"
"""The name of a file without one."""
Item = Any
"""A dict, or a struct that is written like one; this also applies to the parts of a message."""

# Items have no reference cycles, so the garbage collector does not have to track them.


class Message(Struct, tag_field="type", tag="message", omit_defaults=True, gc=False):
    role: str
    content: str | list[Any]
    phase: str | None = None


class InputText(Struct, tag_field="type", tag="input_text", gc=False):
    text: str


class FunctionCall(Struct, tag_field="type", tag="function_call", omit_defaults=True, gc=False):
    call_id: str
    name: str
    arguments: str
    namespace: str | None = None


class CustomCall(Struct, tag_field="type", tag="custom_tool_call", omit_defaults=True, gc=False):
    call_id: str
    name: str
    input: str
    namespace: str | None = None


class FunctionCallOutput(Struct, tag_field="type", tag="function_call_output", gc=False):
    call_id: str
    output: str | list[Any]


class CustomCallOutput(Struct, tag_field="type", tag="custom_tool_call_output", gc=False):
    call_id: str
    output: str | list[Any]


def body(out: Out, turns: "ResponsesTurns") -> dict[str, Any]:
    """Return the request body with these items."""
    body: dict[str, Any] = {"model": out.model.id, "store": False} | conversation(out, turns)
    add_options(out, body)
    return body


def conversation(out: Out, turns: "ResponsesTurns") -> dict[str, Any]:
    """The system prompt, the items and the tools."""
    body: dict[str, Any] = {}
    if out.system is not None:
        body["instructions"] = out.system
    body["input"] = turns.turns
    if out.tools:
        body["tools"] = _grouped(out.tools, out.each_tool(_tool))
    return body


# -- items -----------------------------------------------------------------------------------------------------------


class ResponsesTurns(Turns[OpenAIResponses]):
    """The items of a request. A message becomes one or more items, and none of them changes later."""

    def __init__(self, out: Out) -> None:
        super().__init__(out)
        self.ids = 0
        """The number of item ids in the request."""
        self.custom: tuple[str, ...] = ()
        """The ids of the last free-text calls, whose results have a form of their own (OAR-17)."""
        self._ids: dict[str, None] = {}  # item ids (OAR-07), in order, so that `back` can remove the last ones

    def add_result(self, message: ToolResultMessage) -> None:
        content = message.content
        if len(content) == 1 and type(content[0]) is TextContent and not message.is_error:
            output: str | list[Item] = content[0].text
        else:
            output = self._fitted(message)
        item = CustomCallOutput if message.tool_call_id in self.custom else FunctionCallOutput
        self.turns.append(item(message.tool_call_id, output))

    def _fitted(self, message: ToolResultMessage) -> str | list[Item]:
        """The content of a result that failed or is more than a text, as far as the target accepts it there."""
        parts = hold_media(self, message.content, self._shown(message.content), InputText)
        if message.is_error:  # `status` is not a flag for it: it shows how far an item has come
            parts = mark_failed(self.note, parts, InputText)
        return parts[0].text if len(parts) == 1 and type(parts[0]) is InputText else parts

    def add_user(self, message: UserMessage) -> None:
        self.turns.append(Message("user", self._shown(message.content)))

    def add_moved(self, title: str, blocks: list[Item], last: int) -> None:
        self.turns.append(Message("user", [InputText(title), *blocks]))

    def add_answer(self, message: AssistantMessage) -> None:
        self.custom = ()
        if _are_items(message.content) and same_origin(message, self.out.model):
            self._add_items(message)
        else:
            self._add_plain(message, "of another origin")

    def back(self, mark: Mark) -> None:
        super().back(mark)
        while len(self._ids) > self.ids:
            self._ids.popitem()

    def close(self) -> None:
        if not self.turns:  # OAR-01: there was only reasoning that cannot be sent back
            self.note("filler-inserted", f"the input may not be empty: {CLOSING!r}")
            self.turns.append(Message("user", [InputText(CLOSING)]))

    # -- answers -----------------------------------------------------------------------------------------------------

    def _add_items(self, message: AssistantMessage) -> None:
        """Add the items of an answer: all with their ids, or all without ids and reasoning (OAR-08, AZU-04)."""
        content = message.content
        if self.index in self.out.rendered.thinned:
            # The ids of the items that are left refer to reasoning that was dropped: "Item 'fc_…' of type
            # 'function_call' was provided without its required 'reasoning' item: 'rs_…'." (OAR-08, pi#886)
            why = "a part of the answer was dropped"
        elif self.dialect.own_reasoning == "none" and ThinkingContent in map(type, content):
            why = "the model does not reason"  # OAR-11
        else:
            items = self._items(message)
            if not isinstance(items, str):
                self.ids = len(self._ids)
                self._note_items(message)
                self.turns += items
                return
            why = items
        if _are_items([block for block in content if type(block) is TextContent or type(block) is ToolCall]):
            self.note("signature-dropped", f"item ids: {why}")
        self._add_plain(message, why)

    def _note_items(self, message: AssistantMessage) -> None:
        """Remember the free-text calls, and report citations that the API does not accept."""
        for block in message.content:
            if type(block) is ToolCall:
                if block.kind is not None:
                    self.custom += (block.id,)
            elif type(block) is TextContent and has_annotations(block) and not annotations_of(block):
                self.note_uncited(block, "they are not annotations of this protocol")

    def _items(self, message: AssistantMessage) -> list[Item] | str:
        """The items of an answer with their ids, or the reason why they cannot be sent back."""
        return items_of(message, self._ids, self.dialect.phase)

    def _add_plain(self, message: AssistantMessage, why: str) -> None:
        """Add the texts and calls of an answer without ids: no item refers to another, so none can be missing.
        ``why``: the reason, if thinking is dropped."""
        items, dropped = self.turns, False
        for block in message.content:
            if type(block) is TextContent:
                text, signature = block.text, block.text_signature
                if not text or text.isspace():
                    self.note("empty-dropped", "an empty text")
                    continue
                # OAR-03: every role accepts a bare string; `output_text` would require an id.
                item = Message("assistant", text)
                if signature is not None:
                    if self.dialect.phase and same_origin(message, self.out.model):
                        item.phase = message_of(signature)[1]  # OAR-12
                    self.note_uncited(block, "a message without its id has no annotations")
                items.append(item)
            elif type(block) is ToolCall:
                if block.kind is None:
                    arguments = to_json(block.arguments).decode()
                    items.append(FunctionCall(block.id, block.name, arguments, block.namespace))
                else:
                    items.append(CustomCall(block.id, block.name, input_of(block), block.namespace))
                    self.custom += (block.id,)
            elif type(block) is ThinkingContent:
                dropped = True
            elif type(block) is ProviderContent:
                if text := self.text_instead(block):
                    items.append(Message("assistant", text))
            else:
                assert_never(block)
        if dropped:
            self.note("thinking-dropped", why)

    # -- users and results -------------------------------------------------------------------------------------------

    def _shown(self, content: list[UserContent]) -> list[Any]:
        parts: list[Any] = []
        for block in content:
            if type(block) is TextContent:
                parts.append(InputText(block.text))
            elif type(block) is ImageContent:
                parts.append(self._image(block))
            elif type(block) is FileContent:
                parts.append(self._file(block) or InputText(self.text_instead(block)))
            else:
                assert_never(block)
        return parts

    def _file(self, block: FileContent) -> Any | None:
        """A document as a part; ``None`` if the target does not accept it. Data needs a name (OAR-13)."""
        mime_type = type_of_file(block)
        if not matches(mime_type, self.dialect.files if block.url is None else self.dialect.file_urls):
            return None
        if block.url is not None:
            # "Mutually exclusive parameters": a file by address has no name (rig#1429, rig#2164, 2026).
            self.note_unnamed(block)
            return {"type": "input_file", "file_url": block.url}
        data = DataUrl(mime_type, block.data)
        return {"type": "input_file", "filename": block.name or UNNAMED, "file_data": data}

    def _image(self, block: ImageContent) -> Any:
        if block.url is not None and not self.dialect.image_urls:
            return InputText(self.text_instead(block))
        kind = None if block.url is not None else self._media_type(block)
        if block.url is None and kind is None:  # OAR-19
            return InputText(self.text_instead(block))
        url = block.url or DataUrl(kind or "", block.data)
        # OAR-13: strict servers require `detail`.
        return {"type": "input_image", "image_url": url, "detail": "auto"}

    def _media_type(self, block: ImageContent) -> str | None:
        """The media type of an image's data; ``None`` if the target does not read it."""
        return sendable(block.data, block.mime_type, COMMON_TYPES)


def _are_items(content: list[AssistantContent]) -> bool:
    """Whether any of these blocks may have been an item with an id."""
    for block in content:
        if type(block) is TextContent:
            if block.text_signature is not None and names_item(block.text_signature):
                return True
        elif type(block) is ToolCall:
            if block.thought_signature is not None:
                return True
        elif type(block) is ThinkingContent or type(block) is ProviderContent:
            return True
        else:
            assert_never(block)
    return False


# -- tools -----------------------------------------------------------------------------------------------------------


def _tool(_: OpenAIResponses, tool: ToolDefinition, schema: dict[str, Any]) -> dict[str, Any]:
    """A flat definition (OAR-14) that is not strict, because strict schemas must require every property."""
    entry: dict[str, Any] = {"type": tool.kind or "function", "name": tool.name}
    if tool.description.strip():
        entry["description"] = tool.description
    if tool.kind is not None:
        grammar = grammar_of(tool)
        return entry if grammar is None else entry | {"format": {"type": "grammar"} | grammar}
    entry["parameters"] = schema  # OAR-22
    entry["strict"] = False
    return entry


def _grouped(tools: list[ToolDefinition], entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The definitions, with those of a namespace inside it (NamespaceToolParam, SDK openai 3.49.0)."""
    grouped: list[dict[str, Any]] = []
    spaces: dict[str, list[dict[str, Any]]] = {}
    for tool, entry in zip(tools, entries, strict=True):
        space = tool.namespace
        if space is None:
            grouped.append(entry)
        elif space in spaces:
            spaces[space].append(entry)
        else:
            spaces[space] = [entry]
            described = {"description": f"Tools of {space}."}  # required, and not stored
            grouped.append({"type": "namespace", "name": space} | described | {"tools": spaces[space]})
    return grouped
