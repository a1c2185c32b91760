"""The items of an answer as they grow: each kind that has a place in the record, and those that have none.

An item begins where it is announced or where its first delta comes, and is finished by the item as the provider gives
it in the end. Ids are stored in the signature fields as ``replay.py`` reads them: all of an answer, or none (OAR-08).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...types.codec import UNREADABLE, json_text, read_json
from ...types.text import scrub
from ..common.answer import Draft
from .replay import message_signature, reasoning_signature
from .shapes import kind_of

if TYPE_CHECKING:
    from .decode import Reader

_TEXTS = {"output_text": "text", "refusal": "refusal"}
_TEXT_DIFFERS = ("text-differs", "the finished text is not the one that was streamed")
_ARGUMENTS_DIFFER = ("arguments-differ", "the finished arguments are not those that were streamed")
_APART = "\n\n"  # between the parts of a summary, as where conversations are read from requests


class Item:
    """An item; ``given`` is what it was announced as."""

    __slots__ = ("given", "reader", "whole")

    def __init__(self, reader: "Reader", given: dict[str, Any]) -> None:
        self.reader = reader
        self.given = given
        self.whole = False

    @property
    def identified(self) -> bool:
        """Whether an item by another id cannot be the same."""
        return False

    def add(self, part: Any, delta: Any) -> None:
        """A delta of one of the item's parts."""

    def complete(self, part: Any, text: Any) -> None:
        """All of one of the item's parts: it counts, whatever its deltas were."""

    def refuse(self, part: int) -> None:
        """A part is a refusal."""

    def finish(self, item: Mapping[str, Any]) -> None:
        """The item as it is in the end."""
        self.whole = True
        self._finish(item)

    def give_up(self) -> None:
        """The answer is over, and nobody said what the item is in the end: it cannot go back as it was."""
        self.reader.lost = True
        self.finish({**self.given, "id": None, "encrypted_content": None})

    def _finish(self, item: Mapping[str, Any]) -> None: ...


class Skipped(Item):
    """Tools that the provider runs itself, and what is new: they have no place in the record."""

    __slots__ = ()

    def __init__(self, reader: "Reader", given: dict[str, Any]) -> None:
        super().__init__(reader, given)
        reader.follow(False)
        reader.lost = True
        reader.answer.left_out(f"items of type {kind_of(given)}")


class Message(Item):
    """A text block for each part."""

    __slots__ = ("drafts",)

    def __init__(self, reader: "Reader", given: dict[str, Any]) -> None:
        super().__init__(reader, given)
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
        self.reader.follow(True)
        draft = self.drafts[part] = self.reader.answer.text()
        return draft

    def _finish(self, item: Mapping[str, Any]) -> None:
        for at, part in enumerate(item.get("content") or []):
            field = _TEXTS.get(part.get("type"))
            if field is None:
                self.reader.lost = True
                self.reader.answer.left_out(f"{part.get('type')} in a message")
                continue
            if part.get("annotations"):
                self.reader.answer.left_out("annotations")
            if at not in self.drafts:
                self._open(at)
            self.complete(at, part.get(field))
            if field == "refusal":
                self.refuse(at)
        if not self.drafts:  # there is nothing to keep its id with
            self.reader.follow(False)
            self.reader.lost = True
        signature = message_signature(dict(item), with_id=not self.reader.lost)
        for draft in self.drafts.values():
            draft.sign(signature)
            draft.end()


