"""Settings of a connection to a provider, with their defaults."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ..errors import SettingError
from ..healing import Facts
from ..types import Retries
from ..types.secret import Guarded

if TYPE_CHECKING:
    import httpx2

    from .post import Poster

Body = dict[str, Any]


class Timeouts(Struct, frozen=True, kw_only=True):
    """Limits in seconds. A model that thinks may send nothing for minutes, before the answer and between two events."""

    connect: float = 10.0
    # From sending the request to the first event of the answer, or to the whole answer if it is not streamed.
    first_event: float = 600.0
    # Without any byte, even of a heartbeat.
    between_events: float = 300.0
    # From the first attempt to the last event, including waits. Without it, a stream stays open while bytes arrive.
    total: float | None = None


MAX_ANSWER = 64 * 1024 * 1024


class Connection(Guarded, frozen=True, kw_only=True):
    """How to reach a provider. By default the key comes from the environment."""

    api_key: str | None = None
    # Another endpoint that speaks the model's protocol, without the path of the request.
    base_url: str | None = None
    headers: dict[str, str] = {}
    timeouts: Timeouts = Timeouts()
    retries: Retries = Retries()
    # The largest answer in bytes, after decompression.
    max_answer: int = MAX_ANSWER
    # Called with the body before it is sent; may change it or return another one.
    on_request: Callable[[Body], Body | None] | None = None
    # Whether a refused request is changed and sent once more, if a change is known that cures it (docs/healing.md).
    heal: bool = True
    # What is learnt from that. By default it is shared by the process, and not written to a file.
    facts: Facts | None = None
    # Your own HTTP client, for proxies, certificates or tests; it is not closed.
    http: "httpx2.AsyncClient | None" = None
    # Another HTTP library, in place of httpx2.
    poster: "Poster | None" = None


def check(connection: Connection) -> None:
    """Raise ``SettingError`` for settings that cannot be used."""
    for name in ("timeouts", "retries"):
        part = getattr(connection, name)
        for field in part.__struct_fields__:
            value = getattr(part, field)
            if value is not None and not (isinstance(value, int | float) and value >= 0):  # NaN is not >= 0
                raise SettingError(f"Connection.{name}.{field} is {value!r}; it must be a number, at least 0")
    if connection.facts is not None and not isinstance(connection.facts, Facts):
        raise TypeError(f"Connection.facts must be segue.Facts or None, not a {type(connection.facts).__name__}")
    if connection.http is not None and connection.http.is_closed:
        raise SettingError("Connection.http is closed; pass an open client, or None")
    if not isinstance(connection.max_answer, int) or connection.max_answer < 1:
        raise SettingError(f"Connection.max_answer is {connection.max_answer!r}; it must be a positive number of bytes")
