"""The stand-in of Mistral chat completions, tested with the provider's own SDK and with segue's client."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from mistralai.client import Mistral
from mistralai.client.errors import HTTPValidationError, ResponseValidationError, SDKError
from mistralai.client.models import (
    AssistantMessage,
    ChatCompletionResponse,
    CompletionChunk,
    TextChunk,
    ThinkChunk,
)
from support.facts import ARGUMENTS, FACTS, TEXTS, THINKING
from support.journeys import IMAGE
from support.talk import exchange_through_sdk, failure_of
from support.waiting import HANGS, SHORT

import segue
from segue.testing import Fault, FaultKind, Reply, StandIn
from segue.types import TextContent

MODEL = "mistral-medium-latest"
TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "Current weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
]
QUESTION: Any = {"role": "user", "content": "Weather in Paris and Rome?"}
SCRIPT = FACTS["mistral-chat"].script


@pytest.fixture(scope="module")
def http() -> Iterator[httpx2.Client]:
    # Loopback needs no certificates, and loading them is slower than most tests here.
    with httpx2.Client(verify=False, timeout=HANGS) as client:
        yield client


def client_of(server: StandIn, http: httpx2.Client, **settings: Any) -> Mistral:
    return Mistral(api_key=server.key, server_url=server.url, retry_config=None, client=http, **settings)


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn("mistral", script=SCRIPT) as server:
        yield server


@pytest.fixture
def client(server: StandIn, http: httpx2.Client) -> Mistral:
    return client_of(server, http)


def results(message: Any) -> list[Any]:
    """The results of all calls, as in the SDK's documentation."""
    return [
        {
            "role": "tool",
            "name": call.function.name,
            "content": f"18 C in {json.loads(call.function.arguments)['city']}",
            "tool_call_id": call.id,
        }
        for call in message.tool_calls or []
    ]


# -- loops of the SDK --------------------------------------------------------------------------------------------------


def test_a_tool_loop_of_the_sdk(client: Mistral, server: StandIn) -> None:
    first = client.chat.complete(model=MODEL, messages=[QUESTION], tools=TOOLS)
    message = first.choices[0].message
    assert message is not None and isinstance(message.content, list)
    thought, text = message.content
    assert isinstance(thought, ThinkChunk) and isinstance(thought.thinking[0], TextChunk)
    assert thought.thinking[0].text == THINKING and thought.signature
    assert isinstance(text, TextChunk) and text.text == TEXTS[0]
    assert message.tool_calls and all(re.fullmatch("[A-Za-z0-9]{9}", call.id or "") for call in message.tool_calls)
    assert [json.loads(str(call.function.arguments)) for call in message.tool_calls] == ARGUMENTS
    assert first.choices[0].finish_reason == "tool_calls" and first.usage.prompt_tokens == 100
    history: list[Any] = [QUESTION, message, *results(message)]
    second = client.chat.complete(model=MODEL, messages=history, tools=TOOLS).choices[0].message
    assert second is not None and isinstance(second.content, list)
    assert isinstance(second.content[1], TextChunk) and second.content[1].text == TEXTS[1]
    history += [second, {"role": "user", "content": "And tomorrow?"}]
    third = client.chat.complete(model=MODEL, messages=history, tools=TOOLS).choices[0].message
    assert third is not None and third.content == "Answer 3." and third.tool_calls is None
    assert not server.refused


def message_from(stream: Any) -> AssistantMessage:
    """The message from a stream; thinking stays in its original chunks."""
    thoughts: list[Any] = []
    text, calls = "", None
    for event in stream:
        delta = event.data.choices[0].delta
        if isinstance(delta.content, str):
            text += delta.content
        else:
            thoughts += delta.content
        calls = delta.tool_calls or calls
    return AssistantMessage(content=[*thoughts, TextChunk(text=text)], tool_calls=calls)


