"""Errors and log records of the HTTP transport: a table that maps its errors to ours, and a filter for its logs."""

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
UNREADABLE = "the provider's answer cannot be read"
UNSENT = "the request could not be sent"


class Meaning(Struct, frozen=True):
    """The text for an error of the transport, and whether a retry may help."""

    text: str
    # Whether the same request may succeed later.
    retryable: bool = True


_BROKEN, _GARBAGE = Meaning(BROKE), Meaning(UNREADABLE)
_UNSENT, _REDIRECTED = Meaning(UNSENT, retryable=False), Meaning("the endpoint redirects", retryable=False)

MEANINGS: dict[type[Exception], Meaning] = {
    # every class of httpx2
    httpx2.HTTPError: _BROKEN,
    httpx2.RequestError: _BROKEN,
    httpx2.TransportError: _BROKEN,
    httpx2.TimeoutException: _BROKEN,
    httpx2.ConnectTimeout: _BROKEN,
    httpx2.ReadTimeout: _BROKEN,
    httpx2.WriteTimeout: _BROKEN,
    httpx2.PoolTimeout: _BROKEN,
    httpx2.NetworkError: _BROKEN,
    httpx2.ConnectError: _BROKEN,
    httpx2.ReadError: _BROKEN,
    httpx2.WriteError: _BROKEN,
    httpx2.CloseError: _BROKEN,
    httpx2.ProtocolError: _BROKEN,
    httpx2.LocalProtocolError: _UNSENT,
    httpx2.RemoteProtocolError: _BROKEN,
    httpx2.ProxyError: _BROKEN,
    httpx2.UnsupportedProtocol: _UNSENT,
    httpx2.DecodingError: _GARBAGE,
    httpx2.SSEError: _GARBAGE,
    httpx2.TooManyRedirects: _REDIRECTED,
    httpx2.HTTPStatusError: _BROKEN,  # raised by a hook of the caller's own client
    httpx2.InvalidURL: _REDIRECTED,  # the base URL was checked; this is a redirect of the caller's own client
    httpx2.CookieConflict: _UNSENT,
    httpx2.StreamError: _BROKEN,
    httpx2.StreamConsumed: _UNSENT,
    httpx2.StreamClosed: _BROKEN,
    httpx2.ResponseNotRead: _BROKEN,
    httpx2.RequestNotRead: _UNSENT,
    # Lower layers, whose errors httpx2 does not always map: a broken TLS record, for example, is an `ssl.SSLError`.
    httpcore2.NetworkError: _BROKEN,
    httpcore2.TimeoutException: _BROKEN,
    httpcore2.ProtocolError: _BROKEN,
    httpcore2.ProxyError: _BROKEN,
    httpcore2.UnsupportedProtocol: _UNSENT,
    httpcore2.ConnectionNotAvailable: _BROKEN,
    h11.LocalProtocolError: _UNSENT,
    h11.RemoteProtocolError: _BROKEN,
    h11.ProtocolError: _BROKEN,
    anyio.BrokenResourceError: _BROKEN,
    anyio.BusyResourceError: _BROKEN,
    anyio.ClosedResourceError: _BROKEN,
    anyio.EndOfStream: _BROKEN,
    zlib.error: _GARBAGE,
    UnicodeError: _UNSENT,  # a host name that cannot be encoded
    EOFError: _BROKEN,
    OSError: _BROKEN,
}
"""The meaning of each error of the transport. A class that is not listed means the same as its nearest base class."""

_RAISED = tuple(MEANINGS)


def meaning_of(error: Exception) -> Meaning:
    """The row of the error's class, or of its nearest base class."""
    return next(MEANINGS[kind] for kind in type(error).__mro__ if kind in MEANINGS)


@contextmanager
def mapped_errors() -> Iterator[None]:
    """Raise errors of the transport as ``NetworkError``."""
    try:
        yield
    except _RAISED as error:
        meaning = meaning_of(error)
        details = " ".join(f"{type(error).__name__} {error}".split())
        raise NetworkError(f"{meaning.text}: {details}", retryable=meaning.retryable) from None


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
"""Loggers of requests and answers. At the level DEBUG they log the headers of answers and of signed requests."""

_secrets: ContextVar[Secrets | None] = ContextVar("segue_secrets", default=None)


class HiddenInLogs:
    """Hide secrets in the log records of the transport while this context is active."""

    __slots__ = ("_before", "_hidden")

    def __init__(self, secrets: Secrets) -> None:
        self._hidden = secrets

    def __enter__(self) -> None:
        self._before = _secrets.set(self._hidden)

    def __exit__(self, *_: object) -> None:
        _secrets.reset(self._before)


def hide_in_logs(*values: str | None) -> None:
    """Add secrets to the active ``HiddenInLogs``: values that were just fetched and may be logged before they are
    sent."""
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
