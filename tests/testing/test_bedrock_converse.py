"""The stand-in of Bedrock Converse, judged by the provider's own SDK and used by segue's client."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import httpx2
import pytest
import urllib3
from botocore.config import Config
from botocore.exceptions import ClientError, EventStreamError
from botocore.exceptions import ReadTimeoutError as NoAnswerError
from hypothesis import given
from hypothesis import strategies as st
from support.providers import CONTEXT, WEATHER, reach

import segue
from segue.testing import Fault, FaultKind, Reply, StandIn
from segue.types import (
    AssistantContent,
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from segue.wire.bedrock_converse.frames import EventStream

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
BOUND = "global.anthropic.claude-fable-5-1"
NOVA = "amazon.nova-2-lite-v1:0"
LLAMA = "us.meta.llama4-scout-17b-instruct-v1:0"
ARN = f"arn:aws:bedrock:us-east-1:123456789012:inference-profile/{MODEL}"
TOOLS: Any = {
    "tools": [
        {
            "toolSpec": {
                "name": "weather",
                "description": "Current weather",
                "inputSchema": {"json": {"type": "object", "properties": {"city": {"type": "string"}}}},
            }
        }
    ]
}
QUESTION: Any = {"role": "user", "content": [{"text": "Weather in Paris and Rome?"}]}
SYSTEM: Any = [{"text": "Be brief."}]
THINKING = "I should look it up.\n\nTwo cities, two “calls”."
CALLS: list[AssistantContent] = [
    ThinkingContent(THINKING),
    ThinkingContent("", redacted=True),
    TextContent("Let me look."),
    ToolCall("", "weather", {"city": "Paris"}),
    ToolCall("", "weather", {"city": "Rome", "days": 3, "note": 'a "quoted" \\ ✓'}),
]
ANSWER: list[AssistantContent] = [ThinkingContent("Two numbers."), TextContent("18 C in Paris, 24 C in Rome ☀.")]
USAGE = Usage(input=70, output=31, cache_read=20, cache_write=9, total_tokens=130)
SCRIPT = [Reply(CALLS, usage=USAGE), Reply(ANSWER)]

SESSION = boto3.Session("none", "none", "none", "us-east-1")


@contextmanager
def client_of(server: StandIn, **settings: Any) -> Iterator[Any]:
    # Signed, whatever the environment holds.
    config = Config(retries={"total_max_attempts": 1}, proxies={}, signature_version="v4", **settings)
    client = SESSION.client("bedrock-runtime", endpoint_url=server.url, config=config)
    try:
        yield client
    finally:
        client.close()


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn("amazon-bedrock", script=SCRIPT) as server:
        yield server


@pytest.fixture
def client(server: StandIn) -> Iterator[Any]:
    with client_of(server) as client:
        yield client


def results(message: Any) -> Any:
    """The results of all calls, as the SDK's documentation makes them."""
    calls = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    return {
        "role": "user",
        "content": [
            {"toolResult": {"toolUseId": call["toolUseId"], "content": [{"json": {"celsius": 18}}]}} for call in calls
        ],
    }


def asked(client: Any, history: list[Any], model: str = MODEL) -> Any:
    return client.converse(modelId=model, messages=history, system=SYSTEM, toolConfig=TOOLS)


def streamed(client: Any, history: list[Any], model: str = MODEL) -> list[Any]:
    stream = client.converse_stream(modelId=model, messages=history, system=SYSTEM, toolConfig=TOOLS)["stream"]
    try:
        return list(stream)
    finally:
        stream.close()


def assembled(events: Iterable[Any]) -> Any:
    """The message that the events of a stream make, for the next request."""
    content: list[Any] = []
    for event in events:
        [(name, data)] = event.items()
        if name == "contentBlockStart":
            content.append({"toolUse": {**data["start"]["toolUse"], "input": ""}})
        elif name == "contentBlockDelta":
            if data["contentBlockIndex"] == len(content):
                content.append({})
            add(content[-1], data["delta"])
    for block in content:
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"])
    return {"role": "assistant", "content": content}


def add(block: Any, delta: Any) -> None:
    if "toolUse" in delta:
        block["toolUse"]["input"] += delta["toolUse"]["input"]
    elif "text" in delta:
        block["text"] = block.get("text", "") + delta["text"]
    elif "redactedContent" in delta["reasoningContent"]:
        block["reasoningContent"] = delta["reasoningContent"]
    else:
        text = block.setdefault("reasoningContent", {"reasoningText": {"text": ""}})["reasoningText"]
        for name, piece in delta["reasoningContent"].items():
            text[name] = text.get(name, "") + piece


