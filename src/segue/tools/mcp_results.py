"""Convert the answer of an MCP server to the blocks of a result. Content that models cannot get is described."""

import json
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from mcp import types as mcp

from ..types import FileContent, ImageContent, TextContent, ToolResultContent, ToolResultMessage
from ..types.text import scrub
from .images import MIME_TYPES, is_base64


def convert_result(answer: mcp.CallToolResult) -> ToolResultMessage:
    """The result of a call, without the id and the name of the call, which the scheduler sets."""
    blocks = [_BLOCKS[type(block)](block) for block in answer.content]
    if not blocks and answer.structured_content is not None:
        blocks = [TextContent(scrub(json.dumps(answer.structured_content, ensure_ascii=False)))]
    return ToolResultMessage("", "", blocks, is_error=bool(answer.is_error))


def _text(block: mcp.TextContent) -> ToolResultContent:
    return TextContent(scrub(block.text))


def _image(block: mcp.ImageContent) -> ToolResultContent:
    return _binary(block.data, block.mime_type, "an image")


def _audio(block: mcp.AudioContent) -> ToolResultContent:
    return _binary(block.data, block.mime_type, "a sound")


def _link(block: mcp.ResourceLink) -> ToolResultContent:
    description = f": {block.description}" if block.description else ""
    return TextContent(scrub(f"[{block.title or block.name} at {block.uri}{description}]"))


def _resource(block: mcp.EmbeddedResource) -> ToolResultContent:
    resource = block.resource
    if isinstance(resource, mcp.TextResourceContents):
        return TextContent(scrub(f"[{resource.uri}]\n{resource.text}"))
    return _binary(
        resource.blob, resource.mime_type or "application/octet-stream", str(resource.uri), _name(str(resource.uri))
    )


def _name(uri: str) -> str | None:
    return PurePosixPath(unquote(uri.partition("?")[0])).name or None


def _binary(data: str, mime_type: str, what: str, name: str | None = None) -> ToolResultContent:
    if mime_type in MIME_TYPES and is_base64(data):
        return ImageContent(data, mime_type)
    if is_base64(data) and mime_type and not mime_type.startswith("image/"):
        return FileContent(data, mime_type, name=name)
    return TextContent(scrub(f"[{what} ({mime_type}, {len(data) * 3 // 4} bytes) cannot be shown]"))


_BLOCKS: dict[type[Any], Callable[[Any], ToolResultContent]] = {
    mcp.TextContent: _text,
    mcp.ImageContent: _image,
    mcp.AudioContent: _audio,
    mcp.ResourceLink: _link,
    mcp.EmbeddedResource: _resource,
}
