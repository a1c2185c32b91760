"""Encode a projected conversation as the body of ``POST /responses``, without state on the server (``store: false``).

Code that follows a rule cites its number in ``rules.py``. There is no rule about the order of roles (OAR-02), so no
messages are merged and no fillers are inserted.
"""

from typing import Any, assert_never

from msgspec import Struct

from ...dialects import OpenAIResponses
from ...projection import same_origin
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
from ...types.texts import CLOSING
from ..common.dataurl import DataUrl, to_json
from ..common.images import kind_of
from ..common.outgoing import Outgoing
from ..common.results import hold_media, mark_failed
from ..common.turns import Mark, Turns
from .options import add_options
from .replay import items_of, message_of, names_item

Out = Outgoing[OpenAIResponses]
Item = Any
"""A dict, or a struct that is written like one; this also applies to the parts of a message."""

# Items have no reference cycles, so the garbage collector does not have to track them.


class Message(Struct, tag_field="type", tag="message", omit_defaults=True, gc=False):
    role: str
    content: str | list[Any]
    phase: str | None = None


class InputText(Struct, tag_field="type", tag="input_text", gc=False):
    text: str


class FunctionCall(Struct, tag_field="type", tag="function_call", gc=False):
    call_id: str
    name: str
    arguments: str


class FunctionCallOutput(Struct, tag_field="type", tag="function_call_output", gc=False):
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
        body["tools"] = out.each_tool(_tool)
    return body


# -- items -----------------------------------------------------------------------------------------------------------


class State(Struct, frozen=True, gc=False):
    """``ids``: the number of item ids in the request."""

    ids: int = 0


class ResponsesTurns(Turns[OpenAIResponses, State]):
    """The items of a request. A message becomes one or more items, and none of them changes later."""

    def __init__(self, out: Out) -> None:
        super().__init__(out, State())
        self._results_hold_all = out.dialect.images_in_results and out.dialect.files_in_results == out.dialect.files
        self._ids: dict[str, None] = {}  # item ids (OAR-07), in order, so that `back` can remove the last ones

    def add_result(self, message: ToolResultMessage) -> None:
        parts = self._shown(message.content)
        if not self._results_hold_all:
            parts = hold_media(self, message.content, parts, InputText)
        if message.is_error:  # `status` is not a flag for it: it shows how far an item has come
            parts = mark_failed(self.note, parts, InputText)
        text_alone = len(parts) == 1 and type(parts[0]) is InputText
        self.turns.append(FunctionCallOutput(message.tool_call_id, parts[0].text if text_alone else parts))

    def add_user(self, message: UserMessage) -> None:
        self.turns.append(Message("user", self._shown(message.content)))

    def add_moved(self, title: str, blocks: list[Item], last: int) -> None:
        self.turns.append(Message("user", [InputText(title), *blocks]))

    def add_answer(self, message: AssistantMessage) -> None:
        if _are_items(message.content) and same_origin(message, self.out.model):
            self._add_items(message)
        else:
            self._add_plain(message, "of another origin")

    def back(self, mark: Mark) -> None:
        super().back(mark)
        while len(self._ids) > self.state.ids:
            self._ids.popitem()

    def close(self) -> None:
        if not self.turns:  # OAR-01: there was only reasoning that cannot be sent back
            self.note("filler-inserted", f"the input may not be empty: {CLOSING!r}")
            self.turns.append(Message("user", [InputText(CLOSING)]))

    # -- answers -----------------------------------------------------------------------------------------------------

    def _add_items(self, message: AssistantMessage) -> None:
        """Add the items of an answer: all with their ids, or all without ids and reasoning (OAR-08, AZU-04)."""
        content = message.content
        reasons = ThinkingContent in map(type, content)
        if self.index in self.out.rendered.thinned:
            # The ids of the items that are left refer to reasoning that was dropped: "Item 'fc_…' of type
            # 'function_call' was provided without its required 'reasoning' item: 'rs_…'." (OAR-08, pi#886)
            why = "a part of the answer was dropped"
        elif reasons and self.dialect.own_reasoning == "none":
            why = "the model does not reason"  # OAR-11
        else:
            items = self._items(message)
            if not isinstance(items, str):
                self.state = State(len(self._ids))
                self.turns += items
                return
            why = items
        if _are_items([block for block in content if type(block) is not ThinkingContent]):
            self.note("signature-dropped", f"item ids: {why}")
        self._add_plain(message, why)

    def _items(self, message: AssistantMessage) -> list[Item] | str:
        """The items of an answer with their ids, or the reason why they cannot be sent back."""
        return items_of(message, self._ids, self.dialect.phase)

    def _add_plain(self, message: AssistantMessage, why: str) -> None:
        """Add the texts and calls of an answer without ids: no item refers to another, so none can be missing.
        ``why``: the reason, if thinking is dropped."""
        items, dropped = self.turns, False
        for block in message.content:
            if type(block) is TextContent:
                if not block.text or block.text.isspace():
                    self.note("empty-dropped", "an empty text")
                    continue
                # OAR-03: every role accepts a bare string; `output_text` would require an id.
                item = Message("assistant", block.text)
                signature = block.text_signature
                if signature is not None and self.dialect.phase and same_origin(message, self.out.model):
                    item.phase = message_of(signature)[1]  # OAR-12
                items.append(item)
            elif type(block) is ToolCall:
                items.append(FunctionCall(block.id, block.name, to_json(block.arguments).decode()))
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
                parts.append(InputText(self.text_instead(block)))
            else:
                assert_never(block)
        return parts

    def _image(self, block: ImageContent) -> Any:
        if block.url is not None and not self.dialect.image_urls:
            return InputText(self.text_instead(block))
        url = block.url or DataUrl(kind_of(block.data) or block.mime_type, block.data)
        # OAR-13: strict servers require `detail`.
        return {"type": "input_image", "image_url": url, "detail": "auto"}


def _are_items(content: list[AssistantContent]) -> bool:
    """Whether any of these blocks may have been an item with an id."""
    for block in content:
        if type(block) is TextContent:
            if block.text_signature is not None and names_item(block.text_signature):
                return True
        elif type(block) is ToolCall:
            if block.thought_signature is not None:
                return True
        elif type(block) is ThinkingContent:
            return True
        elif type(block) is ProviderContent:
            pass
        else:
            assert_never(block)
    return False


# -- tools -----------------------------------------------------------------------------------------------------------


def _tool(_: OpenAIResponses, tool: ToolDefinition, schema: dict[str, Any]) -> dict[str, Any]:
    """A flat definition (OAR-14) that is not strict, because strict schemas must require every property."""
    entry: dict[str, Any] = {"type": "function", "name": tool.name}
    if tool.description.strip():
        entry["description"] = tool.description
    entry["parameters"] = schema  # OAR-22
    entry["strict"] = False
    return entry
