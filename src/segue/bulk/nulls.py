"""Values without the nulls that Arrow adds.

Arrow gives all structs of a column the same fields: those that a row did not have come back as null, also inside
the arguments of calls. JSON that was made from such a table has the same nulls.
"""

from typing import Any

OPAQUE = frozenset({"arguments", "args", "input", "parameters", "input_schema", "inputSchema"})
"""Fields whose content is the user's: a null in them may be meant."""


def without_nulls(value: Any) -> Any:
    """The value without fields that are null, everywhere. Items of lists stay."""
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def without_field_nulls(value: Any) -> Any:
    """The value without fields that are null, except inside arguments and schemas."""
    if isinstance(value, dict):
        return {
            name: item if name in OPAQUE else without_field_nulls(item)
            for name, item in value.items()
            if item is not None
        }
    if isinstance(value, list):
        return [without_field_nulls(item) for item in value]
    return value


def is_filled_by_arrow(messages: Any) -> bool:
    """Whether a list of messages comes from an Arrow table: SDKs write nulls in answers only, Arrow in all messages."""
    return isinstance(messages, list) and any(
        isinstance(message, dict)
        and message.get("role", message.get("from")) in ("user", "system", "human")
        and None in message.values()
        for message in messages
    )
