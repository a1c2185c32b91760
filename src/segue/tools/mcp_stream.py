"""The messages of a connection to an MCP server, looked at on their way: one that is wrong costs only what it answers.

The package drops a message that it cannot read, so that the request waits for its timeout; and it refuses a list of
tools as a whole if one of them is not as the protocol has it.
"""

import asyncio
import json
import re
from collections import deque
from typing import Any

from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp_types.methods import parse_server_result

LIST, CALL, CANCELLED = "tools/list", "tools/call", "notifications/cancelled"
UNREADABLE = "segue: unreadable"
"""What the error of a request says whose answer cannot be read."""
GRACE = 5.0
"""Seconds in which an answer may follow a line that is not a message: many servers print what they should log."""
_SHOWN = 200
_ID = re.compile(r'"id"\s*:\s*(?:"([^"]*)"|(-?\d+))')

Id = str | int


class Messages:
    """Which requests have no answer yet, and what was wrong with the tools of a list."""

    def __init__(self, ended: asyncio.Event) -> None:
        self.ended = ended
        self.version = ""
        """The version of the protocol, once it is known."""
        self.left_out: dict[str, str] = {}
        self.pending: dict[Id, str] = {}

    def judged(self, item: Any) -> list[Any]:
        """What is passed on of something that the server has sent."""
        if isinstance(item, Exception):
            return self._unreadable(item)
        message = item.message
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            method = self.pending.pop(message.id, "")
            if method == LIST and isinstance(message, JSONRPCResponse):
                message.result = self._usable(message.result)
        return [item]

    def given_up(self, ids: "list[Id]", line: str) -> list[SessionMessage]:
        """The answer to requests of which nothing more can be expected."""
        shown = " ".join(line.split())[:_SHOWN]
        error = ErrorData(
            code=PARSE_ERROR, message=f"what it wrote is not a message of MCP: {shown!r}", data=UNREADABLE
        )
        waiting = [each for each in ids if self.pending.pop(each, None) is not None]
        return [SessionMessage(JSONRPCError(jsonrpc="2.0", id=each, error=error)) for each in waiting]

    def _unreadable(self, fault: Exception) -> list[Any]:
        """Something that was meant to be a message ends the request that it answers, as far as that can be known."""
        line = line_of(fault)
        if not line.lstrip().startswith(("{", "[")):
            return []
        found = _ID.search(line)
        named = [] if found is None else [found[1] if found[1] is not None else int(found[2])]
        return self.given_up([each for each in named if each in self.pending] or list(self.pending), line)

    def _usable(self, result: dict[str, Any]) -> dict[str, Any]:
        """A list of tools without those that are not as the protocol has them, and without second ones of a name."""
        listed = result.get("tools")
        if not isinstance(listed, list) or self._fault(result, []) is not None:
            return result  # which is refused as a whole
        usable: dict[str, Any] = {}
        for tool in listed:
            name = tool.get("name") if isinstance(tool, dict) else None
            name = name if isinstance(name, str) else f"number {len(usable) + len(self.left_out) + 1}"
            fault = self._fault(result, [tool])
            if name in usable and fault is None:
                fault = "another tool has the same name, and came first"
            if fault is None:
                usable[name] = tool
            else:
                self.left_out.setdefault(name, f"tool {name!r}: {fault}")
        return {**result, "tools": list(usable.values())}

    def _fault(self, result: dict[str, Any], tools: list[Any]) -> str | None:
        try:
            parse_server_result(LIST, self.version, {**result, "tools": tools})
        except (ValueError, KeyError, RecursionError) as error:
            return f"it is not a tool of MCP: {' '.join(str(error).split())[:_SHOWN]}"
        return None


def line_of(fault: Exception) -> str:
    """What could not be read, if the fault knows it."""
    details = getattr(fault, "errors", None)
    try:
        given = details()[0].get("input") if callable(details) else None
    except (IndexError, ValueError, TypeError):
        given = None
    if isinstance(given, dict | list):
        return json.dumps(given)
    return given if isinstance(given, str) else str(fault)


class Reading:
    """The stream of what the server sends."""

    def __init__(self, stream: Any, messages: Messages) -> None:
        self._stream, self._messages = stream, messages
        self._ready: deque[Any] = deque()
        self._next: asyncio.Future[Any] | None = None
        self._doubt: tuple[float, str, list[Id]] | None = None
        """Until when, since which line, and which calls wait for an answer that may have been that line."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> "Reading":
        return self

    async def __anext__(self) -> Any:
        while not self._ready:
            try:
                item = await self._received()
            except BaseException:  # its end, a fault or a cancellation: in any case nothing more comes
                self._messages.ended.set()
                raise
            if item is not None:
                self._ready.extend(self._messages.judged(item))
                self._doubt = self._doubted(item)
            elif self._doubt is not None:
                (_, line, ids), self._doubt = self._doubt, None
                self._ready.extend(self._messages.given_up(ids, line))
        return self._ready.popleft()

    async def __aenter__(self) -> "Reading":
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)

    def _doubted(self, item: Any) -> "tuple[float, str, list[Id]] | None":
        """A message shows that the server goes on; a line that is none may have been an answer."""
        calls = [each for each, method in self._messages.pending.items() if method == CALL]
        if not isinstance(item, Exception) or not calls:
            return None
        return asyncio.get_running_loop().time() + GRACE, line_of(item), calls

    async def _received(self) -> Any:
        """The next thing from the stream; ``None`` if a doubt has lasted too long."""
        if self._doubt is None and self._next is None:
            return await self._stream.__anext__()
        if self._next is None:
            self._next = asyncio.ensure_future(self._stream.__anext__())
        left = None if self._doubt is None else max(self._doubt[0] - asyncio.get_running_loop().time(), 0)
        try:
            done, _ = await asyncio.wait([self._next], timeout=left)
        except BaseException:
            self._next.cancel()
            raise
        if not done:
            return None
        task, self._next = self._next, None
        return task.result()


class Writing:
    """The stream of what is sent to the server."""

    def __init__(self, stream: Any, messages: Messages) -> None:
        self._stream, self._messages = stream, messages

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def send(self, item: Any) -> None:
        message = item.message
        if isinstance(message, JSONRPCRequest):
            self._messages.pending[message.id] = message.method
        elif isinstance(message, JSONRPCNotification) and message.method == CANCELLED:
            self._messages.pending.pop((message.params or {}).get("requestId", ""), None)
        await self._stream.send(item)

    async def __aenter__(self) -> "Writing":
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)
