"""Signatures as the AI SDK stores them: an object for each provider beside a part (``metadata``, ``providerMetadata``).

Source: ai 6 (packages/anthropic, openai, google: ``providerMetadata``), seen in opencode 1.18.33 (2026-11-16).
"""

from typing import Any

from ..types import TextContent, ThinkingContent, ToolCall
from ..types.codec import json_text
from .reading import object_in, text_in
from .source import Object, read_line


def thinking_of(text: str, metadata: Object) -> ThinkingContent:
    """A thought with the signature that its metadata has."""
    for each in _objects(metadata):
        if sealed := text_in(each, "redactedData"):
            return ThinkingContent("", sealed, redacted=True)
        if signature := text_in(each, "signature", "thoughtSignature"):
            return ThinkingContent(text, signature)
        if sealed := text_in(each, "reasoningEncryptedContent"):
            summary = [{"type": "summary_text", "text": text}] if text else []
            item = {"type": "reasoning", "id": each.get("itemId"), "summary": summary, "encrypted_content": sealed}
            return ThinkingContent(text, json_text(item))
    return ThinkingContent(text)


def text_signature(metadata: Object) -> str | None:
    """The signature of a text."""
    for each in _objects(metadata):
        known = {new: found for new, old in (("id", "itemId"), ("phase", "phase")) if (found := text_in(each, old))}
        if signature := text_in(each, "thoughtSignature"):
            return signature
        if known:
            return json_text(known)
    return None


def call_signature(metadata: Object) -> str | None:
    """The signature of a call."""
    found = [text_in(each, "thoughtSignature", "itemId") for each in _objects(metadata)]
    return next(filter(None, found), None)


def _objects(metadata: Any) -> list[Object]:
    return [each for each in metadata.values() if isinstance(each, dict)] if isinstance(metadata, dict) else []


_NAMES = {
    "anthropic-messages": "anthropic",
    "bedrock-converse": "bedrock",
    "google-generative-ai": "google",
    "openai-responses": "openai",
}


def metadata_of(block: TextContent | ThinkingContent | ToolCall, protocol: str) -> Object | None:
    """The metadata that holds the signature of a block; ``None`` if it has none."""
    name = _NAMES.get(protocol)
    if name is None:
        return None
    if isinstance(block, ThinkingContent):
        fields = _of_thinking(block, protocol)
    else:
        signature = block.text_signature if isinstance(block, TextContent) else block.thought_signature
        fields = _of_signature(signature, protocol) if signature else None
    return {name: fields} if fields else None


def _of_thinking(block: ThinkingContent, protocol: str) -> Object | None:
    signature = block.thinking_signature
    if signature is None:
        return None
    if block.redacted:
        return {"redactedData": signature}
    if protocol == "openai-responses":
        item = read_line(signature.encode("utf-8", "replace"))
        sealed = text_in(item, "encrypted_content")
        return {"itemId": object_in({"item": item}, "item").get("id"), "reasoningEncryptedContent": sealed}
    return {"thoughtSignature" if protocol == "google-generative-ai" else "signature": signature}


def _of_signature(signature: str, protocol: str) -> Object | None:
    if protocol == "google-generative-ai":
        return {"thoughtSignature": signature}
    if protocol != "openai-responses":
        return None
    stored = read_line(signature.encode("utf-8", "replace")) if signature.startswith("{") else {"id": signature}
    return {new: found for new, old in (("itemId", "id"), ("phase", "phase")) if (found := text_in(stored, old))}
