"""The other end of ``worker.py``: a process that runs one function and says how it ended.

It ends with its parent: when the pipe that it was given its task through is closed, it takes its group with it.
"""

import os
import pickle
import signal
import struct
import threading
from importlib import import_module
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from .limits import ToolLimits
from .output import ToolOutput, ended, raised

LENGTH = struct.Struct(">Q")
inside = False
"""Whether this process is a worker."""


class Task(Struct, frozen=True):
    """What a worker is told to do; ``values`` are pickled, since they may need the main module to be there."""

    module: str
    name: str
    values: bytes
    limits: ToolLimits
    note: str
    main: dict[str, Any] | None
    """How the main module of the parent is found, where the function is in it."""


def main() -> None:
    """Run the one task that the parent sends."""
    global inside
    inside = True
    lifeline = os.fdopen(os.dup(0), "rb")
    answer = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):  # what the function reads and prints has no part in this
        os.dup2(nothing, number)
    task = msgspec.msgpack.decode(_frame(lifeline), type=Task)
    threading.Thread(target=_end_with, args=[lifeline], daemon=True).start()
    data = msgspec.json.encode(_done(task))
    answer.write(LENGTH.pack(len(data)) + data)
    answer.flush()
    os._exit(0)  # threads that the function left behind have no say


def _done(task: Task) -> ToolOutput:
    try:
        handler = _handler(task)
        values = pickle.loads(task.values)
        return ended(handler(**values), task.limits, task.note)
    except BaseException as error:  # noqa: BLE001, a tool may fail in any way; the parent is told
        return raised(error, task.limits, task.note)


def _handler(task: Task) -> Any:
    if task.main is not None:
        from multiprocessing.spawn import prepare

        prepare(task.main)
    found: Any = import_module(task.module)
    for part in task.name.split("."):
        found = getattr(found, part)
    return getattr(found, "handler", found)  # the decorator has put a tool in the place of its function


def _frame(source: BinaryIO) -> bytes:
    [length] = LENGTH.unpack(source.read(LENGTH.size))
    return source.read(length)


def _end_with(lifeline: BinaryIO) -> None:
    while lifeline.read(1):
        pass
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)
