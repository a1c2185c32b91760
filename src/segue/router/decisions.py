"""The input and the decisions of a router. Data only; ``word`` is the name of a decision in the log."""

from collections.abc import Mapping
from typing import ClassVar

from msgspec import Struct

from ..types import Model


class Situation(Struct, frozen=True):
    """What a router may look at. Everything but the time and the name follows from the log."""

    turn: int
    """The number of the turn, from 0. It is counted in the log, so it is the same after reopening."""
    last: Model | None = None
    """The model of the last answer that did not fail."""
    origins: Mapping[str, int] = {}
    """The number of answers of each ``provider/model`` in this conversation."""
    tokens: int = 0
    """An estimate of the tokens of the next request."""
    now: float = 0.0
    """Seconds on a monotonic clock that all callers of the router share."""
    compacted: bool = False
    """Whether this request was already compacted because it did not fit."""
    conversation: str = ""
    """A name of the conversation, so that conversations that share a router draw and wait differently."""
    bound: Model | None = None
    """The model of a turn that is already running. It stays, unless it rests or the request does not fit."""
    avoided: tuple[Model, ...] = ()
    """Members that are not asked in this conversation for now, as long as there is another."""


class Retry(Struct, frozen=True):
    """Ask the same member again, after ``wait`` seconds."""

    wait: float
    reason: str
    word: ClassVar[str] = "retry"


class Next(Struct, frozen=True):
    """Ask another member, after ``wait`` seconds."""

    model: Model
    wait: float
    reason: str
    word: ClassVar[str] = "next"


class Compact(Struct, frozen=True):
    """Shorten the history, then ask the same member again."""

    reason: str
    word: ClassVar[str] = "compact"


class GiveUp(Struct, frozen=True):
    """Stop: neither another try nor another member would help, or none is left."""

    reason: str
    word: ClassVar[str] = "give-up"


Decision = Retry | Next | Compact | GiveUp
