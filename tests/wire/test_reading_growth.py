"""Reading is linear in what is read, for hostile input too. Steps are counted, not seconds: every instruction of
segue's code, and the length of every text that one of its functions is given, because it may look at all of it.
"""

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import segue
from segue.catalog import Catalog
from segue.testing.eventstream import frame
from segue.types.jsonl import read_conversations, read_jsonl
from segue.wire.common.arguments import read_arguments

SMALL, LARGE = 150, 600
"""The size of the input. Four times the size may need little more than four times the steps."""
MODELS = {
    "anthropic-messages": "anthropic/claude-sonnet-4-5",
    "openai-completions": "minimax/MiniMax-M2.5",
    "openai-responses": "openai/gpt-5.5",
    "google-generative-ai": "google-vertex/gemini-3-pro-preview",
    "bedrock-converse": "amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    "mistral-chat": "mistral/magistral-medium-latest",
}


def steps(act: Callable[[], Any]) -> int:
    """Instructions of segue's code while ``act`` runs, and the lengths of the texts passed to its functions."""
    count = 0

    def trace(frame: FrameType, event: str, given: Any) -> Any:
        nonlocal count
        if event == "opcode":
            count += 1
        elif event == "call":
            if "/segue/" not in frame.f_code.co_filename:
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
            count += sum(len(value) for name in names if isinstance(value := frame.f_locals[name], str | bytes))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def assert_linear(make: Callable[[int], Callable[[], Any]]) -> None:
    make(4)()  # whatever is made once and kept
    # The fewest of a few: Python forgets compiled patterns now and then, and compiling one is not reading.
    small, large = (min(steps(make(size)) for _ in range(3)) for size in (SMALL, LARGE))
    assert large < small * (LARGE / SMALL) * 1.3, (small, large)


# -- bodies of requests ----------------------------------------------------------------------------------------------


