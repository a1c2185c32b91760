"""Walks over a body that all rules of a run share.

Most rules look at every message. A walk that is marked ``shared`` is done once per run, and all rules use its result.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")


class Document(dict[str, Any]):
    """A body that is being checked. It keeps the results of shared walks."""

    __slots__ = ("walks",)

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(body)
        self.walks: dict[Callable[..., Any], Any] = {}


def shared(walk: Callable[[dict[str, Any]], T]) -> Callable[[dict[str, Any]], T]:
    """Decorate a walk over a body, so that it is done once per run. Callers must not change what it returns."""

    @wraps(walk)
    def once(body: dict[str, Any]) -> T:
        if not isinstance(body, Document):
            return walk(body)
        if walk not in body.walks:
            body.walks[walk] = walk(body)
        found: T = body.walks[walk]
        return found

    return once