def test_a_tool_loop_of_the_sdk_as_streams(client: Mistral, server: StandIn) -> None:
    history: list[Any] = [QUESTION]
    texts: list[str] = []
    for _ in SCRIPT:
        with client.chat.stream(model=MODEL, messages=history, tools=TOOLS) as stream:
            message = message_from(stream)
        texts.append(message.content[-1].text)  # type: ignore[index,union-attr]
        history += [message, *results(message)]
    assert texts == TEXTS
    assert len(history) == 5 and not server.refused


def test_every_event_is_one_that_the_sdk_knows(http: httpx2.Client, server: StandIn) -> None:
    """The SDK's own types read each chunk without losing anything."""
    whole_answer: dict[str, Any] = {"model": MODEL, "messages": [QUESTION], "tools": TOOLS}
    raw = post(http, server, {**whole_answer, "stream": True}).text
    *lines, done = [line.removeprefix("data: ") for line in raw.splitlines() if line]
    assert done == "[DONE]"
    for line in lines:
        assert known(CompletionChunk, line) == json.loads(line)
    last = json.loads(lines[-1])
    assert last["choices"][0]["finish_reason"] == "tool_calls" and last["usage"]["total_tokens"] == 130
    whole = post(http, server, whole_answer)
    assert known(ChatCompletionResponse, whole.text) == whole.json()
    assert re.fullmatch("[0-9a-f]{32}", whole.json()["id"]) and whole.headers["mistral-correlation-id"] == "req_2"


def known(kind: Any, text: str) -> Any:
    return kind.model_validate_json(text).model_dump(mode="json", by_alias=True, exclude_unset=True)


def post(http: httpx2.Client, server: StandIn, body: Any) -> httpx2.Response:
    headers = {"authorization": f"Bearer {server.key}"}
    return http.post(f"{server.url}/v1/chat/completions", json=body, headers=headers)


def test_an_answer_that_was_cut_and_one_that_failed(http: httpx2.Client) -> None:
    script = [Reply([TextContent("One two")], stop="length"), Reply([], stop="error")]
    with StandIn("mistral", script=script) as server:
        chat = client_of(server, http).chat
        cut, failed = (chat.complete(model=MODEL, messages=[QUESTION]).choices[0] for _ in script)
    assert (cut.finish_reason, failed.finish_reason) == ("length", "error")
    assert failed.message is not None and failed.message.content == ""


def test_images_of_users_and_tools_are_accepted(client: Mistral, server: StandIn) -> None:
    picture: Any = {"type": "image_url", "image_url": f"data:image/png;base64,{IMAGE.data}"}
    question: Any = {"role": "user", "content": [picture, {"type": "text", "text": "What is the weather here?"}]}
    message = client.chat.complete(model=MODEL, messages=[question], tools=TOOLS).choices[0].message
    shown = [{**result, "content": [{"type": "text", "text": "The sky:"}, picture]} for result in results(message)]
    client.chat.complete(model=MODEL, messages=[question, message, *shown], tools=TOOLS)
    assert not server.refused


# -- refusals ----------------------------------------------------------------------------------------------------------


def refused(client: Mistral, history: list[Any], model: str = MODEL) -> dict[str, Any]:
    with pytest.raises(SDKError) as found:
        client.chat.complete(model=model, messages=history, tools=TOOLS)
    assert found.value.status_code == 400
    body: dict[str, Any] = json.loads(found.value.body)
    assert (body["object"], body["param"], body["raw_status_code"]) == ("error", None, 400)
    return body


def first_answer(client: Mistral) -> dict[str, Any]:
    message = client.chat.complete(model=MODEL, messages=[QUESTION], tools=TOOLS).choices[0].message
    assert message is not None
    return message.model_dump(mode="json", by_alias=True)


def outputs(message: dict[str, Any]) -> list[Any]:
    return [
        {"role": "tool", "name": "weather", "content": "18 C", "tool_call_id": call["id"]}
        for call in message["tool_calls"]
    ]


