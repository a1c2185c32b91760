"""Counts the tokens of a request: by the provider's own counter where it has one, otherwise by segue's estimate."""

import re
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from ..client import Poster, Reach
from ..errors import SegueError
from ..render import Request
from ..transport import Body, read_body
from ..types.codec import UNREADABLE
from .clients import ANTHROPIC, GEMINI, RESPONSES

CONNECT = 10.0
LARGEST = 1024 * 1024
"""Bytes of an answer that are read."""


class Counter(Struct, frozen=True, kw_only=True):
    """How a protocol counts: the path for that of a request, the body, and the field of the answer."""

    path: Callable[[str], str]
    body: Callable[[dict[str, Any], Request], dict[str, Any]]
    field: str


def _only(*names: str) -> Callable[[dict[str, Any], Request], dict[str, Any]]:
    return lambda body, request: {name: body[name] for name in names if name in body}


def _whole(body: dict[str, Any], request: Request) -> dict[str, Any]:
    return {"generateContentRequest": {**body, "model": f"models/{request.model.id}"}}


# The fields are those of the SDKs: anthropic 2.8.0 MessageCountTokensParams, openai 3.49.0 InputTokenCountParams,
# google-genai 3.1.0 CountTokensConfig and ai.google.dev/api/tokens (2026-11).
COUNTERS: dict[str, Counter] = {
    ANTHROPIC: Counter(
        path=lambda path: f"{path.partition('?')[0]}/count_tokens",
        body=_only("model", "messages", "system", "tools", "tool_choice", "thinking", "output_config"),
        field="input_tokens",
    ),
    RESPONSES: Counter(
        path=lambda path: f"{path.partition('?')[0]}/input_tokens",
        body=_only(
            "model", "input", "instructions", "tools", "tool_choice", "reasoning", "text", "parallel_tool_calls"
        ),
        field="input_tokens",
    ),
    GEMINI: Counter(path=lambda path: re.sub(r":\w+(\?.*)?$", ":countTokens", path), body=_whole, field="totalTokens"),
}
WRITTEN: dict[str, Callable[[int], dict[str, Any]]] = {
    ANTHROPIC: lambda tokens: {"input_tokens": tokens},
    RESPONSES: lambda tokens: {"object": "response.input_tokens", "input_tokens": tokens},
    GEMINI: lambda tokens: {"totalTokens": tokens},
}
"""The answer in each protocol of clients that counts."""


def request_in(body: Body, protocol: str) -> Body:
    """The request whose tokens are counted. In Gemini's protocol it may be a field of the body."""
    wrapped = body.fields.get("generateContentRequest") if protocol == GEMINI else None
    return body if wrapped is None else read_body(bytes(wrapped)) or body


async def counted(request: Request, found: Reach, poster: Poster) -> int | None:
    """The number that the provider counts; ``None`` if it does not count, or fails."""
    counter = COUNTERS.get(request.model.protocol)
    if counter is None:
        return None
    data = msgspec.json.encode(counter.body(request.body, request))
    try:
        url, headers = await found.signed(counter.path(request.path), request.headers, data)
        posted = await poster.post(url, {**headers, "content-length": str(len(data))}, [data], CONNECT)
        try:
            answer = bytearray()
            while len(answer) < LARGEST and (piece := await posted.piece()) is not None:
                answer += piece
        finally:
            await posted.aclose()
        counts = msgspec.json.decode(answer) if posted.status == 200 else {}
    except (SegueError, *UNREADABLE):
        return None
    tokens = counts.get(counter.field) if isinstance(counts, dict) else None
    return tokens if type(tokens) is int and tokens >= 0 else None
