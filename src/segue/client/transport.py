"""What the transport raises and logs, and what it is here: one table of errors, one filter of log records."""

import logging
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import anyio
import h11
import httpcore2
import httpx2
from msgspec import Struct

from ..errors import NetworkError
from ..types.secret import Secrets

BROKE = "the connection broke"
UNREADABLE = "what the provider sent cannot be read"
UNSENT = "the request could not be sent"


class Meaning(Struct, frozen=True):
    """What an error of the transport is here."""

    words: str
    # Whether the same request may succeed later.
    retryable: bool = True


_AGAIN, _GARBAGE = Meaning(BROKE), Meaning(UNREADABLE)
_OURS, _ELSEWHERE = Meaning(UNSENT, retryable=False), Meaning("the endpoint leads elsewhere", retryable=False)

MEANINGS: dict[type[Exception], Meaning] = {
    # httpx2, every class of it
    httpx2.HTTPError: _AGAIN,
    httpx2.RequestError: _AGAIN,
    httpx2.TransportError: _AGAIN,
    httpx2.TimeoutException: _AGAIN,
    httpx2.ConnectTimeout: _AGAIN,
    httpx2.ReadTimeout: _AGAIN,
    httpx2.WriteTimeout: _AGAIN,
    httpx2.PoolTimeout: _AGAIN,
    httpx2.NetworkError: _AGAIN,
    httpx2.ConnectError: _AGAIN,
    httpx2.ReadError: _AGAIN,
    httpx2.WriteError: _AGAIN,
    httpx2.CloseError: _AGAIN,
    httpx2.ProtocolError: _AGAIN,
    httpx2.LocalProtocolError: _OURS,
    httpx2.RemoteProtocolError: _AGAIN,
    httpx2.ProxyError: _AGAIN,
    httpx2.UnsupportedProtocol: _OURS,
    httpx2.DecodingError: _GARBAGE,
    httpx2.SSEError: _GARBAGE,
    httpx2.TooManyRedirects: _ELSEWHERE,
    httpx2.HTTPStatusError: _AGAIN,  # raised by a hook of the caller's own client
    httpx2.InvalidURL: _ELSEWHERE,  # the base URL was checked before; a redirect of the caller's own client was not
    httpx2.CookieConflict: _OURS,
    httpx2.StreamError: _AGAIN,
    httpx2.StreamConsumed: _OURS,
    httpx2.StreamClosed: _AGAIN,
    httpx2.ResponseNotRead: _AGAIN,
    httpx2.RequestNotRead: _OURS,
    # What is below it, where it does not map its own: a broken TLS record, for example, is a bare `ssl.SSLError`.
    httpcore2.NetworkError: _AGAIN,
    httpcore2.TimeoutException: _AGAIN,
    httpcore2.ProtocolError: _AGAIN,
    httpcore2.ProxyError: _AGAIN,
    httpcore2.UnsupportedProtocol: _OURS,
    httpcore2.ConnectionNotAvailable: _AGAIN,
    h11.LocalProtocolError: _OURS,
    h11.RemoteProtocolError: _AGAIN,
    h11.ProtocolError: _AGAIN,
    anyio.BrokenResourceError: _AGAIN,
    anyio.BusyResourceError: _AGAIN,
    anyio.ClosedResourceError: _AGAIN,
    anyio.EndOfStream: _AGAIN,
    zlib.error: _GARBAGE,
    UnicodeError: _OURS,  # a host name that cannot be asked for
    EOFError: _AGAIN,
    OSError: _AGAIN,
}
"""What each error of the transport means; a class that is not here means what the nearest class above it does."""

_RAISED = tuple(MEANINGS)


def meaning_of(error: Exception) -> Meaning:
    """The row of the error's class, or of the nearest class above it."""
    return next(MEANINGS[kind] for kind in type(error).__mro__ if kind in MEANINGS)


@contextmanager
def own_errors() -> Iterator[None]:
    """What the transport raises in here is raised as an error of ours."""
    try:
        yield
    except _RAISED as error:
        meaning = meaning_of(error)
        words = " ".join(f"{type(error).__name__} {error}".split())
        raise NetworkError(f"{meaning.words}: {words}", retryable=meaning.retryable) from None


# -- logs ------------------------------------------------------------------------------------------------------------

LOGGERS = (
    "httpx2",
    "httpcore2.connection",
    "httpcore2.http11",
    "httpcore2.http2",
    "httpcore2.proxy",
    "httpcore2.socks",
    "hpack.hpack",
    "hpack.table",
    "botocore.auth",
    "botocore.credentials",
)
"""Who logs what is sent or received. At the level DEBUG they show the headers of answers, and of signed requests."""

_secrets: ContextVar[Secrets | None] = ContextVar("segue_secrets", default=None)


@contextmanager
def hidden_in_logs(secrets: Secrets) -> Iterator[None]:
    """No log record of the transport shows a secret while this lasts."""
    token = _secrets.set(secrets)
    try:
        yield
    finally:
        _secrets.reset(token)


def also_hidden(*values: str | None) -> None:
    """From now on these are secrets, too: what was just fetched, and may be logged before it is sent."""
    secrets = _secrets.get()
    if secrets is not None:
        secrets.add(*(value for value in values if value))


class _Hiding(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        secrets = _secrets.get()
        if secrets is not None:
            record.msg, record.args = secrets.hide(record.getMessage()), ()
        return True


for _name in LOGGERS:
    logging.getLogger(_name).addFilter(_Hiding())