class Reasoning(Item):
    """A thinking block, where there is something to read or to send back.

    It ends when it is known what follows: "Item 'rs_…' of type 'reasoning' was provided without its required following
    item" (OAR-08, vercel/ai#7099). If that has no place in the record, the reasoning is stored without its signature.
    """

    __slots__ = ("draft", "final", "kept", "part", "texts", "told")

    def __init__(self, reader: "Reader", given: dict[str, Any]) -> None:
        super().__init__(reader, given)
        self.draft: Draft | None = None
        self.part: Any = None  # the one that grows
        self.texts: dict[Any, list[str]] = {}  # of each part: its deltas, or all of it
        self.told = False  # whether all of a part was given
        self.final: Mapping[str, Any] | None = None
        self.kept: bool | None = None  # what follows, once it is known
        reader.follow(True)
        reader.waiting = self

    def add(self, part: Any, delta: Any) -> None:
        if not delta:
            return
        if self.draft is None:
            self.draft = self.reader.answer.thinking()
        self.texts.setdefault(part, []).append(delta)
        self.draft.add(_APART + delta if self.part not in (None, part) else delta)
        self.part = part

    def complete(self, part: Any, text: Any) -> None:
        """It counts in the end, if the item itself does not have it."""
        if part not in self.texts:
            self.add(part, text)
        elif text:
            self.texts[part] = [text]
            self.told = True

    def followed(self, kept: bool) -> None:
        self.kept = kept
        if self.final is not None:
            self._settle()
        elif self.draft is None:  # its place is before what follows
            self.draft = self.reader.answer.thinking()

    def _finish(self, item: Mapping[str, Any]) -> None:
        self.final = item
        parts = [part.get("text") for name in ("summary", "content") for part in item.get(name) or []]
        text = _APART.join(part for part in parts if part)
        if not text and self.told:
            text = _APART.join("".join(pieces) for pieces in self.texts.values())
        if text:
            self.draft = self.draft or self.reader.answer.thinking()
            self.draft.complete(text, _TEXT_DIFFERS)
        if self.kept is not None:
            self._settle()

    def _settle(self) -> None:
        assert self.final is not None
        signature = reasoning_signature(dict(self.final)) if self.kept and not self.reader.lost else None
        if signature is None:
            self.reader.lost = True
        elif self.draft is None:
            self.draft = self.reader.answer.thinking()
        if self.draft is not None:
            self.draft.sign(signature)
            self.draft.end()


class Call(Item):
    """A call; ``call_id`` is the id that results name."""

    __slots__ = ("draft",)

    def __init__(self, reader: "Reader", given: dict[str, Any]) -> None:
        super().__init__(reader, given)
        reader.follow(True)
        self.draft = reader.answer.call(given.get("call_id"), given.get("name"))

    @property
    def identified(self) -> bool:
        return bool(self.draft.id)

    def add(self, part: Any, delta: Any) -> None:
        self.draft.add(delta)

    def complete(self, part: Any, text: Any) -> None:
        """The provider's last word: gateways stream arguments twice, or write them anew in the end."""
        so_far = self.draft.so_far
        if text and (text.startswith(so_far) or _value(text) != _value(so_far)):
            self.draft.complete(text, _ARGUMENTS_DIFFER)

    def _finish(self, item: Mapping[str, Any]) -> None:
        draft = self.draft
        draft.id = item.get("call_id") or draft.id
        draft.name = item.get("name") or draft.name
        arguments = item.get("arguments")
        if arguments:
            self.complete(None, arguments if isinstance(arguments, str) else json_text(arguments))
        if not self.reader.lost:
            draft.sign(item.get("id"))
        draft.end()


class CustomCall(Call):
    """A call with free text is a call with one argument, as where conversations are read from requests. It goes back as
    a function call, so that its id and the reasoning before it cannot."""

    __slots__ = ("said",)

    def __init__(self, reader: "Reader", given: dict[str, Any]) -> None:
        reader.follow(False)
        reader.lost = True
        super().__init__(reader, given)
        self.said: list[str] = []

    def add(self, part: Any, delta: Any) -> None:
        self.said.append(delta)

    def complete(self, part: Any, text: Any) -> None:
        if part is None:
            super().complete(part, text)
        elif text:
            self.said = [text]

    def _finish(self, item: Mapping[str, Any]) -> None:
        super()._finish({**item, "arguments": {"input": item.get("input") or "".join(self.said)}})


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
