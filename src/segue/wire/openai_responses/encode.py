"""A projected conversation to the body of ``POST /responses``, without state on the server (``store`` is false).

Rules are cited where they are obeyed, by their numbers in ``rules.py``. There is no rule about the order of roles
(OAR-02), so nothing is merged and nothing is filled in.
"""

from typing import Any

from ...dialects import OpenAIResponses
from ...projection import Projection
from ...projection.origin import same_origin
from ...projection.step import Report
from ...types import (
    AssistantMessage,
    ImageContent,
    Options,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ..common.outgoing import Outgoing
from ..common.texts import CLOSING, IMAGES_BELOW, MOVED_IMAGES, as_error
from .options import add_options
from .replay import call_item, items_of, message_of, names_item
from .schema import adapt
from .shapes import Item

Out = Outgoing[OpenAIResponses]


def encode(projection: Projection, options: Options, report: Report) -> dict[str, Any]:
    """The request body."""
    out = Outgoing(projection, OpenAIResponses, options, report)
    body: dict[str, Any] = {"model": out.model.id, "store": False}
    if out.system is not None:
        body["instructions"] = out.system
    body["input"] = _input(out, _thinned(projection))
    if out.tools:
        body["tools"] = [_tool(out, tool) for tool in out.tools]
    add_options(out, body)
    return body


# -- items -----------------------------------------------------------------------------------------------------------


def _input(out: Out, thinned: set[int]) -> list[Item]:
    items: list[Item] = []
    taken: set[str] = set()  # ids of items (OAR-07)
    held: list[Item] = []  # images that wait for the whole batch of results
    for index, message in enumerate(out.messages):
        if held and type(message) is not ToolResultMessage:
            items.append(_moved(held))
            held = []
        if type(message) is UserMessage:
            items.append({"type": "message", "role": "user", "content": _parts(message.content)})
        elif type(message) is AssistantMessage:
            items += _answer(out, index, message, taken, index in thinned)
        else:
            assert type(message) is ToolResultMessage
            items.append(_result(out, index, message, held))
    if held:
        items.append(_moved(held))
    if not items:  # OAR-01: nothing but reasoning that cannot go back
        out.tell("filler-inserted", len(out.messages) - 1, f"the input may not be empty: {CLOSING!r}")
        items.append({"type": "message", "role": "user", "content": [{"type": "input_text", "text": CLOSING}]})
    return items


def _thinned(projection: Projection) -> set[int]:
    """The rendered answers that projection took a block from.

    What is left of such an answer asks by its ids for reasoning that is no longer there: "Item 'fc_…' of type
    'function_call' was provided without its required 'reasoning' item: 'rs_…'." (OAR-08, earendil-works/pi#886)
    """
    changed = {change.message for change in projection.changes if change.code in ("thinking-dropped", "empty-dropped")}
    return {at for at, source in enumerate(projection.sources) if source in changed} if changed else set()


def _answer(out: Out, index: int, message: AssistantMessage, taken: set[str], thinned: bool) -> list[Item]:
    """All items with their ids, or all without, and without reasoning (OAR-08, AZU-04)."""
    own = same_origin(message, out.model)
    if not own or not any(map(_has_item, message.content)):
        return _plain(out, index, message, own)
    reasons = ThinkingContent in map(type, message.content)
    if thinned:
        why = "what is left of the answer does not go back alone"
    elif reasons and out.dialect.own_reasoning == "none":
        why = "the model does not reason"  # OAR-11
    else:
        items = items_of(message, taken, out.dialect.phase)
        if not isinstance(items, str):
            return items
        why = items
    if any(_has_item(block) for block in message.content if type(block) is not ThinkingContent):
        out.tell("signature-dropped", index, f"item ids: {why}")
    return _plain(out, index, message, own, why)


def _has_item(block: object) -> bool:
    """Whether a block was an item with an id, or claims to have been one."""
    if type(block) is TextContent:
        return block.text_signature is not None and names_item(block.text_signature)
    return type(block) is ThinkingContent or (type(block) is ToolCall and block.thought_signature is not None)


def _plain(out: Out, index: int, message: AssistantMessage, own: bool, why: str = "of another origin") -> list[Item]:
    """Texts and calls without ids: nothing links them, so nothing can be missing."""
    items: list[Item] = []
    dropped = 0
    for block in message.content:
        if type(block) is TextContent:
            if not block.text or block.text.isspace():
                out.tell("empty-dropped", index, "a text without text")
                continue
            # OAR-03: a bare string is right for every role; `output_text` would need an id.
            item: Item = {"type": "message", "role": "assistant", "content": block.text}
            if own and block.text_signature is not None and out.dialect.phase:
                phase = message_of(block.text_signature)[1]
                if phase is not None:
                    item["phase"] = phase  # OAR-12
            items.append(item)
        elif type(block) is ToolCall:
            items.append(call_item(block))
        else:
            dropped += 1
    if dropped:
        out.tell("thinking-dropped", index, why)
    return items


def _parts(content: list[UserContent]) -> list[Item]:
    if len(content) == 1 and type(content[0]) is TextContent:  # nearly always
        return [{"type": "input_text", "text": content[0].text}]
    return [_text(block.text) if type(block) is TextContent else _image(block) for block in content]  # type: ignore[arg-type]


def _text(text: str) -> Item:
    return {"type": "input_text", "text": text}


def _image(block: ImageContent) -> Item:
    # OAR-13: strict servers want `detail`.
    return {"type": "input_image", "image_url": f"data:{block.mime_type};base64,{block.data}", "detail": "auto"}


def _moved(images: list[Item]) -> Item:
    return {"type": "message", "role": "user", "content": [_text(MOVED_IMAGES), *images]}


def _result(out: Out, index: int, message: ToolResultMessage, held: list[Item]) -> Item:
    content = message.content
    if len(content) == 1 and type(content[0]) is TextContent:
        text = content[0].text
        output: str | list[Item] = _failed(out, index, text) if message.is_error else text
    else:
        parts = _parts(content)
        if not out.dialect.images_in_results:
            parts = _without_images(out, index, parts, held)
        if message.is_error:
            _mark_failed(out, index, parts)
        output = parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "input_text" else parts
    return {"type": "function_call_output", "call_id": message.tool_call_id, "output": output}


def _without_images(out: Out, index: int, parts: list[Item], held: list[Item]) -> list[Item]:
    texts = [part for part in parts if part["type"] == "input_text"]
    if len(texts) < len(parts):
        out.tell("image-moved", index, "to a message after the results")
        held += [part for part in parts if part["type"] == "input_image"]
    return texts or [_text(IMAGES_BELOW)]


def _mark_failed(out: Out, index: int, parts: list[Item]) -> None:
    """There is no flag for it (`status` tells how far an item has come): the first text says so."""
    for part in parts:
        if part["type"] == "input_text":
            part["text"] = _failed(out, index, part["text"])
            return
    parts.insert(0, _text(_failed(out, index, IMAGES_BELOW)))


def _failed(out: Out, index: int, text: str) -> str:
    told = as_error(text)
    if told is not text:
        out.tell("error-as-text", index, "a failed result says so in its text")
    return told


# -- tools -----------------------------------------------------------------------------------------------------------


def _tool(out: Out, tool: ToolDefinition) -> dict[str, Any]:
    """Flat (OAR-14), and not strict: strict schemas must list every property as required."""
    parameters, changed = adapt(tool.schema)
    if changed:
        out.tell("schema-adapted", None, f"{tool.name}: the root of a schema is an object, without alternatives")
    entry: dict[str, Any] = {"type": "function", "name": tool.name}
    if tool.description.strip():
        entry["description"] = tool.description
    entry["parameters"] = parameters
    entry["strict"] = False
    return entry
