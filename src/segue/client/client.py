"""``Client``: sends conversations and requests, over connections that can be closed.

Mistakes of the caller (no key, an unknown model, bad options) raise before anything is sent. Any later failure ends the
stream with an ``error`` event, whose message can be stored. ``complete`` raises it.
"""

from types import TracebackType

from msgspec.structs import replace

from ..errors import SettingError
from ..projection import PolicyLike
from ..render import ConversationLike, Request, encode
from ..types import AssistantMessage, Model, Options, check_options
from .connection import Connection
from .pool import Pool
from .reach import Reach, reach
from .stream import Stream
from .sync import SyncStream, run_sync


class Client:
    """Sends to any model over connections of its own, which are closed at the end of ``async with`` or ``with``.

    ``connection`` is used by all calls that do not pass another one. The functions ``segue.stream``,
    ``segue.complete`` and ``segue.send`` are the methods of one client that stays open as long as the event loop.
    """

    def __init__(self, connection: Connection | None = None) -> None:
        self.connection = connection or Connection()
        self._pool = Pool()
        self._closed = False

    # -- async -------------------------------------------------------------------------------------------------------

    def stream(
        self,
        context: ConversationLike,
        model: Model | str,
        options: Options | None = None,
        policy: PolicyLike = None,
        connection: Connection | None = None,
    ) -> Stream:
        """Stream the answer of ``model`` (a ``Model``, or its name ``provider/model``) to ``context``, as events."""
        options = options or Options()
        check_options(options)
        return self._stream(context, model, replace(options, stream=True), policy, connection)

    async def complete(
        self,
        context: ConversationLike,
        model: Model | str,
        options: Options | None = None,
        policy: PolicyLike = None,
        connection: Connection | None = None,
        *,
        check: bool = True,
    ) -> AssistantMessage:
        """Return the whole answer of ``model`` to ``context``. If it failed, raise its ``ProviderError``, whose
        ``message`` is what had arrived.

        With ``check=False`` a failed answer is returned like any other: its ``stop_reason`` is ``error``, and
        ``error_of`` returns the error.
        """
        return await _complete(self._stream(context, model, options, policy, connection), check)

    def send(self, request: Request, connection: Connection | Reach | None = None) -> Stream:
        """Send a rendered request, for example of ``encode`` or of a ``Renderer``, and stream the answer.

        A caller that has called ``reach`` to render the request passes its result as ``connection``.
        """
        if not isinstance(request, Request):
            raise TypeError(f"send needs a segue.Request, not a {type(request).__name__}; segue.encode returns one")
        if not isinstance(connection, Reach):
            connection = reach(request.model, connection or self.connection)
        if self._closed:
            raise SettingError("this segue.Client is closed; create another one")
        return Stream(request, connection, self._pool)

    async def aclose(self) -> None:
        """Close the connections of the running event loop. The client cannot be used after that."""
        self._closed = True
        await self._pool.aclose()

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    # -- sync --------------------------------------------------------------------------------------------------------

    def stream_sync(
        self,
        context: ConversationLike,
        model: Model | str,
        options: Options | None = None,
        policy: PolicyLike = None,
        connection: Connection | None = None,
    ) -> SyncStream:
        """``stream`` for synchronous callers; also works in a thread with a running event loop."""
        return SyncStream(self.stream(context, model, options, policy, connection))

    def complete_sync(
        self,
        context: ConversationLike,
        model: Model | str,
        options: Options | None = None,
        policy: PolicyLike = None,
        connection: Connection | None = None,
        *,
        check: bool = True,
    ) -> AssistantMessage:
        """``complete`` for synchronous callers."""
        return run_sync(_complete(self._stream(context, model, options, policy, connection), check))

    def send_sync(self, request: Request, connection: Connection | Reach | None = None) -> SyncStream:
        """``send`` for synchronous callers."""
        return SyncStream(self.send(request, connection))

    def close(self) -> None:
        """Close the connections of synchronous calls. The client cannot be used after that."""
        run_sync(self.aclose())

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _stream(
        self,
        context: ConversationLike,
        model: Model | str,
        options: Options | None,
        policy: PolicyLike,
        connection: Connection | None,
    ) -> Stream:
        reached = reach(model, connection or self.connection)
        return self.send(encode(context, reached.model, options, policy), reached)


async def _complete(stream: Stream, check: bool) -> AssistantMessage:
    """The message of ``stream``; if the answer failed and ``check`` is true, raise its error."""
    message = await stream.finished()
    if check and stream.error is not None:
        raise stream.error
    return message
