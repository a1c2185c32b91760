"""One request and its answer: retries, timeouts, errors, cancelling.

The stream is pull-based and starts no task or generator: each ``anext`` reads until there is an event to return.
Nothing is leaked if the caller stops reading, and cancelling can only interrupt an ``await``.
"""

import logging
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, TypeVar

import anyio
import msgspec
from msgspec.structs import replace

from ..errors import InvalidRequestError, NetworkError, ProviderError
from ..healing import NOT_CURED, REPORT, Cured, heal
from ..render import Decoder, Request
from ..rules import Diagnosis, Refused
from ..telemetry import RequestSpan, request_span
from ..types import AssistantMessage, Diagnostic
from ..types.codec import UNREADABLE, read_json
from ..types.events import Error, Event
from ..types.secret import shown_address
from ..types.text import copy_json
from ..wire import error_text
from .connection import Connection
from .exchange import Exchange
from .failures import kind_of, kind_of_stop, request_id, retry_after
from .pool import Pool
from .post import Pieces
from .reach import Reach
from .transport import HiddenInLogs

T = TypeVar("T")
logger = logging.getLogger("segue.client")

MAX_ERROR = 1024 * 1024
"""Bytes of an error's body that are read; the rest is ignored."""


class TimedOut(Exception):
    """A limit of ``Timeouts`` was reached."""


