"""Send blocks back that only the API can read: server tools with their results, and the citations of texts.

They go back exactly as they came. A block that the API would refuse, because a tool that stored it has changed it, is
recognised by the request types of the SDK and the documented limits.
"""

from typing import Any

import msgspec

from ...types import ProviderContent, TextContent
from ...types.codec import UNREADABLE, json_text
from ..common.stored import accepted_by, without
from .limits import limited

_is_valid = accepted_by(
    limited,
    lambda block: {"model": "m", "max_tokens": 1, "messages": [{"role": "assistant", "content": [block]}]},
)


_ANSWERS_ONLY = ("file_id",)
"""Fields of citations that requests do not have: "Extra inputs are not permitted" (langchain#32592, 2025-08)."""


def sent_back(block: ProviderContent) -> dict[str, Any] | None:
    """The block as it came, or ``None`` if the API would refuse it."""
    raw = bytes(block.raw)
    if not _is_valid(raw):
        return None
    value: dict[str, Any] = msgspec.json.decode(raw)
    return value if value.get("type") == block.kind else None


def cited(block: TextContent) -> dict[str, Any] | None:
    """A text with its citations, or ``None`` if its signature does not contain any that the API accepts."""
    signature = block.text_signature
    if signature is None or not signature.startswith("["):
        return None
    try:
        citations = msgspec.json.decode(signature)
    except UNREADABLE:
        return None
    value = {"type": "text", "text": block.text, "citations": citations}
    return value if citations and _is_valid(msgspec.json.encode(value)) else None


def cited_again(block: TextContent) -> dict[str, Any] | None:
    """The same in the form of a request."""
    value = cited(block)
    if value is not None:
        value["citations"] = [without(citation, _ANSWERS_ONLY) for citation in value["citations"]]
    return value


def citations_signature(citations: list[Any]) -> str | None:
    """The signature of a text with these citations."""
    return json_text(citations) if citations else None
