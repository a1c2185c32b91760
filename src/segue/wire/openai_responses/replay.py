"""Send answers of the same origin back as the items that they were: all of them with their ids, or none.

The signature fields contain: for thinking, the whole reasoning item; for text, the message's id, its phase and the
annotations of the text (as JSON text; older tools store the bare id); for a call, the id of its item. Provider content
is an item as it came. Any other content does not raise an error: the answer is sent back without ids and without
reasoning.
"""

from itertools import pairwise
from pathlib import Path
from typing import Any, assert_never

import msgspec

from ...types import AssistantContent, AssistantMessage, ProviderContent, TextContent, ThinkingContent, ToolCall
from ...types.codec import json_text
from ..common.dataurl import to_json
from ..common.seals import signature_of
from ..common.stored import accepted_by, without
from ..common.writing import input_of
from .server_tools import waiting
from .shapes import ANSWERS_ONLY, MADE_BY_MODEL, MAX_ID, OF_COMPACTIONS, PHASES, STATUSES, Item, is_item_id

_read = msgspec.json.Decoder().decode
_REASONING = frozenset({"type", "id", "summary", "encrypted_content", "status"})
_is_valid = accepted_by(Path(__file__).with_name("shape.json"), lambda item: {"input": [item]})


def items_of(
    message: AssistantMessage, taken: dict[str, None], phases: bool, reasoning_last: bool = False
) -> list[Item] | str:
    """The items of an answer in order, or the reason why they cannot be sent back.

    ``taken`` has the ids of earlier items of the request; the ids of this answer are added. ``reasoning_last``: whether
    reasoning may be the last item.
    """
    items: list[Item] = []
    ids: dict[str, None] = {}
    for block in message.content:
        item = _item(block, phases)
        if item is None:
            return "an item of the answer has no valid signature"
        item_id = item.get("id")
        if items and item_id is not None and item_id == items[-1].get("id") and _joined(items[-1], item):
            continue
        if item_id is not None:
            if item_id in ids or item_id in taken:
                return f"the item {item_id} is already in the request"  # OAR-07
            ids[item_id] = None
        items.append(item)
    provided = ProviderContent in map(type, message.content)
    if not items or (items[-1]["type"] == "reasoning" and not reasoning_last) or (provided and _is_interrupted(items)):
        return "reasoning requires the item that followed it"  # OAR-08
    if provided and waiting(items):
        return "an item of a tool has no output, or an output has no item"
    taken |= ids
    return items


def _item(block: AssistantContent, phases: bool) -> Item | None:
    if type(block) is ThinkingContent:
        return _reasoning(block)
    if type(block) is TextContent:
        return _message(block, phases)
    if type(block) is ToolCall:
        kind = "custom_tool_call" if block.kind == "custom" else "function_call"
        return _call(block, kind) if is_item_id(kind, block.thought_signature) else None
    if type(block) is ProviderContent:
        return sent_back(block)
    assert_never(block)


def sent_back(block: ProviderContent) -> Item | None:
    """The item as it came, apart from fields that only answers have; ``None`` if the API would refuse it."""
    raw = bytes(block.raw)
    if not raw.startswith(b"{") or not _is_valid(raw):
        return None
    item: Item = _read(raw)
    item_id = item.get("id")
    is_short = item_id is None or (isinstance(item_id, str) and len(item_id) <= MAX_ID)  # OAR-06
    if item.get("type") != block.kind or not is_short:
        return None
    if block.kind == "web_search_call" and not is_item_id(block.kind, item_id):
        return None
    return _as_input(item)


def _as_input(item: Item) -> Item:
    """The item without fields that only answers have: "Unknown parameter: 'input[N].status'" (OAR-02)."""
    output = item.get("output")
    if isinstance(output, list):
        item["output"] = [without(each, ANSWERS_ONLY) for each in output]
    known: Item = without(item, OF_COMPACTIONS if item["type"] == "compaction" else ANSWERS_ONLY)
    return known


def _is_interrupted(items: list[Item]) -> bool:
    """Whether an item that the model did not make follows reasoning."""
    return any(
        before["type"] == "reasoning" and item["type"] != "message" and item["type"] not in MADE_BY_MODEL
        for before, item in pairwise(items)
    )


def _reasoning(block: ThinkingContent) -> Item | None:
    """The stored item, without members that the API does not accept (OAR-02, OAR-11)."""
    stored = _object(block.thinking_signature)
    if stored is None or stored.get("type") != "reasoning" or not is_item_id("reasoning", stored.get("id")):
        return None
    # OAR-09: "Items are not persisted when `store` is set to false": an item without its content would be looked up.
    content = stored.get("encrypted_content")
    if not isinstance(content, str) or not content or stored.get("content"):
        return None
    summary = stored.get("summary") or []  # some hosts leave it out of answers, but require it in requests (OAR-11)
    if not isinstance(summary, list) or not all(map(_is_summary, summary)):
        return None
    item = {name: value for name, value in stored.items() if name in _REASONING} | {"summary": summary}
    status = item.get("status", "completed")
    if not isinstance(status, str) or status not in STATUSES:
        del item["status"]
    return item


