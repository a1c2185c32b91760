"""Digests by which answers are found again: of what is visible in a message, without thinking, signatures and ids."""

import json
from hashlib import blake2b
from typing import Any, assert_never

import msgspec

from ..types import (
    AssistantMessage,
    Block,
    FileContent,
    ImageContent,
    Message,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

EMPTY = ""
"""The digest of no history."""


def call_key(call: ToolCall, bare: bool = False) -> str:
    """The key of a call. ``bare``: without its id, for clients that drop ids."""
    return "c" + digest(_written([None if bare else call.id, call.name, call.arguments]))


def text_key(message: AssistantMessage) -> str | None:
    """The key of the text of an answer; ``None`` if it has none."""
    text = message.text.strip()
    return "t" + digest(text.encode("utf-8", "surrogatepass")) if text else None


def keys_of(message: AssistantMessage, bare: bool = False) -> list[str]:
    """The keys of an answer: those of its calls, or that of its text if it has none."""
    calls = [block for block in message.content if type(block) is ToolCall]
    if calls:
        return [*[call_key(call) for call in calls], *([call_key(call, True) for call in calls] if bare else [])]
    key = text_key(message)
    return [] if key is None else [key]


def link(before: str, message: Message) -> str:
    """The digest of a history that ends with ``message``, from that of the messages before it."""
    return digest(before.encode(), _visible(message))


def seen(message: Message | None) -> str:
    """The digest of one message."""
    return EMPTY if message is None else digest(_visible(message))


def _visible(message: Message) -> bytes:
    if isinstance(message, AssistantMessage):
        calls = [[block.name, block.arguments] for block in message.content if type(block) is ToolCall]
        return _written(["assistant", message.text.strip(), calls])
    if isinstance(message, ToolResultMessage):
        return _written(["result", [_shown(block) for block in message.content]])
    if isinstance(message, UserMessage):
        return _written(["user", [_shown(block) for block in message.content]])
    assert_never(message)


def _shown(block: Block) -> str:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, ImageContent | FileContent):
        return digest(block.data.encode(), (block.url or "").encode())
    if isinstance(block, ThinkingContent | ToolCall | ProviderContent):
        return ""  # not in such messages
    assert_never(block)


def _written(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value, order="deterministic")
    except (TypeError, ValueError, OverflowError, RecursionError):  # half characters, for example
        return json.dumps(value, sort_keys=True, default=str).encode()


def digest(*parts: bytes) -> str:
    """A short digest of some bytes."""
    state = blake2b(digest_size=16)
    for part in parts:
        state.update(part)
    return state.hexdigest()
