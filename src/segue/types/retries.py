"""How often a failed request is sent again; used by the client and by routers."""

from msgspec import Struct


class Retries(Struct, frozen=True, kw_only=True):
    """How often a failed request is sent again, and how long to wait before that. Never after output began."""

    count: int = 2
    first_wait: float = 0.5
    """Seconds before the first retry. Each further wait is twice as long."""
    longest_wait: float = 8.0
    longest_retry_after: float = 60.0
    """If the provider asks for a longer wait than this, the request is not sent again."""

    def backoff(self, attempt: int, luck: float) -> float:
        """The wait after failed attempt number ``attempt``, from 1. ``luck`` in [0, 1) spreads concurrent retries."""
        longest = min(self.longest_wait, self.first_wait * 2.0 ** min(attempt - 1, 60))
        return longest * (0.5 + luck / 2)
