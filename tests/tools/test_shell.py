"""The tool shell: it asks first, ends all processes of a command, and limits memory and history."""

import asyncio
import os
import secrets
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given, strategies as st
from support.calls import Written, allow, results_of, text_of
from support.waiting import HANGS, until, until_async

from segue import SettingError
from segue.tools import Allow, ApprovalRequest, Deny, Edit, Scheduler, ToolLimits, processes, shell_tool
from segue.tools.command_output import CommandOutput
from segue.types import ToolCall, ToolResultMessage

LISTED = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a list of processes")


def ran(root: Path, command: str, limits: ToolLimits | None = None, **arguments: Any) -> ToolResultMessage:
    tools = [shell_tool(root)]
    [result] = asyncio.run(results_of(tools, ("shell", {"command": command, **arguments}), limits=limits))
    return result


def running(mark: str) -> list[str]:
    """The command lines of the processes that contain ``mark``."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path(f"/proc/{number}/cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in line and int(number) != os.getpid():
            found.append(line.decode().replace("\0", " "))
    return found


def ended(mark: str) -> bool:
    """Wait until these processes have ended; a killed process may need a moment."""
    until(lambda: not running(mark))
    return True


def seconds() -> str:
    """A unique time to sleep, by which the processes of a test can be found."""
    return f"{1000 + secrets.randbelow(1000)}.{secrets.randbelow(10**9):09}"


@pytest.mark.parametrize(
    ("command", "text", "failed"),
    [
        ("echo hi", "hi", False),
        ("true", "(no output)", False),
        ("echo out; echo err >&2; exit 3", "out\nerr\n[exit status 3]", True),
        ("echo a > /dev/stderr; echo b > /dev/stdout", "a\nb", False),
        ("kill -9 $$", "[ended by signal SIGKILL]", True),
        ("cat; echo nothing to read", "nothing to read", False),
        (r"printf '\377\376x'", "\ufffd\ufffdx", False),
        ("echo a > >(cat)", "a", False),
    ],
)
def test_a_result_has_the_output_and_the_exit_status(
    tmp_path: Path, command: str, text: str, failed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_CHILD_GRACE", HANGS)  # the processes of these commands end by themselves
    result = ran(tmp_path, command)
    assert (text_of(result), result.is_error) == (text, failed)


def test_a_command_starts_in_the_root(tmp_path: Path) -> None:
    assert text_of(ran(tmp_path, "pwd -P")) == os.path.realpath(tmp_path)


def test_no_command_runs_without_approval(tmp_path: Path) -> None:
    asked: list[Any] = []

    def deny(request: ApprovalRequest) -> Deny:
        asked.append(request.call.arguments)
        return Deny()

    for approve in (None, deny):
        batch = ("shell", {"command": "touch ran"})
        [result] = asyncio.run(results_of([shell_tool(tmp_path)], batch, approve=approve))
        assert result.is_error
    assert asked == [{"command": "touch ran"}]
    assert not (tmp_path / "ran").exists()


def test_an_edited_command_runs_instead_of_the_original(tmp_path: Path) -> None:
    batch = ("shell", {"command": "touch bad"})
    asyncio.run(results_of([shell_tool(tmp_path)], batch, approve=lambda request: Edit({"command": "touch good"})))
    assert os.listdir(tmp_path) == ["good"]


def test_it_runs_without_approval_only_on_request(tmp_path: Path) -> None:
    batch = ("shell", {"command": "echo ran"})
    [result] = asyncio.run(results_of([shell_tool(tmp_path, approval=False)], batch, approve=None))
    assert text_of(result) == "ran"


# -- the end -----------------------------------------------------------------------------------------------------------

WAYS_TO_STAY = [
    "sleep {0}",
    "sleep {0} & sleep {0} & wait",
    "(trap '' TERM; sleep {0}; sleep {0})",
    "setsid sleep {0} & wait",
    "(setsid bash -c 'trap \"\" TERM HUP; sleep {0}; sleep {0}' &) ; sleep {0}",
    "nohup sh -c 'sleep {0} & sleep {0}'",
]


@LISTED
@pytest.mark.parametrize("command", WAYS_TO_STAY)
def test_a_late_command_ends_with_all_its_processes(tmp_path: Path, command: str) -> None:
    time_to_sleep = seconds()
    result = ran(tmp_path, "echo begun; " + command.format(time_to_sleep), timeout=0.3)
    assert result.is_error
    text = text_of(result).removeprefix("begun\n")  # a busy machine may not have printed it yet
    assert text == "[not done after 0.3 seconds: the command was ended]"
    assert ended(time_to_sleep)


@LISTED
@pytest.mark.parametrize("command", WAYS_TO_STAY)
def test_a_cancelled_command_ends_with_all_its_processes(tmp_path: Path, command: str) -> None:
    time_to_sleep = seconds()

    async def cancelled() -> Written:
        written = Written()
        async with Scheduler([shell_tool(tmp_path)], approve=allow, limits=ToolLimits(grace=HANGS)) as scheduler:
            call = ToolCall("one", "shell", {"command": "touch begun; " + command.format(time_to_sleep)})
            task = asyncio.create_task(scheduler.run([call], written))
            await until_async(lambda: (tmp_path / "begun").exists() and running(time_to_sleep))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        return written

    [result] = asyncio.run(cancelled()).results
    assert result.is_error
    assert ended(time_to_sleep)


@LISTED
@pytest.mark.parametrize("start", ["{} &", "setsid {} &", "({} &)", "nohup {} > /dev/null 2>&1 &"])
def test_nothing_outlives_the_call(tmp_path: Path, start: str) -> None:
    time_to_sleep = seconds()
    result = ran(tmp_path, start.format(f"sleep {time_to_sleep}") + "\necho done")
    assert (text_of(result), result.is_error) == ("done\n[what still ran in the background was ended]", False)
    assert ended(time_to_sleep)


def test_a_command_cannot_exceed_the_longest_timeout(tmp_path: Path) -> None:
    assert "at most 600 seconds" in text_of(ran(tmp_path, "true", timeout=601))
    assert "above 0" in text_of(ran(tmp_path, "true", timeout=0))
    with pytest.raises(SettingError, match="timeout"):
        shell_tool(tmp_path, timeout=10, longest=5)
    with pytest.raises(SettingError, match="not a directory"):
        shell_tool(tmp_path / "not-there")


def test_commands_of_one_answer_run_one_after_the_other(tmp_path: Path) -> None:
    batch = [("shell", {"command": f"echo {number} >> log; sleep 0.1; echo {number} >> log"}) for number in range(3)]
    asyncio.run(results_of([shell_tool(tmp_path)], *batch))
    assert (tmp_path / "log").read_text().split() == ["0", "0", "1", "1", "2", "2"]


# -- long outputs ------------------------------------------------------------------------------------------------------


def test_a_very_long_output_is_cut_in_the_middle_and_saved_whole(tmp_path: Path) -> None:
    limits = ToolLimits(directory=str(tmp_path / "kept"))
    tracemalloc.start()
    try:
        result = ran(tmp_path, "echo first; yes | head -c 100000000; echo last; exit 1", limits)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    text = text_of(result)
    assert text.startswith("first\ny\n") and text.endswith("y\nlast\n[exit status 1]")
    assert len(text) <= limits.output
    [kept] = (tmp_path / "kept").iterdir()
    assert str(kept) in text and kept.stat().st_size == 100_000_011
    assert peak < 20_000_000


def test_endless_output_ends_at_the_timeout(tmp_path: Path) -> None:
    limits = ToolLimits(directory=str(tmp_path / "kept"), output=2000)
    result = ran(tmp_path, "yes", limits, timeout=0.3)
    assert "not done after 0.3 seconds" in text_of(result) and len(text_of(result)) <= 2000


@given(st.lists(st.binary(max_size=400), max_size=20), st.integers(0, 3000))
def test_the_text_has_the_head_and_the_tail_and_the_file_has_everything(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], most: int
) -> None:
    folder = tmp_path_factory.mktemp("kept")
    whole = b"".join(parts)
    with CommandOutput(ToolLimits(output=most, directory=str(folder))) as output:
        for part in parts:
            output.write(part)
        text = output.text()
    kept = list(folder.iterdir())
    if not kept:
        assert text == whole.decode("utf-8", "replace")
        assert len(whole) <= max(most - 600, 0) or not whole
        return
    assert [file.read_bytes() for file in kept] == [whole]
    head, _, rest = text.partition("\n\n[… ")
    note, _, tail = rest.partition(" …]\n\n")
    assert str(kept[0]) in note
    assert whole.decode("utf-8", "replace").startswith(head)
    assert whole.decode("utf-8", "replace").endswith(tail) or "\ufffd" in tail
    assert len(head) + len(tail) <= max(most - 600, 0)


# -- secrets -----------------------------------------------------------------------------------------------------------


def test_a_command_does_not_get_the_keys_of_providers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "sk-secret")
    monkeypatch.setenv("HARMLESS", "harmless")
    text = text_of(ran(tmp_path, "env"))
    assert "harmless" in text and "sk-secret" not in text


def test_a_command_gets_the_environment_that_was_passed(tmp_path: Path) -> None:
    tools = [shell_tool(tmp_path, env={"PATH": os.environ["PATH"], "ONLY": "this"})]
    [result] = asyncio.run(
        results_of(tools, ("shell", {"command": "echo $ONLY $HOME"}), approve=lambda request: Allow())
    )
    assert text_of(result) == "this"


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    def opened() -> int:
        return len(os.listdir("/dev/fd"))

    async def some() -> tuple[int, int]:
        tools = [shell_tool(tmp_path)]
        await results_of(tools, ("shell", {"command": "true"}))
        before = opened()
        for command in ("true", "exit 1", "sleep 9 &", "yes | head -c 200000"):
            await results_of(
                tools, ("shell", {"command": command}), limits=ToolLimits(directory=str(tmp_path / "kept"))
            )
        await until_async(lambda: opened() <= before)
        return before, opened()

    before, after = asyncio.run(some())
    assert after <= before


KILLED = """
import asyncio, sys
import segue

