"""How a member is: well, resting, or due for a probe. A circuit breaker that knows no clock.

    well ── left ──> resting ── time ──> due ── taken ──> probed ── answered ──> well
                        ^                                   │
                        └──────────── left, longer ─────────┘

A member that is due is taken by one caller at a time; the others see it as still away. Not thread-safe by itself: the
router holds its lock.
"""

from .patience import rest_after


class Health:
    """The health of one member."""

    __slots__ = ("_probe", "_strikes", "_until")

    def __init__(self) -> None:
        self._strikes = 0
        self._until = 0.0
        self._probe: float | None = None  # when the probe that is under way counts as over

    @property
    def well(self) -> bool:
        return self._strikes == 0

    def probed(self, now: float) -> bool:
        """Whether somebody is finding out at this moment."""
        return self._probe is not None and now < self._probe

    def available(self, now: float) -> bool:
        return self.well or (now >= self._until and not self.probed(now))

    def rest(self, now: float) -> float:
        """How many seconds of rest are left."""
        return 0.0 if self.well else max(0.0, self._until - now)

    def taken(self, now: float, longest_probe: float) -> None:
        """A caller goes to this member: if it is not well, that is its probe."""
        if not self.well:
            self._probe = now + longest_probe

    def answered(self, now: float) -> None:
        """It works. What was asked before the rest and is answered during it says nothing about now."""
        if self._until <= now or self._probe is not None:
            self._strikes, self._until, self._probe = 0, 0.0, None

    def left(self, now: float, first: float, asked: float | None) -> None:
        """It failed for good in one request. Requests that were under way when it began to rest count once."""
        if self.rest(now) and self._probe is None:
            self._until = max(self._until, now + rest_after(0.0, 1, asked))
            return
        self._strikes += 1
        self._until, self._probe = now + rest_after(first, self._strikes, asked), None
