"""Walks over a body that all rules of a run share.

Most rules look at every message. A walk that is marked ``shared`` is done once in a run, however many rules ask for it,
so that a run costs one walk and the looks of each rule at what it found.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")


class Document(dict[str, Any]):
    """A body that rules look at. It keeps the results of shared walks over it."""

    __slots__ = ("walks",)

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(body)
        self.walks: dict[Callable[..., Any], Any] = {}


def shared(walk: Callable[[dict[str, Any]], T]) -> Callable[[dict[str, Any]], T]:
    """A walk over a body that is done once in a run. What it returns is never changed, and can be read many times."""

    @wraps(walk)
    def once(body: dict[str, Any]) -> T:
        if not isinstance(body, Document):
            return walk(body)
        if walk not in body.walks:
            body.walks[walk] = walk(body)
        found: T = body.walks[walk]
        return found

    return once
