"""The opaque data in signatures, by which an answer is recognised when a client sends it back.

Clients keep it as it is, but may change the form around it: opencode removes the ids of items, and Google's SDK writes
base64 in the alphabet for URLs (2026-11).
"""

from collections.abc import Iterable
from typing import assert_never

from ...types import AssistantContent, ProviderContent, TextContent, ThinkingContent, ToolCall


def signature_of(block: AssistantContent) -> str | None:
    """The signature of a block."""
    if type(block) is TextContent:
        return block.text_signature
    if type(block) is ThinkingContent:
        return block.thinking_signature
    if type(block) is ToolCall:
        return block.thought_signature
    if type(block) is ProviderContent:
        return None
    assert_never(block)


def whole_signature(block: AssistantContent) -> Iterable[str]:
    """``seals`` of protocols whose signatures are opaque as a whole."""
    signature = signature_of(block)
    return [] if signature is None else [signature]
