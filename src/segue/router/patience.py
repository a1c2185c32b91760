"""How long a router waits, how often it tries, how long a member rests: numbers, and what follows from them alone."""

from hashlib import blake2b

from msgspec import Struct

LONGEST_REST = 86_400.0
DOUBLINGS = 4


class Patience(Struct, frozen=True, kw_only=True):
    """How often to try and how long to wait, in seconds."""

    # How often the same member is asked again in one request, and the first and the longest wait before that.
    retries: int = 2
    first_wait: float = 0.5
    longest_wait: float = 8.0
    # A member that asks for more time than this is left for another; and the longest wait for one that rests.
    longest_pause: float = 10.0
    # The same when there is no other to go to.
    longest_pause_alone: float = 60.0
    # The first rest of a member that keeps failing, and of one whose account, key or model is the trouble. Each failed
    # probe doubles it, up to 16 times the first.
    rest: float = 30.0
    long_rest: float = 900.0
    # A probe that nobody reports on (its turn was cancelled, its caller is gone) counts as over after this time.
    longest_probe: float = 300.0

    def backoff(self, attempt: int, luck: float) -> float:
        """The wait after a failed attempt, from 1. ``luck`` in [0, 1) keeps callers from coming back all at once."""
        longest = min(self.longest_wait, self.first_wait * 2.0 ** min(attempt - 1, 60))
        return longest * (0.5 + luck / 2)


def rest_after(first: float, strikes: int, asked: float | None) -> float:
    """How long a member rests after its ``strikes``-th failure in a row, of which it may have asked for some time."""
    return max(first * 2.0 ** min(strikes - 1, DOUBLINGS), min(asked or 0.0, LONGEST_REST))


def luck(*of: object) -> float:
    """A number in (0, 1) that looks like chance and is always the same for the same values."""
    seed = "\0".join(str(each) for each in of).encode("utf-8", "replace")
    return (int.from_bytes(blake2b(seed, digest_size=6, person=b"segue-router").digest(), "big") + 0.5) / 2**48
