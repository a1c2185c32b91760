"""What a person would read of the blocks of tools that the provider runs."""

from collections.abc import Mapping
from typing import Any

from ...types.codec import json_text

_LONGEST = 2_000
"""Characters of a text; the block itself is kept whole."""


def readable(block: Mapping[str, Any]) -> str:
    """The text of a block: what a server tool was asked, or what it found."""
    kind = block.get("type")
    if kind in ("server_tool_use", "mcp_tool_use"):
        asked = block.get("input")
        values = list(asked.values()) if isinstance(asked, Mapping) else []
        shown = values[0] if len(values) == 1 and isinstance(values[0], str) else json_text(asked) if asked else ""
        return f"{block.get('name')}: {shown}"[:_LONGEST] if shown else ""
    if kind == "compaction":
        return str(block.get("content") or "")
    if kind == "container_upload":
        return f"file {block.get('file_id')}"
    return "\n".join(_lines(block.get("content")))[:_LONGEST]


def _lines(content: Any) -> list[str]:
    """The readable parts of a result."""
    if isinstance(content, str):
        return [content]
    if isinstance(content, list):
        return [line for each in content for line in _lines(each)]
    if not isinstance(content, Mapping):
        return []
    if isinstance(content.get("url"), str):
        title = content.get("title")
        return [f"{title} ({content['url']})" if isinstance(title, str) and title else content["url"]]
    for name in ("text", "stdout", "error_code"):
        if isinstance(content.get(name), str) and content[name]:
            return [content[name]]
    return _lines(content.get("content"))
