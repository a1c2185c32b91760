"""The only module that writes to standard output and standard error.

Texts are made safe here, so that no command can forget to: commands draw with ``Screen``, print lines with
``print_text`` and ``print_note``, and write JSON with ``write_json``. Everything else that is printed while a command
runs, by argparse or a library, goes through a ``SafeWriter``.
"""

import io
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stderr, redirect_stdout, suppress
from threading import Event, Lock, Thread
from typing import IO, TYPE_CHECKING, Any, TextIO, TypeVar, cast

from .printable import escape_json, one_line, printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

MIN_WIDTH = 20
MAX_CHARACTERS_PER_CELL = 8
"""A line is also wrapped if more characters than this share a cell on average."""
JOINER, EMOJI = "\u200d", "\ufe0f"
Part = tuple[str, str]
"""A text and its style."""
T = TypeVar("T")


# -- standard output and standard error -------------------------------------------------------------------------------


class SafeWriter:
    """A text file that makes safe what is written to it. It reports that it is not a terminal, so that libraries do
    not write colours."""

    closed = False

    def __init__(self, wrapped: TextIO) -> None:
        self.wrapped = wrapped
        self.encoding, self.errors = wrapped.encoding, wrapped.errors

    def isatty(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        raise io.UnsupportedOperation("output that bypasses this file would not be made safe")

    def write(self, text: str) -> int:
        self.wrapped.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        self.write("".join(lines))

    def flush(self) -> None:
        self.wrapped.flush()


@contextmanager
def safe_output(file: TextIO | None = None) -> Iterator[None]:
    """Make everything safe that any code prints while the context is open. With ``file``, it is written there."""
    with redirect_stdout(_safe(file or output())), redirect_stderr(_safe(file or errors())):
        yield


def _safe(file: TextIO | None) -> TextIO | None:
    return None if file is None else cast(TextIO, SafeWriter(file))


def is_open() -> bool:
    """Whether standard input and standard output are open."""
    return sys.stdin is not None and sys.stdout is not None


def output() -> TextIO:
    """Standard output, without the ``SafeWriter`` around it."""
    return cast(TextIO, getattr(sys.stdout, "wrapped", sys.stdout))


def errors() -> TextIO:
    """Standard error, without the ``SafeWriter`` around it."""
    return cast(TextIO, getattr(sys.stderr, "wrapped", sys.stderr))


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return output().isatty()


def prepare() -> None:
    """Set up output for a command: replace characters that cannot be encoded, and keep log records off the terminal."""
    import logging

    file = output()
    if isinstance(file, io.TextIOWrapper):
        file.reconfigure(errors="replace")
    root = logging.getLogger()
    if not root.handlers and not os.environ.get("SEGUE_DEBUG"):  # without a handler, records go to standard error
        root.addHandler(logging.NullHandler())


def flush() -> None:
    """Flush standard output."""
    output().flush()


def flush_at_exit() -> None:
    """Flush both files. What a broken one still holds is discarded: Python would complain about it at exit."""
    for file in (output(), errors()):
        if file is None:
            continue
        try:
            file.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), file.fileno())


# -- lines and data ---------------------------------------------------------------------------------------------------


