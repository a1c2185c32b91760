"""Output above an input line that stays open.

prompt_toolkit's own proxy leaves raw mode for every output. Keys pressed at that moment would be echoed into the
output, and Ctrl-D would be lost. This one stays in raw mode.
"""

import asyncio
import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, TextIO, cast

from .terminal import safe_output

if TYPE_CHECKING:
    from prompt_toolkit.application import Application

DELAY = 0.03
"""Seconds to collect output before it is shown, so that the input line is not redrawn for every word."""
MAX_DELAYS = 10
"""How often output is delayed again while the terminal has not yet reported the position of the cursor."""


class PromptOutput(io.TextIOBase):
    """A text file whose complete lines appear above the input line of ``app``. Any thread may write to it."""

    def __init__(self, app: "Application[Any]") -> None:
        self._app = app
        self._loop = asyncio.get_running_loop()
        self._lock = Lock()
        self._pending: list[str] = []
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
    def has_pending_lines(self) -> bool:
        """Whether there are complete lines that are not shown yet."""
        return any("\n" in text for text in self._pending)

    def write(self, text: str) -> int:
        with self._lock:
            self._pending.append(text)
        if "\n" in text:
            self._loop.call_soon_threadsafe(self._schedule)
        return len(text)

    def _schedule(self) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(DELAY, self._show_when_ready)

    def _show_when_ready(self) -> None:
        self._timer = None
        if self._app.is_running and self._app.renderer.waiting_for_cpr and self._delays < MAX_DELAYS:
            self._delays += 1
            self._schedule()
            return
        self._delays = 0
        self.show()

    def show(self) -> None:
        """Show all complete lines now."""
        with self._lock:
            complete, found, rest = "".join(self._pending).rpartition("\n")
            self._pending = [rest] if rest else []
        if not found:
            return
        with suppress(OSError):  # the terminal may be gone; the chat notices that itself
            self._draw(complete + found)

    def _draw(self, text: str) -> None:
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
    def redirected(self) -> Iterator[None]:
        """Send everything that any code prints to this file while the context is open."""
        try:
            with safe_output(cast(TextIO, self)):
                yield
        finally:
            self.show()
