"""The stand-in of Anthropic Messages, tested with the provider's own SDK and with segue's client."""

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from pydantic import TypeAdapter
from support.facts import ARGUMENTS, FACTS, TEXTS
from support.journeys import IMAGE
from support.providers import CONTEXT
from support.talk import answer_of, continued, exchange_through_sdk, failure_of
from support.waiting import HANGS, SHORT

import segue
from segue.testing import Fault, FaultKind, Reply, StandIn
from segue.types import TextContent, ThinkingContent, ToolCall

MODEL = "claude-haiku-4-5"
TOOLS: list[Any] = [
    {
        "name": "weather",
        "description": "Current weather",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }
]
QUESTION: Any = {"role": "user", "content": "Weather in Paris and Rome?"}
ASKED: dict[str, Any] = {
    "model": MODEL,
    "max_tokens": 4000,
    "tools": TOOLS,
    "thinking": {"type": "enabled", "budget_tokens": 1024},
}
SCRIPT = FACTS["anthropic-messages"].script
PICTURE: Any = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE.data}}


def client_of(server: StandIn, **settings: Any) -> anthropic.Anthropic:
    # Loopback needs no certificates, and loading them is slower than most tests here.
    http = anthropic.DefaultHttpxClient(verify=False)
    return anthropic.Anthropic(base_url=server.url, api_key=server.key, max_retries=0, http_client=http, **settings)


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn("anthropic", script=SCRIPT) as server:
        yield server


@pytest.fixture
def client(server: StandIn) -> Iterator[anthropic.Anthropic]:
    with client_of(server) as client:
        yield client


def results(content: list[Any]) -> Any:
    """The results of all calls, as in the SDK's documentation."""
    calls = [block if isinstance(block, dict) else block.to_dict() for block in content]
    return {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": call["id"], "content": f"18 C in {call['input']['city']}"}
            for call in calls
            if call["type"] == "tool_use"
        ],
    }


# -- loops of the SDK --------------------------------------------------------------------------------------------------


