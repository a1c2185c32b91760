"""Find the call that a streamed piece belongs to, for calls that stream as ``tool_calls`` of a chat completion.

A piece should have the ``index`` of its call; the first piece also has the id and the name. Servers leave the index out
(Gemini's compatible endpoint, openai-python#2806), send 0 for every call (older Ollama, ollama#7881), send no id, write
``"null"`` for it (Mistral), or repeat id and name in every piece. So a piece is matched by index, otherwise by id, then
by position and order. A piece that names its call again begins another call.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...types.codec import json_text
from .answer import Answer
from .arguments import read_arguments
from .drafts import CallDraft

Piece = Mapping[str, Any]

MAX_NAME = 4096
"""Limit for a name that arrives in pieces, in characters; no provider accepts a name of more than 128."""


class CallDeltas:
    """The calls of one answer, built from their pieces."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._calls: dict[Any, CallDraft] = {}  # by index: the newest one
        self._by_id: dict[str, CallDraft] = {}
        self._nesting: dict[CallDraft, Nesting] = {}  # of calls without an id
        self._last: Any = 0

    def add(self, pieces: Sequence[Piece]) -> list[CallDraft]:
        """Add the ``tool_calls`` of one delta to their calls, and return these calls in order."""
        calls: list[CallDraft] = []
        for place, piece in enumerate(pieces):
            index = piece.get("index")
            if index is None:
                index = place if len(pieces) > 1 else self._last
            function = piece.get("function") or _free_text(piece) or _NOTHING
            call = self._calls.get(index)
            if call is None or piece.get("id") or function.get("name"):
                call = self._matched(index, piece, function)
            self._last = index
            arguments = function.get("arguments")
            if arguments is not None and type(arguments) is not str:
                arguments = json_text(arguments)
            if arguments:
                call.add(arguments)
                if not call.id:
                    self._nesting.setdefault(call, Nesting()).feed(arguments)
            calls.append(call)
        return calls

    def whole(self, calls: Sequence[Piece]) -> list[CallDraft]:
        """Add the ``tool_calls`` of a whole answer: each entry is one call."""
        made: list[CallDraft] = []
        for call in calls:
            free_text = None if call.get("function") else _free_text(call)
            function = call.get("function") or free_text or _NOTHING
            made.append(self._answer.call(call_id(call), function.get("name")))
            made[-1].kind = None if free_text is None else "custom"
            made[-1].whole(function.get("arguments"))
        return made

    def _matched(self, index: Any, piece: Piece, function: Piece) -> CallDraft:
        """The call of a piece that has an id or a name, or is the first one with its index."""
        new_id, name = call_id(piece), function.get("name") or ""
        call = self._calls.get(index)
        if new_id and (call is None or call.id != new_id) and (call is not None or piece.get("index") is None):
            call = self._by_id.get(new_id, call)
        if call is None or self._is_another(call, new_id, name, function.get("arguments")):
            call = self._answer.call(new_id, name)
        elif name and not call.name:
            call.name = name
        elif name != call.name and call.id and not new_id and not call.has_text:
            call.name += name  # the name is streamed in pieces
            if len(call.name) > MAX_NAME:
                raise ValueError(f"a name of more than {MAX_NAME:,} characters")
        if new_id and not call.id:
            call.id = new_id
        if not piece.get("function") and _free_text(piece) is not None:
            call.kind = "custom"
        self._calls[index] = call
        if new_id:
            self._by_id.setdefault(new_id, call)
        return call

    def _is_another(self, call: CallDraft, new_id: str | None, name: str, arguments: Any) -> bool:
        """Whether a piece begins a new call, although an earlier call has its index.

        A new id is not enough: vLLM gave every piece of a call a new one. A name with a new id is. Without ids, a name
        begins a new call if the call before has all of its arguments, or has none and another name.
        """
        if not name or not call.name:
            return False
        if new_id and call.id:
            return new_id != call.id
        begins = bool(arguments) and (not isinstance(arguments, str) or arguments.lstrip().startswith("{"))
        if name == call.name and not begins:  # a name in every piece: do not read the arguments again
            return False
        if not call.has_text:
            return name != call.name and not call.id
        nesting = self._nesting.get(call)
        if not begins or (nesting is not None and not nesting.closed):
            return False
        return read_arguments(call.so_far)[1] == "strict"


_NOTHING: Piece = {}


def _free_text(piece: Piece) -> Piece | None:
    """A piece of a free-text call, in the form of a function; ``None`` if it is not one.

    The SDK has a type for whole calls only (openai 3.49.0); streamed ones have the same fields (openai-openapi#576,
    2026-09). Some gateways add an empty object to the calls of functions (pi#8504).
    """
    custom = piece.get("custom")
    return {"name": custom.get("name"), "arguments": custom.get("input")} if custom else None


def call_id(call: Piece) -> str | None:
    """The id of a call. Mistral writes ``"null"`` if there is none (mistralai 3.7.0, ``ToolCall``)."""
    found = call.get("id")
    return None if not found or found == "null" else str(found)


_MARKS = re.compile(r'\\(?:.|\Z)|["{}\[\]]', re.DOTALL)


class Nesting:
    """Whether JSON text that arrives in pieces has closed everything it opened. Reads each character once."""

    __slots__ = ("_depth", "_escape", "_in_string", "_over", "closed")

    def __init__(self) -> None:
        self._depth = 0
        self._escape = ""  # a backslash at the end of the last piece
        self._in_string = False
        self._over = False  # something follows the end of the JSON
        self.closed = False

    def feed(self, piece: str) -> None:
        self._over = self._over or (self.closed and not piece.isspace())
        text, self._escape = self._escape + piece, ""
        for mark in _MARKS.finditer(text):
            found = mark[0]
            if found == '"':
                self._in_string = not self._in_string
            elif found == "\\":
                self._escape = found
            elif not self._in_string and found in "{[":
                self._over = self._over or self.closed
                self._depth += 1
            elif not self._in_string and found in "}]":
                self._depth -= 1
                self.closed = self._depth == 0
        self.closed = self.closed and not self._over
