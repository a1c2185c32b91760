"""Documented limits of single fields: ranges of numbers, lengths of texts and lists.

The request types of the SDKs do not have them, so they are not in the tables of fields. A table of limits has only the
fields that have one; values of the wrong kind are reported by the rules about the shape.
"""

from typing import Any

from ...rules import Check
from ...rules.shape import Entries, Node, Number, Record, Table, Text, faults
from ...types import Model
from .checks import Found

NAME = Node(text=Text(min=1, max=64, pattern="[a-zA-Z0-9_-]+"))
"""A name of a function or a schema: "Must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of
64" (SDK openai 3.49.0)."""
NOT_EMPTY = Node(text=Text(min=1))
# "16 key-value pairs … Keys are strings with a maximum length of 64 characters. Values are strings with a maximum
# length of 512 characters." (SDK openai 3.49.0)
METADATA = Node(entries=Entries(of=Node(text=Text(max=512)), max=16, key=Text(max=64)))
# "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64" (pi#4719, 2026-05; Azure:
# buhler-chat#181, 2026-09); "a maximum length of 128 characters" (SDK openai 3.49.0, safety_identifier).
CACHE_KEY, SAFETY_ID = Node(text=Text(max=64)), Node(text=Text(max=128))


def between(low: float | None, high: float | None = None) -> Node:
    return Node(number=Number(min=low, max=high))


def limits(fields: dict[str, Node], **inside: dict[str, Node]) -> Table:
    """A table of limits: those of the body, and those of the records that its nodes name."""
    tables = {"Body": fields, **inside}
    records = {name: Record(fields=each, open=True) for name, each in tables.items()}
    return Table(sources={}, root="Body", records=records)


def within(table: Table) -> Check:
    """A check of these limits."""

    def check(body: dict[str, Any], model: Model | None) -> Found:
        yield from ((fault.path, fault.text) for fault in faults(body, table) if fault.sort in ("size", "value"))

    return check
