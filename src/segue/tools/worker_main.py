"""The main function of a worker process (see ``worker.py``): it runs one function and reports its output.

It ends with its parent: when the pipe that brought its task is closed, it kills its process group.
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

from .output import OutputBuilder, ToolOutput

LENGTH = struct.Struct(">Q")
is_worker = False
"""Whether this process is a worker."""


class Task(Struct, frozen=True):
    """The task of a worker. ``values`` are pickled, because unpickling them may need the main module of the parent."""

    module: str
    name: str
    values: bytes
    builder: OutputBuilder
    main: dict[str, Any] | None
    """How to find the main module of the parent, if the function is in it."""


def main() -> None:
    """Run the one task that the parent sends."""
    global is_worker
    is_worker = True
    parent = os.fdopen(os.dup(0), "rb")
    answer = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):  # keep the input and the prints of the function away from the pipes
        os.dup2(null, number)
    task = msgspec.msgpack.decode(_read_frame(parent), type=Task)
    threading.Thread(target=_end_with, args=[parent], daemon=True).start()
    data = msgspec.json.encode(_run(task))
    answer.write(LENGTH.pack(len(data)) + data)
    answer.flush()
    os._exit(0)  # without waiting for threads that the function left behind


def _run(task: Task) -> ToolOutput:
    try:
        handler = _find_handler(task)
        values = pickle.loads(task.values)
        return task.builder.from_value(handler(**values))
    except BaseException as error:  # noqa: BLE001, foreign code may raise anything; the parent gets it as an output
        return task.builder.from_error(error)


def _find_handler(task: Task) -> Any:
    if task.main is not None:
        from multiprocessing.spawn import prepare

        prepare(task.main)
    found: Any = import_module(task.module)
    for part in task.name.split("."):
        found = getattr(found, part)
    return getattr(found, "handler", found)  # the decorator has replaced the function by a tool


def _read_frame(source: BinaryIO) -> bytes:
    [length] = LENGTH.unpack(source.read(LENGTH.size))
    return source.read(length)


def _end_with(parent: BinaryIO) -> None:
    """Wait until the pipe from the parent is closed, then end this process and its group."""
    while parent.read(1):
        pass
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)
