"""The stand-in of Bedrock Converse, tested with the provider's own SDK and with segue's client."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import boto3
import httpx2
import pytest
import urllib3
from botocore.config import Config
from botocore.exceptions import ClientError, EventStreamError, ReadTimeoutError as NoAnswerError
from support.facts import ARGUMENTS, FACTS, LLAMA, NOVA, SONNET as MODEL, TEXTS, THINKING, reasoning
from support.journeys import IMAGE
from support.providers import CONTEXT, WEATHER
from support.talk import answer_of, continued, exchange_through_sdk, failure_of
from support.waiting import HANGS, SHORT

import segue
from segue.testing import Fault, FaultKind, Reply, StandIn
from segue.types import AssistantContent, Context, TextContent, ThinkingContent, UserMessage
from segue.wire.bedrock_converse.frames import EventStream

REF = f"amazon-bedrock/{MODEL}"
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
SCRIPT = FACTS["bedrock-converse"].script
CALLS = SCRIPT[0].content

SESSION = boto3.Session("none", "none", "none", "us-east-1")


@contextmanager
def client_of(server: StandIn, **settings: Any) -> Iterator[Any]:
    # Signed, whatever the environment contains.
    settings = {"connect_timeout": HANGS, "read_timeout": HANGS} | settings
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
    """The results of all calls, as in the SDK's documentation."""
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
    """The message from the events of a stream, for the next request."""
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


# -- loops of the SDK --------------------------------------------------------------------------------------------------


def test_a_tool_loop_of_the_sdk(client: Any, server: StandIn) -> None:
    first = asked(client, [QUESTION])
    message = first["output"]["message"]
    thought, redacted, text, *calls = message["content"]
    assert thought["reasoningContent"]["reasoningText"]["text"] == THINKING
    assert thought["reasoningContent"]["reasoningText"]["signature"]
    assert isinstance(redacted["reasoningContent"]["redactedContent"], bytes)
    assert text == {"text": TEXTS[0]}
    assert [call["toolUse"]["input"] for call in calls] == ARGUMENTS
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
    assert second["output"]["message"]["content"][-1] == {"text": TEXTS[1]}
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
    assert texts == [*TEXTS, "Answer 3."]
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
    """Check a value with the service model: all required members, and no unknown ones."""
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
def test_every_frame_fits_the_service_model(client: Any, stop: Any) -> None:
    """The SDK accepts missing members and ignores unknown ones; here its model is checked."""
    service = client.meta.service_model
    server = StandIn("amazon-bedrock")
    answer = server.complete(Reply(CALLS, stop=stop), server.model(MODEL))
    assert_fits(service.operation_model("Converse").output_shape, server.voice.whole(answer))
    frames = EventStream().feed(b"".join(server.voice.events(answer)))
    members = service.operation_model("ConverseStream").output_shape.members["stream"].members
    names = [name.decode() for name, _ in frames]
    for name, (_, payload) in zip(names, frames, strict=True):
        assert_fits(members[name], json.loads(payload), more=("p",))
    assert names.count("contentBlockStop") == len(CALLS)
    assert set(names) == {name for name in members if not name.endswith("Exception")}


def test_only_claude_signs_readable_thinking() -> None:
    with StandIn("amazon-bedrock", script=SCRIPT * 2) as server, client_of(server) as client:
        whole = asked(client, [QUESTION], model=NOVA)["output"]["message"]
        assert asked(client, [QUESTION], model=NOVA)["stopReason"] == "end_turn"
        message = assembled(streamed(client, [QUESTION], model=NOVA))
    for content in (whole["content"], message["content"]):
        assert content[0]["reasoningContent"] == {"reasoningText": {"text": THINKING}}
        assert content[1]["reasoningContent"].keys() == {"redactedContent"}


def test_a_profile_is_resolved_to_the_model_in_its_arn(client: Any, server: StandIn) -> None:
    message = asked(client, [QUESTION], model=ARN)["output"]["message"]
    assert message["content"][0]["reasoningContent"]["reasoningText"]["signature"]
    assert streamed(client, [QUESTION, message, results(message)], model=ARN)


