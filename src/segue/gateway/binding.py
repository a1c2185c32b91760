"""Turn binding: a turn that is running stays with its model.

A turn is running when the last message that was not injected by the client's program is a result, or an answer whose
calls have no results yet. That the last message is a result is not enough: Claude Code adds system messages after it,
and reminders to the message with the results (the same ones as in its sessions, ``transcripts/claude_code_rows.py``).
"""

from collections.abc import Sequence

from ..types import AssistantMessage, Message, TextContent, ToolCall, ToolResultMessage, UserMessage
from .recall import Found

_REMINDER = ("<system-reminder>", "</system-reminder>")


def bound_answer(messages: Sequence[Message], found: Sequence[Found | None]) -> AssistantMessage | None:
    """The answer whose calls are being worked on, if it is known who made it."""
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if isinstance(message, UserMessage):
            if not message.injected and not _is_reminder(message):
                return None
        elif isinstance(message, AssistantMessage):
            known = found[at]
            calls = any(type(block) is ToolCall for block in message.content)
            return message if calls and known is not None and known.known else None
        elif not isinstance(message, ToolResultMessage):
            return None
    return None


def _is_reminder(message: UserMessage) -> bool:
    """Whether a message has nothing but a reminder that Claude Code added."""
    texts = [block.text.strip() if isinstance(block, TextContent) else "" for block in message.content]
    return all(text.startswith(_REMINDER[0]) and text.endswith(_REMINDER[1]) for text in texts)
