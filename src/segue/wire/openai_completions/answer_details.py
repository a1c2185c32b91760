"""Join the streamed pieces of ``reasoning_details``, so that they can be sent back unchanged.

Pieces of text and summaries extend the entry of their type and index; encrypted entries arrive whole (OpenRouter's
guide on reasoning tokens, "Preserving reasoning blocks", 2026-11). Gemini's encrypted entries carry the id of the call
that they sign, and may arrive before it; they are kept with that call.
"""

from collections.abc import Iterable
from typing import Any

from ...types.codec import json_text
from ..common.drafts import CallDraft

Object = dict[str, Any]

_GROWING = {"reasoning.text": "text", "reasoning.summary": "summary"}
ENCRYPTED = "reasoning.encrypted"


class Details:
    """The entries of ``reasoning_details`` received so far."""

    def __init__(self) -> None:
        self.entries: list[Object] = []
        self._growing: dict[tuple[str, Any], tuple[Object, list[str]]] = {}

    def add(self, pieces: Iterable[Object], in_pieces: bool) -> str:
        """Add entries, or pieces of entries, and return their readable text."""
        readable: list[str] = []
        for piece in pieces:
            field = _GROWING.get(piece.get("type", ""))
            text = _text(piece, field)
            if text:
                readable.append(text)
            if field is None or not in_pieces or not self._grow(piece, field, text):
                self._append(piece, field, text)
        return "".join(readable)

    def _grow(self, piece: Object, field: str, text: str) -> bool:
        grown = self._growing.get((field, piece.get("index")))
        if grown is None or (
            text and grown[0].get("signature")
        ):  # a signed entry is complete: this text starts another
            return False
        entry, texts = grown
        texts.append(text)
        entry.update({name: value for name, value in piece.items() if value is not None and name != field})
        return True

    def _append(self, piece: Object, field: str | None, text: str) -> None:
        entry = dict(piece)
        self.entries.append(entry)
        if field is not None:
            self._growing[field, piece.get("index")] = (entry, [text])

    def finish(self, calls: list[CallDraft]) -> str | None:
        """Sign the calls that encrypted entries belong to, and return the other entries as JSON text, if any."""
        for (field, _), (entry, texts) in self._growing.items():
            if text := "".join(texts):
                entry[field] = text
        unsigned = {call.id: call for call in calls if call.id and call.signature is None}
        others: list[Object] = []
        for entry in self.entries:
            call = unsigned.pop(_id(entry), None)
            if call is None:
                others.append(entry)
            else:
                call.sign(json_text(entry))
        return json_text(others) if others else None


def _id(entry: Object) -> str:
    entry_id = entry.get("id")
    return entry_id if entry.get("type") == ENCRYPTED and isinstance(entry_id, str) else ""


def _text(piece: Object, field: str | None) -> str:
    text = "" if field is None else piece.get(field) or ""
    if not isinstance(text, str):
        raise TypeError("the text of a reasoning entry must be a string")
    return text