def chat_calls(n: int) -> dict[str, Any]:
    call = {"id": "call_0", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    answer = {"role": "assistant", "content": None, "tool_calls": [call] * n}
    return {"messages": [answer, *[{"role": "tool", "tool_call_id": "call_0", "content": "x"}] * n]}


def google_calls(n: int) -> dict[str, Any]:
    calls = [{"functionCall": {"name": f"f{at}", "id": "a", "args": {}}} for at in range(n)]
    results = [{"functionResponse": {"name": f"f{n - at}", "response": {"output": "x"}}} for at in range(n)]
    return {"contents": [{"role": "model", "parts": calls}, {"role": "user", "parts": results}]}


def same_google_calls(n: int) -> dict[str, Any]:
    calls = [{"functionCall": {"name": "f", "args": {}}}] * n
    results = [{"functionResponse": {"name": "f", "response": {"output": "x"}}}] * n
    return {"contents": [{"role": "model", "parts": calls}, {"role": "user", "parts": results}]}


def anthropic_calls(n: int) -> dict[str, Any]:
    calls = [{"type": "tool_use", "id": "x", "name": "f", "input": {}}] * n
    results = [{"type": "tool_result", "tool_use_id": "x", "content": "y"}] * n
    return {"messages": [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]}


def bedrock_calls(n: int) -> dict[str, Any]:
    calls = [{"toolUse": {"toolUseId": "x", "name": "f", "input": {}}}] * n
    results = [{"toolResult": {"toolUseId": "x", "content": [{"text": "y"}]}}] * n
    return {"messages": [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]}


def responses_items(n: int) -> dict[str, Any]:
    calls = [{"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}", "id": "fc_1"}] * n
    return {"input": [*calls, *[{"type": "function_call_output", "call_id": "c", "output": "x"}] * n]}


BODIES: dict[str, tuple[str, Callable[[int], dict[str, Any]]]] = {
    "calls": ("openai-completions", chat_calls),
    "calls of Mistral": ("mistral-chat", chat_calls),
    "responses in the wrong order": ("google-generative-ai", google_calls),
    "calls without ids": ("google-generative-ai", same_google_calls),
    "calls of Anthropic": ("anthropic-messages", anthropic_calls),
    "calls of Bedrock": ("bedrock-converse", bedrock_calls),
    "items": ("openai-responses", responses_items),
    "system messages": ("openai-completions", lambda n: {"messages": [{"role": "system", "content": "x"}] * n}),
    "tags that open": ("openai-completions", lambda n: {"messages": [{"role": "assistant", "content": "<think>" * n}]}),
    "tags that close": (
        "openai-completions",
        lambda n: {"messages": [{"role": "assistant", "content": "<think>x</think>y" * n}]},
    ),
    "parameters of a data URL": (
        "openai-completions",
        lambda n: {
            "messages": [
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png" + ";x" * n}}]}
            ]
        },
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_reading_a_body_is_linear(name: str) -> None:
    protocol, make = BODIES[name]
    model = Catalog.default().resolve(MODELS[protocol], protocol)

    def prepared(n: int) -> Callable[[], Any]:
        body = make(n)
        return lambda: segue.ingest(body, protocol, model)

    assert_linear(prepared)


# -- answers ---------------------------------------------------------------------------------------------------------

Deltas = Callable[[int], list[dict[str, Any]]]


def many(delta: dict[str, Any]) -> Deltas:
    return lambda n: [delta] * n


def named(arguments: Any, **more: Any) -> Deltas:
    return many({"tool_calls": [{"index": 0, **more, "function": {"name": "f", "arguments": arguments}}]})


CHAT: dict[str, Deltas] = {
    "text": many({"content": "xyz"}),
    "white space": many({"content": "  "}),
    "halves": many({"content": "\ud83d"}),
    "reasoning and text in turn": lambda n: [{"reasoning_content": "x"}, {"content": "y"}] * (n // 2),
    "refusals": many({"refusal": "xyz"}),
    "arguments": named("{", id="a"),
    "arguments with a name each": named('{"a": 1}'),
    "open arguments with a name each": named('{"a": "'),
    "arguments that are no object, with a name each": named([1]),
    "closed nonsense with a name each": named("{x}"),
    "calls without ids": lambda n: [
        {"tool_calls": [{"index": at, "function": {"name": "f", "arguments": "{}"}}]} for at in range(n)
    ],
    "names of other tools": lambda n: [
        {"tool_calls": [{"index": 0, "function": {"name": f"f{at}", "arguments": "{"}}]} for at in range(n)
    ],
    "details": lambda n: [
        {"reasoning_details": [{"type": "reasoning.text", "text": "x", "index": at % 2}]} for at in range(n)
    ],
    "encrypted details": lambda n: [
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x", "id": str(at)}]} for at in range(n)
    ],
    "fields of new kinds": lambda n: [{f"new{at}": "x"} for at in range(n)],
    "tags": many({"content": "<think>x</think>"}),
    "references of the text": lambda n: [
        {"content": [{"type": "text", "text": "x"}, {"type": "reference", "reference_ids": [at]}]} for at in range(n)
    ],
    "annotations": lambda n: [
        {"content": "x", "annotations": [{"type": "url_citation", "url_citation": {"url": f"u{at}"}}]}
        for at in range(n)
    ],
}


def sse(events: list[Any]) -> list[bytes]:
    return [f"data: {json.dumps(event)}\n\n".encode() for event in events]


def chat(deltas: list[dict[str, Any]]) -> list[bytes]:
    chunks: list[Any] = [{"id": "1", "choices": [{"delta": delta}]} for delta in deltas]
    return [*sse([*chunks, {"id": "1", "choices": [{"delta": {}, "finish_reason": "stop"}]}]), b"data: [DONE]\n\n"]


def anthropic(kind: str, **fields: Any) -> Callable[[int], list[bytes]]:
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": kind, **fields}}
    return lambda n: sse([*[delta] * n, {"type": "message_stop"}])


def google(part: Callable[[int], Any]) -> Callable[[int], list[bytes]]:
    def stream(n: int) -> list[bytes]:
        parts = [{"candidates": [{"content": {"parts": [part(at)]}}]} for at in range(n)]
        return sse([*parts, {"candidates": [{"finishReason": "STOP"}]}])

    return stream


def bedrock(delta: Callable[[int], Any]) -> Callable[[int], list[bytes]]:
    def stream(n: int) -> list[bytes]:
        deltas = [{"contentBlockIndex": 0, "delta": delta(at)} for at in range(n)]
        frames = [frame("contentBlockDelta", json.dumps(each).encode()) for each in deltas]
        return [*frames, frame("messageStop", b'{"stopReason":"end_turn"}')]

    return stream


def responses(*events: Callable[[int], Any]) -> Callable[[int], list[bytes]]:
    def stream(n: int) -> list[bytes]:
        sent = [event(at) for at in range(n) for event in events]
        return sse([*sent, {"type": "response.completed", "response": {}}])

    return stream


def partial(at: int) -> dict[str, Any]:
    arguments = [{"jsonPath": f"$.a{at}", "stringValue": "x"}]
    return {"functionCall": {"name": "" if at else "f", "partialArgs": arguments, "willContinue": True}}


def summary(word: str, field: str) -> Callable[[int], Any]:
    place = {"item_id": "rs_1", "output_index": 0}
    return lambda at: {
        "type": f"response.reasoning_summary_text.{word}", **place, "summary_index": at, field: "xyz"
    }  # fmt: skip


def annotation(at: int) -> dict[str, Any]:
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0, "annotation_index": at}
    return {"type": "response.output_text.annotation.added", **place, "annotation": {"type": "file_path", "index": at}}


def part(at: int) -> dict[str, Any]:
    place = {"item_id": "msg_1", "output_index": 0, "content_index": at}
    return {"type": "response.output_text.delta", **place, "delta": "xyz"}


def item(at: int) -> dict[str, Any]:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    return {"type": "response.output_item.done", "output_index": at, "item": call}


ANSWERS: dict[str, tuple[str, Callable[[int], list[bytes]]]] = {
    **{f"{name}: {kind}": (name, lambda n, deltas=deltas: chat(deltas(n)))  # type: ignore[misc]
       for name in ("openai-completions", "mistral-chat") for kind, deltas in CHAT.items()},
    "text of Anthropic": ("anthropic-messages", anthropic("text_delta", text="xyz")),
    "signatures of Anthropic": ("anthropic-messages", anthropic("signature_delta", signature="xyz")),
    "arguments of Anthropic": ("anthropic-messages", anthropic("input_json_delta", partial_json="{")),
    "citations of Anthropic": (
        "anthropic-messages",
        anthropic("citations_delta", citation={"type": "char_location", "cited_text": "x", "document_index": 0}),
    ),
    "thoughts and text of Google in turn": (
        "google-generative-ai",
        google(lambda at: {"text": "x", "thought": at % 2 == 0}),
    ),
    "signatures of Google": ("google-generative-ai", google(lambda at: {"text": "", "thoughtSignature": "eHh4"})),
    "code of Google": ("google-generative-ai", google(lambda at: {"executableCode": {"code": "x"}})),
    "text of Google": ("google-generative-ai", google(lambda at: {"text": "xyz"})),
    "calls of Google": ("google-generative-ai", google(lambda at: {"functionCall": {"name": "f", "args": {"a": 1}}})),
    "parts of new kinds": ("google-generative-ai", google(lambda at: {f"new{at}": 1})),
    "arguments in pieces": ("google-generative-ai", google(partial)),
    "text of Bedrock": ("bedrock-converse", bedrock(lambda at: {"text": "xyz"})),
    "signatures": ("bedrock-converse", bedrock(lambda at: {"reasoningContent": {"signature": f"x{at}"}})),
    "payloads": ("bedrock-converse", bedrock(lambda at: {"reasoningContent": {"redactedContent": "eHh4"}})),
    "arguments of Bedrock": ("bedrock-converse", bedrock(lambda at: {"toolUse": {"input": "{"}})),
    "citations of Bedrock": (
        "bedrock-converse",
        bedrock(lambda at: {"citation": {"title": "x", "location": {"web": {"url": "u"}}}}),
    ),
    "annotations of items": ("openai-responses", responses(annotation)),
    "parts of a text": ("openai-responses", responses(part)),
    "parts of a summary": ("openai-responses", responses(summary("delta", "delta"), summary("done", "text"))),
    "items without ids": ("openai-responses", responses(item)),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_reading_an_answer_is_linear(name: str) -> None:
    protocol, make = ANSWERS[name]
    model = Catalog.default().resolve(MODELS[protocol], protocol)
    context = segue.Context(messages=[segue.UserMessage("Go.")])
    request = segue.encode(context, model, segue.Options(stream=True))

    def prepared(n: int) -> Callable[[], Any]:
        pieces = make(n)

        def read() -> None:
            decoder = segue.Decoder(request)
            for piece in pieces:
                decoder.feed(piece)
            decoder.close()

        return read

    assert_linear(prepared)


def test_calls_without_ids_are_counted_over_a_long_conversation_once() -> None:
    """Kimi's ids count the calls of the whole conversation, whose length must not count for each new call."""
    model = Catalog.default().resolve("moonshot/kimi-k2.5", "openai-completions")

    def prepared(n: int) -> Callable[[], Any]:
        answer = segue.AssistantMessage(
            content=[segue.TextContent("x")], protocol="", provider="", model="", stop_reason="stop"
        )
        history = segue.Context(messages=[segue.UserMessage("x"), *[answer, segue.UserMessage("x")] * n])
        request = segue.encode(history, model, segue.Options(stream=True))
        pieces = chat(CHAT["calls without ids"](n))

        def read() -> None:
            decoder = segue.Decoder(request)
            for piece in pieces:
                decoder.feed(piece)

        return read

    assert_linear(prepared)


# -- bytes, arguments, files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "piece", [b"x", b"\r", b"\n", b"data: a\n", b": comment\n\n", b"event: a\n", b"\xf0\x9f\x98\x80"]
)
def test_finding_events_in_bytes_is_linear(piece: bytes) -> None:
    model = Catalog.default().resolve(MODELS["openai-completions"], "openai-completions")
    request = segue.encode(segue.Context(messages=[segue.UserMessage("Go.")]), model, segue.Options(stream=True))

    def prepared(n: int) -> Callable[[], Any]:
        def read() -> None:
            decoder = segue.Decoder(request)
            decoder.feed(b"data: ")
            for _ in range(n):
                decoder.feed(piece)
            decoder.close()

        return read

    assert_linear(prepared)


@pytest.mark.parametrize("start", ["", '{"a":', '{"a":"'])
@pytest.mark.parametrize("piece", ["\\", '"', "{", "[", "\n", "\\ud83d", '"a":', "1", "\\u", '{"a":'])
def test_reading_arguments_is_linear(start: str, piece: str) -> None:
    assert_linear(lambda n: lambda: read_arguments(start + piece * n))


@pytest.mark.parametrize(
    "line", [b"{\n", b'{"role":"user","content":"x\\ud83d"}\n', b"[\n", b'{"messages":[]}\n', b"\xff\n"]
)
def test_reading_files_is_linear(line: bytes) -> None:
    assert_linear(lambda n: lambda: list(read_jsonl([line] * n)))
    assert_linear(lambda n: lambda: list(read_conversations([line] * n)))
