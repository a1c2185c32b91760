"""Several processes on one port. The first one binds it, starts the others, and starts one again that has died."""

import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress

DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"
"""The variable with the folder for the numbers of workers. It must be set before prometheus_client is imported."""
TOO_FAST = 1.0
"""A worker that dies within this many seconds is started again after as many."""


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens."""
    six = ":" in host
    family = socket.AF_INET6 if six else socket.AF_INET
    both = six and socket.has_dualstack_ipv6()
    return socket.create_server((host, port), family=family, backlog=2048, dualstack_ipv6=both)


def run_workers(count: int, work: Callable[[], None], listening: socket.socket) -> None:
    """Run ``work`` in ``count`` processes until a signal; they end when this process does.

    Then ``listening`` is closed here as well, so that new connections are refused."""
    from prometheus_client.multiprocess import mark_process_dead  # after DIRECTORY is set

    try:
        running: dict[int, float] = {}
        stopping = False

        def stop(number: int, frame: object) -> None:
            nonlocal stopping
            stopping = True
            listening.close()
            for process in running:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGTERM)

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        while True:
            while not stopping and len(running) < count:
                running[_start(work)] = time.monotonic()
            try:
                process, _ = os.wait()
            except ChildProcessError:
                return
            began = running.pop(process, 0.0)
            mark_process_dead(process)  # type: ignore[no-untyped-call]  # what it was doing does not run any more
            if not stopping and time.monotonic() - began < TOO_FAST:
                time.sleep(TOO_FAST)
    finally:
        shutil.rmtree(os.environ[DIRECTORY], ignore_errors=True)


def _start(work: Callable[[], None]) -> int:
    process = os.fork()
    if process:
        return process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _end_with_parent()
    status = 1
    try:
        work()
        status = 0
    except BaseException:  # noqa: BLE001, the parent starts another one
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def _end_with_parent() -> None:
    """Ask Linux for a signal when the parent dies, so that no worker is left behind."""
    if sys.platform != "linux":
        return
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)
