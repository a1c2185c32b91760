"""A function in a process of its own: it may hang, die or take others with it, and does no harm here."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any

import msgspec

from . import worker_main
from .limits import ToolLimits
from .output import ToolOutput, raised, told
from .tool import Tool

_START = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from segue.tools.worker_main import main; main()"
_LONGEST_ANSWER = 1 << 30
_SIGNALS = {int(each): each.name for each in signal.Signals}


class WorkerError(Exception):
    """The worker did not do what it was started for."""


class Worker:
    """One call in one process. ``run`` blocks until it is over; ``stop``, from another thread, ends it."""

    def __init__(self, tool: Tool, values: dict[str, Any], limits: ToolLimits, note: str) -> None:
        self._tool, self._values, self._limits, self._note = tool, values, limits, note
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self) -> ToolOutput:
        """How the function ended; nothing that it has started is left."""
        try:
            task = msgspec.msgpack.encode(self._task())
            with self._lock:
                if self._stopped:
                    return self._cancelled()
                self._process = self._started()
            return self._answer(self._process, task)
        except Exception as error:  # noqa: BLE001, whatever keeps a process from starting; the model is told
            return raised(error, self._limits, self._note)

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            if self._process is not None:
                _kill(self._process)

    def _task(self) -> worker_main.Task:
        if worker_main.inside:
            raise WorkerError(
                "a worker process starts no other; does the main module lack `if __name__ == '__main__':`?"
            )
        handler = self._tool.handler
        try:
            values = pickle.dumps(self._values)
        except Exception as error:  # noqa: BLE001, pickling runs the code of others
            raise WorkerError(f"the arguments cannot be sent to a worker process: {error}") from None
        main = _main_module() if handler.__module__ == "__main__" else None
        return worker_main.Task(handler.__module__, handler.__qualname__, values, self._limits, self._note, main)

    def _started(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps([entry or os.getcwd() for entry in sys.path])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _answer(self, process: "subprocess.Popen[bytes]", task: bytes) -> ToolOutput:
        assert process.stdin is not None and process.stdout is not None
        data = b""
        try:
            with suppress(BrokenPipeError):  # it died at once: that there is no answer says so
                process.stdin.write(worker_main.LENGTH.pack(len(task)) + task)
                process.stdin.flush()
            head = process.stdout.read(worker_main.LENGTH.size)
            if len(head) == worker_main.LENGTH.size:
                [length] = worker_main.LENGTH.unpack(head)
                data = process.stdout.read(min(length, _LONGEST_ANSWER))
                data = data if len(data) == length else b""
        finally:
            status = self._end(process)
        if data:
            return msgspec.json.decode(data, type=ToolOutput)
        return self._cancelled() if self._stopped else self._died(status)

    def _end(self, process: "subprocess.Popen[bytes]") -> int:
        """End the process with all that is in its group. It is collected last: until then its number is its own."""
        status = None
        if hasattr(os, "waitid"):
            with suppress(OSError):  # how it ended by itself, if it did
                found = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                status = None if found is None else _status(found)
        with self._lock:
            _kill(process)
            self._process = None
        collected = process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]  # both are pipes
        return collected if status is None else status

    def _died(self, status: int) -> ToolOutput:
        how = f"exit status {status}" if status >= 0 else _SIGNALS.get(-status, f"signal {-status}")
        died = f"The worker process of the tool died ({how}) before it gave a result; what it had done is not known."
        return told(died, self._limits, self._note)

    def _cancelled(self) -> ToolOutput:
        return ToolOutput([], True, stopped=True)


def _status(found: Any) -> int:
    return int(found.si_status if found.si_code == os.CLD_EXITED else -found.si_status)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _main_module() -> dict[str, Any]:
    """How another process finds our main module, as multiprocessing has it."""
    from multiprocessing.spawn import get_preparation_data

    data = get_preparation_data("segue-worker")
    if not {"init_main_from_name", "init_main_from_path"} & set(data):
        raise WorkerError("a function that was typed in cannot be found by a worker process: put it into a module")
    known = ("sys_argv", "orig_dir", "dir", "init_main_from_name", "init_main_from_path")
    return {name: data[name] for name in known if name in data}
