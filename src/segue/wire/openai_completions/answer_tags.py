"""Separate thinking in ``<think>`` tags at the start of the content from the text, however the pieces are cut.

The format is the one that the encoder writes: ``<think>``, a line break, the thinking, a line break, ``</think>``, an
empty line.
"""

from collections.abc import Callable

_OPEN, _CLOSE = "<think>", "</think>"
_LAST = f"\n{_CLOSE}"


class ThinkTags:
    """A reader of pieces of content that calls ``add_thinking`` and ``add_text``. ``done``: the rest is text."""

    def __init__(self, add_thinking: Callable[[str], None], add_text: Callable[[str], None]) -> None:
        self._add_thinking, self._add_text = add_thinking, add_text
        self._blank: list[str] = []  # white space before anything else
        self._held = ""  # possibly part of a tag, or a line break that belongs to one
        self._read: Callable[[str], None] = self._before
        self.done = False

    def feed(self, piece: str) -> None:
        """Read the next piece."""
        held, self._held = self._held, ""
        self._read(held + piece)

    def flush(self) -> None:
        """Pass on what was held back, because no more content follows, or a call follows first."""
        held, self._held = self._held, ""
        if self._read == self._inside:
            self._add_thinking(held)
        elif self._read == self._before:
            before = "".join(self._blank)
            self._blank.clear()
            (self._end if held else self._add_text)(before + held)

    def _before(self, text: str) -> None:
        start = text.lstrip()
        self._blank.append(text[: len(text) - len(start)])
        if start.startswith(_OPEN):
            self._blank.clear()
            self._read = self._first
            self._first(start[len(_OPEN) :])
        elif _OPEN.startswith(start):
            self._held = start
        else:
            self._end("".join(self._blank) + start)

    def _first(self, text: str) -> None:
        if text:
            self._read = self._inside
            self._inside(text.removeprefix("\n"))

    def _inside(self, text: str) -> None:
        thought, closed, rest = text.partition(_CLOSE)
        if closed:
            self._add_thinking(thought.removesuffix("\n"))
            self._read = self._after
            self._after(rest)
            return
        keep = next((size for size in range(min(len(text), len(_LAST)), 0, -1) if _may_close(text, size)), 0)
        self._held = text[len(text) - keep :]
        self._add_thinking(text[: len(text) - keep])

    def _after(self, text: str) -> None:
        """Skip the empty line between the thinking and the text."""
        rest = text[2:] if text.startswith("\n\n") else text.removeprefix("\n")
        if rest:
            self._end(rest)
        else:
            self._held = text

    def _end(self, text: str) -> None:
        """Pass on text: there are no more tags to look for."""
        self.done = True
        self._add_text(text)


def _may_close(text: str, size: int) -> bool:
    """Whether the last ``size`` characters may be the start of the closing tag, with or without its line break."""
    tail = text[-size:]
    return _LAST.startswith(tail) or _CLOSE.startswith(tail)