def print_note(text: str) -> None:
    """Print one line to standard error. Nothing happens if it is closed."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"segue: {one_line(text)}", file=sys.stderr, flush=True)


def print_log(name: str) -> None:
    """Print the records of a logger to standard error, as they are: one line each."""
    import logging

    logger = logging.getLogger(name)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    handler = logging.StreamHandler(sys.stderr)  # which is safe while a command runs
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger.addHandler(handler)


def print_text(text: str) -> None:
    """Print a text to standard output: made safe on a terminal, exact otherwise."""
    print(printable(text) if is_terminal() else text, file=output(), flush=True)


def write_json(document: bytes) -> None:
    """Write JSON to standard output: with unsafe characters escaped on a terminal, exact otherwise."""
    if is_terminal():
        document = escape_json(document.decode("utf-8", "replace")).encode()
    output().buffer.write(document)


# -- drawing ----------------------------------------------------------------------------------------------------------


class Screen:
    """Draws texts with styles. Text is never read as markup; a broken pipe is left to ``main``.

    Lines are wrapped on a terminal only: another program gets each line as it is.
    """

    def __init__(self, file: IO[str] | None = None, *, stderr: bool = False) -> None:
        file = file or (errors() if stderr else output())
        self._console = _console(file)
        self._wraps = file.isatty()

    @property
    def width(self) -> int:
        return self._console.width

    @width.setter
    def width(self, width: int) -> None:
        self._console.width = width

    def line(self, *parts: Part, indent: int = 0, wrap: bool = True) -> None:
        """Draw texts with their styles as one paragraph. Without texts, draw an empty line."""
        from rich.padding import Padding
        from rich.text import Text

        text: Text = Text.assemble(*((printable(part), style) for part, style in parts if part))
        shown: RenderableType = text
        if indent and self._wraps:
            shown = Padding(text, (0, 0, 0, indent), expand=False)
        elif indent:
            shown = Text("\n").join(Text(" " * indent) + line for line in text.split("\n", allow_blank=True))
        self._console.print(shown, soft_wrap=not (wrap and self._wraps))

    def rule(self) -> None:
        """Draw a line across the screen."""
        self._console.rule(style="dim")

    def table(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        left: Sequence[str],
        *,
        cuts: str = "",
        breaks: str = "",
        optional: Sequence[str] = (),
    ) -> list[str]:
        """Draw a table and return the columns that it has. Columns in ``left`` are aligned left, all others right.

        On a terminal that is too narrow, columns in ``optional`` are left out, in this order. A long cell of the column
        ``cuts`` is then cut; one of the column ``breaks`` gets a line of its own, so that it can be copied. Other
        programs get everything.
        """
        cells = [tuple(map(one_line, row)) for row in rows]
        shown = [*columns]
        widths = {name: max(cell_width(row[at]) for row in [columns, *cells]) for at, name in enumerate(columns)}
        flexible = cuts or breaks
        if self._wraps and flexible:
            widest = widths[flexible]
            widths[flexible] = min(widest, MIN_FLEXIBLE)
            for name in optional:
                if _table_width(shown, widths) > self.width:
                    shown.remove(name)
            widths[flexible] = max(min(widest, self.width - _table_width(shown, widths) + widths[flexible]), 1)
        places = [(columns.index(name), name) for name in shown]
        for row, style in ((tuple(columns), "bold"), *((row, "") for row in cells)):
            if breaks and cell_width(row[columns.index(breaks)]) > widths[breaks]:
                self.line((row[columns.index(breaks)], style), wrap=False)
                row = tuple("" if name == breaks else cell for name, cell in zip(columns, row, strict=True))
            aligned = "  ".join(_aligned(row[at], widths[name], name in left) for at, name in places)
            self.line((aligned.rstrip(), style), wrap=False)
        return shown


MIN_FLEXIBLE = 34
"""Cells that a column with long texts gets before optional columns are shown."""
GAP = 2
"""Cells between two columns of a table."""


def _table_width(columns: Sequence[str], widths: dict[str, int]) -> int:
    return sum(widths[name] for name in columns) + GAP * (len(columns) - 1)


def _aligned(text: str, width: int, left: bool) -> str:
    if cell_width(text) > width:
        text = f"{wrap_line(text, width)[0][: width - 1]}…" if width > 1 else text[:width]
    space = " " * (width - cell_width(text))
    return text + space if left else space + text


def cell_width(text: str) -> int:
    """The cells that a text needs on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def with_progress(items: "Iterator[tuple[T, int]]", noun: str) -> Iterator[T]:
    """Yield the items, with a progress bar on standard error if that is a terminal and standard output is not."""
    if errors() is None or not errors().isatty() or is_terminal():
        yield from (item for item, _ in items)
        return
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), MofNCompleteColumn(), noun, TimeElapsedColumn())
    with Progress(*columns, console=_console(errors())) as progress:
        task = progress.add_task("", total=None)
        for item, count in items:
            progress.advance(task, count)
            yield item


