"""One request and its answer: retries, timeouts, errors, cancelling. The only logic; everything else drives it.

A pull-based machine, no task and no generator of its own: each ``anext`` reads until there is an event to hand out. So
there is nothing to leak when a caller goes away, and cancelling can strike only where something is awaited.
"""

import random
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from types import TracebackType
from typing import TypeVar

import anyio
import httpx2
import msgspec
from msgspec.structs import replace

from ..errors import NetworkError, ProviderError
from ..render import Decoder, Request
from ..types import AssistantMessage, Diagnostic, Error, Event
from ..types.codec import read_json
from ..types.other_tools import UNREADABLE
from ..types.text import copy_json
from ..wire.common.reader import error_text
from .access import Access
from .connection import Connection
from .failures import kind_of, kind_of_ending, request_id, retry_after
from .pool import pooled

T = TypeVar("T")

MAX_ERROR = 1024 * 1024
"""Bytes of an error's body that are read; the rest says nothing new."""
SLICE = 256 * 1024
"""Bytes of a long body that are handed on at a time."""
DRAIN = 0.2
"""Seconds that the end of a finished answer's bytes is waited for, so that its connection can be used again."""


class Stream:
    """The answer to a request, as an async iterator of events.

    The last event is ``done`` or ``error``; from then on ``message`` is the finished message and ``error`` the failure,
    if there was one. ``cancel()`` ends the answer with ``aborted``. To leave early use ``async with`` or ``aclose()``:
    both close the connection, and ``message`` keeps what had arrived.
    """

    def __init__(self, request: Request, access: Access, connection: Connection) -> None:
        self.request = request
        self.message: AssistantMessage | None = None
        self.error: ProviderError | None = None
        self.attempts = 0
        """How often the request was sent."""
        self._access = access
        self._connection = connection
        self._body = _body(request, connection)
        self._queue: deque[Event] = deque()
        self._scope: anyio.CancelScope | None = None
        self._cancelled = False
        self._told = False
        self._response: httpx2.Response | None = None
        self._bytes: AsyncGenerator[bytes, None] | None = None
        self._deadline = 0.0
        self._decoder = Decoder(request)

    # -- what callers use --------------------------------------------------------------------------------------------

    def __aiter__(self) -> "Stream":
        return self

    async def __anext__(self) -> Event:
        try:
            while not self._queue:
                if self.message is not None:
                    await self._drain()
                    raise StopAsyncIteration
                await self._advance()
        except StopAsyncIteration:
            raise
        except BaseException:  # the caller's task was cancelled: nothing stays open, and what had arrived is kept
            await self.aclose()
            raise
        return self._queue.popleft()

    async def __aenter__(self) -> "Stream":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def cancel(self) -> None:
        """Nobody wants the rest: the connection is closed, and the next event is the last one, ``error``."""
        self._cancelled = True
        if self._scope is not None:
            self._scope.cancel()

    async def aclose(self) -> None:
        """Leave the stream. If it had not ended, ``message`` is what had arrived, ``aborted``."""
        if self.message is None:
            self._take(self._decoder.abort())
        self._queue.clear()
        await self._disconnect()

    async def finished(self) -> AssistantMessage:
        """Read to the end; the message, also of an answer that failed."""
        async for _ in self:
            pass
        assert self.message is not None
        return self.message

    # -- the machine -------------------------------------------------------------------------------------------------

    async def _advance(self) -> None:
        """One step further: connect, or read a piece, or wait before another try."""
        events, failure = await self._step()
        if not events:
            return
        wait = None if failure is None or self._told else self._wait(failure)
        if wait is None:
            self._told = True
            self._take(events, failure)
            if self.message is not None and failure is not None:
                await self._disconnect()
            return
        await self._disconnect()
        self._decoder = Decoder(self.request)
        await self._interruptible(lambda: anyio.sleep(wait), wait + 1)

    async def _step(self) -> tuple[list[Event], ProviderError | None]:
        if self._cancelled:
            return self._decoder.abort(), None
        try:
            if self._response is None:
                refused = await self._connect()
                if refused is not None:
                    return self._decoder.fail(refused.text), refused
            data = await self._interruptible(self._piece, self._patience())
        except httpx2.TransportError as error:
            return self._broken(f"the connection broke: {_words(error)}")
        except TimeoutError:
            return self._broken(self._silence())
        if self._cancelled:
            return self._decoder.abort(), None
        events = self._decoder.close() if data is None else self._decoder.feed(data)
        if events and isinstance(events[-1], Error):
            return events, self._failure()
        return events, None

    async def _connect(self) -> ProviderError | None:
        """Send the request. A refusal is an error; otherwise the answer can be read."""
        self.attempts += 1
        self._told = False
        self._decoder = Decoder(self.request, now=int(time.time() * 1000))
        timeouts = self._connection.timeouts
        self._deadline = time.monotonic() + timeouts.first_event
        length = sum(map(len, self._body))
        whole = b"".join(self._body) if self._access.signs_body or length <= SLICE else None
        url, headers = await self._access.signed(self.request.path, self.request.headers, whole or b"")
        http = self._connection.http or await pooled()
        content = _sent(self._body) if whole is None else whole
        headers["content-length"] = str(length)
        sent = http.build_request(
            "POST", url, headers=headers, content=content, timeout=httpx2.Timeout(None, connect=timeouts.connect)
        )
        self._response = await self._interruptible(lambda: http.send(sent, stream=True), timeouts.first_event)
        if self._response is None:  # cancelled
            return None
        self._bytes = self._response.aiter_bytes()
        if self._response.is_success:
            return None
        return await self._refusal(self._response)

    async def _refusal(self, response: httpx2.Response) -> ProviderError:
        data = bytearray()
        while len(data) < MAX_ERROR and (piece := await self._interruptible(self._piece, self._patience())):
            data += piece
        text = _error_words(bytes(data)) or f"{response.status_code} status code (no body)"
        return self._error(kind_of(text, response.status_code, self.request.model.provider), text)

    async def _piece(self) -> bytes | None:
        return None if self._bytes is None else await anext(self._bytes, None)

    async def _interruptible(self, act: Callable[[], Awaitable[T]], seconds: float) -> T | None:
        """Await with a limit; ``None`` if ``cancel()`` was called. A scope per await: none is held across a yield."""
        with anyio.CancelScope(deadline=anyio.current_time() + max(seconds, 0.0)) as self._scope:
            if self._cancelled:
                self._scope.cancel()
            return await act()
        self._scope = None
        if not self._cancelled:
            raise TimeoutError
        return None

    def _patience(self) -> float:
        return self._connection.timeouts.between_events if self._told else self._deadline - time.monotonic()

    def _silence(self) -> str:
        timeouts = self._connection.timeouts
        if self._told:
            return f"nothing came for {timeouts.between_events:g} seconds"
        return f"no event came within {timeouts.first_event:g} seconds"

    # -- failures ----------------------------------------------------------------------------------------------------

    def _broken(self, text: str) -> tuple[list[Event], ProviderError]:
        return self._decoder.fail(text), self._error(NetworkError, text)

    def _failure(self) -> ProviderError:
        """What kind of failure the decoder has read out of an answer."""
        message = self._decoder.message
        assert message is not None
        text = message.error_message or ""
        if self._decoder.failure == "refused":
            return self._error(kind_of_ending(text), text)
        if self._decoder.failure == "broken":
            return self._error(NetworkError, text)
        return self._error(kind_of(text, None), text)

    def _error(self, kind: type[ProviderError], text: str) -> ProviderError:
        headers = {} if self._response is None else self._response.headers
        return kind(
            self._access.without_key(text),
            provider=self.request.model.provider,
            model=self.request.model.id,
            status=None if self._response is None else self._response.status_code,
            request_id=request_id(headers),
            retry_after=retry_after(headers, time.time()),
        )

    def _wait(self, failure: ProviderError) -> float | None:
        """How long to wait before another try; ``None`` if there will be none."""
        retries = self._connection.retries
        if not failure.retryable or self.attempts > retries.attempts or self._cancelled:
            return None
        if failure.retry_after is not None:
            return failure.retry_after if failure.retry_after <= retries.longest_retry_after else None
        longest = min(retries.longest_wait, retries.first_wait * 2 ** (self.attempts - 1))
        return float(longest * random.uniform(0.5, 1.0))

    def _take(self, events: list[Event], failure: ProviderError | None = None) -> None:
        """Queue events; the last one settles the message."""
        last = events[-1] if events else None
        if isinstance(last, Error):
            message = replace(last.message, error_message=self._access.without_key(last.message.error_message or ""))
            if failure is not None:
                message = replace(message, diagnostics=[*message.diagnostics, _diagnostic(failure, message.timestamp)])
            events[-1] = Error(message, last.partial, failure)
            self.message, self.error = message, failure
        elif last is not None and self._decoder.message is not None:
            self.message = self._decoder.message
        self._queue.extend(events)

    # -- the connection ----------------------------------------------------------------------------------------------

    async def _drain(self) -> None:
        """Read what little follows the last event, so that the connection can be used again; then let it go."""
        if self._bytes is not None and self.error is None and not self._cancelled:
            with anyio.move_on_after(DRAIN):
                try:
                    async for _ in self._bytes:
                        pass
                except httpx2.TransportError:
                    pass
        await self._disconnect()

    async def _disconnect(self) -> None:
        response, data = self._response, self._bytes
        self._response = self._bytes = None
        with anyio.CancelScope(shield=True):
            if data is not None:
                await data.aclose()
            if response is not None:
                await response.aclose()


