"""``export`` is the inverse of ``ingest``: it keeps everything that a protocol can hold, and reports the rest."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from conftest import SOAK
from hypothesis import given, settings
from support import cases
from support.exports import FORMS, expected, plain_tools, read, same
from support.journeys import CONVERSATIONS, IMAGE
from support.targets import built_in
from support.torn import torn_contexts
from support.type_judges import JUDGES
from wire.mistral_chat.judge import sdk_faults
from wire.openai_completions.judge import _without_extensions

import segue
from segue.errors import FormatError, ModelError
from segue.render import Export, export, ingest
from segue.types import (
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from segue.types.texts import BETWEEN, CLOSING, EMPTY_RESULT, IMAGES_BELOW, MOVED_IMAGES, OPENING
from segue.wire.registry import PROTOCOLS

FILLERS = (OPENING, CLOSING, BETWEEN, EMPTY_RESULT, IMAGES_BELOW, MOVED_IMAGES)
FRAMES = {
    "anthropic-messages": {"system", "messages", "tools"},
    "openai-completions": {"messages", "tools"},
    "openai-responses": {"instructions", "input", "tools"},
    "google-generative-ai": {"systemInstruction", "contents", "tools"},
    "bedrock-converse": {"system", "messages", "toolConfig"},
    "mistral-chat": {"messages", "tools"},
}
OWN = {
    "anthropic-messages": "anthropic/claude-sonnet-4-5",
    "openai-completions": "moonshot/kimi-k2.5",
    "openai-responses": "openai/gpt-5.4",
    "google-generative-ai": "google/gemini-3-pro-preview",
    "bedrock-converse": "amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    "mistral-chat": "mistral/magistral-medium-latest",
}
EVERYTHING = {
    **CONVERSATIONS,
    **{f"{folder}/{name}": cases.context(case) for folder in ("corpus", "scenarios")
       for name, case in cases.load(folder).items() if "messages" in case},
}  # fmt: skip


def checked(context: Context, protocol: str) -> Export:
    """The export, after it was read again and compared."""
    exported = export(context, protocol)
    again = ingest(exported.body, protocol, now=0)
    assert ingest(exported.json(), protocol, now=0) == again
    assert exported.body.keys() <= FRAMES[protocol]
    wanted, found = expected(context, protocol, exported.changes), read(again, protocol)
    assert same(wanted, found, protocol), (wanted, found)
    stored = Context.from_json(context.to_json())
    assert again.system_prompt == stored.system_prompt
    # Tools of one namespace are together.
    assert sorted(plain_tools(again.tools), key=repr) == sorted(plain_tools(stored.tools), key=repr)
    return exported


# -- the types of the SDKs ---------------------------------------------------------------------------------------------


def _anthropic(body: Any) -> list[str]:
    return JUDGES["anthropic_messages/shape.json"](body | {"model": "m", "max_tokens": 1})


def _completions(body: Any) -> list[str]:
    """OpenAI's types, without what only others of the family have: reasoning, names of results, and other parts than
    texts in them."""
    fields = {"reasoning_content", "reasoning", "reasoning_text", "reasoning_details"}
    body = _without_extensions(body | {"model": "m"}, fields, set(), True)
    for message in body["messages"]:
        if message["role"] == "tool" and isinstance(message["content"], list):
            message["content"] = [part for part in message["content"] if part["type"] == "text"]
    return JUDGES["openai_completions/shape.json"](body)


def _mistral(body: Any) -> list[str]:
    return sdk_faults(body | {"model": "m"})


def _bedrock(body: Any) -> list[str]:
    """The types, without limits of length and patterns: names and ids are exported unchanged."""
    found = JUDGES["bedrock_converse/shape.json"](body)
    limits = ("Parameter validation", "Invalid length", "does not match", "is not from")
    return [fault for fault in found if not any(limit in fault for limit in limits)]


FAULTS: dict[str, Callable[[Any], list[str]]] = {
    "anthropic-messages": _anthropic,
    "openai-completions": _completions,
    "openai-responses": lambda body: JUDGES["openai_responses/shape.json"](body | {"model": "m"}),
    "google-generative-ai": JUDGES["google_generative_ai/shape.json"],
    "bedrock-converse": _bedrock,
    "mistral-chat": _mistral,
}


# -- any conversation --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", EVERYTHING)
def test_conversations_of_every_origin_are_read_back(name: str, protocol: str) -> None:
    exported = checked(EVERYTHING[name], protocol)
    assert FAULTS[protocol](exported.body) == []
    assert not [text for text in FILLERS if text in exported.json().decode() and text not in _texts(EVERYTHING[name])]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_torn_conversations_are_read_back(protocol: str) -> None:
    model = built_in().resolve(OWN[protocol])

    @settings(max_examples=2000 if SOAK else 150)
    @given(torn_contexts(model))
    def holds(context: Context) -> None:
        exported = checked(context, protocol)
        assert FAULTS[protocol](exported.body) == []
        assert export(context, protocol).json() == exported.json()

    holds()


def _texts(context: Context) -> str:
    return context.to_json().decode()


# -- single rules ------------------------------------------------------------------------------------------------------


def answer(*content: Any, protocol: str = "", stop: Any = "stop") -> AssistantMessage:
    return AssistantMessage(content=[*content], protocol=protocol, provider="p", model="m", stop_reason=stop)


def codes(exported: Export) -> list[tuple[str, int | None, int | None]]:
    return [(change.code, change.message, change.block) for change in exported.changes]


SIGNED: dict[str, list[Any]] = {
    "anthropic-messages": [ThinkingContent("hm", "EqQB"), ThinkingContent("", "payload", redacted=True)],
    "bedrock-converse": [ThinkingContent("hm", "EqQB"), ThinkingContent("", "cGF5", redacted=True)],
    "google-generative-ai": [ThinkingContent("hm", "c2ln"), TextContent("a", "c2ln"), ToolCall("a", "b", {}, "c2ln")],
    "mistral-chat": [ThinkingContent("hm", "EqQB")],
    "openai-completions": [ThinkingContent("hm", '[{"type":"reasoning.text","text":"hm"}]')],
    "openai-responses": [
        ThinkingContent(
            "hm",
            '{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}',
        ),
        TextContent("a", '{"id":"msg_1","phase":"commentary"}'),
        ToolCall("a", "b", {}, "fc_1"),
    ],
}
"""Blocks of an answer with signatures in the form of each protocol."""


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_own_signatures_stay(protocol: str) -> None:
    message = answer(*SIGNED[protocol], TextContent("Done.", None), protocol=protocol)
    if protocol == "openai-responses":
        message = answer(*SIGNED[protocol], protocol=protocol)
    exported = export(Context(messages=[message]), protocol)
    assert ingest(exported.body, protocol).messages[0].content == message.content
    assert exported.changes == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("origin", PROTOCOLS)
def test_signatures_of_other_protocols_are_never_written(origin: str, protocol: str) -> None:
    if origin == protocol:
        return
    exported = export(Context(messages=[answer(*SIGNED[origin], TextContent("Done."), protocol=origin)]), protocol)
    written = exported.json().decode()
    for block in SIGNED[origin]:
        for name in ("thinking_signature", "text_signature", "thought_signature"):
            signature = getattr(block, name, None)
            assert signature is None or json.dumps(signature)[1:-1] not in written, signature
    reported = {block for code, _, block in codes(exported) if code in ("signature-dropped", "thinking-dropped")}
    assert reported == set(range(len(SIGNED[origin])))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_thinking_without_a_signature_stays_where_the_protocol_has_it(protocol: str) -> None:
    exported = export(Context(messages=[answer(ThinkingContent("hm"), TextContent("Done."))]), protocol)
    found = ingest(exported.body, protocol).messages[0].content[0]
    if protocol == "openai-responses":
        assert found == TextContent("Done.")
        assert codes(exported) == [("thinking-dropped", 0, 0)] and exported.changes[0].lossy
    else:
        assert isinstance(found, ThinkingContent) and found.thinking == "hm"
        assert exported.changes == []


TORN: list[Message] = [
    ToolResultMessage("b", "early", [TextContent("before its call")]),
    answer(TextContent("first"), ToolCall("a", "one", {}), ToolCall("b", "early", {"n": 1}), stop="error"),
    UserMessage("between"),
    UserMessage("and again"),
    ToolResultMessage("a", "one", [TextContent("late"), IMAGE], is_error=True),
    ToolResultMessage("a", "one", [TextContent("twice")]),
    ToolResultMessage("z", "gone", [TextContent("an orphan")]),
    answer(TextContent("second"), stop="aborted"),
    answer(TextContent("third")),
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_torn_histories_are_exported_as_they_are(protocol: str) -> None:
    exported = checked(Context(messages=TORN), protocol)
    found = ingest(exported.body, protocol).messages
    if protocol == "openai-responses":
        assert ("turns-merged", 8, None) in codes(exported)
        assert [type(message) for message in found] == [type(message) for message in TORN[:-1]]
    else:
        assert [type(message) for message in found] == [type(message) for message in TORN]
    reported = {code for code, _, _ in codes(exported)} - {"turns-merged"}
    assert reported == (set() if FORMS[protocol].error_flag else {"error-as-text"})


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_conversation_that_ends_with_an_answer_gets_no_filler(protocol: str) -> None:
    context = Context(messages=[answer(TextContent("hello")), UserMessage("hi"), answer(TextContent("bye"))])
    exported = export(context, protocol)
    assert exported.changes == []
    assert len(ingest(exported.body, protocol).messages) == 3


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_empty_conversation(protocol: str) -> None:
    exported = export(Context(messages=[]), protocol)
    assert list(exported.body.values()) == [[]] and exported.changes == []
    assert ingest(exported.body, protocol) == Context(messages=[])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_answer_that_contains_only_thinking_stays(protocol: str) -> None:
    message = answer(SIGNED[protocol][0], protocol=protocol, stop="aborted")
    exported = export(Context(messages=[UserMessage("hi"), message]), protocol)
    assert ingest(exported.body, protocol).messages[1].content == message.content


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_half_characters_are_replaced_and_reported(protocol: str) -> None:
    exported = export(Context(system_prompt="\ud83d", messages=[UserMessage("ok"), UserMessage("\ud83d")]), protocol)
    assert codes(exported) == [("text-sanitized", None, None), ("text-sanitized", 1, None)]
    assert ingest(exported.json(), protocol).messages[1] == UserMessage("\ufffd")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_numbers_that_json_cannot_hold_are_refused(protocol: str) -> None:
    message = answer(ToolCall("a", "b", {"n": float("nan")}))
    with pytest.raises(FormatError, match="nan"):
        export(Context(messages=[message]), protocol)


def test_a_server_tool_that_never_got_its_result_stays() -> None:
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    stored = answer(ProviderContent(call, "server_tool_use"), protocol="anthropic-messages")
    exported = export(Context(messages=[stored, UserMessage("Stop.")]), "anthropic-messages")
    assert exported.body["messages"][0] == {"role": "assistant", "content": [call]}
    assert exported.changes == []


def test_chat_completions_keep_texts_apart() -> None:
    texts = [TextContent("one"), TextContent("two")]
    context = Context(messages=[UserMessage(texts), answer(*texts), ToolResultMessage("a", "b", texts)])
    found = ingest(export(context, "openai-completions").body, "openai-completions").messages
    assert [message.content for message in found] == [texts] * 3


def test_chat_completions_keep_what_is_attached_to_calls() -> None:
    call = ToolCall("a", "b", {}, '{"extra_content":{"google":{"thought_signature":"c2ln"}}}')
    exported = export(Context(messages=[answer(call, protocol="openai-completions")]), "openai-completions")
    assert ingest(exported.body, "openai-completions").messages[0].content == [call]
    assert exported.changes == []


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "reasoning_text"])
def test_chat_completions_keep_the_field_of_reasoning(name: str) -> None:
    message = answer(ThinkingContent("hm", name), TextContent("Done."), protocol="openai-completions")
    exported = export(Context(messages=[message]), "openai-completions")
    assert exported.body["messages"] == [{"role": "assistant", "content": "Done.", name: "hm"}]
    assert ingest(exported.body, "openai-completions").messages[0].content == message.content


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_image_that_the_protocol_cannot_hold_is_reported(protocol: str) -> None:
    image = ImageContent("aGVsbG8=", "image/tiff")
    exported = export(Context(messages=[UserMessage([TextContent("look"), image])]), protocol)
    found = ingest(exported.body, protocol).messages[0].content[1]
    if protocol in ("anthropic-messages", "bedrock-converse"):
        assert codes(exported) == [("image-downgraded", 0, None)] and exported.changes[0].lossy
        assert isinstance(found, TextContent)
    else:
        assert (found, exported.changes) == (image, [])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_media_type_is_that_of_the_bytes(protocol: str) -> None:
    image = ImageContent(IMAGE.data, "image/jpeg")
    found = ingest(export(Context(messages=[UserMessage([image])]), protocol).body, protocol).messages[0].content
    assert found == [image if protocol == "openai-completions" else IMAGE]


def test_only_the_id_of_a_call_in_google_changes_if_it_is_used_twice() -> None:
    calls = [answer(ToolCall("a", "b", {})), answer(ToolCall("a", "b", {}))]
    exported = export(Context(messages=calls), "google-generative-ai")
    assert [content["parts"][0]["functionCall"]["id"] for content in exported.body["contents"]] == ["a", "a"]
    found = ingest(exported.body, "google-generative-ai").messages
    assert [isinstance(each, AssistantMessage) and each.tool_calls[0].id == "a" for each in found] == [True, False]


def test_the_body_belongs_to_the_caller() -> None:
    context = Context(messages=[UserMessage("hi")], tools=[ToolDefinition("b", "", {"type": "object"})])
    exported = segue.export(context, "anthropic-messages")
    assert json.loads(exported.json()) == exported.body
    exported.body["messages"].clear()
    assert json.loads(exported.json())["messages"] == []
    assert segue.export(context, "anthropic-messages").body["messages"] != []
    assert repr(exported) == "<Export as anthropic-messages: 0 changes>"


def test_an_unknown_protocol_is_refused() -> None:
    with pytest.raises(ModelError, match="unknown protocol 'soap'; the protocols are"):
        segue.export(Context(messages=[]), "soap")


@pytest.mark.parametrize("protocol", ["openai-completions", "openai-responses"])
@pytest.mark.parametrize("arguments", [{"input": 7}, {"bird": "tern"}, {"input": "tern", "bird": "gull"}, {}])
def test_a_free_text_call_with_other_arguments_is_the_call_of_a_function(
    protocol: str, arguments: dict[str, Any]
) -> None:
    """It keeps all of its arguments, and the change is reported."""
    call = ToolCall("call_1", "sketch", arguments, kind="custom")
    result = ToolResultMessage("call_1", "sketch", "Drawn.")
    exported = export(Context([UserMessage("Draw."), AssistantMessage([call]), result]), protocol)
    answer = ingest(exported.body, protocol).messages[1]
    assert isinstance(answer, AssistantMessage)
    assert [(each.kind, each.arguments) for each in answer.tool_calls] == [(None, arguments)]
    assert [(change.code, change.message, change.block) for change in exported.changes] == [("tool-adapted", 1, 0)]