class Stream:
    """The answer to a request, as an async iterator of events.

    The last event is ``done`` or ``error``. After it, ``message`` is the finished message, and ``error`` the failure if
    there was one. ``cancel()`` ends the answer with ``aborted``. To stop reading early, use ``async with`` or
    ``aclose()``: both close the connection, and ``message`` keeps what had arrived.
    """

    def __init__(self, request: Request, reach: Reach, pool: Pool) -> None:
        self.request = request
        self.message: AssistantMessage | None = None
        self.error: ProviderError | None = None
        self.attempts = 0
        """How often the request was sent."""
        self._span: RequestSpan | None = None
        self._ends_span = True
        self._reach = reach
        self._connection = reach.connection
        self._pool = pool
        self._body = _body(request, reach.connection)
        self._queue: deque[Event] = deque()
        self._scope: anyio.CancelScope | None = None
        self._cancelled = False
        self._emitted = False
        self._exchange: Exchange | None = None
        self._refused: Refused | None = None  # the last refusal, until it is treated
        self._cured: Cured | None = None
        self._diagnosis: Diagnosis | None = None
        self._report = ""
        self._first_deadline = 0.0
        self._total_deadline: float | None = None
        self._decoder = self._fresh_decoder()

    # -- for callers -------------------------------------------------------------------------------------------------

    def __aiter__(self) -> "Stream":
        return self

    async def __anext__(self) -> Event:
        if not self._queue:
            await self._fill()
        if not self._queue:
            raise StopAsyncIteration
        return self._queue.popleft()

    async def arrived(self) -> list[Event]:
        """Wait for events and return all that have arrived; none after the last one."""
        if not self._queue:
            await self._fill()
        events = list(self._queue)
        self._queue.clear()
        return events

    async def _fill(self) -> None:
        """Read until there are events, or release the connection after the last one."""
        try:
            while not self._queue and self.message is None:
                await self._advance()
            if not self._queue:
                await self._drain()
        except BaseException:  # the caller's task was cancelled: close the connection and keep what had arrived
            await self.aclose()
            raise

    async def __aenter__(self) -> "Stream":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def cancel(self) -> None:
        """Cancel the answer: the connection is closed, and the next event is ``error``, the last one."""
        self._cancelled = True
        if self._scope is not None:
            self._scope.cancel()

    async def aclose(self) -> None:
        """Close the stream. If the answer was not complete, ``message`` is what had arrived, with ``aborted``."""
        if self.message is None:
            self._queue_events(self._decoder.abort())
        self._queue.clear()
        await self._disconnect()

    def share(self, span: RequestSpan | None) -> None:
        """Use the span of a caller who sends a request several times, and ends the span itself."""
        self._span, self._ends_span = span, False

    async def finished(self) -> AssistantMessage:
        """Read to the end and return the message, even if the answer failed."""
        async for _ in self:
            pass
        assert self.message is not None
        return self.message

    # -- states ------------------------------------------------------------------------------------------------------

    async def _advance(self) -> None:
        """Connect, or read a piece of the answer, or wait before a retry."""
        events, failure = await self._step()
        if not events:
            return
        if self._span is not None:
            self._span.received() if failure is None else self._span.failed(failure)
        if failure is not None and not self._emitted and self._heal(failure):
            await self._disconnect()
            self._decoder = self._fresh_decoder()
            return
        wait = None if failure is None or self._emitted else self._wait(failure)
        if wait is None:
            self._emitted = True
            self._queue_events(events, failure)
            if self.message is not None and failure is not None:
                await self._disconnect()
            return
        await self._disconnect()
        self._decoder = self._fresh_decoder()
        with suppress(TimedOut):
            await self._await(lambda: anyio.sleep(wait), wait + 1)

    def _heal(self, failure: ProviderError) -> bool:
        """Change a refused request, once, if that may cure it. Return whether it is to be sent again."""
        refused, self._refused = self._refused, None
        if refused is None or self._cured is not None or not self._connection.heal or self._cancelled:
            return False
        found = heal(self.request, refused)
        if not isinstance(found, Cured):
            self._diagnosis = found
            return False
        body = _body(found.request, self._connection)
        if b"".join(body) == b"".join(self._body):
            return False
        self._cured, self.request, self._body = found, found.request, body
        logger.info("%s: %s", self.request.model.ref, found.summary(failure.text))
        self._report = found.summary(failure.text)
        if self._span is not None:
            self._span.cured(", ".join(cure.number for cure in found.cures))
        return True

    async def _step(self) -> tuple[list[Event], ProviderError | None]:
        if self._cancelled:
            return self._decoder.abort(), None
        try:
            if self._exchange is None:
                self._begin_attempt()
            events = await self._await(self._arriving, self._time_left())
            refused = await self._refusal() if events is None and not self._cancelled else None
        except ProviderError as error:
            return self._connection_failure(error)
        except TimedOut:
            return self._connection_failure(NetworkError(self._timeout_text()))
        if self._cancelled:
            return self._decoder.abort(), None
        if refused is not None:
            return self._decoder.fail(refused.text), refused
        if events and isinstance(events[-1], Error):
            return events, self._failure()
        return events or [], None

    def _begin_attempt(self) -> None:
        if not self.attempts and self._ends_span:
            self._span = request_span(self.request.model, self._reach.base_url)
        self.attempts += 1
        if self._span is not None:
            self._span.sent(self.request)
        self._emitted = False
        timeouts, now = self._connection.timeouts, time.monotonic()
        self._first_deadline = now + timeouts.first_event
        if self._total_deadline is None and timeouts.total is not None:
            self._total_deadline = now + timeouts.total

    async def _arriving(self) -> list[Event] | None:
        """Send the request if that is not done yet, and read up to the first event, or one piece after it. ``None`` if
        the request was refused."""
        exchange = self._exchange or await self._open()
        if not exchange.succeeded:
            return None
        events: list[Event] = []
        while not events:
            data = await exchange.piece()
            if self._cancelled:
                break
            events = self._decoder.close() if data is None else self._decoder.feed(data)
            if data is None or self._emitted:
                break
            self._at_most(self._time_left())
        return events

    async def _open(self) -> Exchange:
        signed = b"".join(self._body) if self._reach.signs_body else b""
        url, headers = await self._reach.signed(self.request.path, self.request.headers, signed)
        self._exchange = exchange = Exchange(url, headers, self._body, self._connection, self._pool)
        await exchange.open()
        return exchange

    async def _refusal(self) -> ProviderError:
        exchange = self._exchange
        assert exchange is not None
        status = exchange.status or 0
        data = bytearray()
        try:
            while len(data) < MAX_ERROR and (piece := await self._await(exchange.piece, self._time_left())):
                data += piece
        except (NetworkError, TimedOut) as error:
            # The status may be enough. A bad request, however, may be something else in the text that is missing.
            kind, text = kind_of("", status), self._timeout_text() if isinstance(error, TimedOut) else error.text
            return self._error(NetworkError if kind is InvalidRequestError else kind, text)
        body = _error_body(bytes(data))
        text = self._reach.secrets.shown(_error_text(body) or f"{status} status code (no body)")
        self._refused = Refused.read(status, body, text, self._reach.secrets)
        return self._error(kind_of(text, status, self.request.model.provider), _redirected(exchange, text))

    async def _await(self, act: Callable[[], Awaitable[T]], seconds: float) -> T | None:
        """Await ``act`` for at most ``seconds``; ``None`` if ``cancel()`` was called.

        Each await has its own cancel scope, because a scope must not be held across a yield.
        """
        deadline = anyio.current_time() + max(self._at_most(seconds), 0.0)
        with HiddenInLogs(self._reach.secrets), anyio.CancelScope(deadline=deadline) as self._scope:
            if self._cancelled:
                self._scope.cancel()
            return await act()
        self._scope = None
        if not self._cancelled:
            raise TimedOut
        return None

    def _at_most(self, seconds: float) -> float:
        """``seconds``, or what is left of the total if that is less."""
        if self._total_deadline is None:
            return seconds
        left = self._total_deadline - time.monotonic()
        if left <= 0:
            raise TimedOut
        return min(seconds, left)

    def _time_left(self) -> float:
        return self._connection.timeouts.between_events if self._emitted else self._first_deadline - time.monotonic()

    def _timeout_text(self) -> str:
        timeouts = self._connection.timeouts
        if self._total_deadline is not None and time.monotonic() >= self._total_deadline:
            return f"the answer was not complete within {timeouts.total:g} seconds"
        if self._emitted:
            return f"nothing arrived for {timeouts.between_events:g} seconds"
        return f"no event arrived within {timeouts.first_event:g} seconds"

    def _fresh_decoder(self) -> Decoder:
        decoder = Decoder(self.request, None, self._reach.secrets, self._reach.model.endpoint)
        if self._cured is not None:
            decoder.partial.note(REPORT, self._report, self._cured.details())
        return decoder

    # -- failures ----------------------------------------------------------------------------------------------------

    def _connection_failure(self, error: ProviderError) -> tuple[list[Event], ProviderError]:
        return self._decoder.fail(error.text), self._error(type(error), error.text, error.retryable)

    def _failure(self) -> ProviderError:
        """The failure that the decoder found in the answer."""
        message = self._decoder.message
        assert message is not None
        text = message.error_message or ""
        if self._decoder.failure == "refused":
            return self._error(kind_of_stop(text), text)
        if self._decoder.failure == "broken":
            return self._error(NetworkError, text)
        return self._error(kind_of(text, None), text)

    def _error(self, kind: type[ProviderError], text: str, retryable: bool | None = None) -> ProviderError:
        """Create the error of a failure. All are created here, so that secrets are removed from every text."""
        status = None if self._exchange is None else self._exchange.status
        headers = {} if self._exchange is None else self._exchange.headers
        named = request_id(headers)
        if status is not None and 300 <= status < 400:
            retryable = False
        return kind(
            self._reach.secrets.shown(text),
            provider=self.request.model.provider,
            model=self.request.model.id,
            status=status,
            request_id=named and self._reach.secrets.shown(named, longest=200),
            retryable=retryable,
            retry_after=retry_after(headers, time.time()),
        )

    def _wait(self, failure: ProviderError) -> float | None:
        """Seconds to wait before a retry; ``None`` if the request is not sent again."""
        retries = self._connection.retries
        tries = self.attempts - (self._cured is not None)  # the resend of a changed request is not a retry
        if not failure.retryable or tries > retries.count or self._cancelled:
            return None
        wait, deadline = self._pause(failure), self._total_deadline
        return None if deadline is not None and wait is not None and time.monotonic() + wait >= deadline else wait

    def _pause(self, failure: ProviderError) -> float | None:
        """The wait that the provider or the settings ask for; ``None`` if it is too long."""
        retries = self._connection.retries
        if failure.retry_after is not None:
            return failure.retry_after if failure.retry_after <= retries.longest_retry_after else None
        return retries.backoff(self.attempts - (self._cured is not None), random.random())

    def _queue_events(self, events: list[Event], failure: ProviderError | None = None) -> None:
        """Queue events. The last event of an answer also sets ``message`` and ``error``."""
        last = events[-1] if events else None
        if isinstance(last, Error):
            message = last.message
            if failure is not None:
                more = [_diagnostic(failure, message.timestamp), *_recognised(self._diagnosis, message.timestamp)]
                message = replace(message, diagnostics=[*message.diagnostics, *more])
                failure.message = message
            events[-1] = Error(message, last.partial, failure)
            self.message, self.error = message, failure
        elif last is not None and self._decoder.message is not None:
            self.message = self._decoder.message
            if self._cured is not None:
                self._cured.learn(self._reach.facts)
        if self._span is not None and self._ends_span and self.message is not None:
            self._span.end(self.message, self.error)
        self._queue.extend(events)

    # -- the connection ----------------------------------------------------------------------------------------------

    async def _drain(self) -> None:
        """Release the connection; after a complete answer, in a state in which it can be used again."""
        if self._exchange is not None and self.error is None and not self._cancelled:
            await self._exchange.drain()
        await self._disconnect()

    async def _disconnect(self) -> None:
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            await exchange.close()