def test_a_call_without_its_result_is_refused(client: Mistral, server: StandIn) -> None:
    message = first_answer(client)
    error = refused(client, [QUESTION, message, *outputs(message)[:1]])
    assert error["message"] == "messages[1]: Not the same number of function calls and responses"
    assert (error["type"], error["code"]) == ("invalid_request_message_order", "3230")
    assert len(server.refused) == 1 and len(server.requests) == 2


def test_roles_in_the_wrong_order_are_refused(client: Mistral) -> None:
    message = first_answer(client)
    for history in (
        [QUESTION, {"role": "tool", "content": "18 C", "tool_call_id": "abcdefghi", "name": "weather"}],
        [QUESTION, message, {"role": "user", "content": "Well?"}, *outputs(message)],
        [QUESTION, {"role": "assistant", "content": "18 C"}],
    ):
        error = refused(client, history)
        assert " role " in error["message"] and error["code"] == "3230"


def test_a_user_message_after_results_is_accepted_as_by_mistral_itself(client: Mistral) -> None:
    message = first_answer(client)
    history: Any = [QUESTION, message, *outputs(message), {"role": "user", "content": "Well?"}]
    client.chat.complete(model=MODEL, messages=history, tools=TOOLS)


def test_ids_of_other_providers_are_refused(client: Mistral) -> None:
    message = first_answer(client)
    for at, call in enumerate(message["tool_calls"]):
        call["id"] = f"call_{at}"
    error = refused(client, [QUESTION, message, *outputs(message)])
    assert "must be a-z, A-Z, 0-9, with a length of 9." in error["message"]
    assert (error["type"], error["code"]) == ("invalid_function_call", "3280")


def test_an_empty_answer_is_refused(client: Mistral) -> None:
    error = refused(client, [QUESTION, {"role": "assistant", "content": ""}, QUESTION])
    assert "must have either content or tool_calls, but not none." in error["message"]
    assert (error["type"], error["code"]) == ("invalid_request_assistant_message", "3240")


def test_thinking_is_accepted_only_by_models_that_support_it(client: Mistral) -> None:
    message = first_answer(client)
    error = refused(client, [QUESTION, message, *outputs(message)], "mistral-large-latest")
    assert "Unexpected content chunk types in assistant message: ['ThinkChunk']" in error["message"]
    assert (error["type"], error["code"]) == ("invalid_request_error", None)


def test_an_unknown_field_is_a_validation_error(client: Mistral, server: StandIn, http: httpx2.Client) -> None:
    with pytest.raises(HTTPValidationError) as found:
        client.chat.complete(model=MODEL, messages=[QUESTION], max_tokens=10_000_000)
    [problem] = found.value.data.detail or []
    assert found.value.status_code == 422 and problem.loc == ["body", "max_tokens"]
    assert problem.msg.startswith("The token count of your prompt plus max_tokens cannot exceed")
    unknown = {"role": "assistant", "content": "Hi", "reasoning_content": "hm"}
    answer = post(http, server, {"model": MODEL, "messages": [QUESTION, unknown, QUESTION]})
    assert answer.status_code == 422 and answer.json()["detail"] == [
        {
            "type": "extra_forbidden",
            "loc": ["body", "messages", 1, "reasoning_content"],
            "msg": "Extra inputs are not permitted",
        }
    ]


def test_a_foreign_signature_is_refused(client: Mistral, server: StandIn) -> None:
    message = first_answer(client)
    thought = message["content"][0]
    for forged in ("of-another-account", thought["signature"][:-4] + "AAA="):
        changed = {**message, "content": [{**thought, "signature": forged}, *message["content"][1:]]}
        error = refused(client, [QUESTION, changed, *outputs(message)])
        assert error["message"] == "messages[1].content[0]: Invalid signature in thinking chunk"
    del thought["signature"]
    client.chat.complete(model=MODEL, messages=[QUESTION, message, *outputs(message)], tools=TOOLS)
    assert len(server.refused) == 2


