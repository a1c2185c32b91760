"""Signals while an event loop runs: what is done instead of what Python would do."""

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress


@contextmanager
def handled(acts: Mapping[str, Callable[[], None]]) -> Iterator[None]:
    """Call what stands beside the name of a signal. One that is ignored, as by ``nohup``, stays so."""
    loop = asyncio.get_running_loop()
    wanted = {number: act for name, act in acts.items() if (number := getattr(signal, name, None)) is not None}
    taken = [number for number in wanted if signal.getsignal(number) != signal.SIG_IGN]
    with suppress(NotImplementedError):  # Windows
        for number in taken:
            loop.add_signal_handler(number, wanted[number])
    try:
        yield
    finally:
        with suppress(NotImplementedError):
            for number in taken:
                loop.remove_signal_handler(number)