# -- the SDK's own way -----------------------------------------------------------------------------------------------


def test_a_tool_loop_of_the_sdk(client: Any, server: StandIn) -> None:
    first = asked(client, [QUESTION])
    message = first["output"]["message"]
    thought, redacted, text, *calls = message["content"]
    assert thought["reasoningContent"]["reasoningText"]["text"] == THINKING
    assert thought["reasoningContent"]["reasoningText"]["signature"]
    assert isinstance(redacted["reasoningContent"]["redactedContent"], bytes)
    assert text == {"text": "Let me look."}
    assert [call["toolUse"]["input"] for call in calls] == [
        {"city": "Paris"},
        {"city": "Rome", "days": 3, "note": 'a "quoted" \\ ✓'},
    ]
    assert all(call["toolUse"]["toolUseId"].startswith("tooluse_") for call in calls)
    assert first["stopReason"] == "tool_use" and first["metrics"]["latencyMs"] == 1
    assert first["usage"] == {
        "inputTokens": 70,
        "outputTokens": 31,
        "totalTokens": 130,
        "cacheReadInputTokens": 20,
        "cacheWriteInputTokens": 9,
    }
    assert first["ResponseMetadata"]["RequestId"] == "req_1"
    second = asked(client, [QUESTION, message, results(message)])
    assert second["output"]["message"]["content"][-1] == {"text": "18 C in Paris, 24 C in Rome ☀."}
    assert second["stopReason"] == "end_turn" and not server.refused


def test_a_tool_loop_of_the_sdk_as_streams(client: Any, server: StandIn) -> None:
    history: list[Any] = [QUESTION]
    texts: list[str] = []
    for stop in ("tool_use", "end_turn", "end_turn"):
        events = streamed(client, history)
        message = assembled(events)
        texts += [block["text"] for block in message["content"] if "text" in block]
        more = results(message)
        history += [message, more if more["content"] else {"role": "user", "content": [{"text": "Go on."}]}]
        assert [name for event in events[-2:] for name in event] == ["messageStop", "metadata"]
        assert events[-2]["messageStop"]["stopReason"] == stop and events[-1]["metadata"]["usage"]["outputTokens"]
    assert texts == ["Let me look.", "18 C in Paris, 24 C in Rome ☀.", "Answer 3."]
    assert not server.refused


def test_whole_and_streamed_are_the_same_answer(client: Any, server: StandIn) -> None:
    server.say(*SCRIPT)
    whole = asked(client, [QUESTION])["output"]["message"]
    asked(client, [QUESTION])
    message = assembled(streamed(client, [QUESTION]))
    assert [list(block) for block in message["content"]] == [list(block) for block in whole["content"]]
    asked(client, [QUESTION, message, results(message)])
    assert not server.refused


def assert_fits(shape: Any, value: Any, more: tuple[str, ...] = ()) -> None:
    """A value of the service model: all of what is required, and nothing that nobody knows."""
    if shape.type_name == "structure" and not getattr(shape, "is_document_type", False):
        names = set(value) - set(more)
        assert set(shape.required_members) <= names <= set(shape.members), (shape.name, value)
        assert not shape.is_tagged_union or len(names) == 1
        for name in names:
            assert_fits(shape.members[name], value[name])
    elif shape.type_name == "list":
        for each in value:
            assert_fits(shape.member, each)
    elif getattr(shape, "enum", None):
        assert value in shape.enum


@pytest.mark.parametrize("stop", ["stop", "length", "error", "toolUse"])
def test_every_frame_is_what_the_service_model_says(client: Any, stop: Any) -> None:
    """The SDK takes what is missing and leaves what it does not know; here its model is asked."""
    service = client.meta.service_model
    server = StandIn("amazon-bedrock")
    spoken = server.spoken(Reply(CALLS, stop=stop), server.model(MODEL))
    assert_fits(service.operation_model("Converse").output_shape, server.voice.whole(spoken))
    frames = EventStream().feed(b"".join(server.voice.events(spoken)))
    members = service.operation_model("ConverseStream").output_shape.members["stream"].members
    for name, payload in frames:
        assert_fits(members[name], json.loads(payload), more=("p",))
    assert [name for name, _ in frames].count("contentBlockStop") == len(CALLS)
    assert {name for name, _ in frames} == {name for name in members if not name.endswith("Exception")}


