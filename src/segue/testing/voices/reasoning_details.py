"""``reasoning_details`` in the form of OpenRouter: what each maker signs, and how it is verified.

Formats and fields: OpenRouter's guide on reasoning tokens, "Preserving reasoning blocks" (2026-11). Texts: nagobot#21
(Claude), OpenRouterTeam/ai-sdk-provider#418 (Gemini), openai/codex#8119 (GPT); until 2026-03.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from ...types import Model, ThinkingContent, ToolCall
from ..signatures import Signer
from ..voice import Body
from .common import fresh_id, pieces

TEXT, SUMMARY, ENCRYPTED = "reasoning.text", "reasoning.summary", "reasoning.encrypted"
_GROWING = {TEXT: "text", SUMMARY: "summary"}

_CLAUDE, _GEMINI, _UNKNOWN = "anthropic-claude-v1", "google-gemini-v1", "unknown"
_FORMATS = {
    "anthropic": _CLAUDE,
    "google": _GEMINI,
    "openai": "openai-responses-v1",
    "x-ai": "xai-responses-v1",
}
"""The format by the maker of the model; other makers sign nothing."""
_SUMMARIZED = frozenset({"openai-responses-v1", "xai-responses-v1"})


def thinking_entries(blocks: list[ThinkingContent], model: Model, signer: Signer) -> list[Body]:
    """The entries of an answer's thinking. A signature in the script is used instead of a new one."""
    kind = _FORMATS.get(model.id.lstrip("~").partition("/")[0], _UNKNOWN)
    entries: list[Body] = []
    for block in blocks:
        scripted = block.thinking_signature
        if scripted is not None and scripted.startswith("["):
            entries += msgspec.json.decode(scripted, type=list[dict[str, Any]])
        elif block.redacted:
            entries.append({"type": ENCRYPTED, "data": scripted or signer.issue(ENCRYPTED), "format": kind})
        elif block.thinking and kind in _SUMMARIZED:
            entries.append({"type": SUMMARY, "summary": block.thinking, "format": kind})
            data = {"data": scripted or signer.issue(ENCRYPTED), "id": fresh_id("rs_", 32, signer)}
            entries.append({"type": ENCRYPTED, **data, "format": kind})
        elif block.thinking:
            entry = {"type": TEXT, "text": block.thinking, "format": kind}
            # The signature comes last, like in a stream.
            signed = {"signature": scripted or signer.issue(block.thinking)} if kind == _CLAUDE else {}
            entries.append(entry | {"index": len(entries)} | signed)
    return [entry if "index" in entry else entry | {"index": at} for at, entry in enumerate(entries)]


def call_entry(call: ToolCall, index: int, signer: Signer) -> Body:
    """The entry that Gemini signs a call with; only the first of several calls is signed (Roo-Code#10640, 2026-01)."""
    data = signer.issue(ENCRYPTED)
    return {"type": ENCRYPTED, "data": data, "id": call.id, "format": _GEMINI, "index": index}


def readable(entry: Body) -> str:
    text: str = entry.get(_GROWING.get(entry["type"], ""), "")
    return text


def deltas(entry: Body) -> Iterator[tuple[str, Body]]:
    """The pieces of an entry in a stream: the text that each piece adds, and the piece."""
    field = _GROWING.get(entry["type"])
    if field is None:
        yield "", entry
        return
    signature = entry.get("signature")
    whole = {name: value for name, value in entry.items() if name != "signature"}
    for piece in pieces(entry[field]):
        yield piece, whole | {field: piece}
    if signature is not None:
        bare = {name: value for name, value in whole.items() if name != field}
        yield "", bare | {"signature": signature}


def forged_entry(entry: Body, place: str, signer: Signer, dummy: str | None) -> str | None:
    """The error text of the provider behind the router for an entry that it did not sign."""
    kind = entry.get("format")
    if entry.get("type") == TEXT and kind == _CLAUDE:
        is_valid = signer.verify(entry.get("signature"), entry.get("text") or "")
        return None if is_valid else f"{place}: Invalid `signature` in `thinking` block"
    data = entry.get("data")
    if entry.get("type") != ENCRYPTED or kind == _UNKNOWN or signer.verify(data, ENCRYPTED):
        return None
    if kind == _GEMINI:
        return None if dummy is not None and data == dummy else "Corrupted thought signature."
    if kind == _CLAUDE:
        return f"{place}: Invalid `data` in `redacted_thinking` block"
    why = "Encrypted content could not be decrypted or parsed."
    return f"The encrypted content {str(data)[:4]}... could not be verified. Reason: {why}"
