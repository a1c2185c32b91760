"""A request that extends an earlier one is read and rendered like one that is read from scratch, for less work."""

import gc
import json
import sys
from typing import Any

import msgspec
import pytest
from support.providers import CONTEXT, MODELS
from support.sdks import SYNC

import segue
from bench.corpus import conversations
from segue import AssistantMessage, Context, Ledger, Policy, TextContent, ToolCall, ToolResultMessage, UserMessage
from segue.transport.conversations import MOST, Body, Conversations
from segue.wire import protocol_of

CORPUS = conversations()
KEPT = Policy(declared_names="kept")


def bodies(context: Context, protocol: str) -> list[bytes]:
    """The body after each message."""
    body = segue.export(context, protocol).body
    history = protocol_of(protocol).history
    items = body[history]
    return [json.dumps({**body, history: items[: count + 1]}).encode() for count in range(len(items))]


def fresh() -> Conversations:
    return Conversations(Ledger(), trusts=True, policy=KEPT)


@pytest.mark.parametrize("protocol", SYNC)
def test_a_growing_body_is_rendered_as_from_scratch(protocol: str) -> None:
    for conversation in CORPUS:
        growing = fresh()
        for data in bodies(conversation.context, protocol):
            mine, other = (each.request(Body(data), MODELS[protocol]) for each in (growing, fresh()))
            assert (mine is None) is (other is None), (conversation.names, data)
            if mine is not None and other is not None:
                assert mine.json() == other.json(), (conversation.names, data)
                assert mine.changes == other.changes


def talk(turns: int) -> Context:
    """A clean conversation with calls."""
    messages: list[Any] = list(CONTEXT.messages)
    model = MODELS["openai-completions"]
    for at in range(turns):
        call = ToolCall(f"call_{at:09d}", "weather", {"city": "Rome", "days": at})
        origin = {"protocol": model.protocol, "provider": model.provider, "model": model.id}
        messages += [
            AssistantMessage(content=[call], stop_reason="toolUse", **origin),
            ToolResultMessage(call.id, "weather", [TextContent("18 C")]),
            AssistantMessage(content=[TextContent("18 degrees.")], stop_reason="stop", **origin),
            UserMessage("And then?"),
        ]
    return Context(system_prompt=CONTEXT.system_prompt, messages=messages, tools=CONTEXT.tools)


@pytest.mark.parametrize("protocol", SYNC)
def test_only_new_messages_are_read(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, history = MODELS[protocol], protocol_of(protocol).history
    read: list[int] = []
    protocol_record = protocol_of(protocol)

    def counting(body: Any, *more: Any) -> Context:
        read.append(len(body[history]))
        return protocol_record.ingest(body, *more)

    counted = msgspec.structs.replace(protocol_record, ingest=counting)
    monkeypatch.setattr("segue.transport.conversations.protocol_of", lambda name: counted)
    growing = fresh()
    whole = bodies(talk(10), protocol)
    first, second = json.loads(whole[-9])[history], json.loads(whole[-1])[history]
    assert growing.request(Body(_ending_with_user(whole, -9)), model) is not None
    assert growing.request(Body(whole[-1]), model) is not None
    assert read[0] >= len(first) - 4
    assert read[1] == len(second) - read[0]
    assert growing.request(Body(whole[-1]), model) is not None
    assert len(read) == 2  # the same body again: nothing is read


def _ending_with_user(whole: list[bytes], at: int) -> bytes:
    """The last body up to ``at`` that a client would send: it ends with the user or a result."""
    while True:
        body = msgspec.json.decode(whole[at])
        last = next(body[name] for name in ("messages", "input", "contents") if name in body)[-1]
        if last.get("role") in ("user", "tool") or last.get("type") == "function_call_output":
            return whole[at]
        at -= 1


def test_another_frame_or_an_edit_starts_again() -> None:
    protocol = "openai-completions"
    growing = fresh()
    context = talk(2)
    edited = Context(system_prompt="Be long.", messages=context.messages, tools=[])
    for each in (context, edited, context):
        for data in (bodies(each, protocol)[-1], bodies(each, protocol)[-3]):
            mine, other = (which.request(Body(data), MODELS[protocol]) for which in (growing, fresh()))
            assert mine is not None and other is not None and mine.json() == other.json()


def test_only_the_last_conversations_are_kept() -> None:
    growing = fresh()
    for number in range(MOST + 10):
        body = {"messages": [{"role": "user", "content": f"{number}"}]}
        assert growing.request(Body(json.dumps(body).encode()), MODELS["openai-completions"]) is not None
    assert len(growing._known) == MOST


def test_an_answer_that_was_read_does_not_keep_its_conversation() -> None:
    request = segue.encode(CONTEXT, MODELS["openai-completions"])
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Fine."}}
    answer = json.dumps({"id": "c", "choices": [choice]}).encode()
    segue.decode(answer, request, 0)
    gc.collect()
    gc.disable()  # without the collector, only references count
    try:
        before = sys.getrefcount(request)
        assert segue.decode(answer, request, 0).text == "Fine."
        assert sys.getrefcount(request) == before
    finally:
        gc.enable()
