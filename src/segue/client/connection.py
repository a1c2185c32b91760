"""How a provider is reached: what a caller may set beside the model, and the defaults."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

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


class Retries(Struct, frozen=True, kw_only=True):
    """How often a request is sent again when that may help, and how long to wait before. Never after output began."""

    attempts: int = 2
    first_wait: float = 0.5
    longest_wait: float = 8.0
    # A provider that asks for more patience than this is not waited for.
    longest_retry_after: float = 60.0


class Connection(Struct, frozen=True, kw_only=True):
    """How to reach a provider. Everything has a default; the key comes from the environment when it is not given."""

    api_key: str | None = None
    # Another endpoint that speaks the model's protocol, without the path of the request.
    base_url: str | None = None
    headers: dict[str, str] = {}
    timeouts: Timeouts = Timeouts()
    retries: Retries = Retries()
    # May look at the body, or return another one, before it is sent.
    on_request: Callable[[Body], Body | None] | None = None
    # A client of your own, for proxies, certificates or tests; it is not closed.
    http: "httpx2.AsyncClient | None" = None

    def __repr__(self) -> str:  # a key is never shown
        return f"Connection(base_url={self.base_url!r}, api_key={'given' if self.api_key else None})"
