"""The only room that talks to providers: ``stream``, ``complete`` and ``send``, async and sync.

``reach`` and ``send`` are the two halves for callers that render requests themselves: ``reach`` returns the model as it
is reached, a request is rendered for that model, and ``send`` sends it.
"""

from ..types import Retries
from .client import Client
from .connection import Connection, Timeouts
from .downloads import Downloads, inline, inline_sync
from .failures import error_of
from .post import Pieces as Pieces, Posted as Posted, Poster
from .reach import Reach, checked_headers as checked_headers, parse_endpoint as parse_endpoint, reach
from .retiring import RetiringModelWarning
from .stream import Stream
from .sync import SyncStream, run_sync as run_sync

__all__ = [
    "Client",
    "Connection",
    "Downloads",
    "Poster",
    "Reach",
    "RetiringModelWarning",
    "Retries",
    "Stream",
    "SyncStream",
    "Timeouts",
    "complete",
    "complete_sync",
    "error_of",
    "inline",
    "inline_sync",
    "reach",
    "send",
    "send_sync",
    "stream",
    "stream_sync",
]

_default = Client()
stream, complete, send = _default.stream, _default.complete, _default.send
stream_sync, complete_sync, send_sync = _default.stream_sync, _default.complete_sync, _default.send_sync
