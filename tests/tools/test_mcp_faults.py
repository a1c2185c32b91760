"""A fault of an MCP server only affects the tool or the call that has it."""

import asyncio
import json
import sys
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from support import mcp_bad_server
from support.calls import Written, results_of, text_of
from support.mcp_bad_server import ACTS

from segue import ToolServerError
from segue.tools import McpServer, Scheduler, mcp_stream
from segue.tools.mcp_stream import Messages
from segue.types import ToolCall

SERVER = mcp_bad_server.__file__
OBJECT = {"type": "object", "properties": {"then": {"type": "string"}}}
LOST = ["close", "exit", "exit_in_a_line"]
ODD = ["noise", "other_id", "twice", "notify", "ask", "huge"]
SHOWN = {"bad_image": "cannot be shown", "big_number": "1000000000"}
DOUBTFUL = ["plain", "binary", "many_plain"]
UNREADABLE = [name for name in ACTS if name not in ("good", *LOST, *ODD, *SHOWN, *DOUBTFUL)]


def listing(*tools: Any) -> str:
    return json.dumps({"tools": [*tools, *({"name": name, "inputSchema": OBJECT} for name in (*ACTS, "wait"))]})


def server(folder: Path, listed: str = listing()) -> McpServer:
    (folder / "tools.json").write_text(listed)
    return McpServer.stdio(sys.executable, SERVER, str(folder / "tools.json"), str(folder / "begun"))


async def called(bad: McpServer, *names: str) -> list[tuple[str, bool]]:
    results = [(await results_of(bad.tools, (name, {})))[0] for name in names]
    return [(text_of(result), bool(result.is_error)) for result in results]


@pytest.mark.parametrize("name", [*ODD, *SHOWN])
def test_an_odd_but_valid_answer_is_accepted(name: str, tmp_path: Path) -> None:
    async def talk() -> None:
        async with server(tmp_path) as bad:
            (text, failed), after = await called(bad, name, "good")
            assert text.startswith("fine") or SHOWN[name] in text
            assert not failed and after == ("fine", False)

    asyncio.run(talk())


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_unreadable_answer_fails_its_call_immediately(name: str, tmp_path: Path) -> None:
    """It does not wait for a timeout, because there is none here."""

    async def talk() -> None:
        async with server(tmp_path) as bad:
            (text, failed), after = await called(bad, name, "good")
            assert failed and "cannot be read" in text and "effect is not known" in text and len(text) < 1_500
            assert after == ("fine", False)
            assert len(bad._connections) == 1, "the connection is the same"

    asyncio.run(talk())


@pytest.mark.parametrize("name", DOUBTFUL)
def test_a_line_that_is_not_a_message_fails_the_call_if_no_answer_follows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_stream, "GRACE", 0.0)

    async def talk() -> None:
        async with server(tmp_path) as bad:
            (text, failed), after = await called(bad, name, "good")
            assert failed and "what it wrote is not a message of MCP" in text
            assert after == ("fine", False)

    asyncio.run(talk())


@pytest.mark.parametrize("name", ["half", "deep", "unknown_content", "list_result", "odd_error", "noise"])
def test_another_pending_call_is_not_affected(name: str, tmp_path: Path) -> None:
    async def talk() -> None:
        written = Written()
        async with server(tmp_path) as bad, Scheduler(bad.tools) as scheduler:
            waits = asyncio.create_task(scheduler.run([ToolCall("one", "wait", {})], written))
            while not (tmp_path / "begun").exists():
                await asyncio.sleep(0.01)
            await called(bad, name)
            await results_of(bad.tools, ("good", {"then": "release"}))
            await waits
            [result] = written.results
            assert not result.is_error and text_of(result) == "fine"

    asyncio.run(talk())