def test_a_tool_loop_of_the_sdk(client: anthropic.Anthropic, server: StandIn) -> None:
    first = client.messages.create(messages=[QUESTION], **ASKED)
    assert [block.type for block in first.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert [block.input for block in first.content if block.type == "tool_use"] == ARGUMENTS
    assert first.stop_reason == "tool_use" and first.id.startswith("msg_")
    assert (first.usage.input_tokens, first.usage.cache_read_input_tokens, first.usage.output_tokens) == (70, 20, 30)
    history: list[Any] = [QUESTION, {"role": "assistant", "content": first.content}, results(first.content)]
    second = client.messages.create(messages=history, **ASKED)
    assert [block.type for block in second.content] == [
        "redacted_thinking",
        "text",
    ] and second.stop_reason == "end_turn"
    history += [{"role": "assistant", "content": second.content}, {"role": "user", "content": "And tomorrow?"}]
    assert client.messages.create(messages=history, **ASKED).content[0].type == "text"
    assert not server.refused


def test_a_tool_loop_of_the_sdk_as_streams(client: anthropic.Anthropic, server: StandIn) -> None:
    history: list[Any] = [QUESTION]
    texts: list[str] = []
    for _ in SCRIPT:
        with client.messages.stream(messages=history, **ASKED) as stream:
            texts.append("".join(stream.text_stream))
            message = stream.get_final_message()
        history += [{"role": "assistant", "content": message.content}, results(message.content)]
    assert texts == TEXTS
    assert message.usage.output_tokens == 10
    assert not server.refused


def test_the_tool_runner_of_the_sdk(client: anthropic.Anthropic, server: StandIn) -> None:
    """The SDK's own loop, which runs the calls and sends thinking back unchanged, without a thread on the server."""

    @anthropic.beta_tool
    def weather(city: str, days: int = 1, note: str = "") -> str:
        """Current weather."""
        return f"18 C in {city}"

    whole_answer: Any = {**ASKED, "tools": [weather], "messages": [QUESTION], "thread": False}
    last = client.beta.messages.tool_runner(**whole_answer).until_done()
    assert last.content[-1].type == "text" and last.content[-1].text.startswith("18 C in Paris")
    assert len(server.requests) == 2 and not server.refused


def test_thinking_between_calls_is_verified_block_by_block() -> None:
    call = ToolCall("", "weather", {"city": "Paris"})
    script = [
        Reply([ThinkingContent("Paris first."), call]),
        Reply([ThinkingContent("Again,"), TextContent("to be sure."), ThinkingContent("Twice."), call]),
        Reply([ThinkingContent("Done."), TextContent("18 C.")]),
    ]
    history: list[Any] = [QUESTION]
    with StandIn("anthropic", script=script) as server, client_of(server) as client:
        for _ in script:
            message = client.beta.messages.create(messages=history, betas=["interleaved-thinking-2025-05-14"], **ASKED)
            history += [{"role": "assistant", "content": message.content}, results(message.content)]
        assert message.content[-1].type == "text" and message.content[-1].text == "18 C."
        assert not server.refused
        swapped = [message.to_dict() for message in history[3]["content"]]
        swapped[0], swapped[2] = {**swapped[0], "thinking": "Twice."}, {**swapped[2], "thinking": "Again,"}
        history[3] = {"role": "assistant", "content": swapped}
        error = refused(client, history[:5])
        assert "messages.3.content.0: Invalid `signature` in `thinking` block" in error.message


def test_images_of_users_and_tools_are_accepted(client: anthropic.Anthropic, server: StandIn) -> None:
    question: Any = {"role": "user", "content": [PICTURE, {"type": "text", "text": "What is the weather here?"}]}
    first = client.messages.create(messages=[question], **ASKED)
    shown = results(first.content)
    for result in shown["content"]:
        result["content"] = [{"type": "text", "text": "The sky:"}, PICTURE]
    client.messages.create(messages=[question, {"role": "assistant", "content": first.content}, shown], **ASKED)
    assert not server.refused


def test_every_event_is_one_that_the_sdk_knows(client: anthropic.Anthropic) -> None:
    """The SDK does not validate what it receives; here its types are checked. It leaves pings out."""
    event_type: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
    with client.messages.with_streaming_response.create(messages=[QUESTION], stream=True, **ASKED) as raw:
        lines = [line.removeprefix("data: ") for line in raw.iter_lines() if line.startswith("data: ")]
    kinds = [json.loads(line)["type"] for line in lines]
    assert kinds[:3] == ["message_start", "ping", "content_block_start"]
    assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    for line, kind in zip(lines, kinds, strict=True):
        if kind != "ping":
            assert event_type.validate_json(line).type == kind
    whole = client.messages.with_raw_response.create(messages=[QUESTION], **ASKED)
    assert whole.headers["request-id"] == "req_2"
    TypeAdapter(Message).validate_json(whole.read())


def test_an_answer_that_was_cut_and_one_that_was_refused() -> None:
    script = [Reply([TextContent("One two")], stop="length"), Reply([], stop="error")]
    with StandIn("anthropic", script=script) as server, client_of(server) as client:
        cut, declined = (client.messages.create(model=MODEL, max_tokens=9, messages=[QUESTION]) for _ in script)
    assert (cut.stop_reason, declined.stop_reason, declined.content) == ("max_tokens", "refusal", [])


# -- refusals ----------------------------------------------------------------------------------------------------------


def refused(client: anthropic.Anthropic, history: list[Any], **more: Any) -> anthropic.BadRequestError:
    with pytest.raises(anthropic.BadRequestError) as found:
        client.messages.create(messages=history, **(ASKED | more))
    assert found.value.status_code == 400
    assert found.value.body["error"]["type"] == "invalid_request_error"  # type: ignore[index]
    return found.value


def first_answer(client: anthropic.Anthropic) -> list[Any]:
    return [block.to_dict() for block in client.messages.create(messages=[QUESTION], **ASKED).content]


def turns(content: list[Any]) -> list[Any]:
    return [QUESTION, {"role": "assistant", "content": content}, results(content)]


def test_a_call_without_its_result_is_refused(client: anthropic.Anthropic, server: StandIn) -> None:
    error = refused(client, [*turns(first_answer(client))[:2], {"role": "user", "content": "Well?"}])
    assert "`tool_use` ids were found without `tool_result` blocks immediately after" in error.message
    assert error.message.startswith("Error code: 400") and "messages.1" in error.message
    assert error.request_id == "req_2" and len(server.refused) == 1 and len(server.requests) == 2


def test_an_answer_with_calls_must_begin_with_thinking_if_thinking_is_on(client: anthropic.Anthropic) -> None:
    error = refused(client, turns(first_answer(client)[1:]))
    assert "When `thinking` is enabled, a final `assistant` message must start with a thinking block" in error.message


def test_thinking_blocks_may_be_left_out_if_thinking_is_off(client: anthropic.Anthropic, server: StandIn) -> None:
    off: Any = {"type": "disabled"}
    client.messages.create(messages=turns(first_answer(client)[1:]), **(ASKED | {"thinking": off}))
    assert not server.refused


def test_the_shape_of_another_protocol_is_refused(client: anthropic.Anthropic) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    refused(client, [QUESTION, {"role": "assistant", "tool_calls": [call]}])
    refused(client, [QUESTION, {"role": "tool", "content": "18 C", "tool_use_id": "call_1"}])


@pytest.mark.parametrize(
    "change",
    [
        {"thinking": "I should make it up."},
        {"thinking": ""},
        {"signature": "EqQBCkgIAxABGAIiQL8="},
        {"signature": "not base64 at all"},
        {"signature": ""},
    ],
    ids=repr,
)
def test_thinking_with_a_foreign_signature_is_refused(client: anthropic.Anthropic, change: dict[str, str]) -> None:
    thought, *rest = first_answer(client)
    error = refused(client, turns([{**thought, **change}, *rest]))
    assert "messages.1.content.0" in error.message and "signature" in error.message


def test_redacted_thinking_is_verified(client: anthropic.Anthropic, server: StandIn) -> None:
    thought, *rest = first_answer(client)
    sealed = first_answer(client)[0]
    assert sealed["type"] == "redacted_thinking"
    client.messages.create(messages=turns([thought, sealed, *rest]), **ASKED)
    error = refused(client, turns([thought, {**sealed, "data": thought["signature"]}, *rest]))
    assert "messages.1.content.1: Invalid `data` in `redacted_thinking` block" in error.message
    as_signature = {"type": "thinking", "thinking": "", "signature": sealed["data"]}
    refused(client, turns([thought, as_signature, *rest]))
    assert len(server.refused) == 2


# -- faults ----------------------------------------------------------------------------------------------------------

STATUSES: dict[FaultKind, tuple[type[anthropic.APIStatusError], int, str]] = {
    "rate-limit": (anthropic.RateLimitError, 429, "rate_limit_error"),
    "server-error": (anthropic.InternalServerError, 500, "api_error"),
    "unavailable": (anthropic.APIStatusError, 503, "api_error"),
    "overloaded": (anthropic.APIStatusError, 529, "overloaded_error"),
    "wrong-key": (anthropic.AuthenticationError, 401, "authentication_error"),
    "overflow": (anthropic.BadRequestError, 400, "invalid_request_error"),
}


@pytest.mark.parametrize("kind", STATUSES)
def test_faults_with_a_status_are_errors_of_the_sdk(kind: FaultKind) -> None:
    error, status, word = STATUSES[kind]
    _, found = failure_of(StandIn("anthropic", script=[Fault(kind, retry_after=2)]), error, whole_answer)
    assert (found.status_code, found.type) == (status, word)
    assert found.response.headers["retry-after"] == "2"


def whole_answer(server: StandIn) -> Any:
    with client_of(server) as client:
        return client.messages.create(messages=[QUESTION], **ASKED)


IN_THE_STREAM: dict[FaultKind, type[Exception]] = {
    "error-event": anthropic.APIStatusError,
    "cut": httpx2.RemoteProtocolError,
    "silence": httpx2.ReadTimeout,
    "broken-json": json.JSONDecodeError,
}


@pytest.mark.usefixtures("patient_until_silent")
@pytest.mark.parametrize("kind", IN_THE_STREAM)
def test_faults_in_mid_stream_are_errors_of_the_sdk(kind: FaultKind) -> None:
    patience = SHORT if kind == "silence" else HANGS
    seen, error = failure_of(
        StandIn("anthropic", script=[Fault(kind)]), IN_THE_STREAM[kind], lambda server: streamed(server, patience)
    )
    assert "content_block_delta" in seen and "message_stop" not in seen
    assert getattr(error, "type", None) == ("overloaded_error" if kind == "error-event" else None)


def streamed(server: StandIn, patience: float) -> Iterator[str]:
    with (
        client_of(server, timeout=patience) as client,
        client.messages.create(messages=[QUESTION], stream=True, **ASKED) as stream,
    ):
        yield from (event.type for event in stream)


def test_a_wrong_key_is_refused(server: StandIn) -> None:
    with (
        client_of(server).with_options(api_key="another-key-of-the-tests") as client,
        pytest.raises(anthropic.AuthenticationError),
    ):
        client.messages.create(messages=[QUESTION], **ASKED)
    assert not server.requests


# -- segue as the client ---------------------------------------------------------------------------------------------


def test_a_local_server_of_the_protocol() -> None:
    model = segue.get_model("local/smollm2-135m", protocol="anthropic-messages")
    with StandIn("local", protocol="anthropic-messages", script=SCRIPT) as server:
        first = answer_of(model, CONTEXT, server, True)
        assert answer_of(model, continued(CONTEXT, first), server, True).text.startswith("18 C")
    assert not server.refused


# -- the SDK with segue's requests -----------------------------------------------------------------------------------


def test_the_sdk_sends_what_segue_encodes(client: anthropic.Anthropic, server: StandIn) -> None:
    def whole(request: segue.Request) -> bytes:
        return client.messages.with_raw_response.create(**request.sdk_kwargs()).read()

    def pieces(request: segue.Request) -> Iterator[bytes]:
        with client.messages.with_streaming_response.create(**request.sdk_kwargs()) as response:
            yield from response.iter_bytes()

    exchange_through_sdk(segue.get_model(f"anthropic/{MODEL}"), server, whole, pieces)


@pytest.mark.parametrize(("version", "status"), [("2023-06-01", 200), ("2026-10-21", 400)])
def test_sampling_options_are_refused_by_the_version_that_the_header_names(version: str, status: int) -> None:
    body = {"model": MODEL, "max_tokens": 8, "messages": [QUESTION], "temperature": 0.5}
    with StandIn("anthropic") as server:
        headers = {"x-api-key": server.key, "anthropic-version": version}
        assert httpx2.post(f"{server.url}/v1/messages", json=body, headers=headers).status_code == status
    assert [each.severity for each in segue.lint(body, "anthropic-messages", f"anthropic/{MODEL}")] == ["warning"]
