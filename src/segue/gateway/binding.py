"""Turn binding: a turn that is running stays with its model.

A turn is running when the last message that was not injected by the client's program is a result, or an answer whose
calls have no results yet. That the last message is a result is not enough: Claude Code adds system messages after it.
"""

from collections.abc import Sequence

from ..types import AssistantMessage, Message, ToolCall, ToolResultMessage, UserMessage
from .recall import Found


def bound_answer(messages: Sequence[Message], found: Sequence[Found | None]) -> AssistantMessage | None:
    """The answer whose calls are being worked on, if it is known who made it."""
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if isinstance(message, UserMessage):
            if not message.injected:
                return None
        elif isinstance(message, AssistantMessage):
            known = found[at]
            calls = any(type(block) is ToolCall for block in message.content)
            return message if calls and known is not None and known.known else None
        elif not isinstance(message, ToolResultMessage):
            return None
    return None
