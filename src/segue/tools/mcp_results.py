"""What an MCP server answers, as blocks of a result. What a model cannot be shown is named."""

import json
from base64 import b64decode
from collections.abc import Callable
from typing import Any

from mcp import types as mcp

from ..types import ImageContent, TextContent, ToolResultContent, ToolResultMessage
from ..types.text import scrub
from .images import MIME_TYPES


def result_of(answer: mcp.CallToolResult) -> ToolResultMessage:
    """The result of a call; whom it answers is not known here."""
    blocks = [_BLOCKS[type(block)](block) for block in answer.content]
    if not blocks and answer.structured_content is not None:
        blocks = [TextContent(scrub(json.dumps(answer.structured_content, ensure_ascii=False)))]
    return ToolResultMessage("", "", blocks, is_error=bool(answer.is_error))


def _text(block: mcp.TextContent) -> ToolResultContent:
    return TextContent(scrub(block.text))


def _image(block: mcp.ImageContent) -> ToolResultContent:
    return _shown(block.data, block.mime_type, "an image")


def _audio(block: mcp.AudioContent) -> ToolResultContent:
    return _shown(block.data, block.mime_type, "a sound")


def _link(block: mcp.ResourceLink) -> ToolResultContent:
    said = f": {block.description}" if block.description else ""
    return TextContent(scrub(f"[{block.title or block.name} at {block.uri}{said}]"))


def _resource(block: mcp.EmbeddedResource) -> ToolResultContent:
    resource = block.resource
    if isinstance(resource, mcp.TextResourceContents):
        return TextContent(scrub(f"[{resource.uri}]\n{resource.text}"))
    return _shown(resource.blob, resource.mime_type or "application/octet-stream", str(resource.uri))


def _shown(data: str, kind: str, what: str) -> ToolResultContent:
    if kind in MIME_TYPES and _is_base64(data):
        return ImageContent(data, kind)
    return TextContent(scrub(f"[{what} ({kind}, {len(data) * 3 // 4} bytes) cannot be shown]"))


def _is_base64(data: str) -> bool:
    try:
        return bool(b64decode(data, validate=True))
    except ValueError:
        return False


_BLOCKS: dict[type[Any], Callable[[Any], ToolResultContent]] = {
    mcp.TextContent: _text,
    mcp.ImageContent: _image,
    mcp.AudioContent: _audio,
    mcp.ResourceLink: _link,
    mcp.EmbeddedResource: _resource,
}
