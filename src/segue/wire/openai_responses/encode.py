"""A projected conversation to the body of ``POST /responses``, without state on the server (``store`` is false).

Rules are cited where they are obeyed, by their numbers in ``rules.py``. There is no rule about the order of roles
(OAR-02), so nothing is merged and nothing is filled in.
"""

from typing import Any, assert_never

import msgspec
from msgspec import Struct

from ...dialects import OpenAIResponses
from ...projection.origin import same_origin
from ...types import (
    AssistantContent,
    AssistantMessage,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ...types.texts import CLOSING, IMAGES_BELOW, MOVED_IMAGES, as_error
from ..common.dataurl import DataUrl
from ..common.images import kind_of
from ..common.outgoing import Outgoing
from ..common.turns import Mark, Turns
from .options import add_options
from .replay import items_of, message_of, names_item
from .schema import adapt

Out = Outgoing[OpenAIResponses]
_write = msgspec.json.Encoder().encode
Item = Any
"""A dict, or a struct that is written like one; likewise the parts of a message."""

# Nothing in an item points back to it, so that the collector of cycles need not look at these.


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
    """The request body around the items."""
    body: dict[str, Any] = {"model": out.model.id, "store": False}
    if out.system is not None:
        body["instructions"] = out.system
    body["input"] = turns.turns
    if out.tools:
        body["tools"] = out.each_tool(_tool)
    add_options(out, body)
    return body


# -- items -----------------------------------------------------------------------------------------------------------


class State(Struct, frozen=True, gc=False):
    """``ids``: how many ids of items were sent."""

    ids: int = 0


class ResponsesTurns(Turns[OpenAIResponses, State]):
    """Every message is an item or several, and none of them changes later."""

    def __init__(self, out: Out) -> None:
        super().__init__(out, State())
        self._ids: dict[str, None] = {}  # of items (OAR-07), in their order, so that the last ones can be given back

    def add_result(self, message: ToolResultMessage) -> None:
        parts = self._shown(message.content)
        if not self.dialect.images_in_results:
            parts = self._without_images(parts)
        if message.is_error:
            self._mark_failed(parts)
        text_alone = len(parts) == 1 and type(parts[0]) is InputText
        self.turns.append(FunctionCallOutput(message.tool_call_id, parts[0].text if text_alone else parts))

    def add_user(self, message: UserMessage) -> None:
        self.turns.append(Message("user", self._shown(message.content)))

    def add_images(self, images: list[Item], last: int) -> None:
        self.turns.append(Message("user", [InputText(MOVED_IMAGES), *images]))

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
        if not self.turns:  # OAR-01: nothing but reasoning that cannot go back
            self.note("filler-inserted", f"the input may not be empty: {CLOSING!r}")
            self.turns.append(Message("user", [InputText(CLOSING)]))

    # -- answers -----------------------------------------------------------------------------------------------------

    def _add_items(self, message: AssistantMessage) -> None:
        """All items with their ids, or all without, and without reasoning (OAR-08, AZU-04)."""
        content = message.content
        reasons = ThinkingContent in map(type, content)
        if self.index in self.out.rendered.thinned:
            # What is left of such an answer asks by its ids for reasoning that is no longer there: "Item 'fc_…' of type
            # 'function_call' was provided without its required 'reasoning' item: 'rs_…'." (OAR-08, pi#886)
            why = "what is left of the answer does not go back alone"
        elif reasons and self.dialect.own_reasoning == "none":
            why = "the model does not reason"  # OAR-11
        else:
            items = items_of(message, self._ids, self.dialect.phase)
            if not isinstance(items, str):
                self.state = State(len(self._ids))
                self.turns += items
                return
            why = items
        if _are_items([block for block in content if type(block) is not ThinkingContent]):
            self.note("signature-dropped", f"item ids: {why}")
        self._add_plain(message, why)

    def _add_plain(self, message: AssistantMessage, why: str) -> None:
        """Texts and calls without ids: nothing links them, so nothing can be missing. ``why``: there are no ids."""
        items, dropped = self.turns, False
        for block in message.content:
            if type(block) is TextContent:
                if not block.text or block.text.isspace():
                    self.note("empty-dropped", "a text without text")
                    continue
                # OAR-03: a bare string is right for every role; `output_text` would need an id.
                item = Message("assistant", block.text)
                signature = block.text_signature
                if signature is not None and self.dialect.phase and same_origin(message, self.out.model):
                    item.phase = message_of(signature)[1]  # OAR-12
                items.append(item)
            elif type(block) is ToolCall:
                items.append(FunctionCall(block.id, block.name, _write(block.arguments).decode()))
            elif type(block) is ThinkingContent:
                dropped = True
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
                parts.append(_image(block))
            else:
                assert_never(block)
        return parts

    def _without_images(self, parts: list[Any]) -> list[Any]:
        texts = [part for part in parts if type(part) is InputText]
        if len(texts) < len(parts):
            self.note("image-moved", "to a message after the results")
            self.held += [part for part in parts if type(part) is not InputText]
        return texts or [InputText(IMAGES_BELOW)]

    def _mark_failed(self, parts: list[Any]) -> None:
        """There is no flag for it (`status` tells how far an item has come): the first text says so."""
        for part in parts:
            if type(part) is InputText:
                part.text = self._failed(part.text)
                return
        parts.insert(0, InputText(self._failed(IMAGES_BELOW)))

    def _failed(self, text: str) -> str:
        told = as_error(text)
        if told is not text:
            self.note("error-as-text", "a failed result says so in its text")
        return told


def _are_items(content: list[AssistantContent]) -> bool:
    """Whether any of these blocks was an item with an id, or claims to have been one."""
    for block in content:
        if type(block) is TextContent:
            if block.text_signature is not None and names_item(block.text_signature):
                return True
        elif type(block) is ToolCall:
            if block.thought_signature is not None:
                return True
        elif type(block) is ThinkingContent:
            return True
        else:
            assert_never(block)
    return False


def _image(block: ImageContent) -> dict[str, Any]:
    # OAR-13: strict servers want `detail`.
    url = DataUrl(kind_of(block.data) or block.mime_type, block.data)
    return {"type": "input_image", "image_url": url, "detail": "auto"}


# -- tools -----------------------------------------------------------------------------------------------------------


def _tool(_: OpenAIResponses, tool: ToolDefinition) -> tuple[dict[str, Any], str | None]:
    """Flat (OAR-14), and not strict: strict schemas must list every property as required."""
    parameters, changed = adapt(tool.schema)
    entry: dict[str, Any] = {"type": "function", "name": tool.name}
    if tool.description.strip():
        entry["description"] = tool.description
    entry["parameters"] = parameters
    entry["strict"] = False
    return entry, "the root of a schema is an object, without alternatives" if changed else None