def test_only_claude_signs_what_it_shows() -> None:
    with StandIn("amazon-bedrock", script=SCRIPT * 2) as server, client_of(server) as client:
        whole = asked(client, [QUESTION], model=NOVA)["output"]["message"]
        assert asked(client, [QUESTION], model=NOVA)["stopReason"] == "end_turn"
        message = assembled(streamed(client, [QUESTION], model=NOVA))
    for content in (whole["content"], message["content"]):
        assert content[0]["reasoningContent"] == {"reasoningText": {"text": THINKING}}
        assert content[1]["reasoningContent"].keys() == {"redactedContent"}


def test_a_profile_is_the_model_that_its_arn_names(client: Any, server: StandIn) -> None:
    message = asked(client, [QUESTION], model=ARN)["output"]["message"]
    assert message["content"][0]["reasoningContent"]["reasoningText"]["signature"]
    assert streamed(client, [QUESTION, message, results(message)], model=ARN)


def test_an_answer_that_was_cut_and_one_that_was_refused() -> None:
    script = [Reply([TextContent("One two")], stop="length"), Reply([], stop="error")]
    with StandIn("amazon-bedrock", script=[*script, *script]) as server, client_of(server) as client:
        assert [asked(client, [QUESTION])["stopReason"] for _ in script] == ["max_tokens", "content_filtered"]
        ends = [streamed(client, [QUESTION])[-2]["messageStop"]["stopReason"] for _ in script]
    assert ends == ["max_tokens", "content_filtered"]


# -- what it refuses -------------------------------------------------------------------------------------------------


def refused(client: Any, history: list[Any], model: str = MODEL, **more: Any) -> str:
    with pytest.raises(client.exceptions.ValidationException) as found:
        client.converse(**{"modelId": model, "messages": history, "toolConfig": TOOLS, **more})
    assert found.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    return str(found.value.response["Error"]["Message"])


def first_answer(client: Any) -> Any:
    return asked(client, [QUESTION])["output"]["message"]


def test_a_call_without_its_result_is_refused(client: Any, server: StandIn) -> None:
    message = first_answer(client)
    more = results(message)
    del more["content"][0]
    assert "Expected toolResult blocks at" in refused(client, [QUESTION, message, more])
    assert "Expected toolResult blocks at" in refused(client, [QUESTION, message, QUESTION])
    assert len(server.refused) == 2


def test_tool_blocks_without_tools_are_refused(client: Any) -> None:
    message = first_answer(client)
    with pytest.raises(client.exceptions.ValidationException, match="The toolConfig field must be defined when using"):
        client.converse(modelId=MODEL, messages=[QUESTION, message, results(message)])


def test_thinking_without_its_signature_is_refused(client: Any) -> None:
    message = first_answer(client)
    del message["content"][0]["reasoningContent"]["reasoningText"]["signature"]
    assert "thinking.signature: Field required" in refused(client, [QUESTION, message, results(message)])


def test_families_refuse_what_they_do_not_take(client: Any) -> None:
    message = first_answer(client)
    history = [QUESTION, message, results(message)]
    assert "reasoningText.signature field" in refused(client, history, model=NOVA)
    message["content"] = message["content"][2:]
    assert "cannot be provided in the same turn" in refused(client, history, model=LLAMA)
    assert "A conversation must start with a user message" in refused(client, history[1:], model=NOVA)


def test_tools_in_a_stream_are_refused_where_the_model_has_none(client: Any, server: StandIn) -> None:
    with pytest.raises(client.exceptions.ValidationException, match="doesn't support tool use in streaming mode"):
        streamed(client, [QUESTION], model=LLAMA)
    asked(client, [QUESTION], model=LLAMA)
    stream = client.converse_stream(modelId=LLAMA, messages=[QUESTION])["stream"]
    assert len(list(stream)) > 4 and len(server.refused) == 1


def test_signatures_of_others_are_refused(client: Any) -> None:
    message = first_answer(client)
    history = [QUESTION, message, results(message)]
    with StandIn("amazon-bedrock", account="other", script=SCRIPT) as other, client_of(other) as theirs:
        assert "messages.1.content.0: Invalid `signature` in `thinking` block" in refused(theirs, history)
        foreign = first_answer(theirs)
    own = list(message["content"])
    text = own[0]["reasoningContent"]["reasoningText"]
    message["content"][0] = {"reasoningContent": {"reasoningText": text | {"text": "Something else."}}}
    words = "The model returned the following errors: messages.1.content.{}: Invalid `{}` in `{}` block"
    assert refused(client, history) == words.format(0, "signature", "thinking")
    message["content"] = [own[0], foreign["content"][1], *own[2:]]
    assert refused(client, history) == words.format(1, "data", "redacted_thinking")
    message["content"] = [own[0], {"reasoningContent": {"redactedContent": b"made up"}}, *own[2:]]
    assert refused(client, history) == words.format(1, "data", "redacted_thinking")
    message["content"] = own
    asked(client, history)


