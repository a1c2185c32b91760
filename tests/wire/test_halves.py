"""Characters whose UTF-16 halves come in two deltas, as any server in JavaScript sends them that slices strings: they
arrive whole, in text, thinking and arguments, in every protocol, wherever the deltas are cut. Half a character whose
other half never comes is replaced, with a diagnostic.

The streams are written here, by the wire's documentation, and not by the stand-ins.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest
from support.streams import decoded

import segue
from segue.catalog import Catalog
from segue.testing.eventstream import frame
from segue.types import AssistantMessage, TextContent, ThinkingContent
from segue.wire.registry import PROTOCOLS

MODELS = {
    "anthropic-messages": "anthropic/claude-sonnet-4-5",
    "openai-completions": "deepseek/deepseek-reasoner",
    "openai-responses": "openai/gpt-5.5",
    "google-generative-ai": "google-vertex/gemini-3-pro-preview",
    "bedrock-converse": "amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    "mistral-chat": "mistral/magistral-medium-latest",
}
KINDS = ("text", "thinking", "arguments")
SAID = "a😀b👩‍🚀é😀😀"
ARGUMENTS = json.dumps({"city": SAID, "😀": ["\u00e9😀"]}, ensure_ascii=False)
HALVES = [chr(0xD83D), chr(0xDE00)]
ESCAPED = json.dumps({"city": SAID})


def units(text: str) -> list[str]:
    """The UTF-16 code units of a text, as JavaScript would store them."""
    data = text.encode("utf-16-le")
    return [data[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(data), 2)]


def cuts(text: str) -> list[list[str]]:
    """The text in two pieces, cut at every code unit; and one code unit at a time."""
    single = units(text)
    return [["".join(single[:at]), "".join(single[at:])] for at in range(1, len(single))] + [single]


def sse(events: list[Any]) -> list[bytes]:
    """``JSON.stringify`` writes half a character as an escape (ECMAScript 2019), and so does ``json.dumps``."""
    lines = [f"event: {event['type']}\n" if "type" in event else "" for event in events]
    return [f"{line}data: {json.dumps(event)}\n\n".encode() for line, event in zip(lines, events, strict=True)]


def anthropic(kind: str, pieces: list[str]) -> list[bytes]:
    start: dict[str, Any] = {
        "text": {"type": "text", "text": ""},
        "thinking": {"type": "thinking", "thinking": "", "signature": ""},
        "arguments": {"type": "tool_use", "id": "toolu_1", "name": "go", "input": {}},
    }[kind]
    word, field = {
        "text": ("text_delta", "text"),
        "thinking": ("thinking_delta", "thinking"),
        "arguments": ("input_json_delta", "partial_json"),
    }[kind]
    deltas = [{"type": "content_block_delta", "index": 0, "delta": {"type": word, field: piece}} for piece in pieces]
    return sse(
        [
            {"type": "message_start", "message": {"id": "msg_1", "model": "m", "usage": {"input_tokens": 1}}},
            {"type": "content_block_start", "index": 0, "content_block": start},
            *deltas,
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]
    )


def completions(kind: str, pieces: list[str]) -> list[bytes]:
    def delta(at: int, piece: str) -> dict[str, Any]:
        if kind == "arguments":
            first = {"id": "call_1", "type": "function"} if at == 0 else {}
            function = {"name": "go", "arguments": piece} if at == 0 else {"arguments": piece}
            return {"tool_calls": [{"index": 0, **first, "function": function}]}
        return {"content" if kind == "text" else "reasoning_content": piece}

    chunks = [{"id": "1", "choices": [{"index": 0, "delta": delta(at, each)}]} for at, each in enumerate(pieces)]
    last = {"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return [*sse([*chunks, last]), b"data: [DONE]\n\n"]


def mistral(kind: str, pieces: list[str]) -> list[bytes]:
    if kind != "thinking":
        return completions(kind, pieces)
    thoughts = [[{"type": "thinking", "thinking": [{"type": "text", "text": piece}]}] for piece in pieces]
    chunks: list[Any] = [{"id": "1", "choices": [{"index": 0, "delta": {"content": each}}]} for each in thoughts]
    chunks.append({"id": "1", "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "stop"}]})
    return [*sse(chunks), b"data: [DONE]\n\n"]


ITEMS: dict[str, dict[str, Any]] = {
    "text": {"type": "message", "id": "msg_1", "role": "assistant", "content": []},
    "thinking": {"type": "reasoning", "id": "rs_1", "summary": []},
    "arguments": {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "go", "arguments": ""},
}


def responses(kind: str, pieces: list[str]) -> list[bytes]:
    """A gateway's, which ends without the finished item."""
    word = {
        "text": "response.output_text.delta",
        "thinking": "response.reasoning_summary_text.delta",
        "arguments": "response.function_call_arguments.delta",
    }[kind]
    item = ITEMS[kind]
    places = {"item_id": item["id"], "output_index": 0, "content_index": 0, "summary_index": 0}
    return sse(
        [
            {"type": "response.created", "response": {"id": "resp_1", "model": "m"}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            *[{"type": word, **places, "delta": piece} for piece in pieces],
            {"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "output": []}},
        ]
    )


def google(kind: str, pieces: list[str]) -> list[bytes]:
    if kind == "arguments":  # one argument, streamed as Vertex does: strings in pieces
        first = {"functionCall": {"name": "go", "willContinue": True}}
        more = [
            {"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": piece}], "willContinue": True}}
            for piece in pieces
        ]
        parts: list[Any] = [first, *more, {"functionCall": {}}]
    else:
        parts = [{"text": piece} | ({"thought": True} if kind == "thinking" else {}) for piece in pieces]
    chunks: list[Any] = [{"candidates": [{"content": {"role": "model", "parts": [part]}}]} for part in parts]
    chunks.append({"candidates": [{"finishReason": "STOP"}]})
    return sse(chunks)


