"""A server of the official MCP package: over stdio, with a PORT over HTTP, and with `old` as an older server that
keeps sessions."""

import asyncio
import base64
import os
import sys
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
server = MCPServer("test")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def picture() -> list[ContentBlock]:
    """An image between texts."""
    return [
        TextContent(text="before"),
        ImageContent(data=PIXEL, mime_type="image/png"),
        TextContent(text="after"),
    ]


@server.tool()
def everything() -> list[ContentBlock]:
    """Every kind of content."""
    blob = base64.b64encode(b"abc").decode()
    return [
        TextContent(text="a text"),
        AudioContent(data=blob, mime_type="audio/wav"),
        ImageContent(data=blob, mime_type="image/tiff"),
        ResourceLink(name="a page", uri="test://page", description="to read"),
        EmbeddedResource(resource=TextResourceContents(uri="test://text", text="inside")),
        EmbeddedResource(resource=BlobResourceContents(uri="test://blob", blob=blob, mime_type="application/zip")),
        EmbeddedResource(resource=BlobResourceContents(uri="test://image", blob=PIXEL, mime_type="image/png")),
    ]


@server.tool()
def fail() -> CallToolResult:
    """A result that is an error."""
    return CallToolResult(content=[TextContent(text="it did not work")], is_error=True)


@server.tool()
def crash() -> str:
    """Raises."""
    raise ValueError("broken")


@server.tool()
def process() -> int:
    """The process id."""
    return os.getpid()


@server.tool()
def secrets() -> str:
    """The names of the environment variables."""
    return " ".join(sorted(os.environ))


@server.tool()
async def wait(marker: str) -> str:
    """Write a file when it has begun, then wait; write a second file when it is cancelled."""
    Path(marker).write_text(str(os.getpid()))
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        Path(marker + ".cancelled").write_text("")
        raise
    return "done"


def as_old_server(app: Any) -> Any:
    """The server as an older one, which has sessions and does not know ``server/discover``."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers") or ())
        if scope["type"] == "http" and headers.get(b"mcp-method", b"") == b"server/discover":
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await app(scope, receive, send)

    return answer


if __name__ == "__main__":
    if len(sys.argv) > 1:
        import uvicorn

        app = server.streamable_http_app()
        uvicorn.run(as_old_server(app) if "old" in sys.argv else app, port=int(sys.argv[1]), log_level="error")
    else:
        server.run("stdio")