def test_a_bedrock_key_is_a_bearer_token(server: StandIn) -> None:
    """boto3 sends it only over TLS ("Bearer authorization requires an HTTPS endpoint."), others anywhere."""
    body = {"messages": [QUESTION]}
    with httpx2.Client(trust_env=False) as http:
        right, wrong, none = (
            http.post(f"{server.url}/model/{NOVA}/converse", json=body, headers=headers)
            for headers in ({"authorization": f"Bearer {server.key}"}, {"authorization": "Bearer another"}, {})
        )
    assert right.status_code == 200 and "output" in right.json()
    for answer in (wrong, none):
        assert answer.status_code == 403
        assert answer.json() == {"message": "Authentication failed: Please make sure your API Key is valid."}
        assert answer.headers["x-amzn-errortype"].startswith("AccessDeniedException:")


def test_another_path_is_refused(client: Any) -> None:
    with pytest.raises(ClientError) as found:
        client.invoke_model(modelId=MODEL, body=b"{}")
    assert found.value.response["Error"]["Code"] == "UnknownOperationException"
    assert found.value.response["ResponseMetadata"]["HTTPStatusCode"] == 404


# -- faults ----------------------------------------------------------------------------------------------------------

STATUSES: dict[FaultKind, tuple[int, str]] = {
    "rate-limit": (429, "ThrottlingException"),
    "server-error": (500, "InternalServerException"),
    "unavailable": (503, "ServiceUnavailableException"),
    "overloaded": (503, "ServiceUnavailableException"),
    "wrong-key": (403, "AccessDeniedException"),
    "overflow": (400, "ValidationException"),
}


@pytest.mark.parametrize("act", [streamed, asked], ids=["stream", "whole"])
@pytest.mark.parametrize("kind", STATUSES)
def test_faults_with_a_status_are_errors_of_the_sdk(kind: FaultKind, act: Any) -> None:
    status, name = STATUSES[kind]
    with StandIn("amazon-bedrock", script=[Fault(kind, retry_after=2)]) as server, client_of(server) as client:
        with pytest.raises(ClientError) as found:
            act(client, [QUESTION])
        assert type(found.value) is getattr(client.exceptions, name)
    metadata = found.value.response["ResponseMetadata"]
    assert (metadata["HTTPStatusCode"], metadata["HTTPHeaders"]["retry-after"]) == (status, "2")


def test_faults_in_mid_stream_are_errors_of_the_sdk() -> None:
    expected: dict[FaultKind, type[Exception]] = {
        "error-event": EventStreamError,
        "cut": urllib3.exceptions.ProtocolError,
        "silence": urllib3.exceptions.ReadTimeoutError,
    }
    for kind, error in expected.items():
        with (
            StandIn("amazon-bedrock", script=[Fault(kind)]) as server,
            client_of(server, read_timeout=0.3) as client,
        ):
            stream = client.converse_stream(modelId=MODEL, messages=[QUESTION])["stream"]
            seen: list[Any] = []
            with pytest.raises(error) as found:
                seen.extend(stream)
            stream.close()
        assert assembled(seen)["content"][0]["text"].startswith("One two three")
        if isinstance(found.value, EventStreamError):
            assert found.value.response["Error"]["Code"] == "serviceUnavailableException"


def test_silence_before_a_whole_answer_is_an_error_of_the_sdk() -> None:
    with (
        StandIn("amazon-bedrock", script=[Fault("silence")]) as server,
        client_of(server, read_timeout=0.3) as client,
        pytest.raises(NoAnswerError),
    ):
        asked(client, [QUESTION])


@pytest.mark.parametrize("kind", ["broken-json", "cut"])
def test_what_the_sdk_does_not_notice_segue_does(kind: FaultKind) -> None:
    """boto3 takes JSON that it cannot read for an object without members (botocore 1.44.0, parsers.py)."""
    with StandIn("amazon-bedrock", script=[Fault(kind)] * 4) as server, client_of(server) as client:
        assert asked(client, [QUESTION]).keys() == {"ResponseMetadata"}
        if kind == "broken-json":
            assert streamed(client, [QUESTION])[-1] == {"contentBlockDelta": {}}
        for streams in (False, True):
            message = told(MODEL, CONTEXT, server, streams, retries=segue.Retries(attempts=0))
            assert message.stop_reason == "error"
            assert type(segue.error_of(message)) is segue.errors.NetworkError
            assert message.text.startswith("One two three") is streams