def test_an_answer_that_was_cut_and_one_that_was_refused() -> None:
    script = [Reply([TextContent("One two")], stop="length"), Reply([], stop="error")]
    with StandIn("amazon-bedrock", script=[*script, *script]) as server, client_of(server) as client:
        assert [asked(client, [QUESTION])["stopReason"] for _ in script] == ["max_tokens", "content_filtered"]
        ends = [streamed(client, [QUESTION])[-2]["messageStop"]["stopReason"] for _ in script]
    assert ends == ["max_tokens", "content_filtered"]


# -- refusals ----------------------------------------------------------------------------------------------------------


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


def test_families_refuse_what_they_do_not_accept(client: Any) -> None:
    message = first_answer(client)
    history = [QUESTION, message, results(message)]
    assert "reasoningText.signature field" in refused(client, history, model=NOVA)
    message["content"] = message["content"][2:]
    assert "cannot be provided in the same turn" in refused(client, history, model=LLAMA)
    assert "A conversation must start with a user message" in refused(client, history[1:], model=NOVA)


def test_tools_in_a_stream_are_refused_if_the_model_does_not_support_them(client: Any, server: StandIn) -> None:
    with pytest.raises(client.exceptions.ValidationException, match="doesn't support tool use in streaming mode"):
        streamed(client, [QUESTION], model=LLAMA)
    asked(client, [QUESTION], model=LLAMA)
    stream = client.converse_stream(modelId=LLAMA, messages=[QUESTION])["stream"]
    assert len(list(stream)) > 4 and len(server.refused) == 1


def test_foreign_signatures_are_refused(client: Any) -> None:
    message = first_answer(client)
    history = [QUESTION, message, results(message)]
    with StandIn("amazon-bedrock", account="other", script=SCRIPT) as other, client_of(other) as theirs:
        assert "messages.1.content.0: Invalid `signature` in `thinking` block" in refused(theirs, history)
        foreign = first_answer(theirs)
    own = list(message["content"])
    text = own[0]["reasoningContent"]["reasoningText"]
    message["content"][0] = {"reasoningContent": {"reasoningText": text | {"text": "Something else."}}}
    text = "The model returned the following errors: messages.1.content.{}: Invalid `{}` in `{}` block"
    assert refused(client, history) == text.format(0, "signature", "thinking")
    message["content"] = [own[0], foreign["content"][1], *own[2:]]
    assert refused(client, history) == text.format(1, "data", "redacted_thinking")
    message["content"] = [own[0], {"reasoningContent": {"redactedContent": b"made up"}}, *own[2:]]
    assert refused(client, history) == text.format(1, "data", "redacted_thinking")
    message["content"] = own
    asked(client, history)


def test_a_bedrock_key_is_a_bearer_token(server: StandIn) -> None:
    """boto3 sends it only over TLS ("Bearer authorization requires an HTTPS endpoint."), other clients always."""
    body = {"messages": [QUESTION]}
    with httpx2.Client(trust_env=False, timeout=HANGS) as http:
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


IN_THE_STREAM: dict[FaultKind, type[Exception]] = {
    "error-event": EventStreamError,
    "cut": urllib3.exceptions.ProtocolError,
    "silence": urllib3.exceptions.ReadTimeoutError,
}


@pytest.mark.usefixtures("patient_until_silent")
@pytest.mark.parametrize("kind", IN_THE_STREAM)
def test_faults_in_mid_stream_are_errors_of_the_sdk(kind: FaultKind) -> None:
    def events(server: StandIn) -> Iterator[Any]:
        with client_of(server, read_timeout=SHORT if kind == "silence" else HANGS) as client:
            stream = client.converse_stream(modelId=MODEL, messages=[QUESTION])["stream"]
            with closing(stream):
                yield from stream

    seen, error = failure_of(StandIn("amazon-bedrock", script=[Fault(kind)]), IN_THE_STREAM[kind], events)
    assert assembled(seen)["content"][0]["text"].startswith("One two three")
    if isinstance(error, EventStreamError):
        assert error.response["Error"]["Code"] == "serviceUnavailableException"


