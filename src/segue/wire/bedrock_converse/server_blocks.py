"""Blocks of an answer that only Converse has: tools that the provider runs, their results, and citations.

Calls and results of such tools do not go back: with them, "The toolConfig field must be defined", and only the caller
knows the tools of the provider. All models get their texts.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ...types import TextContent
from ...types.codec import UNREADABLE, json_text
from ..common.stored import accepted_by

_LONGEST = 2_000
"""Characters of a text; the block itself is kept whole."""
_is_valid = accepted_by(
    Path(__file__).with_name("shape.json"), lambda block: {"messages": [{"role": "assistant", "content": [block]}]}
)


def kind_of_block(block: Mapping[str, Any]) -> str:
    """The provider's word for a block: the type of a tool's call or result, otherwise the name of its member."""
    member, value = next(iter(block.items()), ("", None))
    kind = value.get("type") if isinstance(value, Mapping) else None
    return kind if isinstance(kind, str) and kind else member


def readable(block: Mapping[str, Any]) -> str:
    """The text of a block: what a tool was asked, or what it found."""
    use, result = block.get("toolUse"), block.get("toolResult")
    if isinstance(use, Mapping):
        asked = use.get("input")
        values = list(asked.values()) if isinstance(asked, Mapping) else []
        shown = values[0] if len(values) == 1 and isinstance(values[0], str) else json_text(asked) if asked else ""
        return f"{use.get('name')}: {shown}"[:_LONGEST] if shown else ""
    content = result.get("content") if isinstance(result, Mapping) else None
    found = [each for each in content if isinstance(each, Mapping)] if isinstance(content, list) else []
    texts = [each["text"] if isinstance(each.get("text"), str) else json_text(each.get("json")) for each in found]
    return "\n".join(text for text in texts if text != "null")[:_LONGEST]


def cited(block: TextContent) -> dict[str, Any] | None:
    """A text with its citations, or ``None`` if its signature does not contain any that the API accepts."""
    signature = block.text_signature
    if signature is None or not signature.startswith("[{") or not block.text.strip():
        return None
    try:
        citations = msgspec.json.decode(signature)
    except UNREADABLE:
        return None
    if not all(isinstance(each, dict) and each.keys() & _CITATION for each in citations):
        return None
    value = {"citationsContent": {"content": [{"text": block.text}], "citations": citations}}
    return value if citations and _is_valid(msgspec.json.encode(value)) else None


_CITATION = frozenset({"title", "source", "sourceContent", "location"})
"""The fields of a citation (botocore 1.44.0)."""


def citations_signature(citations: list[Any]) -> str | None:
    """The signature of a text with these citations."""
    return json_text(citations) if citations else None
