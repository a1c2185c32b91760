"""Inspect the messages of an MCP connection, so that an invalid message only fails the request that it answers.

The package drops a message that it cannot read, so that the request waits until its timeout. And it refuses a whole
list of tools if one of them violates the protocol.
"""

import asyncio
import json
import re
from collections import deque
from typing import Any, NamedTuple

from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp_types.methods import parse_server_result

from ..types.text import whole_number

LIST, CALL, CANCELLED = "tools/list", "tools/call", "notifications/cancelled"
UNREADABLE = "segue: unreadable"
"""The ``data`` of an error for a request whose answer cannot be read."""
GRACE = 5.0
"""Seconds in which an answer may follow a line that is not a message: many servers print their logs there."""
_MAX_SHOWN = 200
_ID = re.compile(r'"id"\s*:\s*(?:"([^"]*)"|(-?\d+))')

Id = str | int


class Doubt(NamedTuple):
    """A line that was not a message, but may have been meant as the answer to one of the pending calls."""

    until: float
    line: str
    calls: list[Id]


class Messages:
    """The requests without an answer, and the tools that were left out of a list."""

    def __init__(self, ended: asyncio.Event) -> None:
        self.ended = ended
        self.version = ""
        """The version of the protocol, once it is known."""
        self.left_out: dict[str, str] = {}
        self.pending: dict[Id, str] = {}

    def inspect(self, item: Any) -> list[Any]:
        """Return the items to pass on for one that the server has sent."""
        if isinstance(item, Exception):
            return self._unreadable(item)
        message = item.message
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            method = self.pending.pop(message.id, "")
            if method == LIST and isinstance(message, JSONRPCResponse):
                message.result = self._remove_invalid(message.result)
        return [item]

    def give_up(self, ids: "list[Id]", line: str) -> list[SessionMessage]:
        """Return error answers for pending requests that will not get another answer."""
        shown = " ".join(line.split())[:_MAX_SHOWN]
        error = ErrorData(
            code=PARSE_ERROR, message=f"what it wrote is not a message of MCP: {shown!r}", data=UNREADABLE
        )
        waiting = [each for each in ids if self.pending.pop(each, None) is not None]
        return [SessionMessage(JSONRPCError(jsonrpc="2.0", id=each, error=error)) for each in waiting]

    def _unreadable(self, error: Exception) -> list[Any]:
        """Fail the request that an unreadable message answers; all pending ones if its id cannot be found."""
        line = line_of(error)
        if not line.lstrip().startswith(("{", "[")):
            return []
        found = _ID.search(line)
        named = [] if found is None else [found[1] if found[1] is not None else whole_number(found[2])]
        return self.give_up([each for each in named if each in self.pending] or list(self.pending), line)

    def _remove_invalid(self, result: dict[str, Any]) -> dict[str, Any]:
        """Remove the tools that violate the protocol, or repeat a name, from a list of tools."""
        listed = result.get("tools")
        if not isinstance(listed, list) or self._fault(result, []) is not None:
            return result  # the package refuses it as a whole
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
            return f"it is not a tool of MCP: {' '.join(str(error).split())[:_MAX_SHOWN]}"
        return None


def line_of(error: Exception) -> str:
    """The text that could not be read, if the error has it."""
    details = getattr(error, "errors", None)
    try:
        text = details()[0].get("input") if callable(details) else None
    except (IndexError, ValueError, TypeError):
        text = None
    if isinstance(text, dict | list):
        return json.dumps(text)
    return text if isinstance(text, str) else str(error)


class MessageReader:
    """The stream of messages from the server."""

    def __init__(self, stream: Any, messages: Messages) -> None:
        self._stream, self._messages = stream, messages
        self._ready: deque[Any] = deque()
        self._next: asyncio.Future[Any] | None = None
        self._doubt: Doubt | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> "MessageReader":
        return self

    async def __anext__(self) -> Any:
        while not self._ready:
            try:
                item = await self._receive()
            except BaseException:  # the end, an error or a cancellation: nothing more comes
                self._messages.ended.set()
                raise
            if item is not None:
                self._ready.extend(self._messages.inspect(item))
                self._doubt = self._new_doubt(item)
            elif self._doubt is not None:
                doubt, self._doubt = self._doubt, None
                self._ready.extend(self._messages.give_up(doubt.calls, doubt.line))
        return self._ready.popleft()

    async def __aenter__(self) -> "MessageReader":
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)

    def _new_doubt(self, item: Any) -> Doubt | None:
        """The doubt after ``item``: none after a message, one after a line that is not a message."""
        calls = [each for each, method in self._messages.pending.items() if method == CALL]
        if not isinstance(item, Exception) or not calls:
            return None
        return Doubt(asyncio.get_running_loop().time() + GRACE, line_of(item), calls)

    async def _receive(self) -> Any:
        """The next item from the stream; ``None`` when a doubt has lasted too long."""
        if self._doubt is None and self._next is None:
            return await self._stream.__anext__()
        if self._next is None:
            self._next = asyncio.ensure_future(self._stream.__anext__())
        left = None if self._doubt is None else max(self._doubt.until - asyncio.get_running_loop().time(), 0)
        try:
            done, _ = await asyncio.wait([self._next], timeout=left)
        except BaseException:
            self._next.cancel()
            raise
        if not done:
            return None
        task, self._next = self._next, None
        return task.result()


class MessageWriter:
    """The stream of messages to the server."""

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

    async def __aenter__(self) -> "MessageWriter":
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)
