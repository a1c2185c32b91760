"""A request body as a tree that can be folded, and as a command for `curl`."""

import shlex
from collections.abc import Iterator
from typing import Any

import htpy as h
import msgspec

from ..render import Request
from ..types.formatting import size_of
from ..types.printable import escape_json
from ..types.secret import shown_headers
from .marked import one_line
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
            h.span(".facts")[f"{size} · {column} of {len(view.to)}"],
            h.a(href=f"{path}?{view.change(raw=0).query()}", data_visit="", aria_label="close the raw body")["close"],
        ],
        h.p(".controls")[
            h.button(type="button", data_copy_from=body)["copy body"],
            h.a(href=body, download="body.json")["save body"],
            h.button(type="button", data_copy=curl_of(request))["copy curl"],
        ],
        h.details[h.summary["curl"], h.pre[curl_of(request)]],
        _pages(request, view, path),
        h.div(".json")[_value(_shown(request, view), 0)],
    ]


def _history(request: Request) -> tuple[str, list[Any]]:
    name = max(request.body, key=lambda key: len(request.body[key]) if isinstance(request.body[key], list) else -1)
    value = request.body[name]
    return name, value if isinstance(value, list) else []


def _shown(request: Request, view: View) -> dict[str, Any]:
    """The body with at most one chunk of its history."""
    name, turns = _history(request)
    first = min(view.at, max(len(turns) - 1, 0)) // CHUNK * CHUNK
    return {**request.body, name: turns[first : first + CHUNK]} if len(turns) > CHUNK else request.body


def _pages(request: Request, view: View, path: str) -> h.Renderable | None:
    """Links to the parts of a long history."""
    name, turns = _history(request)
    if len(turns) <= CHUNK:
        return None
    links = [
        h.a(href=f"{path}?{view.change(at=first).query()}", data_visit="")[
            f"{first}–{min(first + CHUNK, len(turns)) - 1}"
        ]
        for first in range(0, len(turns), CHUNK)
    ]
    return h.nav(".pages", aria_label="parts of the history")[f"{name}: ", links]


def curl_of(request: Request) -> str:
    """A shell command that sends the body, saved as body.json. It has no key."""
    headers = [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in shown_headers(request.headers).items()]
    address = shlex.quote(f"{request.model.base_url.rstrip('/')}/{request.path.lstrip('/')}")
    return one_line(" ".join(["curl", address, *headers, "--data-binary @body.json"]))


def _value(value: Any, depth: int) -> h.Node:
    if isinstance(value, dict) and value and depth < DEEPEST:
        rows = [h.li[h.span(".name")[_text(name)], ": ", _value(each, depth + 1)] for name, each in value.items()]
        return _fold("{", rows, "}", depth, _kind(value))
    if isinstance(value, list) and value and depth < DEEPEST:
        return _fold("[", [h.li[_value(each, depth + 1)] for each in value], "]", depth, str(len(value)))
    if isinstance(value, str):
        return h.span(".string", dir="auto")[_text(value)]
    return h.span(".literal")[escape_json(msgspec.json.encode(value).decode())]


def _fold(opening: str, rows: list[h.Element], closing: str, depth: int, about: str) -> h.Renderable:
    title = h.summary[opening, h.span(".folded")[f" {about} {closing}"]]
    return h.details(open=depth < OPEN_DEPTH)[title, h.ul[rows], closing]


def _kind(value: dict[str, Any]) -> str:
    """What an object is, in a word, for when it is folded."""
    words = [value[name][:40] for name in ("role", "type", "name") if isinstance(value.get(name), str)]
    text = next((found for found in _texts(value) if found.strip()), "")
    return one_line(" ".join([*words, text[:80]])) or f"{len(value)}"


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


def _text(value: str) -> str:
    shown = escape_json(msgspec.json.encode(value[:LONGEST]).decode())
    return shown if len(value) <= LONGEST else f"{shown} … {len(value):,} characters"
