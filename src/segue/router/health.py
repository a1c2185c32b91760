"""The health of a member: well, resting, or due for a probe. A circuit breaker without a clock.

    well ── left ──> resting ── time ──> due ── chosen ──> probed ── answered ──> well
                        ^                                    │
                        └───────────── left, longer ─────────┘

Only one caller at a time probes a member that is due; for the others it is still resting. Not thread-safe by itself:
the router holds its lock.
"""

from .patience import rest_after


class Health:
    """The health of one member."""

    __slots__ = ("_probe", "_strikes", "_until")

    def __init__(self) -> None:
        self._strikes = 0
        self._until = 0.0
        self._probe: float | None = None  # when the running probe counts as ended

    @property
    def well(self) -> bool:
        return self._strikes == 0

    def probed(self, now: float) -> bool:
        """Whether a probe is running."""
        return self._probe is not None and now < self._probe

    def available(self, now: float) -> bool:
        return self.well or (now >= self._until and not self.probed(now))

    def rest(self, now: float) -> float:
        """The seconds of rest that are left."""
        return 0.0 if self.well else max(0.0, self._until - now)

    def choose(self, now: float, longest_probe: float) -> None:
        """Record that a request goes to this member. If it is not well, the request is its probe."""
        if not self.well:
            self._probe = now + longest_probe

    def answered(self, now: float) -> None:
        """Record an answer. One that arrives during the rest belongs to an earlier request, and changes nothing."""
        if self._until <= now or self._probe is not None:
            self._strikes, self._until, self._probe = 0, 0.0, None

    def leave(self, now: float, first: float, retry_after: float | None) -> None:
        """Begin a rest after a failed request. Requests that were running when the rest began count only once."""
        if self.rest(now) and self._probe is None:
            self._until = max(self._until, now + rest_after(0.0, 1, retry_after))
            return
        self._strikes += 1
        self._until, self._probe = now + rest_after(first, self._strikes, retry_after), None
