"""Check what goes back exactly as it came. What a tool has changed since is recognised by the SDK's request types."""

from collections.abc import Callable, Collection
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import msgspec

from ...rules.shape import Table, faults, load


def accepted_by(table: Path | Callable[[], Table], around: Callable[[Any], dict[str, Any]]) -> Callable[[bytes], bool]:
    """A check whether a block, as JSON, is valid in a request. ``table`` has the fields of requests, and ``around``
    makes a request of a block. Fields that are newer than the SDK do no harm."""
    loaded = table if callable(table) else partial(load, table)

    @lru_cache(maxsize=1024)
    def is_valid(raw: bytes) -> bool:
        return all(fault.sort == "unknown" for fault in faults(around(msgspec.json.decode(raw)), loaded()))

    return is_valid


def without(value: Any, names: Collection[str]) -> Any:
    """An object without the fields of these names, which only answers have: the same object if it has none of them."""
    if not isinstance(value, dict) or not any(name in value for name in names):
        return value
    return {name: each for name, each in value.items() if name not in names}