# -- segue as the client ---------------------------------------------------------------------------------------------


def answered(context: Context, answer: AssistantMessage) -> Context:
    calls: list[Message] = [ToolResultMessage(call.id, call.name, [TextContent("18 C")]) for call in answer.tool_calls]
    return Context(
        system_prompt=context.system_prompt,
        messages=[*context.messages, answer, *(calls or [UserMessage("And tomorrow?")])],
        tools=context.tools,
    )


def bare(content: list[AssistantContent]) -> list[Any]:
    """Blocks without what the provider made; those that were withheld have no words, and empty ones are none."""
    found: list[Any] = []
    for block in content:
        if isinstance(block, ToolCall):
            found.append((block.name, block.arguments))
        elif isinstance(block, TextContent):
            found += [block.text] if block.text else []
        elif block.redacted:
            found.append(None)
        elif block.thinking or block.thinking_signature:
            found.append(("thinking", block.thinking))
    return found


def told(model: str, context: Context, server: StandIn, streams: bool, **settings: Any) -> AssistantMessage:
    ref = f"amazon-bedrock/{model}"
    if streams:
        return segue.stream_sync(ref, context, connection=reach(server, **settings)).finished()
    return segue.complete_sync(ref, context, connection=reach(server, **settings))


def reasoning(body: dict[str, Any]) -> list[str]:
    """What reasoning a request holds, by kind."""
    blocks = [block for turn in body["messages"] for block in turn["content"]]
    return [next(iter(block["reasoningContent"])) for block in blocks if "reasoningContent" in block]


