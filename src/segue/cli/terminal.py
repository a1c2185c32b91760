"""The terminal that commands draw on."""

from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


NARROWEST = 20


def console(file: IO[str] | None = None, *, stderr: bool = False) -> "Console":
    """A console that prints what it is given, without markup, and leaves a broken pipe to ``main``."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    screen = Plain(file=file, stderr=stderr, highlight=False, emoji=False, markup=False)
    if screen.width < NARROWEST:
        screen.width = 80  # nobody reads that: COLUMNS is wrong, or the terminal did not say
    return screen
