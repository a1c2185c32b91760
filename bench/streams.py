"""Streamed answers of each protocol as bytes: one with many text deltas, one with a call in pieces."""

from collections.abc import Callable, Iterable, Iterator

import msgspec

from segue.testing.eventstream import frame

TEXT = "word "
PIECE = '"abcdefgh",'


def texts(count: int) -> list[str]:
    return [TEXT] * count


def arguments(count: int) -> list[str]:
    """The JSON of one call, in ``count`` pieces."""
    return ['{"list":[', *([PIECE] * (count - 2)), '"end"]}']


def _events(named: bool, items: Iterable[object]) -> bytes:
    out = []
    for item in items:
        name = f"event: {item['type']}\n".encode() if named else b""  # type: ignore[index]
        out.append(name + b"data: " + msgspec.json.encode(item) + b"\n\n")
    return b"".join(out)


def anthropic(pieces: list[str], call: bool) -> bytes:
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    block = {"type": "tool_use", "id": "toolu_1", "name": "save", "input": {}} if call else {"type": "text", "text": ""}
    kind, field = ("input_json_delta", "partial_json") if call else ("text_delta", "text")

    def items() -> Iterator[object]:
        yield {
            "type": "message_start",
            "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage},
        }
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        for piece in pieces:
            yield {"type": "content_block_delta", "index": 0, "delta": {"type": kind, field: piece}}
        yield {"type": "content_block_stop", "index": 0}
        stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": len(pieces)}}
        yield {"type": "message_stop"}

    return _events(True, items())


def chat(pieces: list[str], call: bool) -> bytes:
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5.1"}

    def chunk(delta: object, finish: str | None = None) -> object:
        return {**base, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}

    def items() -> Iterator[object]:
        if call:
            first = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "save", "arguments": ""}}
            yield chunk({"role": "assistant", "content": None, "tool_calls": [first]})
        else:
            yield chunk({"role": "assistant", "content": ""})
        for piece in pieces:
            one = {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} if call else {"content": piece}
            yield chunk(one)
        yield chunk({}, "tool_calls" if call else "stop")
        usage = {"prompt_tokens": 10, "completion_tokens": len(pieces), "total_tokens": 10 + len(pieces)}
        yield {**base, "choices": [], "usage": usage}

    return _events(False, items()) + b"data: [DONE]\n\n"


def responses(pieces: list[str], call: bool) -> bytes:
    base = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5.1", "tools": [], "metadata": {}}
    whole = "".join(pieces)
    part = {"type": "output_text", "text": whole, "annotations": []}
    if call:
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "save", "arguments": whole}
        empty = {**item, "arguments": "", "status": "in_progress"}
    else:
        item = {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]}
        empty = {**item, "content": [], "status": "in_progress"}
    item = {**item, "status": "completed"}
    numbers = iter(range(1_000_000))

    def event(kind: str, **fields: object) -> object:
        return {"type": kind, "sequence_number": next(numbers), **fields}

    def items() -> Iterator[object]:
        started = {**base, "status": "in_progress", "output": []}
        yield event("response.created", response=started)
        yield event("response.output_item.added", output_index=0, item=empty)
        place = {"item_id": item["id"], "output_index": 0}
        for piece in pieces:
            if call:
                yield event("response.function_call_arguments.delta", **place, delta=piece)
            else:
                yield event("response.output_text.delta", **place, content_index=0, delta=piece, logprobs=[])
        if call:
            yield event("response.function_call_arguments.done", **place, name="save", arguments=whole)
        else:
            yield event("response.output_text.done", **place, content_index=0, text=whole, logprobs=[])
        yield event("response.output_item.done", output_index=0, item=item)
        usage = {"input_tokens": 10, "output_tokens": len(pieces), "total_tokens": 10 + len(pieces)}
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        done = {**base, "status": "completed", "output": [item], "usage": {**usage, **details}}
        yield event("response.completed", response=done)

    return _events(True, items())


def gemini(pieces: list[str], call: bool) -> bytes:
    """Whole calls, one in each event."""

    def chunk(part: object, **more: object) -> object:
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0, **more}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-pro", "responseId": "r1"}

    def items() -> Iterator[object]:
        for piece in pieces:
            yield chunk({"functionCall": {"name": "save", "args": {"list": [piece]}}} if call else {"text": piece})
        yield chunk({"text": ""}, finishReason="STOP")

    return _events(False, items())


def mistral(pieces: list[str], call: bool) -> bytes:
    base = {"id": "cmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "mistral-large-latest"}

    def chunk(delta: object, finish: str | None = None, **more: object) -> object:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}

    def items() -> Iterator[object]:
        yield chunk({"role": "assistant", "content": ""})
        for piece in pieces:
            one = {"id": "abcdefghi", "index": 0, "function": {"name": "save", "arguments": piece}}
            yield chunk({"tool_calls": [one]} if call else {"content": piece})
        usage = {"prompt_tokens": 10, "completion_tokens": len(pieces), "total_tokens": 10 + len(pieces)}
        yield chunk({"content": ""}, "tool_calls" if call else "stop", usage=usage)

    return _events(False, items()) + b"data: [DONE]\n\n"


def bedrock(pieces: list[str], call: bool) -> bytes:
    def items() -> Iterator[tuple[str, object]]:
        yield "messageStart", {"role": "assistant"}
        if call:
            yield (
                "contentBlockStart",
                {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t1", "name": "save"}}},
            )
        for piece in pieces:
            delta = {"toolUse": {"input": piece}} if call else {"text": piece}
            yield "contentBlockDelta", {"contentBlockIndex": 0, "delta": delta}
        yield "contentBlockStop", {"contentBlockIndex": 0}
        yield "messageStop", {"stopReason": "tool_use" if call else "end_turn"}
        usage = {"inputTokens": 10, "outputTokens": len(pieces), "totalTokens": 10 + len(pieces)}
        yield "metadata", {"usage": usage, "metrics": {"latencyMs": 1}}

    return b"".join(frame(name, msgspec.json.encode(item)) for name, item in items())


STREAMS: dict[str, Callable[[list[str], bool], bytes]] = {
    "anthropic-messages": anthropic,
    "openai-completions": chat,
    "openai-responses": responses,
    "google-generative-ai": gemini,
    "bedrock-converse": bedrock,
    "mistral-chat": mistral,
}
