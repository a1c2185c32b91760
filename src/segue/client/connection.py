"""How a provider is reached: what a caller may set beside the model, and the defaults."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ..errors import SettingError
from ..types.secret import Guarded

if TYPE_CHECKING:
    import httpx2

Body = dict[str, Any]


class Timeouts(Struct, frozen=True, kw_only=True):
    """Seconds. Models that think may be silent for minutes before they begin, and between two events."""

    connect: float = 10.0
    # From sending the request to the first event of the answer; for an answer in one piece, to all of it.
    first_event: float = 600.0
    # Without a byte of it, be it a heartbeat.
    between_events: float = 300.0
    # From the first try to the last event, waits included. Without it, a stream is open as long as something comes.
    total: float | None = None


class Retries(Struct, frozen=True, kw_only=True):
    """How often a failed request is sent again, and how long to wait before that. Never after output began."""

    count: int = 2
    first_wait: float = 0.5
    longest_wait: float = 8.0
    # A provider that asks for more patience than this is not waited for.
    longest_retry_after: float = 60.0

    def backoff(self, attempt: int, luck: float) -> float:
        """The wait after failed attempt number ``attempt``, from 1. ``luck`` in [0, 1) spreads concurrent retries."""
        longest = min(self.longest_wait, self.first_wait * 2.0 ** min(attempt - 1, 60))
        return longest * (0.5 + luck / 2)


MAX_ANSWER = 64 * 1024 * 1024


class Connection(Guarded, frozen=True, kw_only=True):
    """How to reach a provider. Everything has a default; the key comes from the environment when it is not given."""

    api_key: str | None = None
    # Another endpoint that speaks the model's protocol, without the path of the request.
    base_url: str | None = None
    headers: dict[str, str] = {}
    timeouts: Timeouts = Timeouts()
    retries: Retries = Retries()
    # The most bytes that an answer may have, as they are after decompression.
    max_answer: int = MAX_ANSWER
    # May look at the body, or return another one, before it is sent.
    on_request: Callable[[Body], Body | None] | None = None
    # A client of your own, for proxies, certificates or tests; it is not closed.
    http: "httpx2.AsyncClient | None" = None


def check(connection: Connection) -> None:
    """Raise ``SettingError`` for settings that cannot be used."""
    for name in ("timeouts", "retries"):
        part = getattr(connection, name)
        for field in part.__struct_fields__:
            value = getattr(part, field)
            if value is not None and not (isinstance(value, int | float) and value >= 0):  # NaN is not, either
                raise SettingError(f"Connection.{name}.{field} is {value!r}; it must be a number from 0")
    if connection.http is not None and connection.http.is_closed:
        raise SettingError("Connection.http is closed; give a client that is open, or none")
    if not isinstance(connection.max_answer, int) or connection.max_answer < 1:
        raise SettingError(f"Connection.max_answer is {connection.max_answer!r}; it must be a number of bytes from 1")
