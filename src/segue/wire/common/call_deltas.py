"""Which call a piece of one belongs to, where calls stream as ``tool_calls`` of a chat completion.

A piece should say its call's ``index``; the id and the name come with the first. Servers leave the index out (Gemini's
compatible endpoint, openai-python#2806), say 0 for every call (older Ollama, ollama#7881), give no id, write ``"null"``
for it (Mistral), or repeat id and name in every piece. So: by index; without one by id, then by place and order; and a
piece that names its call anew begins another.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...types.codec import json_text
from .answer import Answer, CallDraft
from .arguments import read_arguments

Piece = Mapping[str, Any]

MAX_NAME = 4096
"""Characters of a name that comes in pieces; no provider takes a name of more than 128."""


class CallDeltas:
    """The calls of one answer, as their pieces come."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._calls: dict[Any, CallDraft] = {}  # by index: the newest there
        self._by_id: dict[str, CallDraft] = {}
        self._nesting: dict[CallDraft, Nesting] = {}  # of calls without an id
        self._last: Any = 0

    def take(self, pieces: Sequence[Piece]) -> list[CallDraft]:
        """The ``tool_calls`` of one delta: what they say is added to their calls, which are given back in order."""
        taken: list[CallDraft] = []
        for place, piece in enumerate(pieces):
            index = piece.get("index")
            if index is None:
                index = place if len(pieces) > 1 else self._last
            function = piece.get("function") or _NOTHING
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
            taken.append(call)
        return taken

    def whole(self, calls: Sequence[Piece]) -> list[CallDraft]:
        """The ``tool_calls`` of a whole answer: each is a call of its own."""
        made: list[CallDraft] = []
        for call in calls:
            function = call.get("function") or _NOTHING
            made.append(self._answer.call(call_id(call), function.get("name")))
            made[-1].whole(function.get("arguments"))
        return made

    def _matched(self, index: Any, piece: Piece, function: Piece) -> CallDraft:
        """The call of a piece that has an id or a name, or is the first with its index."""
        given, name = call_id(piece), function.get("name") or ""
        call = self._calls.get(index)
        if given and (call is None or call.id != given) and (call is not None or piece.get("index") is None):
            call = self._by_id.get(given, call)
        if call is None or self._is_another(call, given, name, function.get("arguments")):
            call = self._answer.call(given, name)
        elif name and not call.name:
            call.name = name
        elif name != call.name and call.id and not given and not call.has_text:
            call.name += name  # the name itself in pieces
            if len(call.name) > MAX_NAME:
                raise ValueError(f"a name of more than {MAX_NAME:,} characters")
        if given and not call.id:
            call.id = given
        self._calls[index] = call
        if given:
            self._by_id.setdefault(given, call)
        return call

    def _is_another(self, call: CallDraft, given: str | None, name: str, arguments: Any) -> bool:
        """Whether a piece begins a call of its own, though an earlier one stands in its place.

        An id alone does not tell: vLLM gave every piece of a call a new one. A name with a new id does. Without ids, a
        name tells where the call before has all of its arguments, or none and another name.
        """
        if not name or not call.name:
            return False
        if given and call.id:
            return given != call.id
        begins = bool(arguments) and (not isinstance(arguments, str) or arguments.lstrip().startswith("{"))
        if name == call.name and not begins:  # a name in every piece: what is there already is not looked at each time
            return False
        if not call.has_text:
            return name != call.name and not call.id
        nesting = self._nesting.get(call)
        if not begins or (nesting is not None and not nesting.closed):
            return False
        return read_arguments(call.so_far)[1] == "strict"


_NOTHING: Piece = {}


def call_id(call: Piece) -> str | None:
    """The id that a call came with; Mistral writes ``"null"`` where there is none (mistralai 3.7.0, ``ToolCall``)."""
    given = call.get("id")
    return None if not given or given == "null" else str(given)


_MARKS = re.compile(r'\\(?:.|\Z)|["{}\[\]]', re.DOTALL)


class Nesting:
    """Whether JSON text that comes in pieces has closed all that it opened; each character is looked at once."""

    __slots__ = ("_depth", "_escape", "_in_string", "_over", "closed")

    def __init__(self) -> None:
        self._depth = 0
        self._escape = ""  # a backslash at the end of the last piece
        self._in_string = False
        self._over = False  # something came after the end, and there is no other end
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
