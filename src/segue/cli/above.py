"""Output above an input line that stays open.

The terminal is not taken out of raw mode for it, as prompt_toolkit's own proxy does: keys that are struck in that
moment would be echoed into the output, and Ctrl-D would be lost.
"""

import asyncio
import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, TextIO, cast

from .terminal import guarded

if TYPE_CHECKING:
    from prompt_toolkit.application import Application

BUNDLED = 0.03
"""Seconds for which output is bundled, so that the line is not drawn anew for every word."""
PATIENCE = 10
"""How often it is put off while the terminal has not yet said where the cursor is."""


class Above(io.TextIOBase):
    """A file whose whole lines appear above the input line of ``app``. May be written to by any thread."""

    def __init__(self, app: "Application[Any]") -> None:
        self._app = app
        self._loop = asyncio.get_running_loop()
        self._lock = Lock()
        self._waiting: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._delays = 0

    @property
    def encoding(self) -> str:  # type: ignore[override]  # the base class has none
        return self._app.output.encoding()

    def isatty(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    @property
    def is_waiting(self) -> bool:
        """Whether there are whole lines that are not shown yet."""
        return any("\n" in text for text in self._waiting)

    def write(self, text: str) -> int:
        with self._lock:
            self._waiting.append(text)
        if "\n" in text:
            self._loop.call_soon_threadsafe(self._later)
        return len(text)

    def _later(self) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(BUNDLED, self._shown)

    def _shown(self) -> None:
        self._timer = None
        if self._app.is_running and self._app.renderer.waiting_for_cpr and self._delays < PATIENCE:
            self._delays += 1
            self._later()
            return
        self._delays = 0
        self.show()

    def show(self) -> None:
        """Show the lines that are whole."""
        with self._lock:
            whole, found, rest = "".join(self._waiting).rpartition("\n")
            self._waiting = [rest] if rest else []
        if not found:
            return
        with suppress(OSError):  # the terminal may be gone; what runs is ended elsewhere
            self._written(whole + found)

    def _written(self, text: str) -> None:
        app = self._app
        if app.is_running:
            app.renderer.erase()
        app.output.enable_autowrap()
        app.output.write_raw(text)
        app.output.flush()
        if app.is_running and app.context is not None:
            app.renderer.reset()
            app.context.copy().run(app.renderer.request_absolute_cursor_position)
            app.invalidate()

    @contextmanager
    def taking_all(self) -> Iterator[None]:
        """Everything that is printed meanwhile, by any code, goes here."""
        try:
            with guarded(cast(TextIO, self)):
                yield
        finally:
            self.show()