def _body(request: Request, connection: Connection) -> list[bytes | memoryview]:
    """The body in pieces; a callback that may change it gets a copy, because bodies share with what is stored."""
    if connection.on_request is None:
        return request.pieces()
    copy = copy_json(request.body)
    changed = connection.on_request(copy)
    return [msgspec.json.encode(copy if changed is None else changed)]


async def _sent(pieces: list[bytes | memoryview]) -> AsyncGenerator[bytes, None]:
    """A long body, without making one piece of it."""
    for piece in pieces:
        for at in range(0, len(piece), SLICE):
            yield bytes(piece[at : at + SLICE])


def _diagnostic(failure: ProviderError, now: int) -> Diagnostic:
    details = {
        "kind": failure.kind,
        "status": failure.status,
        "requestId": failure.request_id,
        "retryable": failure.retryable,
        "retryAfter": failure.retry_after,
    }
    told = {name: value for name, value in details.items() if value is not None}
    return Diagnostic("provider-error", now, failure.text, told)


def _error_words(data: bytes) -> str:
    """What the body of an error says, in JSON or in anything else."""
    try:
        body = read_json(data)
    except UNREADABLE:
        return " ".join(data[:2000].decode("utf-8", "replace").split())
    return error_text(body[0] if isinstance(body, list) and body else body)


def _words(error: Exception) -> str:
    return f"{type(error).__name__} {error}".strip()