def bedrock(kind: str, pieces: list[str]) -> list[bytes]:
    def delta(piece: str) -> dict[str, Any]:
        if kind == "arguments":
            return {"toolUse": {"input": piece}}
        return {"text": piece} if kind == "text" else {"reasoningContent": {"text": piece}}

    start = {"start": {"toolUse": {"toolUseId": "tooluse_1", "name": "go"}}, "contentBlockIndex": 0}
    events: list[tuple[str, Any]] = [
        ("messageStart", {"role": "assistant"}),
        *([("contentBlockStart", start)] if kind == "arguments" else []),
        *[("contentBlockDelta", {"contentBlockIndex": 0, "delta": delta(piece)}) for piece in pieces],
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", {"stopReason": "end_turn"}),
        ("metadata", {"usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}}),
    ]
    return [frame(name, json.dumps(data).encode()) for name, data in events]


WRITERS: dict[str, Callable[[str, list[str]], list[bytes]]] = {
    "anthropic-messages": anthropic,
    "openai-completions": completions,
    "openai-responses": responses,
    "google-generative-ai": google,
    "bedrock-converse": bedrock,
    "mistral-chat": mistral,
}


def test_every_protocol_is_asked() -> None:
    assert WRITERS.keys() == MODELS.keys() == set(PROTOCOLS)


def request(protocol: str) -> segue.Request:
    context = segue.Context(
        messages=[segue.UserMessage("Go on.")],
        tools=[segue.ToolDefinition("go", "", {"type": "object", "properties": {}})],
    )
    model = Catalog.default().resolve(MODELS[protocol], protocol)
    return segue.encode(context, model, segue.Options(stream=True))


def read(protocol: str, kind: str, pieces: list[str]) -> AssistantMessage:
    """Decoded in one go and byte by byte; ``decoded`` checks that the deltas add up to the blocks."""
    stream = WRITERS[protocol](kind, pieces)
    message = decoded(request(protocol), stream)[1]
    data = b"".join(stream)
    assert decoded(request(protocol), [data[at : at + 1] for at in range(len(data))])[1] == message
    return message


def content_of(message: AssistantMessage) -> Any:
    [block] = message.content
    if isinstance(block, TextContent):
        return block.text
    return block.thinking if isinstance(block, ThinkingContent) else block.arguments


def arguments_of(protocol: str) -> list[tuple[str, Any]]:
    """JSON text of arguments and its value; Google streams the values of arguments instead."""
    if protocol == "google-generative-ai":
        return [(SAID, {"city": SAID})]
    return [(text, json.loads(text)) for text in (ARGUMENTS, ESCAPED)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_character_cut_in_two_arrives_whole(protocol: str, kind: str) -> None:
    for text, value in arguments_of(protocol) if kind == "arguments" else [(SAID, SAID)]:
        for pieces in cuts(text):
            message = read(protocol, kind, pieces)
            assert content_of(message) == value, pieces
            assert message.diagnostics == []
            assert kind != "arguments" or len(message.runnable_calls) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("half", HALVES, ids=["first", "second"])
def test_a_half_whose_other_half_never_comes_is_replaced_with_a_diagnostic(protocol: str, kind: str, half: str) -> None:
    whole = protocol != "google-generative-ai" and kind == "arguments"
    before, after = ('{"city":"', '"}') if whole else ("", "")
    for pieces in ([half, "b"], ["a", half], ["a" + half + "b"], ["a", half, "b"]):
        message = read(protocol, kind, [before, *pieces, after])
        expected = "".join(pieces).replace(half, "\ufffd")
        assert content_of(message) == ({"city": expected} if kind == "arguments" else expected)
        assert [note.type for note in message.diagnostics] == ["half-character"]
        assert message.diagnostics[0].details == {"block": 0}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_half_at_the_cut_end_of_a_stream_is_not_kept(protocol: str) -> None:
    """What had arrived is whole characters, and the message can be written."""
    pieces = WRITERS[protocol]("text", ["a", "\ud83d", "\ude00"])
    cut = next(at for at, piece in enumerate(pieces) if b"\\ude00" in piece)
    message = decoded(request(protocol), pieces[:cut])[1]
    assert message.stop_reason == "error" and content_of(message) == "a"
    segue.Context(messages=[message]).to_json()


DONE: dict[str, tuple[str, dict[str, Any]]] = {
    "text": ("response.output_text.done", {"text": SAID}),
    "thinking": ("response.reasoning_summary_text.done", {"text": SAID}),
    "arguments": ("response.function_call_arguments.done", {"arguments": ARGUMENTS}),
}
FINISHED: dict[str, dict[str, Any]] = {
    "text": {"content": [{"type": "output_text", "text": SAID, "annotations": []}]},
    "thinking": {"summary": [{"type": "summary_text", "text": SAID}]},
    "arguments": {"arguments": ARGUMENTS},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["part", "item", "response"])
def test_the_finished_text_wins_over_the_deltas(kind: str, way: str) -> None:
    """A gateway that spoils characters in deltas, and sends the whole text in the end: of a part, of an item, or in
    the finished response. What was streamed cannot be taken back, so that the end of the block has the text."""
    text = ARGUMENTS if kind == "arguments" else SAID
    spoiled = text.replace("😀", "\ufffd\ufffd")
    stream = responses(kind, [spoiled[:-3], spoiled[-3:]])
    item = {**ITEMS[kind], **FINISHED[kind]}
    word, fields = DONE[kind]
    places = {"item_id": item["id"], "output_index": 0, "content_index": 0, "summary_index": 0}
    if way == "part":
        stream[-1:-1] = sse([{"type": word, **places, **fields}])
    elif way == "item":
        stream[-1:-1] = sse([{"type": "response.output_item.done", "output_index": 0, "item": item}])
    else:
        response = {"id": "resp_1", "status": "completed", "output": [item]}
        stream[-1:] = sse([{"type": "response.completed", "response": response}])
    message = decoded(request("openai-responses"), stream)[1]
    assert content_of(message) == (json.loads(text) if kind == "arguments" else text)
    differs = "arguments-differ" if kind == "arguments" else "text-differs"
    assert [note.type for note in message.diagnostics] == [differs]


@pytest.mark.parametrize("kind", KINDS)
def test_a_half_is_completed_by_the_finished_text(kind: str) -> None:
    """The second half never comes as a delta, but in the finished item: it is the last delta, and nothing differs."""
    text = ARGUMENTS if kind == "arguments" else SAID
    first = [units(text)[: units(text).index("\ud83d") + 1]]
    stream = responses(kind, ["".join(each) for each in first])
    item = {**ITEMS[kind], **FINISHED[kind]}
    stream[-1:-1] = sse([{"type": "response.output_item.done", "output_index": 0, "item": item}])
    message = decoded(request("openai-responses"), stream)[1]
    assert content_of(message) == (json.loads(text) if kind == "arguments" else text)
    assert message.diagnostics == []


def test_a_half_before_a_signed_part_goes_on_in_it() -> None:
    """Gemini signs the last part of a text, which is a block of its own: the character is whole there."""
    parts = [{"text": "a\ud83d"}, {"text": "\ude00b", "thoughtSignature": "c2ln"}]
    chunks: list[Any] = [{"candidates": [{"content": {"role": "model", "parts": [part]}}]} for part in parts]
    chunks.append({"candidates": [{"finishReason": "STOP"}]})
    message = decoded(request("google-generative-ai"), sse(chunks))[1]
    assert message.content == [TextContent("a"), TextContent("😀b", "c2ln")]
    assert message.diagnostics == []


HALF = "x\ud83d"
HALVES_ELSEWHERE: dict[str, list[Any]] = {
    "anthropic-messages": [
        {"type": "message_start", "message": {"id": HALF, "model": HALF, "usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "redacted_thinking", "data": HALF}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "thinking", "signature": HALF}},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "name": HALF, "id": HALF}},
        {"type": "message_delta", "delta": {"stop_reason": HALF}},
        {"type": "message_stop"},
    ],
    "openai-completions": [
        {
            "id": HALF,
            "model": HALF,
            "choices": [
                {
                    "delta": {
                        "reasoning_details": [{"type": "reasoning.text", "text": HALF, HALF: HALF, "index": 0}],
                        "tool_calls": [
                            {
                                "index": 0,
                                "function": {"name": HALF, "arguments": {HALF: [HALF]}},
                                "extra_content": {HALF: HALF},
                            }
                        ],
                    },
                    "finish_reason": HALF,
                }
            ],
        }
    ],
    "openai-responses": [
        {"type": "response.created", "response": {"id": HALF, "model": HALF}},
        {
            "type": "response.output_item.done",
            "item": {"type": "reasoning", "id": HALF, "encrypted_content": HALF, "summary": []},
        },
        {
            "type": "response.output_item.done",
            "item": {"type": "message", "id": HALF, "phase": HALF, "content": [{"type": "output_text", "text": HALF}]},
        },
        {
            "type": "response.output_item.done",
            "item": {"type": "function_call", "id": HALF, "call_id": HALF, "name": HALF, "arguments": {HALF: HALF}},
        },
        {"type": "response.incomplete", "response": {"incomplete_details": {"reason": HALF}}},
    ],
    "google-generative-ai": [
        {
            "responseId": HALF,
            "modelVersion": HALF,
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {"functionCall": {"name": HALF, "args": {HALF: HALF}}, "thoughtSignature": HALF},
                            {HALF: {HALF: HALF}},
                            {
                                "functionCall": {
                                    "name": HALF,
                                    "partialArgs": [{"jsonPath": f"$['{HALF}']", "stringValue": HALF}],
                                }
                            },
                        ]
                    },
                    "finishReason": HALF,
                }
            ],
        }
    ],
    "bedrock-converse": [],
    "mistral-chat": [
        {
            "id": HALF,
            "model": HALF,
            "choices": [
                {
                    "delta": {
                        "content": [{"type": "thinking", "thinking": HALF, "signature": HALF}],
                        "tool_calls": [{"index": 0, "function": {"name": HALF, "arguments": {HALF: HALF}}}],
                    },
                    "finish_reason": HALF,
                }
            ],
        }
    ],
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_halves_in_any_other_place_are_replaced_and_break_nothing(protocol: str) -> None:
    """Ids, names, signatures, reasons, keys: nothing waits for another half there, and all of it can be written."""
    if protocol == "bedrock-converse":
        use = {"start": {"toolUse": {"toolUseId": HALF, "name": HALF}}, "contentBlockIndex": 0}
        reasoning = {"contentBlockIndex": 1, "delta": {"reasoningContent": {"text": "x", "signature": HALF}}}
        events = [("contentBlockStart", use), ("contentBlockDelta", reasoning), ("messageStop", {"stopReason": HALF})]
        stream = [frame(name, json.dumps(data).encode()) for name, data in events]
    else:
        stream = [*sse(HALVES_ELSEWHERE[protocol]), b"data: [DONE]\n\n"]
    message = decoded(request(protocol), stream)[1]
    assert message.stop_reason != "error", message.error_message
    data = segue.Context(messages=[message]).to_json()
    assert "\ufffd" in data.decode() and b"\\ud83d" not in data
    assert segue.Context.from_json(data).messages == [message]
