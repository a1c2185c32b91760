"""How often a router tries again, how long it waits, and how long a member rests."""

from hashlib import blake2b

from msgspec import Struct

from ..types import Retries

LONGEST_REST = 86_400.0
MAX_DOUBLINGS = 4


class Patience(Struct, frozen=True, kw_only=True):
    """How often to try again and how long to wait. All times are in seconds."""

    retries: Retries = Retries()
    """How often the same member is asked again in one request. ``longest_retry_after`` is for a member without an
    alternative."""
    longest_pause: float = 10.0
    """If another member is available, one that asks for a longer wait is left. Also the longest wait for a member that
    rests."""
    rest: float = 30.0
    """The first rest of a member that keeps failing. Each failed probe doubles it, up to 16 times the first."""
    long_rest: float = 900.0
    """The same for a member whose account, key or model is the cause."""
    longest_probe: float = 300.0
    """A probe without a result (its turn was cancelled, for example) counts as ended after this time."""


def rest_after(first: float, strikes: int, retry_after: float | None) -> float:
    """How long a member rests after ``strikes`` failures in a row; at least ``retry_after``, if it asked for that."""
    return max(first * 2.0 ** min(strikes - 1, MAX_DOUBLINGS), min(retry_after or 0.0, LONGEST_REST))


def luck(*values: object) -> float:
    """A pseudo-random number in (0, 1), which is always the same for the same values."""
    seed = "\0".join(str(each) for each in values).encode("utf-8", "replace")
    return (int.from_bytes(blake2b(seed, digest_size=6, person=b"segue-router").digest(), "big") + 0.5) / 2**48
