"""Messages that chat completions and Mistral write alike.

Nothing in a turn points back to it, so that the collector of cycles need not look at turns.
"""

from typing import Any

from msgspec import Struct, UnsetType

Content = str | list[Any]
"""A text, or parts: dicts, or structs that are written like them."""


class Said(Struct, gc=False):
    """Words of the user, and the system prompt, in whatever role."""

    role: str
    content: Content


class Function(Struct, gc=False):
    name: str
    arguments: str


class Call(Struct, gc=False):
    id: str
    type: str
    function: Function


class Result(Struct, gc=False, tag_field="role", tag="tool"):
    tool_call_id: str
    name: str | UnsetType
    content: Content
