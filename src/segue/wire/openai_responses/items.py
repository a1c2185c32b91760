"""The items of an answer while they are streamed: each kind that has a block, and those that only the API can read.

An item begins when it is announced or with its first delta, and ends with the finished item that the provider sends.
Ids are stored in the signature fields, where ``replay.py`` reads them: all ids of an answer, or none (OAR-08).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ...types.codec import UNREADABLE, json_text, read_json
from ...types.text import scrub
from ..common.drafts import Draft
from .replay import message_signature, reasoning_signature
from .server_tools import readable
from .shapes import kind_of

if TYPE_CHECKING:
    from .decode import Reader

_TEXTS = {"output_text": "text", "refusal": "refusal"}
D = TypeVar("D", bound=Draft)

_TEXT_DIFFERS = ("text-differs", "the finished text differs from the streamed one")
_ARGUMENTS_DIFFER = ("arguments-differ", "the finished arguments differ from the streamed ones")
_APART = "\n\n"  # between the parts of a summary, like in ingested requests


class Item:
    """An item; ``announced`` is its first version."""

    __slots__ = ("announced", "finished", "reader")

    def __init__(self, reader: "Reader", announced: dict[str, Any]) -> None:
        self.reader = reader
        self.announced = announced
        self.finished = False

    @property
    def identified(self) -> bool:
        """Whether an item with another id cannot be the same."""
        return False

    def named(self, draft: D) -> D:
        """A new block of this item, with the id that is known so far."""
        item_id = self.announced.get("id")
        draft.item_id = item_id if isinstance(item_id, str) else None
        return draft

    def add(self, part: Any, delta: Any) -> None:
        """Add a delta of a part."""

    def complete(self, part: Any, text: Any) -> None:
        """Replace a part by its complete text, whatever its deltas were."""

    def refuse(self, part: int) -> None:
        """Mark a part as a refusal."""

    def finish(self, item: Mapping[str, Any]) -> None:
        """End the item with its finished version."""
        self.finished = True
        self._finish(item)

    def abandon(self) -> None:
        """End an item without a finished version at the end of the answer: it cannot be sent back unchanged."""
        self.reader.drops_ids = True
        self.finish({**self.announced, "id": None, "encrypted_content": None})

    def _finish(self, item: Mapping[str, Any]) -> None: ...


class Hosted(Item):
    """An item that only the provider can read: of a tool that it runs itself, or of an unknown type."""

    __slots__ = ("draft",)

    def __init__(self, reader: "Reader", announced: dict[str, Any]) -> None:
        super().__init__(reader, announced)
        reader.end_waiting(True)
        self.draft = self.named(reader.answer.provider(str(kind_of(announced)), announced, readable(announced)))

    def _finish(self, item: Mapping[str, Any]) -> None:
        self.draft.set(dict(item), readable(item))
        self.draft.end()


class Message(Item):
    """A message, with a text block for each part."""

    __slots__ = ("drafts",)

    def __init__(self, reader: "Reader", announced: dict[str, Any]) -> None:
        super().__init__(reader, announced)
        self.drafts: dict[int, Draft] = {}

    def add(self, part: int, delta: Any) -> None:
        draft = self.drafts.get(part)
        if draft is None:
            draft = self._open(part)
        draft.add(delta)

    def complete(self, part: int, text: Any) -> None:
        if text:
            (self.drafts.get(part) or self._open(part)).complete(text, _TEXT_DIFFERS)

    def refuse(self, part: int) -> None:
        self.reader.refused = self.drafts[part]

    def _open(self, part: int) -> Draft:
        self.reader.end_waiting(True)
        draft = self.drafts[part] = self.named(self.reader.answer.text())
        return draft

    def _finish(self, item: Mapping[str, Any]) -> None:
        annotations: dict[int, Any] = {}
        for at, part in enumerate(item.get("content") or []):
            field = _TEXTS.get(part.get("type"))
            if field is None:
                self.reader.drops_ids = True
                self.reader.answer.left_out(f"{part.get('type')} in a message")
                continue
            annotations[at] = part.get("annotations")
            if at not in self.drafts:
                self._open(at)
            self.complete(at, part.get(field))
            if field == "refusal":
                self.refuse(at)
        if not self.drafts:  # there is no block to store its id with
            self.reader.end_waiting(False)
            self.reader.drops_ids = True
        for at, draft in self.drafts.items():
            draft.sign(message_signature(dict(item), not self.reader.drops_ids, annotations.get(at)))
            draft.end()


class Reasoning(Item):
    """Reasoning, with a thinking block if there is text to read or a signature to send back.

    It ends when the item that follows it is known: "Item 'rs_…' of type 'reasoning' was provided without its required
    following item" (OAR-08, vercel/ai#7099). If that item cannot be recorded, the reasoning is stored without its
    signature.
    """

    __slots__ = ("draft", "final", "has_complete_part", "part", "recorded", "texts")

    def __init__(self, reader: "Reader", announced: dict[str, Any]) -> None:
        super().__init__(reader, announced)
        self.draft: Draft | None = None
        self.part: Any = None  # the part that is being streamed
        self.texts: dict[Any, list[str]] = {}  # by part: its deltas, or its complete text
        self.has_complete_part = False
        self.final: Mapping[str, Any] | None = None
        self.recorded: bool | None = None  # whether the item that follows was recorded, once that is known
        reader.end_waiting(True)
        reader.waiting = self

    def add(self, part: Any, delta: Any) -> None:
        if not delta:
            return
        if self.draft is None:
            self.draft = self.named(self.reader.answer.thinking())
        self.texts.setdefault(part, []).append(delta)
        self.draft.add(_APART + delta if self.part not in (None, part) else delta)
        self.part = part

    def complete(self, part: Any, text: Any) -> None:
        """Keep the complete text of a part, in case the finished item does not have it."""
        if part not in self.texts:
            self.add(part, text)
        elif text:
            self.texts[part] = [text]
            self.has_complete_part = True

    def followed(self, recorded: bool) -> None:
        """Note whether the item that follows was recorded."""
        self.recorded = recorded
        if self.final is not None:
            self._close()
        elif self.draft is None:  # its block comes before those of the next item
            self.draft = self.named(self.reader.answer.thinking())

    def _finish(self, item: Mapping[str, Any]) -> None:
        self.final = item
        parts = [part.get("text") for name in ("summary", "content") for part in item.get(name) or []]
        text = _APART.join(part for part in parts if part)
        if not text and self.has_complete_part:
            text = _APART.join("".join(pieces) for pieces in self.texts.values())
        if text:
            self.draft = self.draft or self.named(self.reader.answer.thinking())
            self.draft.complete(text, _TEXT_DIFFERS)
        if self.recorded is not None:
            self._close()

    def _close(self) -> None:
        assert self.final is not None
        signature = reasoning_signature(dict(self.final)) if self.recorded and not self.reader.drops_ids else None
        if signature is None:
            self.reader.drops_ids = True
        elif self.draft is None:
            self.draft = self.named(self.reader.answer.thinking())
        if self.draft is not None:
            self.draft.sign(signature)
            self.draft.end()


class Call(Item):
    """A function call; ``call_id`` is the id that results refer to."""

    __slots__ = ("draft",)

    def __init__(self, reader: "Reader", announced: dict[str, Any]) -> None:
        super().__init__(reader, announced)
        reader.end_waiting(True)
        self.draft = self.named(reader.answer.call(announced.get("call_id"), announced.get("name")))

    @property
    def identified(self) -> bool:
        return bool(self.draft.id)

    def add(self, part: Any, delta: Any) -> None:
        self.draft.add(delta)

    def complete(self, part: Any, text: Any) -> None:
        """Use the finished arguments: gateways stream them twice, or format them differently at the end."""
        so_far = self.draft.so_far
        if text and (text.startswith(so_far) or _value(text) != _value(so_far)):
            self.draft.complete(text, _ARGUMENTS_DIFFER)

    def _finish(self, item: Mapping[str, Any]) -> None:
        draft = self.draft
        draft.id = item.get("call_id") or draft.id
        draft.name = item.get("name") or draft.name
        space = item.get("namespace")
        draft.namespace = space if isinstance(space, str) and space else draft.namespace
        arguments = item.get("arguments")
        if arguments:
            self.complete(None, arguments if isinstance(arguments, str) else json_text(arguments))
        if not self.reader.drops_ids:
            draft.sign(item.get("id"))
        draft.end()


class CustomCall(Call):
    """A call with free text."""

    __slots__ = ()

    def __init__(self, reader: "Reader", announced: dict[str, Any]) -> None:
        super().__init__(reader, announced)
        self.draft.kind = "custom"

    def complete(self, part: Any, text: Any) -> None:
        if text:
            self.draft.complete(text, _TEXT_DIFFERS)

    def _finish(self, item: Mapping[str, Any]) -> None:
        self.complete(None, item.get("input"))
        super()._finish({**item, "arguments": None})


def _value(text: str) -> Any:
    try:
        return read_json(scrub(text).encode())
    except UNREADABLE:
        return text


KINDS: dict[Any, type[Item]] = {
    "message": Message,
    "reasoning": Reasoning,
    "function_call": Call,
    "custom_tool_call": CustomCall,
}
