"""Run a function in a worker process, where it may hang or crash without harm to this process."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO, Any

import msgspec

from . import worker_main
from .output import STOPPED, OutputBuilder, ToolOutput
from .tool import Tool

_START = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from segue.tools.worker_main import main; main()"
_MAX_ANSWER = 1 << 30
_SIGNALS = {int(each): each.name for each in signal.Signals}


class WorkerError(Exception):
    """The worker could not be started for this function."""


class Worker:
    """One call in one process. ``run`` blocks until it has ended; ``stop``, from another thread, kills it."""

    def __init__(self, tool: Tool, values: dict[str, Any], builder: OutputBuilder) -> None:
        self._tool, self._values, self._builder = tool, values, builder
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self) -> ToolOutput:
        """Run the function and return its output. No process that it started in its group is left."""
        try:
            task = msgspec.msgpack.encode(self._task())
            with self._lock:
                if self._stopped:
                    return STOPPED
                self._process = _start_process()
            return self._exchange(self._process, task)
        except Exception as error:  # noqa: BLE001, whatever keeps a process from starting; the model gets it
            return self._builder.from_error(error)

    def stop(self) -> None:
        """Kill the process."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                _kill(self._process)

    def _task(self) -> worker_main.Task:
        if worker_main.is_worker:
            raise WorkerError(
                "a worker process starts no other; does the main module lack `if __name__ == '__main__':`?"
            )
        handler = self._tool.handler
        try:
            values = pickle.dumps(self._values)
        except Exception as error:  # noqa: BLE001, pickling runs foreign code
            raise WorkerError(f"the arguments cannot be sent to a worker process: {error}") from None
        main = _main_module() if handler.__module__ == "__main__" else None
        return worker_main.Task(handler.__module__, handler.__qualname__, values, self._builder, main)

    def _exchange(self, process: "subprocess.Popen[bytes]", task: bytes) -> ToolOutput:
        """Send the task, read the answer, and end the process."""
        assert process.stdin is not None and process.stdout is not None
        data = b""
        try:
            with suppress(BrokenPipeError):  # it died early, which the missing answer shows
                process.stdin.write(worker_main.LENGTH.pack(len(task)) + task)
                process.stdin.flush()
            data = _read_answer(process.stdout)
        finally:
            status = self._end(process)
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    pipe.close()
        if data:
            return msgspec.json.decode(data, type=ToolOutput)
        return STOPPED if self._stopped else self._died(status)

    def _end(self, process: "subprocess.Popen[bytes]") -> int:
        """Kill the process group and return the exit status. Waits last, so that the process id stays valid."""
        status = None
        if hasattr(os, "waitid"):
            with suppress(OSError):  # its own exit status, if it has ended by itself
                found = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                status = None if found is None else _exit_status(found)
        with self._lock:
            _kill(process)
            self._process = None
        collected = process.wait()
        return collected if status is None else status

    def _died(self, status: int) -> ToolOutput:
        how = f"exit status {status}" if status >= 0 else _SIGNALS.get(-status, f"signal {-status}")
        return self._builder.from_text(
            f"The worker process of the tool died ({how}) before it gave a result; what it had done is not known."
        )


def _start_process() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", _START, json.dumps([entry or os.getcwd() for entry in sys.path])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _read_answer(stdout: IO[bytes]) -> bytes:
    """The answer of the worker; empty if it is not complete."""
    head = stdout.read(worker_main.LENGTH.size)
    if len(head) < worker_main.LENGTH.size:
        return b""
    [length] = worker_main.LENGTH.unpack(head)
    data = stdout.read(min(length, _MAX_ANSWER))
    return data if len(data) == length else b""


def _exit_status(found: Any) -> int:
    """The status as ``subprocess`` has it: negative for a signal."""
    return int(found.si_status if found.si_code == os.CLD_EXITED else -found.si_status)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _main_module() -> dict[str, Any]:
    """How a worker finds the main module of this process, as multiprocessing describes it."""
    from multiprocessing.spawn import get_preparation_data

    data = get_preparation_data("segue-worker")
    if not {"init_main_from_name", "init_main_from_path"} & set(data):
        raise WorkerError("a function that was typed in cannot be found by a worker process: put it into a module")
    known = ("sys_argv", "orig_dir", "dir", "init_main_from_name", "init_main_from_path")
    return {name: data[name] for name in known if name in data}
