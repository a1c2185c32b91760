"""Tools in worker processes may hang, die, print a lot and leave processes: the batch continues, nothing is left."""

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest
from support import risky
from support.batches import Notebook, calls_of, complete, processes, ran, run, text_of
from support.waiting import HANGS, has_ended, until

from segue.tools import Scheduler, Tool, ToolLimits, tool
from segue.tools.tool import ToolLike
from segue.types import ToolDefinition

ALL: list[ToolLike] = [
    risky.own_process,
    risky.die,
    risky.hang,
    risky.flood,
    risky.leave_behind,
    risky.knows_its_call,
    tool(risky.add, process=True),
    Tool(ToolDefinition("plain"), risky.plain, process=True),
]


@pytest.fixture
def limits(tmp_path: Path) -> ToolLimits:
    return ToolLimits(grace=HANGS, directory=str(tmp_path / "kept"))


def gone(pid: int) -> bool:
    """Wait until a process has ended."""
    until(lambda: has_ended(pid))
    return True


def test_a_function_runs_in_a_worker_with_its_types_and_its_prints_are_not_the_result(limits: ToolLimits) -> None:
    before = processes()
    wanted = (
        ("own_process", {}),
        ("add", {"point": {"x": "1", "y": 2}}),
        ("plain", {"text": "ö"}),
        ("knows_its_call", {}),
    )
    notebook = ran(Scheduler(ALL, limits=limits), *wanted)
    assert notebook.texts[1:] == ['{"sum":3}', "ö", "false"]
    assert int(notebook.texts[0]) != os.getpid() and gone(int(notebook.texts[0]))
    assert processes() == before


def test_a_worker_that_dies_is_reported_and_the_rest_continues(limits: ToolLimits) -> None:
    before = processes()
    ways = {"exit": "exit status 3", "SIGKILL": "SIGKILL", "SIGSEGV": "SIGSEGV", "raise": "SystemExit: 4"}
    notebook = ran(Scheduler(ALL, limits=limits), *[("die", {"how": how}) for how in ways], ("plain", {"text": "x"}))
    for result, how in zip(notebook.results, ways.values(), strict=False):
        assert result.is_error and not result.synthetic and how in text_of(result)
    assert notebook.texts[-1] == "x"
    assert processes() == before


def test_a_worker_that_hangs_is_killed_at_its_timeout(tmp_path: Path, limits: ToolLimits) -> None:
    hang = Tool(risky.hang.definition, risky.hang.handler, timeout=1.5, process=True)
    notebook = ran(Scheduler([hang], limits=limits), ("hang", {"mark": str(tmp_path / "pid")}))
    assert "did not finish within 1.5 seconds and was stopped" in notebook.texts[0]
    if (tmp_path / "pid").exists() and (
        begun := (tmp_path / "pid").read_text()
    ):  # it may have been killed before it began
        assert gone(int(begun))


def test_a_worker_killed_from_outside_is_reported(tmp_path: Path, limits: ToolLimits) -> None:
    async def work() -> Notebook:
        notebook = Notebook(calls_of(("hang", {"mark": str(tmp_path / "pid")}), ("plain", {"text": "x"})))
        scheduler = Scheduler(ALL, limits=limits)
        task = asyncio.create_task(scheduler.run(notebook.calls, notebook, notebook.emit))
        psutil.Process(await pid_in(tmp_path / "pid")).kill()
        await task
        return notebook

    notebook = run(work)
    complete(notebook)
    assert "died (SIGKILL)" in notebook.texts[0] and notebook.texts[1] == "x"


async def pid_in(mark: Path) -> int:
    while not mark.exists() or not mark.read_text():
        await asyncio.sleep(0.01)
    return int(mark.read_text())


def test_cancelling_kills_a_worker_that_hangs(tmp_path: Path, limits: ToolLimits) -> None:
    async def work() -> int:
        notebook = Notebook(
            calls_of(("hang", {"mark": str(tmp_path / "pid")}), ("hang", {"mark": str(tmp_path / "2")}))
        )
        scheduler = Scheduler(ALL, limits=limits)
        task = asyncio.create_task(scheduler.run(notebook.calls, notebook, notebook.emit))
        pid = await pid_in(tmp_path / "pid")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        complete(notebook)
        assert all("cancelled while this call ran; whether" in text for text in notebook.texts)
        return pid

    before = processes()
    assert gone(run(work))
    assert processes() == before


