"""Limits of texts, numbers and lists that Anthropic documents and the types of its SDK do not have.

From the API reference (platform.claude.com/docs/en/api, Messages and Count tokens with betas, 2026-10), by record and
field of ``shape.json``. Limits that have a rule of their own (texts, ids of calls, names, budgets) are not repeated
here.
"""

from functools import cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ...rules.shape import Node, Record, Table, load

_TABLE = Path(__file__).with_name("shape.json")


class Limit(Struct, frozen=True):
    """The least and the most: characters, items, or the number itself; and a pattern of the whole text."""

    min: float | None = None
    max: float | None = None
    pattern: str | None = None


SERVER_ID = Limit(pattern="srvtoolu_[a-zA-Z0-9_]+")
_ID = Limit(pattern="[a-zA-Z0-9_-]+")
_NOT_EMPTY, _NATURAL, _POSITIVE, _RATIO = Limit(1), Limit(0), Limit(1), Limit(0, 1)
_TOOLSET = Limit(1, 64, "[a-zA-Z0-9_-]+")
_TAB = Limit(1, 4_096)

LIMITS: dict[str, dict[str, Limit]] = {
    "Body": {"model": _NOT_EMPTY, "mcp_servers": Limit(max=20), "temperature": _RATIO, "top_p": _RATIO,
             "top_k": _NATURAL},
    "BetaCitationCharLocationParam": {"document_index": _NATURAL, "start_char_index": _NATURAL},
    "BetaCitationPageLocationParam": {"document_index": _NATURAL, "start_page_number": _POSITIVE},
    "BetaCitationContentBlockLocationParam": {"document_index": _NATURAL, "start_block_index": _NATURAL},
    "BetaCitationWebSearchResultLocationParam": {"url": _NOT_EMPTY},
    "BetaCitationSearchResultLocationParam": {"search_result_index": _NATURAL, "start_block_index": _NATURAL},
    "BetaRequestDocumentBlockParam": {"context": _NOT_EMPTY, "title": Limit(1, 500)},
    "BetaToolUseBlockParam": {"toolset_name": _TOOLSET},
    "BetaToolResultBlockParam": {"toolset_name": _TOOLSET},
    "BetaServerToolCallerParam": {"tool_id": SERVER_ID},
    "BetaServerToolCaller20260120Param": {"tool_id": SERVER_ID},
    "BetaToolReferenceBlockParam": {"tool_name": Limit(pattern="[a-zA-Z0-9_-]{1,256}")},
    "BetaToolChangeToolReferenceParam": {"name": Limit(pattern="[a-zA-Z0-9_-]{1,128}")},
    "BetaBrowserStateBlockParam": {"tabs": Limit(max=100), "state_changes": Limit(1, 200)},
    "BetaBrowserStateTabEntryParam": {"tab_id": _TAB, "title": Limit(max=4_096), "url": Limit(max=4_096)},
    "BetaServerToolUseBlockParam": {"id": SERVER_ID},
    "BetaMCPToolUseBlockParam": {"id": _ID},
    "BetaRequestMCPToolResultBlockParam": {"tool_use_id": _ID},
    "BetaInputTokensClearAtLeastParam": {"value": _NATURAL},
    "BetaToolUsesKeepParam": {"value": _NATURAL},
    "BetaInputTokensTriggerParam": {"value": _POSITIVE},
    "BetaToolUsesTriggerParam": {"value": _POSITIVE},
    "BetaThinkingTurnsParam": {"value": _POSITIVE},
    "BetaTokenTaskBudgetParam": {"total": Limit(1_024), "remaining": _NATURAL},
    "BetaUserLocationParam": {"city": Limit(1, 255), "country": Limit(2, 2), "region": Limit(1, 255),
                              "timezone": Limit(1, 255)},
    "BetaMCPToolsetParam": {"mcp_server_name": Limit(1, 255)},
} | {
    f"Beta{kind}ToolResultBlockParam": {"tool_use_id": SERVER_ID}
    for kind in ("Advisor", "BashCodeExecution", "CodeExecution", "TextEditorCodeExecution", "ToolSearch", "WebFetch",
                 "WebSearch")
}  # fmt: skip

OF_FIELDS: dict[str, Limit] = {
    "display_height_px": _POSITIVE,
    "display_width_px": _POSITIVE,
    "display_number": _NATURAL,
    "max_characters": _POSITIVE,
    "max_uses": _POSITIVE,
    "max_content_tokens": _POSITIVE,
}
"""Limits of fields that several tools have."""

CLOSED = ("BetaFallbackParam",)
"""Records that the types leave open, although "any other key is rejected" (SDK anthropic 2.8.0, docstring)."""


@cache
def limited() -> Table:
    """The table of fields, with these limits."""
    table = load(_TABLE)
    return replace(table, records={name: _limited(name, record) for name, record in table.records.items()})


def _limited(name: str, record: Record) -> Record:
    limits = OF_FIELDS | LIMITS.get(name, {})
    fields = {key: _node(node, limits[key]) if key in limits else node for key, node in record.fields.items()}
    return replace(record, fields=fields, open=record.open and name not in CLOSED)


def _node(node: Node, limit: Limit) -> Node:
    least = int(limit.min or 0)
    most = None if limit.max is None else int(limit.max)
    if node.text is not None:
        return replace(node, text=replace(node.text, min=least, max=most, pattern=limit.pattern))
    if node.items is not None:
        return replace(node, items=replace(node.items, min=least, max=most))
    assert node.number is not None, node
    return replace(node, number=replace(node.number, min=limit.min, max=limit.max))
