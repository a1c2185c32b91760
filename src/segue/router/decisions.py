"""What a router may look at, and what it can decide. Data only; ``word`` is what the log calls a decision."""

from collections.abc import Mapping
from typing import ClassVar

from msgspec import Struct

from ..types import Model


class Situation(Struct, frozen=True):
    """What a router may look at. All of it follows from the log, but for the time and the name."""

    # The number of the turn, from 0, counted from the log: what is derived from it survives reopening.
    turn: int
    # The model of the last answer of this conversation that did not fail.
    last: Model | None = None
    # How many answers of the conversation each "provider/model" made: whose signatures and cache it has.
    origins: Mapping[str, int] = {}
    # An estimate of the tokens that the next request holds.
    tokens: int = 0
    # Seconds, on any clock that only goes forward and that all callers of a router share.
    now: float = 0.0
    # Whether this request was compacted already because it did not fit.
    compacted: bool = False
    # A name of the conversation: those that share a router draw and wait differently.
    conversation: str = ""


class Retry(Struct, frozen=True):
    """The same member again, after ``wait`` seconds."""

    wait: float
    reason: str
    word: ClassVar[str] = "retry"


class Next(Struct, frozen=True):
    """Another member, after ``wait`` seconds; the conversation stays with it as the policy says."""

    model: Model
    wait: float
    reason: str
    word: ClassVar[str] = "next"


class Compact(Struct, frozen=True):
    """Make the history shorter, then ask the same member again."""

    reason: str
    word: ClassVar[str] = "compact"


class GiveUp(Struct, frozen=True):
    """Neither another try nor another member would help, or none is left; the reason says which."""

    reason: str
    word: ClassVar[str] = "give-up"


Decision = Retry | Next | Compact | GiveUp