def _body(request: Request, connection: Connection) -> Pieces:
    """The body in pieces. ``on_request`` gets a copy, because the body shares values with the stored messages."""
    if connection.on_request is None:
        return request.pieces()
    copy = copy_json(request.body)
    changed = connection.on_request(copy)
    body = copy if changed is None else changed
    if not isinstance(body, dict):
        raise TypeError(f"on_request must return the body as a dict, or None, not a {type(body).__name__}")
    try:
        return [msgspec.json.encode(body)]
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise TypeError(f"the body from on_request is not JSON ({type(error).__name__}: {error})") from error


def _diagnostic(failure: ProviderError, now: int) -> Diagnostic:
    details = {
        "kind": failure.kind,
        "status": failure.status,
        "requestId": failure.request_id,
        "retryable": failure.retryable,
        "retryAfter": failure.retry_after,
    }
    known = {name: value for name, value in details.items() if value is not None}
    return Diagnostic("provider-error", now, failure.text, known)


def _recognised(diagnosis: Diagnosis | None, now: int) -> list[Diagnostic]:
    """The report of a refusal that no change of the request cures."""
    cures = () if diagnosis is None else diagnosis.cures
    return [Diagnostic(NOT_CURED, now, cure.title, {"cure": cure.number}) for cure in cures]


def _redirected(exchange: Exchange, text: str) -> str:
    """The text of an error, for redirects too: they are not followed, because the key would be sent to another host."""
    where = exchange.headers.get("location")
    if where is None or exchange.status is None or not 300 <= exchange.status < 400:
        return text
    return f"the endpoint redirects to {shown_address(where)}, which is not followed; set base_url if it is right"


def _error_body(data: bytes) -> Any:
    """The body of an error response: any JSON, or the text of anything else."""
    try:
        return read_json(data)
    except UNREADABLE:
        return " ".join(data.decode("utf-8", "replace").split())


def _error_text(body: Any) -> str:
    """The error text in the body of an error response."""
    return body if isinstance(body, str) else error_text(body[0] if isinstance(body, list) and body else body)