def _is_summary(part: Any) -> bool:
    return (
        isinstance(part, dict)
        and len(part) == 2
        and part.get("type") == "summary_text"
        and isinstance(part.get("text"), str)
    )


def reasoning_item(block: ThinkingContent) -> Item | None:
    """The stored item with all of its members, if the signature of a thought is one."""
    stored = _object(block.thinking_signature)
    is_item = stored is not None and stored.get("type") == "reasoning" and is_item_id("reasoning", stored.get("id"))
    return stored if is_item else None


def _message(block: TextContent, phases: bool) -> Item | None:
    item_id, phase = message_of(block.text_signature)
    if item_id is None:
        return None
    item: Item = {
        "type": "message",
        "id": item_id,
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": block.text, "annotations": annotations_of(block)}],
    }
    if phase is not None and phases:
        item["phase"] = phase
    return item


def _joined(before: Item, item: Item) -> bool:
    """Whether both are the same item; if so, ``before`` gets the parts of both."""
    if item["type"] == "message" and before["type"] == "message":
        before["content"] += item["content"]
        return True
    return bool(item["type"] == "reasoning" and item == before)


def _call(block: ToolCall, kind: str) -> Item:
    item = {"type": kind, "id": block.thought_signature, "call_id": block.id, "name": block.name}
    if block.namespace is not None:  # calls of tools in a namespace must name it (OAR-14)
        item["namespace"] = block.namespace
    if block.kind == "custom":
        return item | {"input": input_of(block)}
    return item | {"arguments": to_json(block.arguments).decode()}  # JSON text (OAR-17)


def message_of(signature: str | None) -> tuple[str | None, str | None]:
    """The id and the phase of the message that a text came in, if they are known and valid."""
    if signature is None:
        return None, None
    if is_item_id("message", signature):
        return signature, None
    stored = _object(signature) or {}
    item_id, phase = stored.get("id"), stored.get("phase")
    return (
        item_id if is_item_id("message", item_id) else None,
        phase if isinstance(phase, str) and phase in PHASES else None,
    )


def has_annotations(block: TextContent) -> bool:
    """Whether the signature of a text may have annotations. Most have none, and need not be read."""
    return block.text_signature is not None and '"annotations"' in block.text_signature


def annotations_of(block: TextContent) -> list[Any]:
    """The annotations of a text; none if the API would refuse one of them."""
    if not has_annotations(block):
        return []
    found = (_object(block.text_signature) or {}).get("annotations")
    if not isinstance(found, list) or not found:
        return []
    part = {"type": "output_text", "text": "", "annotations": found}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
    return found if _is_valid(to_json(item)) else []


def message_signature(item: Item, with_id: bool = True, annotations: Any = None) -> str | None:
    """The signature of a text of a message: the id and the phase of the message, and the annotations of the text."""
    names = ("id", "phase") if with_id else ("phase",)
    known = {name: item[name] for name in names if isinstance(item.get(name), str) and item[name]}
    if isinstance(annotations, list) and annotations:
        known["annotations"] = annotations
    return json_text(known) if known else None


def reasoning_signature(item: Item) -> str | None:
    """The whole item, if it has the encrypted content that is required to send it back (OAR-09)."""
    return json_text(item) if isinstance(item.get("encrypted_content"), str) else None


def is_signature(block: AssistantContent, signature: str) -> bool:
    """Whether the signature of a block is an item, the id of one, the phase of a message, or annotations."""
    return _item(block, phases=True) is not None or (
        type(block) is TextContent and (message_of(signature)[1] is not None or bool(annotations_of(block)))
    )


def seals(block: AssistantContent) -> list[str]:
    """The encrypted content of reasoning, or the id of a message or a call: clients may send each without the other."""
    if type(block) is ThinkingContent:
        stored = _object(block.thinking_signature) or {}
        return [stored["encrypted_content"]] if isinstance(stored.get("encrypted_content"), str) else []
    if type(block) is TextContent:
        item_id, _ = message_of(block.text_signature)
    else:
        item_id = signature_of(block)
    return [] if item_id is None else [item_id]


def names_item(signature: str) -> bool:
    """Whether the signature of a text has more than a phase and annotations, or is unreadable."""
    stored = _object(signature)
    return stored is None or "id" in stored or not ("phase" in stored or "annotations" in stored)


def _object(text: str | None) -> dict[str, Any] | None:
    """The JSON object in ``text``, or ``None``."""
    if text is None or not text.startswith("{"):
        return None
    try:
        value = _read(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
