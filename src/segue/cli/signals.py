"""Signal handlers for the time that an event loop runs."""

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress


@contextmanager
def handle_signals(handlers: Mapping[str, Callable[[], None]]) -> Iterator[None]:
    """Call these handlers, by the name of the signal. A signal that is ignored, as under ``nohup``, stays ignored."""
    loop = asyncio.get_running_loop()
    by_number = {
        number: handler for name, handler in handlers.items() if (number := getattr(signal, name, None)) is not None
    }
    handled = [number for number in by_number if signal.getsignal(number) != signal.SIG_IGN]
    with suppress(NotImplementedError):  # Windows
        for number in handled:
            loop.add_signal_handler(number, by_number[number])
    try:
        yield
    finally:
        with suppress(NotImplementedError):
            for number in handled:
                loop.remove_signal_handler(number)
