"""A fold over a list of messages that grows, which continues where it stopped."""

from collections.abc import Callable
from typing import Generic, TypeVar

from .messages import Message

S = TypeVar("S")


class Fold(Generic[S]):
    """A value computed from messages, one after the other, in which each message is added once.

    For another list, or for fewer messages than before, it starts again.
    """

    def __init__(self, begin: Callable[[], S], add: Callable[[S, Message], S]) -> None:
        self._begin = begin
        self._add = add
        self._messages: list[Message] | None = None
        self._done = 0
        self._state: S

    def over(self, messages: list[Message], count: int) -> S:
        """Return the value after the first ``count`` messages."""
        if messages is not self._messages or count < self._done:
            self._messages, self._done, self._state = messages, 0, self._begin()
        for message in messages[self._done : count]:
            self._state = self._add(self._state, message)
        self._done = count
        return self._state
