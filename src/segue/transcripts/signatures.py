"""Signatures in parts, as frameworks store them: each part has a field of its own there.

The parts are ``signature`` (an opaque text), ``redacted`` (an encrypted payload in place of thinking), and for items of
the Responses API ``id``, ``encrypted`` and ``phase``.
"""

from collections.abc import Mapping

from ..types import TextContent, ThinkingContent, ToolCall
from ..types.codec import json_text
from .origins import RESPONSES
from .source import read_line

Parts = dict[str, str]
_STORED = {"id": "id", "encrypted_content": "encrypted", "phase": "phase"}


def opened(block: TextContent | ThinkingContent | ToolCall, protocol: str) -> Parts:
    """The signature of a block of an answer of ``protocol``, in parts."""
    if isinstance(block, ThinkingContent):
        signature = block.thinking_signature
    else:
        signature = block.text_signature if isinstance(block, TextContent) else block.thought_signature
    if signature is None:
        return {}
    if isinstance(block, ThinkingContent) and block.redacted:
        return {"redacted": signature}
    if protocol != RESPONSES:
        return {"signature": signature}
    stored = read_line(signature.encode("utf-8", "replace"))
    if not isinstance(stored, dict):
        return {"id": signature}
    return {part: stored[name] for name, part in _STORED.items() if isinstance(stored.get(name), str)}


def text(content: str, parts: Mapping[str, str]) -> TextContent:
    """A text with its signature."""
    item = {name: parts[name] for name in ("id", "phase") if parts.get(name)}
    return TextContent(content, parts.get("signature") or (json_text(item) if item else None))


def thinking(content: str, parts: Mapping[str, str]) -> ThinkingContent:
    """Thinking with its signature. An item of the Responses API cannot be sent back without its encrypted content."""
    if parts.get("redacted"):
        return ThinkingContent(content, parts["redacted"], redacted=True)
    if not parts.get("encrypted"):
        return ThinkingContent(content, parts.get("signature"))
    summary = [{"type": "summary_text", "text": each} for each in content.split("\n\n") if each]
    item = {"type": "reasoning", "id": parts.get("id", ""), "summary": summary}
    return ThinkingContent(content, json_text(item | {"encrypted_content": parts["encrypted"]}))


def call_signature(parts: Mapping[str, str]) -> str | None:
    """The signature of a call."""
    return parts.get("signature") or parts.get("id") or None