@pytest.mark.parametrize("after", [0, 0.001, 0.01, 0.1])
def test_cancelling_while_a_worker_starts_leaves_nothing(after: float, tmp_path: Path, limits: ToolLimits) -> None:
    async def work() -> None:
        notebook = Notebook(calls_of(*[("hang", {"mark": str(tmp_path / str(at))}) for at in range(3)]))
        scheduler = Scheduler(ALL, limits=limits)
        task = asyncio.create_task(scheduler.run(notebook.calls, notebook, notebook.emit))
        await asyncio.sleep(after)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        if notebook.states["c0"]:
            complete(notebook)

    before = processes()
    run(work)
    assert processes() == before


def test_processes_of_a_worker_end_with_it(limits: ToolLimits) -> None:
    [text] = ran(Scheduler(ALL, limits=limits), ("leave_behind", {})).texts
    assert gone(int(text))


def test_a_very_long_output_stays_in_the_worker(limits: ToolLimits) -> None:
    """Of 100 MB of output only the part that is shown reaches this process; the whole is in a file."""
    here = psutil.Process()
    most = [here.memory_info().rss]
    watching = threading.Event()

    def watch() -> None:
        while not watching.wait(0.005):
            most.append(here.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        [text] = ran(Scheduler(ALL, limits=limits), ("flood", {"megabytes": 100})).texts
    finally:
        watching.set()
        watcher.join()
    assert len(text) <= limits.output and "of 100,000,000 characters are left out" in text
    assert max(most) - most[0] < 50_000_000
    [kept] = Path(limits.directory or "").iterdir()
    assert kept.stat().st_size == 100_000_000


def test_arguments_that_cannot_be_pickled_are_reported(limits: ToolLimits) -> None:
    from dataclasses import dataclass

    @dataclass
    class Local:
        x: int

    made = Tool(tool(risky.add).definition, risky.add, process=True, types={"point": Local})
    [text] = ran(Scheduler([made], limits=limits), ("add", {"point": {"x": 1}})).texts
    assert "cannot be sent to a worker process" in text


SCRIPT = """
import asyncio, os, sys, time
import segue

@segue.tool(process=True)
def where(of: int) -> bool:
    return os.getpid() != of

@segue.tool(process=True)
def hang(mark: str) -> None:
    open(mark, "w").write(str(os.getpid()))
    time.sleep(1000)

@segue.tool(timeout=0.01)
def hang_in_a_thread() -> None:
    time.sleep(1000)

class Journal:
    async def started(self, call): ...
    async def finished(self, result): print(result.content[0].text)

async def main():
    limits = segue.ToolLimits(grace=0.01)
    scheduler = segue.Scheduler([where, hang, hang_in_a_thread], limits=limits)
    if sys.argv[1] == "where":
        await scheduler.run([segue.ToolCall("1", "where", {"of": os.getpid()})], Journal())
    elif sys.argv[1] == "thread":
        await scheduler.run([segue.ToolCall("1", "hang_in_a_thread", {})], Journal())
        await scheduler.aclose()
    else:
        await scheduler.run([segue.ToolCall("1", "hang", {"mark": sys.argv[1]})], Journal())

if __name__ == "__main__":
    asyncio.run(main())
"""


@pytest.fixture
def script(tmp_path: Path) -> list[str]:
    (tmp_path / "script.py").write_text(SCRIPT)
    return [sys.executable, "-W", "error", str(tmp_path / "script.py")]


def test_a_worker_finds_the_functions_of_a_script(script: list[str]) -> None:
    done = subprocess.run([*script, "where"], capture_output=True, text=True, timeout=HANGS, check=False)
    assert (done.stdout, done.stderr) == ("true\n", "")


def test_a_thread_that_hangs_does_not_keep_the_program_from_ending(script: list[str]) -> None:
    done = subprocess.run([*script, "thread"], capture_output=True, text=True, timeout=HANGS, check=False)
    assert done.returncode == 0 and "could not be stopped" in done.stdout and not done.stderr


def test_a_worker_ends_when_its_parent_is_killed(script: list[str], tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    parent = subprocess.Popen([*script, str(mark)])
    try:
        pid = asyncio.run(asyncio.wait_for(pid_in(mark), HANGS))
    finally:
        parent.kill()
        parent.wait()
    assert gone(pid)


def test_a_function_without_a_module_is_reported_as_unreachable() -> None:
    code = SCRIPT.replace('if __name__ == "__main__":\n', "if True:\n")
    done = subprocess.run(
        [sys.executable, "-c", code, "where"], capture_output=True, text=True, timeout=HANGS, check=False
    )
    assert "put it into a module" in done.stdout, done.stderr


def test_a_script_without_a_guard_does_not_start_workers_without_end(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT.replace('if __name__ == "__main__":\n', "if True:\n"))
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py"), "where"],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.stdout == "true\n", done.stderr
