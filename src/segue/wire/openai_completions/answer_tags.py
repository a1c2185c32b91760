"""Thinking in ``<think>`` tags at the beginning of the content, told from the text wherever the pieces are cut.

As the encoder writes it back: ``<think>``, a line break, the thinking, a line break, ``</think>``, an empty line.
"""

from collections.abc import Callable

_OPEN, _CLOSE = "<think>", "</think>"
_LAST = f"\n{_CLOSE}"


class ThinkTags:
    """Pieces of content in; thinking and text out, to the two functions. ``done`` when the rest is text."""

    def __init__(self, think: Callable[[str], None], say: Callable[[str], None]) -> None:
        self._think, self._say = think, say
        self._blank: list[str] = []  # white space before anything else
        self._held = ""  # what may be half a tag, or a line break that belongs to one
        self._read: Callable[[str], None] = self._before
        self.done = False

    def feed(self, piece: str) -> None:
        held, self._held = self._held, ""
        self._read(held + piece)

    def flush(self) -> None:
        """Nothing more comes, or something else comes first: what was held is what it looks like."""
        held, self._held = self._held, ""
        if self._read == self._inside:
            self._think(held)
        elif self._read == self._before:
            before = "".join(self._blank)
            self._blank.clear()
            (self._pass if held else self._say)(before + held)

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
            self._pass("".join(self._blank) + start)

    def _first(self, text: str) -> None:
        if text:
            self._read = self._inside
            self._inside(text.removeprefix("\n"))

    def _inside(self, text: str) -> None:
        thought, closed, rest = text.partition(_CLOSE)
        if closed:
            self._think(thought.removesuffix("\n"))
            self._read = self._after
            self._after(rest)
            return
        keep = next((size for size in range(min(len(text), len(_LAST)), 0, -1) if _ends(text, size)), 0)
        self._held = text[len(text) - keep :]
        self._think(text[: len(text) - keep])

    def _after(self, text: str) -> None:
        """The empty line between the thinking and the text is neither's."""
        rest = text[2:] if text.startswith("\n\n") else text.removeprefix("\n")
        if rest:
            self._pass(rest)
        else:
            self._held = text

    def _pass(self, text: str) -> None:
        self.done = True
        self._say(text)


def _ends(text: str, size: int) -> bool:
    """Whether the last characters may be the beginning of the closing tag, with or without its line break."""
    tail = text[-size:]
    return _LAST.startswith(tail) or _CLOSE.startswith(tail)
