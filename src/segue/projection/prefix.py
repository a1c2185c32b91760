"""A running digest of everything that is sent before an answer: some models bind their thinking to it.

It covers the system prompt, the tools, and the roles and blocks of messages as they are rendered. It does not cover
usage, timestamps or cache markers, which the encoders add later.
"""

from collections.abc import Iterable
from hashlib import blake2b

from ..types import AssistantMessage, Message, ToolDefinition, ToolResultMessage, UserMessage
from ..types.codec import encode

_ROLES: dict[type[Message], bytes] = {UserMessage: b"\0u", AssistantMessage: b"\0a", ToolResultMessage: b"\0t"}


class Prefix:
    """The digest of everything that was added so far."""

    __slots__ = ("_hash",)

    def __init__(self, system_prompt: str | None, tools: Iterable[ToolDefinition]) -> None:
        self._hash = blake2b(encode([system_prompt, list(tools)]), digest_size=16)

    def add(self, message: Message) -> "Prefix":
        self._hash.update(_ROLES[type(message)])
        self._hash.update(encode(message.content))
        if type(message) is ToolResultMessage:
            self._hash.update(encode((message.tool_call_id, message.tool_name, message.is_error)))
        return self

    def copy(self) -> "Prefix":
        """An independent copy."""
        other = Prefix.__new__(Prefix)
        other._hash = self._hash.copy()
        return other

    def digest(self) -> str:
        return self._hash.hexdigest()