@pytest.mark.parametrize("streams", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize(
    "model",
    [
        MODEL,
        BOUND,
        NOVA,
        LLAMA,
        "anthropic.claude-3-5-sonnet-20241022-v2:0",
        "mistral.mistral-large-2407-v1:0",
        "moonshotai.kimi-k3",
        "openai.gpt-oss-120b-1:0",
        "qwen.qwen3-32b-v1:0",
    ],
)
def test_what_is_decoded_goes_back_and_is_accepted(model: str, streams: bool) -> None:
    with StandIn("amazon-bedrock", script=SCRIPT) as server:
        first = told(model, CONTEXT, server, streams)
        assert bare(first.content) == bare(CALLS) and first.stop_reason == "toolUse"
        usage = first.usage
        assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (70, 31, 20, 9)
        assert usage.total_tokens == 130
        context = answered(CONTEXT, first)
        second = told(model, context, server, streams)
        assert bare(second.content) == bare(ANSWER) and second.stop_reason == "stop"
        third = told(model, answered(context, second), server, streams)
        assert third.text == "Answer 3." and not server.refused
        sent = reasoning(server.requests[-1])
    whole = ["reasoningText", "redactedContent", "reasoningText"]
    assert sent == (whole if model in (MODEL, BOUND) else [])
    assert not any(message.diagnostics for message in (first, second, third))


_words = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
_blocks: st.SearchStrategy[AssistantContent] = st.one_of(
    st.builds(TextContent, _words),
    st.builds(ThinkingContent, _words, redacted=st.booleans()),
    st.builds(ToolCall, st.just(""), st.just("weather"), st.dictionaries(_words, _words, max_size=2)),
)


@given(
    st.lists(_blocks, min_size=1, max_size=5),
    st.sampled_from(["stop", "length"]),
    st.booleans(),
    st.sampled_from([MODEL, BOUND, NOVA, LLAMA, "us.deepseek.r1-v1:0"]),
)
def test_what_the_voice_says_the_decoder_reads(
    content: list[AssistantContent], stop: Any, streams: bool, name: str
) -> None:
    """Every block comes back, and the whole answer passes the rules and the check of signatures."""
    model = segue.get_model(f"amazon-bedrock/{name}")
    standin = StandIn("amazon-bedrock")
    spoken = standin.spoken(Reply(content, stop=stop), model)
    decoder = segue.Decoder(segue.encode(CONTEXT, model, segue.Options(stream=streams)))
    for data in standin.voice.events(spoken) if streams else [json.dumps(standin.voice.whole(spoken)).encode()]:
        decoder.feed(data)
    decoder.close()
    assert decoder.message is not None and bare(decoder.message.content) == bare(spoken.content)
    body = segue.encode(answered(CONTEXT, decoder.message), model).body
    assert standin.objection(body, model) is None
    if reasoning(body) and name != "us.deepseek.r1-v1:0":
        assert StandIn("amazon-bedrock", account="other").objection(body, model) is not None


def test_another_account_refuses_what_was_signed_here() -> None:
    model = segue.get_model(f"amazon-bedrock/{MODEL}")
    with StandIn("amazon-bedrock", script=SCRIPT) as server, StandIn("amazon-bedrock", account="other") as other:
        request = segue.encode(CONTEXT, model)
        with client_of(server) as client:
            [body] = bodies(client, "converse", request)
        request = segue.encode(answered(CONTEXT, segue.decode(body, request)), model)
        with client_of(other) as client, pytest.raises(client.exceptions.ValidationException, match="signature"):
            client.converse(**request.sdk_kwargs())
        # segue's client knows that it is another endpoint, and does not take the thinking there.
        server.say(*SCRIPT)
        told(MODEL, CONTEXT, server, False)
        first = told(MODEL, CONTEXT, server, False)
        assert told(MODEL, answered(CONTEXT, first), other, False).stop_reason == "stop"
        assert reasoning(other.requests[-1]) == []


def test_a_payload_of_your_own_is_sent_as_bytes() -> None:
    given: list[AssistantContent] = [ThinkingContent("", "no base64!", redacted=True), TextContent("Hm.")]
    with StandIn("amazon-bedrock", script=[Reply(given)]) as server:
        message = told(MODEL, CONTEXT, server, True)
        assert message.content[0] == ThinkingContent("", b64encode(b"no base64!").decode(), redacted=True)
        again = told(MODEL, answered(CONTEXT, message), server, True)
    assert "Invalid `data` in `redacted_thinking` block" in (again.error_message or "")


def test_what_is_no_json_is_refused() -> None:
    with StandIn("amazon-bedrock") as server, httpx2.Client(trust_env=False) as http:
        url = f"{server.url}/model/{NOVA}/converse"
        answer = http.post(url, content=b"{", headers={"authorization": f"Bearer {server.key}"})
    assert answer.status_code == 400 and "could not parse" in answer.json()["message"]
    assert answer.headers["x-amzn-errortype"].startswith("ValidationException:")


# -- the SDK with segue's requests -----------------------------------------------------------------------------------


def bodies(client: Any, operation: str, request: segue.Request) -> Iterator[bytes]:
    """The answer's own bytes: boto3 hands them to those who listen, before anybody has read them."""
    found: list[Any] = []

    def take(response_dict: Any, **_: Any) -> None:
        found.append(response_dict["body"])

    client.meta.events.register_last("response-received.bedrock-runtime", take, unique_id="segue")
    try:
        answer = getattr(client, operation)(**request.sdk_kwargs())
    finally:
        client.meta.events.unregister("response-received.bedrock-runtime", unique_id="segue")
    [body] = found
    if operation == "converse":
        yield body
    else:
        yield from body.stream()
        answer["stream"].close()


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def test_the_sdk_sends_what_segue_encodes(client: Any, server: StandIn) -> None:
    model = segue.get_model(f"amazon-bedrock/{MODEL}")
    context = Context(
        system_prompt="Be brief.",
        messages=[UserMessage([TextContent("Weather here?"), ImageContent(PIXEL, "image/png")])],
        tools=[WEATHER],
    )
    request = segue.encode(context, model)
    [body] = bodies(client, "converse", request)
    first = segue.decode(body, request)
    assert server.requests[-1] == request.body and bare(first.content) == bare(CALLS)

    request = segue.encode(answered(context, first), model, segue.Options(stream=True))
    decoder = segue.Decoder(request)
    events = [event for data in bodies(client, "converse_stream", request) for event in decoder.feed(data)]
    events += decoder.close()
    second = decoder.message
    assert server.requests[-1] == request.body
    assert second is not None and bare(second.content) == bare(ANSWER) and second.stop_reason == "stop"
    assert [event.type for event in events].count("text_delta") == 3 and second.usage.total_tokens == 30

    request = segue.encode(answered(answered(context, first), second), model)
    [body] = bodies(client, "converse", request)
    assert segue.decode(body, request).text == "Answer 3." and server.requests[-1] == request.body
    assert reasoning(server.requests[-1]) == ["reasoningText", "redactedContent", "reasoningText"]
    assert not server.refused