def test_silence_before_a_whole_answer_is_an_error_of_the_sdk() -> None:
    with (
        StandIn("amazon-bedrock", script=[Fault("silence")]) as server,
        client_of(server, read_timeout=SHORT) as client,
        pytest.raises(NoAnswerError),
    ):
        asked(client, [QUESTION])


@pytest.mark.parametrize("kind", ["broken-json", "cut"])
def test_segue_reports_faults_that_the_sdk_does_not_notice(kind: FaultKind) -> None:
    """boto3 reads broken JSON as an empty object (botocore 1.44.0, parsers.py)."""
    with StandIn("amazon-bedrock", script=[Fault(kind)] * 4) as server, client_of(server) as client:
        assert asked(client, [QUESTION]).keys() == {"ResponseMetadata"}
        if kind == "broken-json":
            assert streamed(client, [QUESTION])[-1] == {"contentBlockDelta": {}}
        for streams in (False, True):
            message = answer_of(REF, CONTEXT, server, streams, retries=segue.Retries(count=0))
            assert message.stop_reason == "error"
            assert type(segue.error_of(message)) is segue.errors.NetworkError
            assert message.text.startswith("One two three") is streams


# -- segue as the client ---------------------------------------------------------------------------------------------


def test_a_payload_in_the_script_is_sent_as_bytes() -> None:
    given: list[AssistantContent] = [ThinkingContent("", "no base64!", redacted=True), TextContent("Hm.")]
    with StandIn("amazon-bedrock", script=[Reply(given)]) as server:
        message = answer_of(REF, CONTEXT, server, True)
        assert message.content[0] == ThinkingContent("", b64encode(b"no base64!").decode(), redacted=True)
        again = answer_of(REF, continued(CONTEXT, message), server, True, heal=False)
    assert "Invalid `data` in `redacted_thinking` block" in (again.error_message or "")


def test_a_body_that_is_not_json_is_refused() -> None:
    with StandIn("amazon-bedrock") as server, httpx2.Client(trust_env=False, timeout=HANGS) as http:
        url = f"{server.url}/model/{NOVA}/converse"
        answer = http.post(url, content=b"{", headers={"authorization": f"Bearer {server.key}"})
    assert answer.status_code == 400 and "could not parse" in answer.json()["message"]
    assert answer.headers["x-amzn-errortype"].startswith("ValidationException:")


# -- the SDK with segue's requests -----------------------------------------------------------------------------------


def bodies(client: Any, operation: str, request: segue.Request) -> Iterator[bytes]:
    """The raw bytes of an answer, from a hook of boto3 that runs before they are read."""
    found: list[Any] = []

    def keep(response_dict: Any, **_: Any) -> None:
        found.append(response_dict["body"])

    client.meta.events.register_last("response-received.bedrock-runtime", keep, unique_id="segue")
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


def test_the_sdk_sends_what_segue_encodes(client: Any, server: StandIn) -> None:
    def whole(request: segue.Request) -> bytes:
        [body] = bodies(client, "converse", request)
        return body

    def pieces(request: segue.Request) -> Iterator[bytes]:
        return bodies(client, "converse_stream", request)

    model = segue.get_model(REF)
    question = UserMessage([TextContent("Weather here?"), IMAGE])
    context = Context(system_prompt="Be brief.", messages=[question], tools=[WEATHER])
    context, second, events = exchange_through_sdk(model, server, whole, pieces, context=context)
    assert events.count("text_delta") == 3 and second.usage.total_tokens == 30
    request = segue.encode(continued(context, second), model)
    assert segue.decode(whole(request), request).text == "Answer 3." and server.requests[-1] == request.body
    assert reasoning(server.requests[-1]) == ["reasoningText", "redactedContent", "reasoningText"]
    assert not server.refused
