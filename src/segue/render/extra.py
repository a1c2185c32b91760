"""``Options.extra``: fields of one provider, merged into the body as they are."""

from collections.abc import Mapping
from typing import Any


def with_extra(body: dict[str, Any], extra: Mapping[str, Any], history: str) -> dict[str, Any]:
    """The body with these fields. Objects are merged at every level, anything else replaces what the body has."""
    if history in extra:
        raise ValueError(f"option extra must not contain {history!r}: the messages are those of the conversation")
    return _merged(body, extra)


def _merged(body: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(body)
    for name, value in extra.items():
        known = made.get(name)
        made[name] = _merged(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return made
