"""Tools of a real MCP server, over stdio and HTTP: their results, and what happens when the server is killed."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.calls import Written, children, results_of, text_of
from support.loopback import serve
from support.waiting import HANGS, free_port, until, until_async

from segue import SettingError, ToolServerError
from segue.tools import McpServer, Scheduler, Tool, mcp
from segue.types import FileContent, ImageContent, TextContent, ToolCall

SERVER = str(Path(__file__).with_name("mcp_server.py"))
TRANSPORTS = ["stdio", "http", *(["old"] if os.environ.get("SEGUE_SOAK") else [])]  # an older version of the protocol


@pytest.fixture(autouse=True)
def _allow_slow_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp, "_CONNECT_TIMEOUT", HANGS)


@contextmanager
def started(port: int, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """The server in its own process, once it answers."""
    process = subprocess.Popen([sys.executable, SERVER, str(port), *arguments], stderr=subprocess.DEVNULL)

    def answers() -> bool:
        assert process.poll() is None
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    try:
        until(answers)
        yield process
    finally:
        process.kill()
        process.wait()


@asynccontextmanager
async def connected(transport: str) -> AsyncIterator[McpServer]:
    if transport == "stdio":
        async with McpServer.stdio(sys.executable, SERVER) as server:
            yield server
        return
    port = free_port()
    with started(port, *(["old"] if transport == "old" else [])):
        async with McpServer.http(f"http://127.0.0.1:{port}/mcp") as server:
            yield server


def by_name(tools: list[Tool]) -> dict[str, Tool]:
    return {tool.name: tool for tool in tools}


async def pid_from(path: Path) -> int:
    """Wait for the file that a tool writes when it has begun, and return its process id."""
    await until_async(lambda: path.exists() and path.read_text())
    return int(path.read_text())


def other_tasks() -> set["asyncio.Task[Any]"]:
    return {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_tools_of_a_server_are_tools_like_others(transport: str) -> None:
    async def talk() -> None:
        async with connected(transport) as server:
            definition = by_name(server.tools)["add"].definition
            assert definition.description == "Add two numbers." and set(definition.schema["required"]) == {"a", "b"}
            sums = [("add", {"a": number, "b": "1"}) for number in range(5)]  # a mismatch that is coerced
            failing: list[tuple[str, dict[str, Any]]] = [("fail", {}), ("crash", {}), ("add", {"a": 1})]
            kinds: list[tuple[str, dict[str, Any]]] = [("picture", {}), ("everything", {}), ("secrets", {})]
            *added, fail, crash, invalid, picture, everything, secrets = await results_of(
                server.tools, *sums, *failing, *kinds
            )
        assert [text_of(result) for result in added] == ["1", "2", "3", "4", "5"]
        assert fail.is_error and text_of(fail) == "it did not work"
        assert crash.is_error and invalid.is_error and "b" in text_of(invalid)
        assert [type(block) for block in picture.content] == [TextContent, ImageContent, TextContent]
        assert not everything.is_error and text_of(everything).count("inside") == 1
        files = [block.mime_type for block in everything.content if isinstance(block, FileContent)]
        assert files == ["audio/wav", "application/zip"]
        assert sum(isinstance(block, ImageContent) for block in everything.content) == 1
        assert transport != "stdio" or "SEGUE_TEST_KEY" not in text_of(secrets)
        assert not other_tasks()

    before = children()
    os.environ["SEGUE_TEST_KEY"] = "sk-secret"
    try:
        asyncio.run(talk())
    finally:
        del os.environ["SEGUE_TEST_KEY"]
    until(lambda: children() <= before)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_server_that_is_killed_in_mid_call_fails_only_that_call(transport: str, tmp_path: Path) -> None:
    def double(number: int) -> int:
        return 2 * number

    async def talk() -> None:
        written = Written()
        async with connected(transport) as server, Scheduler([*server.tools, double]) as scheduler:
            batch = [
                ToolCall("one", "wait", {"marker": str(tmp_path / "begun")}),
                ToolCall("two", "double", {"number": 4}),
            ]
            running = asyncio.create_task(scheduler.run(batch, written))
            number = await pid_from(tmp_path / "begun")
            os.kill(number, signal.SIGKILL)
            await until_async(lambda: number not in children())
            await running
            lost, doubled = written.of("one", "two")
            assert lost.is_error and "lost during the call" in text_of(lost) and "not known" in text_of(lost)
            assert text_of(doubled) == "8"
            await scheduler.run(
                [ToolCall("three", "add", {"a": 1, "b": 2}), ToolCall("four", "double", {"number": 1})], written
            )
            later, again = written.of("three", "four")
            assert text_of(again) == "2"
            if transport == "stdio":  # it is started again
                assert text_of(later) == "3" and not later.is_error
            else:  # there is no server
                assert later.is_error and "is gone" in text_of(later) and "was not made" in text_of(later)
        assert not other_tasks()

    before = children()
    asyncio.run(talk())
    until(lambda: children() <= before)


@pytest.mark.parametrize("transport", ["http", "old"])
def test_a_restarted_server_is_found_again(transport: str) -> None:
    arguments = ["old"] if transport == "old" else []

    async def talk() -> None:
        port = free_port()
        with started(port, *arguments):
            server = McpServer.http(f"http://127.0.0.1:{port}/mcp")
            await server.__aenter__()
            add = ("add", {"a": 1, "b": 2})
            assert [text_of(result) for result in await results_of(server.tools, add)] == ["3"]
        with started(port, *arguments):
            assert [text_of(result) for result in await results_of(server.tools, add, add)] == ["3", "3"]
            await server.__aexit__(None, None, None)
        [result] = await results_of(server.tools, add)
        assert result.is_error and "not opened again" in text_of(result)

    asyncio.run(talk())


def test_a_program_that_died_between_calls_is_started_again() -> None:
    async def talk() -> None:
        async with connected("stdio") as server:
            [first] = await results_of(server.tools, ("process", {}))
            os.kill(int(text_of(first)), signal.SIGKILL)
            await until_async(lambda: server._connections[-1].is_lost)  # the end of the pipe is noticed
            second, third = await results_of(server.tools, ("process", {}), ("process", {}))
            assert not second.is_error and text_of(second) == text_of(third) != text_of(first)

    asyncio.run(talk())


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_call_that_is_cancelled_is_cancelled_at_the_server(transport: str, tmp_path: Path) -> None:
    async def talk() -> None:
        written = Written()
        async with connected(transport) as server, Scheduler(server.tools) as scheduler:
            call = ToolCall("one", "wait", {"marker": str(tmp_path / "begun")})
            running = asyncio.create_task(scheduler.run([call], written))
            await pid_from(tmp_path / "begun")
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            await until_async((tmp_path / "begun.cancelled").exists)
            [result] = written.results
            assert result.is_error and result.synthetic
            assert [text_of(after) for after in await results_of(server.tools, ("add", {"a": 1, "b": 1}))] == ["2"]
        assert not other_tasks()

    asyncio.run(talk())


def test_leaving_the_context_while_a_call_runs_leaves_nothing_behind(tmp_path: Path) -> None:
    async def talk() -> None:
        async with connected("stdio") as server:
            call = asyncio.create_task(results_of(server.tools, ("wait", {"marker": str(tmp_path / "begun")})))
            await pid_from(tmp_path / "begun")
        [result] = await call
        assert result.is_error
        assert not other_tasks()

    before = children()
    asyncio.run(talk())
    until(lambda: children() <= before)


def test_the_context_may_be_cancelled_while_it_is_entered() -> None:
    async def talk() -> None:
        slow = McpServer.stdio(sys.executable, "-c", "import sys; sys.stdin.read()")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await slow.__aenter__()
        assert not other_tasks()

    before = children()
    asyncio.run(talk())
    until(lambda: children() <= before)


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        (lambda: McpServer.stdio("/not/there"), "No such file"),
        (lambda: McpServer.stdio(sys.executable, "-c", "raise SystemExit('no key is set')"), "no key is set"),
        (lambda: McpServer.http(f"http://127.0.0.1:{free_port()}/mcp"), "connection"),
        (lambda: McpServer.http("no address"), "cannot be used"),
        (lambda: McpServer.http("http://[bad"), "is invalid"),
    ],
)
def test_a_server_that_cannot_be_used_is_reported_in_one_line(server: Any, reason: str) -> None:
    async def talk() -> None:
        with pytest.raises((ToolServerError, SettingError)) as caught:
            async with server():
                pass
        assert reason in str(caught.value) and "\n" not in str(caught.value)
        assert not other_tasks()

    asyncio.run(talk())


@pytest.mark.parametrize(("body", "kind", "status"), [(b"<p>no", "text/html", 401), (b"<p>no", "text/html", 200)])
def test_a_url_without_an_mcp_server_is_reported(body: bytes, kind: str, status: int) -> None:
    async def talk(url: str) -> str:
        with pytest.raises(ToolServerError) as caught:
            async with McpServer.http(url.replace("://", "://user:hidden@") + "/mcp?key=hidden"):
                pass
        return str(caught.value)

    with serve(body, kind, status) as url:
        message = asyncio.run(talk(url))
    assert ("HTTP 401" in message) == (status == 401)
    assert "hidden" not in message


def test_tools_may_have_a_prefix_and_need_approval() -> None:
    async def talk() -> None:
        async with McpServer.stdio(sys.executable, SERVER, prefix="sums_", approval=True) as server:
            add = ("sums_add", {"a": 1, "b": 2})
            [allowed] = await results_of(server.tools, add)
            [denied] = await results_of(server.tools, add, approve=None)
        assert text_of(allowed) == "3" and denied.is_error

    asyncio.run(talk())
