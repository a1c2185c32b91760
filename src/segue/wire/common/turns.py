"""Messages as the turns of a protocol: a fold over the rendered conversation that every encoder fills in."""

from collections.abc import Callable, Iterator
from copy import copy
from operator import length_hint
from typing import Any, Generic, Self, TypeVar

from msgspec.structs import replace

from ...dialects import Dialect
from ...types import ChangeCode
from .outgoing import Outgoing

D = TypeVar("D", bound=Dialect)
Tell = Callable[[ChangeCode, str], None]
"""Reports a change of the message that is being taken in."""

OPEN = 4
"""So many turns may still change: the last one, and two of the user that get cache markers."""


class Turns(Generic[D]):
    """The rendered messages in the shape of a protocol: a fold that goes on where it stopped.

    Only the last turn may change when a message is added, and how a request closes does not touch what is here. A turn
    is a dict, or a struct that is written like one; contents are shared with what is stored wherever they can be.
    """

    STATE: tuple[str, ...] = ()
    """The attributes, beside the turns, in which one place of a conversation differs from another."""

    def __init__(self, out: Outgoing[D]) -> None:
        self.out = out
        self.dialect = out.dialect
        self.head: list[Any] = []
        """What stands before all turns and may look different in each request."""
        self.turns: list[Any] = []
        self.taken = 0
        """How many rendered messages were taken in."""
        self._new: Iterator[Any] = iter(())

    def extend(self) -> None:
        """Take in what was rendered since."""
        raise NotImplementedError

    def new(self) -> Iterator[Any]:
        """The messages that were rendered since, to be taken in one by one."""
        self._own_last()
        messages, taken = self.out.rendered.messages, self.taken
        self._new = iter(messages[taken:] if taken else messages)
        self.taken = len(messages)
        return self._new

    @property
    def index(self) -> int:
        """Where the message stands that is being taken in, or was last. To count them all on the way would cost more:
        it is asked for few."""
        return self.taken - length_hint(self._new) - 1

    def tell(self, code: ChangeCode, detail: str) -> None:
        """Report a change of that message."""
        self.out.tell(code, self.index, detail)

    def closed(self, out: Outgoing[D]) -> list[Any]:
        """The turns, as they stand in a request that ends here. ``out`` is told of what is added for that."""
        raise NotImplementedError

    def settle(self) -> list[Any]:
        """Give away the turns that no request changes any more: all but the last few, which may get cache markers."""
        settled = self.turns[:-OPEN]
        del self.turns[:-OPEN]
        return settled

    def fork(self, out: Outgoing[D]) -> Self:
        """One that goes on by itself and tells ``out`` of it."""
        other = copy(self)
        other.back(self.mark())
        other.out = out
        other._own_last()
        return other

    def _own_last(self) -> None:
        """The last turn may change from here on; a request or a mark that has it must not."""
        if self.turns:
            self.turns[-1] = _own_copy(self.turns[-1])

    def mark(self) -> tuple[Any, ...]:
        """Where this is, for going back there."""
        state = [_kept(getattr(self, name)) for name in self.STATE]
        return (list(self.turns), self.taken, len(self.out.report.told), state)

    def back(self, mark: tuple[Any, ...]) -> None:
        """To where ``mark`` was taken."""
        turns, self.taken, told, state = mark
        self.turns = list(turns)
        if len(self.out.report.told) > told:
            self.out.report.back(told)
        for name, value in zip(self.STATE, state, strict=True):
            setattr(self, name, _kept(value))


def _own_copy(turn: Any) -> Any:
    """A turn to which blocks can be added without touching this one."""
    if isinstance(turn, dict):
        return {name: _kept(value) for name, value in turn.items()}
    names = turn.__struct_fields__
    return replace(turn, **{name: list(value) for name in names if type(value := getattr(turn, name)) is list})


def _kept(value: Any) -> Any:
    return list(value) if type(value) is list else value
