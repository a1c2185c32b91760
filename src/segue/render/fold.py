"""A value that is computed over a growing list of messages."""

from collections.abc import Callable
from typing import Generic, TypeVar

from ..types import Message

S = TypeVar("S")


class Fold(Generic[S]):
    """A fold over a growing list. It continues where it stopped; over another or a shorter list it starts again."""

    def __init__(self, begin: Callable[[], S], add: Callable[[S, Message], S]) -> None:
        self._begin = begin
        self._add = add
        self._messages: list[Message] | None = None
        self._done = 0
        self._state: S

    def over(self, messages: list[Message], count: int) -> S:
        """The state after the first ``count`` messages."""
        if messages is not self._messages or count < self._done:
            self._messages, self._done, self._state = messages, 0, self._begin()
        for message in messages[self._done : count]:
            self._state = self._add(self._state, message)
        self._done = count
        return self._state
