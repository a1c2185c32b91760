"""A request body as a tree that can be folded, and as a command for `curl`."""

import re
from collections.abc import Iterator
from typing import Any

import htpy as h
import msgspec

from ..render import Request
from ..types.formatting import size_of
from ..types.printable import escape_json
from ..types.text import count_of
from .marked import one_line, pattern_of, safe, shorten
from .rows import CHUNK
from .view import View

LONGEST = 2_000
"""Characters of a text that the tree shows; the copied body has all."""
OPEN_DEPTH = 2
"""Levels that are unfolded at first."""
DEEPEST = 24
"""Levels below which a value is written as one text."""


def draw_raw(request: Request, view: View, path: str) -> h.Renderable:
    """The raw body of one column. Of a long history the part around ``view.at`` is shown."""
    column = view.raw
    body = f"{path}/body?{view.query()}"
    size = size_of(len(request.json()))
    return h.section("#raw", aria_label=f"raw body for {request.model.ref}")[
        h.header[
            h.h2[f"{request.model.ref} · POST {request.path}"],
            h.span(".facts")[f"{size} · model {column} of {len(view.to)}"],
            h.a(href=f"{path}?{view.change(raw=0).query()}", data_visit="", aria_label="close the raw body")["close"],
        ],
        h.p(".controls")[
            h.button(type="button", data_copy_from=body)["copy body"],
            h.button(type="button", data_copy=one_line(request.curl()))["copy curl"],
            h.a(href=body, download="body.json")["save body"],
        ],
        h.details[h.summary["curl"], h.pre[one_line(request.curl())]],
        _pages(request, view, path),
        h.div(".json")[_Tree(_history(request)[0], _first(request, view), view.find).value(_shown(request, view))],
    ]


def find_in_body(request: Request, text: str) -> list[int]:
    """The turns of the history that contain ``text``; -1: some other part of the body does."""
    if not text:
        return []
    found, (name, turns) = pattern_of(text), _history(request)
    others = {key: value for key, value in request.body.items() if key != name or not turns}
    return [*([-1] if _has(others, found) else []), *[at for at, turn in enumerate(turns) if _has(turn, found)]]


def _has(value: Any, found: "re.Pattern[str]") -> bool:
    if isinstance(value, dict):
        return any(_has(each, found) for pair in value.items() for each in pair)
    if isinstance(value, list):
        return any(_has(each, found) for each in value)
    return isinstance(value, str) and found.search(value) is not None


def _history(request: Request) -> tuple[str, list[Any]]:
    name = max(request.body, key=lambda key: len(request.body[key]) if isinstance(request.body[key], list) else -1)
    value = request.body[name]
    return name, value if isinstance(value, list) else []


def _shown(request: Request, view: View) -> dict[str, Any]:
    """The body with at most one chunk of its history."""
    name, turns = _history(request)
    first = _first(request, view)
    return {**request.body, name: turns[first : first + CHUNK]} if len(turns) > CHUNK else request.body


def _first(request: Request, view: View) -> int:
    """The first turn that is shown."""
    return min(view.at, max(len(_history(request)[1]) - 1, 0)) // CHUNK * CHUNK


def _pages(request: Request, view: View, path: str) -> h.Renderable | None:
    """Links to the parts of a long history."""
    name, turns = _history(request)
    if len(turns) <= CHUNK:
        return None
    shown = _first(request, view)
    links = [
        h.a(
            href=f"{path}?{view.change(at=first).query()}",
            data_visit="",
            aria_current="true" if first == shown else None,
        )[f"{first}–{min(first + CHUNK, len(turns)) - 1}"]
        for first in range(0, len(turns), CHUNK)
    ]
    return h.nav(".pages", aria_label="parts of the history")[f"{name}: ", links]


class _Tree:
    """Draws a body. Turns of the history have addresses (``#t12``), and parts with the searched words are unfolded."""

    def __init__(self, history: str, first: int, find: str) -> None:
        self._history = history
        self._first = first
        self._find = find
        self._pattern = pattern_of(find) if find else None
        self._outside = False

    def value(self, value: Any, depth: int = 0, path: str = "") -> h.Node:
        if isinstance(value, dict) and value and depth < DEEPEST:
            rows = [
                h.li(id=None if depth else self._id(name, each))[
                    h.span(".name")[self._text(name)], ": ", self.value(each, depth + 1, f"{path}.{name}")
                ]
                for name, each in value.items()
            ]
            return self._fold("{", rows, "}", value, depth, _kind(value))
        if isinstance(value, list) and value and depth < DEEPEST:
            is_history = path == f".{self._history}"
            rows = [
                h.li(id=f"t{self._first + at}" if is_history else None)[self.value(each, depth + 1, f"{path}[]")]
                for at, each in enumerate(value)
            ]
            return self._fold("[", rows, "]", value, depth, count_of(len(value), "item"))
        if isinstance(value, str):
            return h.span(".string", dir="auto")[self._text(value)]
        return h.span(".literal")[escape_json(msgspec.json.encode(value).decode())]

    def _id(self, name: str, value: Any) -> str | None:
        """The address of the first part outside the history that has the searched words."""
        if self._pattern is None or name == self._history or self._outside or not _has({name: value}, self._pattern):
            return None
        self._outside = True
        return "t-1"

    def _fold(
        self, opening: str, rows: list[h.Element], closing: str, value: Any, depth: int, about: str
    ) -> h.Renderable:
        title = h.summary[opening, h.span(".folded")[f" {about} {closing}"]]
        is_open = depth < OPEN_DEPTH or (self._pattern is not None and _has(value, self._pattern))
        return h.details(open=is_open)[title, h.ul[rows], closing]

    def _text(self, value: str) -> h.Node:
        shown = safe(escape_json(msgspec.json.encode(value[:LONGEST]).decode()), self._find)
        return shown if len(value) <= LONGEST else [shown, f" … {len(value):,} characters"]


def _kind(value: dict[str, Any]) -> str:
    """What an object is, in a word, for when it is folded."""
    inner = value.get("function")
    named = {**inner, **value} if isinstance(inner, dict) else value
    words = [named[name][:40] for name in ("role", "type", "name") if isinstance(named.get(name), str)]
    text = next((found for found in _texts(value) if found.strip()), "")
    return one_line(" ".join([*words, shorten(text, 80)])).strip() or count_of(len(value), "field")


def _texts(value: Any) -> Iterator[str]:
    """The texts in a message, in order."""
    if isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for name in ("text", "content", "parts", "function"):
            found = value.get(name)
            if isinstance(found, str):
                yield found
            else:
                yield from _texts(found)
