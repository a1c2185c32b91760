"""A provider of Anthropic's protocol for the section "gateway", and a bare pass-through to it, which does nothing else.

`python -m bench.gateway_provider provider PORT`, or `… bare PORT PROVIDER`.
"""

import json
import sys
from typing import Any

import aiohttp
import uvicorn

EVENTS = 200
MESSAGE: dict[str, Any] = {
    "id": "msg_01", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "Hello there."}], "stop_reason": "end_turn", "stop_sequence": None,
    "usage": {"input_tokens": 10, "output_tokens": 5},
}  # fmt: skip
WHOLE = json.dumps(MESSAGE).encode()


def event(name: str, **fields: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()


STREAM = [
    event("message_start", message=MESSAGE | {"content": [], "stop_reason": None}),
    event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    *[
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": f"word{at} "})
        for at in range(EVENTS)
    ],
    event("content_block_stop", index=0),
    event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": EVENTS}),
    event("message_stop"),
]


async def body_of(receive: Any) -> bytes:
    data = b""
    while True:
        message = await receive()
        data += message.get("body", b"")
        if not message.get("more_body"):
            return data


async def start(send: Any, kind: bytes) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})


async def provider(scope: Any, receive: Any, send: Any) -> None:
    """Answer every POST."""
    data = await body_of(receive)
    if scope["method"] != "POST":
        data = b"{}"
    streams = bool(json.loads(data).get("stream"))
    await start(send, b"text/event-stream; charset=utf-8" if streams else b"application/json")
    for piece in STREAM if streams else [WHOLE]:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


class Bare:
    """Forward every request as it is."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._session: aiohttp.ClientSession | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self._session = self._session or aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        data = await body_of(receive)
        headers = {"content-type": "application/json", "x-api-key": "k"}
        async with self._session.post(self._target + scope["path"], data=data, headers=headers) as answer:
            await start(send, answer.headers["content-type"].encode())
            async for piece in answer.content.iter_any():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def main() -> None:
    name, port, *target = sys.argv[1:]
    app = provider if name == "provider" else Bare(*target)
    uvicorn.run(
        app, host="127.0.0.1", port=int(port), lifespan="off", log_level="critical", access_log=False, backlog=2048
    )


if __name__ == "__main__":
    main()
