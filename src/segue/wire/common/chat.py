"""Messages that chat completions and Mistral write in the same way.

Turns contain no reference cycles, so the garbage collector does not track them (``gc=False``).
"""

from typing import Any

from msgspec import Struct, UnsetType

Content = str | list[Any]
"""A text, or parts: dicts, or structs that are written as objects."""


class RoleMessage(Struct, gc=False):
    """A user message or the system prompt, in any role."""

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