# -- faults ----------------------------------------------------------------------------------------------------------

STATUSES: dict[FaultKind, tuple[int, str | None]] = {
    "rate-limit": (429, "1300"),
    "server-error": (500, "3800"),
    "unavailable": (503, "1100"),
    "overloaded": (429, "3505"),
    "wrong-key": (401, None),
    "overflow": (400, "3051"),
}


@pytest.mark.parametrize("kind", STATUSES)
def test_faults_with_a_status_are_errors_of_the_sdk(kind: FaultKind, http: httpx2.Client) -> None:
    def whole_answer(server: StandIn) -> Any:
        return client_of(server, http).chat.complete(model=MODEL, messages=[QUESTION])

    _, found = failure_of(StandIn("mistral", script=[Fault(kind, retry_after=2)]), SDKError, whole_answer)
    assert (found.status_code, json.loads(found.body).get("code")) == STATUSES[kind]
    assert found.headers["retry-after"] == "2"


IN_THE_STREAM: dict[FaultKind, tuple[type[Exception], str]] = {
    "error-event": (ResponseValidationError, "'object': 'error'"),
    "cut": (httpx2.RemoteProtocolError, "incomplete chunked read"),
    "silence": (httpx2.ReadTimeout, "timed out"),
    "broken-json": (ResponseValidationError, "Response validation failed"),
}


@pytest.mark.usefixtures("patient_until_silent")
@pytest.mark.parametrize("kind", IN_THE_STREAM)
def test_faults_in_mid_stream_are_errors_of_the_sdk(kind: FaultKind, http: httpx2.Client) -> None:
    def streamed(server: StandIn) -> Iterator[Any]:
        client = client_of(server, http, timeout_ms=int(1000 * (SHORT if kind == "silence" else HANGS)))
        with client.chat.stream(model=MODEL, messages=[QUESTION]) as stream:
            yield from (event.data.choices[0].delta.content for event in stream)

    error, text = IN_THE_STREAM[kind]
    seen, found = failure_of(StandIn("mistral", script=[Fault(kind)]), error, streamed)
    assert "".join(seen).startswith("One two") and text in str(found)


def test_a_wrong_key_is_refused(server: StandIn, http: httpx2.Client) -> None:
    client = Mistral(api_key="another-key-of-the-tests", server_url=server.url, retry_config=None, client=http)
    with pytest.raises(SDKError, match="Unauthorized"):
        client.chat.complete(model=MODEL, messages=[QUESTION])
    assert not server.requests


# -- the SDK with segue's requests -----------------------------------------------------------------------------------


def test_the_sdk_sends_what_segue_encodes(server: StandIn) -> None:
    """The SDK does not return the raw answer: a hook of its HTTP client keeps it. Streams have it as ``response``.

    The SDK adds its own defaults (``prefix``, ``index``), so the bodies are compared as conversations.
    """
    raw: list[httpx2.Response] = []
    with (
        httpx2.Client(verify=False, timeout=HANGS, event_hooks={"response": [raw.append]}) as http,
        client_of(server, http) as client,
    ):

        def whole(request: segue.Request) -> bytes:
            client.chat.complete(**request.sdk_kwargs())
            return raw[-1].content

        def pieces(request: segue.Request) -> Iterator[bytes]:
            with client.chat.stream(**request.sdk_kwargs()) as stream:
                yield from stream.response.iter_bytes()

        exchange_through_sdk(segue.get_model(f"mistral/{MODEL}"), server, whole, pieces, same=same)


def same(*bodies: dict[str, Any]) -> bool:
    sent, expected = (segue.ingest(body, "mistral-chat", now=0) for body in bodies)
    left, kept = (
        {name: value for name, value in body.items() if name not in ("messages", "tools", "stream")} for body in bodies
    )
    return sent == expected and left == kept
