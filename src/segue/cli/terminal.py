"""The only module that writes to standard output and standard error.

Texts are made safe here, so that no command can forget it: what a command draws goes through ``Screen``, ``say`` and
``print_note``; JSON goes through ``write``. Everything else that is printed while a command runs, by argparse or a
library, goes through a ``Guard``.
"""

import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import IO, TYPE_CHECKING, Any, TextIO, TypeVar, cast

from .printable import escaped, flat, printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

NARROWEST = 20
MOST = 8
"""Characters for each cell of a line, where many share one cell."""
JOINER, EMOJI = "\u200d", "\ufe0f"
Part = tuple[str, str]
"""A text and its style."""
T = TypeVar("T")


# -- the two files ----------------------------------------------------------------------------------------------------


class Guard:
    """A file of text that makes safe what is written to it. It is not a terminal, so that nothing writes colours."""

    closed = False

    def __init__(self, beneath: TextIO) -> None:
        self.beneath = beneath
        self.encoding, self.errors = beneath.encoding, beneath.errors

    def isatty(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        raise io.UnsupportedOperation("what is written to its file would not be made safe")

    def write(self, text: str) -> int:
        self.beneath.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        self.write("".join(lines))

    def flush(self) -> None:
        self.beneath.flush()


@contextmanager
def guarded(file: TextIO | None = None) -> Iterator[None]:
    """Make everything safe that is printed meanwhile, by any code; ``file`` gets it, or where it goes anyway."""
    with redirect_stdout(_guard(file or output())), redirect_stderr(_guard(file or errors())):
        yield


def _guard(file: TextIO | None) -> TextIO | None:
    return None if file is None else cast(TextIO, Guard(file))


def is_open() -> bool:
    """Whether there are a standard input and output at all."""
    return sys.stdin is not None and sys.stdout is not None


def output() -> TextIO:
    """Standard output itself."""
    return cast(TextIO, getattr(sys.stdout, "beneath", sys.stdout))


def errors() -> TextIO:
    """Standard error itself."""
    return cast(TextIO, getattr(sys.stderr, "beneath", sys.stderr))


def is_terminal() -> bool:
    """Whether a person reads standard output."""
    return output().isatty()


def prepare() -> None:
    """Get ready for a command: a character that a terminal cannot show is replaced, and no library logs to it."""
    import logging

    file = output()
    if isinstance(file, io.TextIOWrapper):
        file.reconfigure(errors="replace")
    root = logging.getLogger()
    if not root.handlers and not os.environ.get("SEGUE_DEBUG"):  # without a handler, it goes to standard error
        root.addHandler(logging.NullHandler())


def flush() -> None:
    """Hand on what was written to standard output."""
    output().flush()


def settle() -> None:
    """Flush both files. What a broken one still holds is thrown away: Python would complain when it exits."""
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
    """One line on standard error. Nothing happens if it is closed."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"segue: {flat(text)}", file=sys.stderr, flush=True)


def say(text: str) -> None:
    """A text on standard output: exact for a program, safe for a person."""
    print(printable(text) if is_terminal() else text, file=output(), flush=True)


def write(document: bytes) -> None:
    """JSON on standard output: exact for a program; for a person, unsafe characters are escaped."""
    if is_terminal():
        document = escaped(document.decode("utf-8", "replace")).encode()
    output().buffer.write(document)


# -- drawing ----------------------------------------------------------------------------------------------------------


class Screen:
    """Draws texts with styles, without markup, and leaves a broken pipe to ``main``."""

    def __init__(self, file: IO[str] | None = None, *, stderr: bool = False) -> None:
        self._console = _console(file or (errors() if stderr else output()))

    @property
    def width(self) -> int:
        return self._console.width

    @width.setter
    def width(self, width: int) -> None:
        self._console.width = width

    def line(self, *parts: Part, indent: int = 0, wrap: bool = True) -> None:
        """Texts with their styles, as one paragraph; an empty line without any."""
        from rich.padding import Padding
        from rich.text import Text

        text: Text = Text.assemble(*((printable(words), style) for words, style in parts if words))
        shown: RenderableType = Padding(text, (0, 0, 0, indent), expand=False) if indent else text
        self._console.print(shown, soft_wrap=not wrap)

    def rule(self) -> None:
        """A line across the screen."""
        self._console.rule(style="dim")

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str]) -> None:
        """Columns under their names; those in ``left`` begin at the left."""
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, header_style="bold", pad_edge=False)
        for name in columns:
            table.add_column(name, justify="left" if name in left else "right", no_wrap=True)
        for row in rows:
            table.add_row(*(Text(flat(cell)) for cell in row))
        console = self._console
        # A narrow terminal breaks the lines itself, which leaves names whole and easy to copy.
        wide = console.measure(table, options=console.options.update(max_width=1000)).maximum
        console.width = max(console.width, wide)
        console.print(table)


def counted(items: "Iterator[tuple[T, int]]", noun: str) -> Iterator[T]:
    """Pass items on, and count them in a bar on standard error where a person watches it and data goes elsewhere."""
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


def _console(file: Any) -> "Console":
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    console = Plain(file=file, highlight=False, emoji=False, markup=False)
    if console.width < NARROWEST:
        console.width = 80  # COLUMNS is wrong, or the terminal did not report its width
    return console


def broken(text: str, width: int) -> list[str]:
    """A line as lines that fit into ``width`` cells, of which the last may still grow; words stay whole if possible.

    Each character is looked at once. One that belongs to the character before it does not begin a line.
    """
    from rich.cells import get_character_cell_size

    lines, start, cells, space, after = [], 0, 0, 0, 0
    for at, character in enumerate(text):
        # The selector of emoji may make the character before it wider.
        size = 1 if character == EMOJI else get_character_cell_size(character)
        belongs = size == 0 or character == EMOJI or text[at - 1] == JOINER
        while at > start and (at - start >= MOST * width or (cells + size >= width and not belongs)):
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