@pytest.mark.parametrize("name", LOST)
def test_a_server_that_ends_fails_its_calls_and_is_started_again(name: str, tmp_path: Path) -> None:
    async def talk() -> None:
        async with server(tmp_path) as bad:
            (text, failed), after = await called(bad, name, "good")
            assert failed and "lost during the call" in text and "effect is not known" in text
            assert after == ("fine", False)

    asyncio.run(talk())


# -- lists of tools ----------------------------------------------------------------------------------------------------

BAD_TOOLS: dict[str, tuple[Any, str]] = {
    "a text": ("good", "not a tool of MCP"),
    "nothing": (None, "not a tool of MCP"),
    "no name": ({"inputSchema": OBJECT}, "name"),
    "a number as name": ({"name": 3, "inputSchema": OBJECT}, "name"),
    "an empty name": ({"name": "", "inputSchema": OBJECT}, "has no name"),
    "a blank name": ({"name": " \n", "inputSchema": OBJECT}, "has no name"),
    "no schema": ({"name": "bad"}, "inputSchema"),
    "a text as schema": ({"name": "bad", "inputSchema": "x"}, "inputSchema"),
    "a schema of no type": ({"name": "bad", "inputSchema": {}}, "inputSchema"),
    "a schema of an array": ({"name": "bad", "inputSchema": {"type": "array"}}, "inputSchema"),
    "a property of no type": (
        {"name": "bad", "inputSchema": {"type": "object", "properties": {"x": {"type": "banana"}}}},
        "not a JSON schema",
    ),
    "a property that is a number": ({"name": "bad", "inputSchema": {"type": "object", "properties": {"x": 3}}}, "bad"),
    "an invalid pattern": (
        {"name": "bad", "inputSchema": {"type": "object", "properties": {"x": {"type": "string", "pattern": "("}}}},
        "not a JSON schema",
    ),
    "a reference to nowhere": (
        {"name": "bad", "inputSchema": {"type": "object", "properties": {"x": {"$ref": "#/nowhere"}}}},
        "not a JSON schema",
    ),
    "a reference elsewhere": (
        {"name": "bad", "inputSchema": {"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:9/x"}}}},
        "not a JSON schema",
    ),
    "a number as description": ({"name": "bad", "description": 3, "inputSchema": OBJECT}, "description"),
    "a huge description": ({"name": "bad", "description": "x" * 300_000, "inputSchema": OBJECT}, "300,"),
    "a huge schema": (
        {"name": "bad", "inputSchema": {"type": "object", "properties": {f"x{at}": {} for at in range(30_000)}}},
        "characters, more than",
    ),
    "a text as annotations": ({"name": "bad", "annotations": "x", "inputSchema": OBJECT}, "annotations"),
    "a second tool of a name": ({"name": "good", "inputSchema": OBJECT}, "another tool has the same name"),
}


@pytest.mark.parametrize("name", BAD_TOOLS)
def test_a_bad_tool_is_left_out_alone_and_reported(name: str, tmp_path: Path) -> None:
    tool, reason = BAD_TOOLS[name]
    before = [{"name": "good", "inputSchema": OBJECT}] if "second" in name else []
    listed = {
        "tools": [*before, tool, *({"name": each, "inputSchema": OBJECT} for each in ("good", "wait")[len(before) :])]
    }

    async def talk() -> None:
        async with server(tmp_path, json.dumps(listed)) as bad, Scheduler(bad.tools):
            assert {each.name for each in bad.tools} == {"good", "wait"}
            [fault] = bad.left_out.values()
            assert reason in fault and "\n" not in fault and len(fault) < 1_000
            assert await called(bad, "good") == [("fine", False)]

    asyncio.run(talk())


@pytest.mark.parametrize("listed", ["{}", '{"tools": 3}', "[]", "null", '{"tools": [], "nextCursor": 3}'])
def test_an_invalid_list_of_tools_is_a_tool_server_error(listed: str, tmp_path: Path) -> None:
    async def talk() -> None:
        async with server(tmp_path, listed):
            pass

    with pytest.raises(ToolServerError, match=r"the MCP server .* cannot be used") as caught:
        asyncio.run(talk())
    assert "\n" not in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "execution", "_meta")