class Journal:
    async def started(self, call): ...
    async def finished(self, result): ...

async def main():
    async with segue.Scheduler([segue.shell_tool(".", approval=False)]) as scheduler:
        await scheduler.run([segue.ToolCall("1", "shell", {"command": sys.argv[1]})], Journal())

asyncio.run(main())
"""


@LISTED
@pytest.mark.parametrize(
    "command",
    [
        "sleep {0}",
        "sleep {0} & sleep {0}; true",
        "setsid sleep {0}; true",
        "(trap '' HUP TERM; setsid sh -c 'sleep {0} & wait') & nohup sleep {0}; true",
    ],
)
def test_a_command_ends_when_its_parent_is_killed(tmp_path: Path, command: str) -> None:
    """With its children, in its process group or in other sessions."""
    mark = seconds()
    script = [sys.executable, "-c", KILLED, f"echo > begun; {command.format(mark)}"]
    parent = subprocess.Popen(script, cwd=tmp_path, stdin=subprocess.DEVNULL)
    try:
        until(lambda: (tmp_path / "begun").exists() and sleeping(mark))
        started = psutil.Process(parent.pid).children(recursive=True)
    finally:
        parent.kill()
        parent.wait()
    _, alive = psutil.wait_procs(started, HANGS)
    assert started and not alive
    until(lambda: not running(mark))


def sleeping(mark: str) -> bool:
    return any(line.startswith(f"sleep {mark}") for line in running(mark))


def test_a_forked_process_does_not_keep_a_command_alive(tmp_path: Path) -> None:
    """The watchdog reacts to the end of this process even if a fork of it still runs."""
    code = """
import os, subprocess, sys
from segue.tools.watchdog import Watchdog

command = subprocess.Popen(["sleep", "1000"], start_new_session=True)
Watchdog("NOBODY=1").watch(command.pid)
if not os.fork():
    os.read(0, 1)  # until the test ends it
    os._exit(0)
print(command.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        command = int(parent.stdout.readline())
        _, alive = psutil.wait_procs([psutil.Process(command)] if psutil.pid_exists(command) else [], HANGS)
        assert not alive
