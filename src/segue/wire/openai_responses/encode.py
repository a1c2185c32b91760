"""A projected conversation to the body of ``POST /responses``, without state on the server (``store`` is false).

Rules are cited where they are obeyed, by their numbers in ``rules.py``. There is no rule about the order of roles
(OAR-02), so nothing is merged and nothing is filled in.
"""

from typing import Any

import msgspec
from msgspec import Struct

from ...dialects import OpenAIResponses
from ...projection.origin import same_origin
from ...types import (
    AssistantMessage,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserContent,
)
from ..common.dataurl import DataUrl
from ..common.images import kind_of
from ..common.outgoing import Outgoing
from ..common.texts import CLOSING, IMAGES_BELOW, MOVED_IMAGES, as_error
from ..common.turns import Turns
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


def body(out: Out, turns: "ResponsesTurns", closed: list[Item]) -> dict[str, Any]:
    """The request body around the items."""
    body: dict[str, Any] = {"model": out.model.id, "store": False}
    if out.system is not None:
        body["instructions"] = out.system
    body["input"] = closed
    if out.tools:
        body["tools"] = out.each_tool(_tool)
    add_options(out, body)
    return body


# -- items -----------------------------------------------------------------------------------------------------------


class ResponsesTurns(Turns[OpenAIResponses]):
    """Every message is an item or several. None changes any more."""

    STATE = ("_held", "_seen")

    def __init__(self, out: Out) -> None:
        super().__init__(out)
        self._held: list[Item] = []  # images that wait for the whole batch of results
        self._seen = 0  # how many changes of projection belong to what was taken in
        self._thinned: set[int | None] | None = None  # stored answers that lack a block, of those that are new
        self._ids: dict[str, None] = {}  # of items (OAR-07); in their order, so that the last ones can be given back

    def mark(self) -> tuple[Any, ...]:
        return (super().mark(), len(self._ids))

    def back(self, mark: tuple[Any, ...]) -> None:
        mark, count = mark
        super().back(mark)
        while len(self._ids) > count:
            self._ids.popitem()

    def extend(self) -> None:
        self._thinned = None
        turns, add = self.turns, self.turns.append
        for message in self.new():
            kind = type(message)
            if kind is ToolResultMessage:
                content = message.content
                if message.is_error or len(content) != 1 or type(content[0]) is not TextContent:
                    add(self._result(message))
                else:
                    add(FunctionCallOutput(message.tool_call_id, content[0].text))
                continue
            if self._held:
                self._let_go()
            if kind is AssistantMessage:
                before = len(turns)
                for block in message.content:
                    if type(block) is TextContent and block.text_signature is None:
                        text = block.text
                        if text and not text.isspace():
                            add(Message("assistant", text))  # OAR-03, as in `_plain`
                            continue
                    elif type(block) is ToolCall and block.thought_signature is None:
                        add(FunctionCall(block.id, block.name, _write(block.arguments).decode()))
                        continue
                    turns[before:] = self._answer(message)
                    break
            else:
                content = message.content
                text_alone = len(content) == 1 and type(content[0]) is TextContent
                add(Message("user", [InputText(content[0].text)] if text_alone else _parts(content)))
        self._seen = len(self.out.rendered.report.told)

    def closed(self, out: Out) -> list[Item]:
        turns = [*self.turns, _moved(self._held)] if self._held else list(self.turns)
        if not turns:  # OAR-01: nothing but reasoning that cannot go back
            at = self.taken - 1 if self.taken else None
            out.tell("filler-inserted", at, f"the input may not be empty: {CLOSING!r}")
            turns.append(Message("user", [InputText(CLOSING)]))
        return turns

    def _let_go(self) -> None:
        self.turns.append(_moved(self._held))
        self._held = []

    def _is_thinned(self) -> bool:
        """Whether projection took a block from this answer.

        What is left of such an answer asks by its ids for reasoning that is no longer there: "Item 'fc_…' of type
        'function_call' was provided without its required 'reasoning' item: 'rs_…'." (OAR-08, earendil-works/pi#886)
        """
        rendered = self.out.rendered
        if self._thinned is None:
            new = rendered.report.told[self._seen :]
            self._thinned = {message for code, message, *_ in new if code in ("thinking-dropped", "empty-dropped")}
        return rendered.sources[self.index] in self._thinned

    # -- answers -----------------------------------------------------------------------------------------------------

    def _answer(self, message: AssistantMessage) -> list[Item]:
        """All items with their ids, or all without, and without reasoning (OAR-08, AZU-04)."""
        out, content = self.out, message.content
        own = same_origin(message, out.model)
        if not own or not any(map(_has_item, content)):
            return self._plain(message, own)
        reasons = ThinkingContent in map(type, content)
        if self._is_thinned():
            why = "what is left of the answer does not go back alone"
        elif reasons and self.dialect.own_reasoning == "none":
            why = "the model does not reason"  # OAR-11
        else:
            items = items_of(message, self._ids, self.dialect.phase)
            if not isinstance(items, str):
                return items
            why = items
        if any(_has_item(block) for block in content if type(block) is not ThinkingContent):
            self.tell("signature-dropped", f"item ids: {why}")
        return self._plain(message, own, why)

    def _plain(self, message: AssistantMessage, own: bool, why: str = "of another origin") -> list[Item]:
        """Texts and calls without ids: nothing links them, so nothing can be missing."""
        items: list[Item] = []
        dropped = 0
        for block in message.content:
            if type(block) is TextContent:
                if not block.text or block.text.isspace():
                    self.tell("empty-dropped", "a text without text")
                    continue
                # OAR-03: a bare string is right for every role; `output_text` would need an id.
                item = Message("assistant", block.text)
                if own and block.text_signature is not None and self.dialect.phase:
                    item.phase = message_of(block.text_signature)[1]  # OAR-12
                items.append(item)
            elif type(block) is ToolCall:
                items.append(FunctionCall(block.id, block.name, _write(block.arguments).decode()))
            else:
                dropped += 1
        if dropped:
            self.tell("thinking-dropped", why)
        return items

    # -- results -----------------------------------------------------------------------------------------------------

    def _result(self, message: ToolResultMessage) -> Item:
        parts = _parts(message.content)
        if not self.dialect.images_in_results:
            parts = self._without_images(parts)
        if message.is_error:
            self._mark_failed(parts)
        text_alone = len(parts) == 1 and type(parts[0]) is InputText
        return FunctionCallOutput(message.tool_call_id, parts[0].text if text_alone else parts)

    def _without_images(self, parts: list[Any]) -> list[Any]:
        texts = [part for part in parts if type(part) is InputText]
        if len(texts) < len(parts):
            self.tell("image-moved", "to a message after the results")
            self._held += [part for part in parts if type(part) is not InputText]
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
            self.tell("error-as-text", "a failed result says so in its text")
        return told


def _has_item(block: object) -> bool:
    """Whether a block was an item with an id, or claims to have been one."""
    if type(block) is TextContent:
        return block.text_signature is not None and names_item(block.text_signature)
    return type(block) is ThinkingContent or (type(block) is ToolCall and block.thought_signature is not None)


def _parts(content: list[UserContent]) -> list[Any]:
    return [InputText(block.text) if type(block) is TextContent else _image(block) for block in content]  # type: ignore[arg-type]


def _image(block: ImageContent) -> dict[str, Any]:
    # OAR-13: strict servers want `detail`.
    url = DataUrl(kind_of(block.data) or block.mime_type, block.data)
    return {"type": "input_image", "image_url": url, "detail": "auto"}


def _moved(images: list[Item]) -> Item:
    return Message("user", [InputText(MOVED_IMAGES), *images])


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