TOOLS = st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, JSON) | {"name": st.sampled_from("abc")}) | JSON


@settings(max_examples=300)
@given(st.lists(TOOLS, max_size=5), st.sampled_from(["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"]))
def test_the_valid_tools_of_any_list_are_kept(tools: Iterable[Any], version: str) -> None:
    """A valid tool among any others is kept once; each of the others is reported, or was valid."""

    async def check() -> Messages:
        messages = Messages(asyncio.Event())
        messages.version = version
        right = {"name": "right", "inputSchema": OBJECT}
        frame = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if version > "2026" else {}
        kept = messages._remove_invalid({**frame, "tools": [right, *tools, right]})["tools"]
        names = [tool["name"] for tool in kept]
        assert names.count("right") == 1 and len(names) == len(set(names))
        assert "right" in messages.left_out
        return messages

    asyncio.run(check())


# -- over HTTP ---------------------------------------------------------------------------------------------------------

DROPPED = b""
"""The connection is closed without an answer."""
ANSWERS: dict[str, tuple[int, str, bytes]] = {
    "no JSON": (200, "application/json", b"this is not JSON"),
    "half": (200, "application/json", b'{"jsonrpc": "2.0", "id": 1'),
    "another object": (200, "application/json", b'{"a": 1}'),
    "binary": (200, "application/json", b"\xff\xfe\x00"),
    "deep": (200, "application/json", b"[" * 100_000),
    "no event": (200, "text/event-stream", b"data: this is not JSON\n\n"),
    "events without an answer": (200, "text/event-stream", b": nothing\n\n"),
    "a page": (200, "text/html", b"<p>no"),
    "nothing": (200, "application/json", b""),
    "a failure": (500, "text/html", b"<p>no"),
    "a failure in JSON": (500, "application/json", b"{"),
    "no such thing": (404, "application/json", b"{}"),
    "dropped": (0, "", DROPPED),
}


class FaultyHandler(BaseHTTPRequestHandler):
    """Implements MCP up to the list of tools; a call gets the answer that ``ANSWERS`` has for its tool."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, params = message.get("method"), message.get("params") or {}
        if method == "initialize":
            about = {"protocolVersion": params["protocolVersion"], "serverInfo": {"name": "bad", "version": "1"}}
            self._send(200, "application/json", self._result(message, {**about, "capabilities": {"tools": {}}}))
        elif method == "tools/list":
            tools = [{"name": name, "inputSchema": OBJECT} for name in ("good", *ANSWERS)]
            self._send(200, "application/json", self._result(message, {"tools": tools}))
        elif method == "tools/call":
            fine = (200, "application/json", self._result(message, mcp_bad_server.FINE))
            self._send(*ANSWERS.get(params["name"], fine))
        elif "id" in message:
            self._send(404, "text/html", b"")
        else:
            self._send(202, "text/plain", b"")

    def do_GET(self) -> None:
        self._send(405, "text/plain", b"")

    def _result(self, message: Any, result: Any) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.close_connection = True
        if not status:
            return
        self.send_response(status)
        self.send_header("connection", "close")  # without it, the client may send the next request on this connection
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002, the name is the base class's
        pass


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), FaultyHandler) as http:
        thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_address[1]}/mcp"
        http.shutdown()
        thread.join()


@pytest.mark.parametrize("name", ANSWERS)
def test_a_bad_answer_over_http_fails_only_its_call_immediately(name: str, address: str) -> None:
    async def talk() -> None:
        async with McpServer.http(address) as bad:
            (text, failed), after = await called(bad, name, "good")
            assert failed and "the MCP server bad" in text and len(text) < 1_500
            assert after == ("fine", False)

    asyncio.run(talk())
