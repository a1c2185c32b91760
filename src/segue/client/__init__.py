"""The only door to providers: ``stream`` and ``complete``, for async and for synchronous callers.

What the caller did wrong (no key, an unknown model, bad options) raises before anything is sent. Whatever happens after
that ends the stream as its ``error`` event, with a message that can be stored.
"""

from collections.abc import Callable

from msgspec.structs import replace

from ..catalog import get_model
from ..projection import PolicyLike
from ..render import Request, encode
from ..types import AssistantMessage, Context, Model, Options
from ..types.check import check_model, check_options
from .access import access
from .connection import Connection, Retries, Timeouts
from .failures import error_of
from .stream import Stream
from .sync import SyncStream

Render = Callable[[Context, Model, Options, PolicyLike], Request]
"""What makes a request of a conversation."""

__all__ = [
    "Connection",
    "Retries",
    "Stream",
    "SyncStream",
    "Timeouts",
    "complete",
    "complete_sync",
    "error_of",
    "stream",
    "stream_sync",
]


def stream(
    model: Model | str,
    context: Context,
    options: Options | None = None,
    policy: PolicyLike = None,
    connection: Connection | None = None,
    render: Render | None = None,
) -> Stream:
    """The answer of ``model`` (a ``Model``, or its name ``provider/model``) to ``context``, as events.

    ``render`` makes the request, for callers who keep a ``Renderer``; ``encode`` does if it is not given.
    """
    options = options or Options()
    check_options(options)
    return _stream(model, context, replace(options, stream=True), policy, connection, render)


async def complete(
    model: Model | str,
    context: Context,
    options: Options | None = None,
    policy: PolicyLike = None,
    connection: Connection | None = None,
) -> AssistantMessage:
    """The whole answer. One that failed is a message, too: ``stop_reason`` says so, ``error_of`` what it was."""
    return await _stream(model, context, options or Options(), policy, connection).finished()


def stream_sync(
    model: Model | str,
    context: Context,
    options: Options | None = None,
    policy: PolicyLike = None,
    connection: Connection | None = None,
) -> SyncStream:
    """``stream`` for synchronous callers; works in a thread with a running event loop, too."""
    return SyncStream(stream(model, context, options, policy, connection))


def complete_sync(
    model: Model | str,
    context: Context,
    options: Options | None = None,
    policy: PolicyLike = None,
    connection: Connection | None = None,
) -> AssistantMessage:
    """``complete`` for synchronous callers."""
    return SyncStream(_stream(model, context, options or Options(), policy, connection)).finished()


def _stream(
    model: Model | str,
    context: Context,
    options: Options,
    policy: PolicyLike,
    connection: Connection | None,
    render: Render | None = None,
) -> Stream:
    connection = connection or Connection()
    target = get_model(model) if isinstance(model, str) else model
    check_model(target)
    reach = access(target, connection)
    return Stream((render or encode)(context, reach.model, options, policy), reach, connection)