@contextmanager
def progress_of_rows() -> Iterator[Callable[[int, int, int], None]]:
    """A function that advances a progress bar by rows and bytes, of all bytes. The bar has the rows per second and the
    time that is left. It is on standard error if that is a terminal; otherwise nothing is shown."""
    if errors() is None or not errors().isatty():
        yield lambda rows, size, total: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    rate = TextColumn("{task.fields[rows]:,} rows, {task.fields[rate]:,.0f} a second")
    begun, done, read = time.monotonic(), 0, 0
    bar = Progress(BarColumn(), TaskProgressColumn(), rate, TimeRemainingColumn(), console=_console(errors()))
    task = bar.add_task("", total=None, rows=0, rate=0.0)

    def advance(rows: int, size: int, total: int) -> None:
        nonlocal done, read
        done, read = done + rows, read + size
        if read < total:  # something is left to wait for
            bar.start()
        passed = max(time.monotonic() - begun, 0.001)
        bar.update(task, advance=size, total=total, rows=done, rate=done / passed)

    try:
        yield advance
    finally:
        if bar.live.is_started:
            bar.stop()


PATIENCE = 1.0
"""Seconds without output after which a command shows what it is doing."""


class Busy:
    """Shows what takes so long, and for how long, on standard error if that is a terminal.

    Use it in a ``with`` statement. Anything that is printed meanwhile must be printed inside ``paused()``.
    """

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._file = errors() if errors() is not None and errors().isatty() else None
        self._begun = self._quiet_since = time.monotonic()
        self._shown = False
        self._lock = Lock()
        self._ended = Event()
        self._thread = Thread(target=self._show, daemon=True)

    def __enter__(self) -> "Busy":
        if self._file is not None:
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        if self._file is not None:
            self._thread.join()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Remove the line, so that something else can be printed."""
        with self._lock:
            self._erase()
            yield
            self._quiet_since = time.monotonic()

    def _show(self) -> None:
        while not self._ended.wait(0.1):
            with self._lock:
                now = time.monotonic()
                if now - self._quiet_since >= PATIENCE:
                    self._write(f"{self._doing} … {int(now - self._begun)} s")
        with self._lock:
            self._erase()

    def _erase(self) -> None:
        if self._shown:
            self._write("")
            self._shown = False

    def _write(self, text: str) -> None:
        file = self._file
        assert file is not None
        width = max(_console(file).width - 1, 1)
        line = one_line(text)[:width]
        with suppress(OSError, ValueError):  # the terminal is gone
            file.write(f"\r{line}{' ' * (width - cell_width(line))}\r")
            file.flush()
        self._shown = True


def busy(doing: str) -> AbstractContextManager[object]:
    """Show what takes so long. Nothing may be printed meanwhile."""
    return Busy(doing) if errors() is not None and errors().isatty() else nullcontext()


def _console(file: Any) -> "Console":
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    console = Plain(file=file, highlight=False, emoji=False, markup=False)
    if console.width < MIN_WIDTH:
        console.width = 80  # COLUMNS is wrong, or the terminal does not report its width
    return console


def wrap_line(text: str, width: int) -> list[str]:
    """Wrap a line into lines that fit into ``width`` cells, between words if possible. The last one may still grow.

    Each character is measured once. A character that combines with the one before it does not start a line.
    """
    from rich.cells import get_character_cell_size

    lines, start, cells, space, after = [], 0, 0, 0, 0
    for at, character in enumerate(text):
        # The emoji variation selector may make the character before it wider.
        size = 1 if character == EMOJI else get_character_cell_size(character)
        combines = size == 0 or character == EMOJI or text[at - 1] == JOINER
        while at > start and (
            at - start >= MAX_CHARACTERS_PER_CELL * width or (cells + size >= width and not combines)
        ):
            if character == " ":
                space, after = at, cells
            cut = space if space > start else at
            lines.append(text[start:cut])
            start, cells = (cut + 1, max(cells - after, 0)) if space > start else (cut, 0)
        if character == " " and at >= start:
            space, after = at, cells + size
        if at >= start:
            cells += size
    return [*lines, text[start:]]
