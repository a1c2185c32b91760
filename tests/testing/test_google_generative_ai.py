"""The stand-in of Google generateContent, tested with the provider's own SDK and with segue's client."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpx2
import pytest
from google import genai
from google.genai import errors, types
from google.oauth2.credentials import Credentials
from hypothesis import given, strategies as st
from support.facts import ARGUMENTS, FACTS, TEXTS, THINKING, signatures
from support.providers import CONTEXT
from support.talk import contents, continued, exchange_through_sdk, failure_of, read_back
from support.waiting import HANGS, SHORT

import segue
from segue.testing import Fault, FaultKind, Reply, StandIn
from segue.types import AssistantContent, TextContent, ThinkingContent, ToolCall

MODEL = "gemini-3.6-flash"
OLDER = "gemini-2.5-pro"
WEATHER = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(
            name="weather",
            description="Current weather",
            parameters=types.Schema(type=types.Type.OBJECT, properties={"city": types.Schema(type=types.Type.STRING)}),
        )
    ]
)
CONFIG = types.GenerateContentConfig(
    tools=[WEATHER],
    system_instruction="Be brief.",
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
)
QUESTION: types.Content = types.UserContent("Weather in Paris and Rome?")
GOOGLE = FACTS["google-generative-ai"]
SCRIPT = GOOGLE.script
CALLS, ANSWER = (reply.content for reply in SCRIPT)


@contextmanager
def client_of(server: StandIn, key: str | None = None, timeout: int | None = None) -> Iterator[genai.Client]:
    """The SDK for the surface of the stand-in; Vertex requires a token, a project and a location."""
    retries = types.HttpRetryOptions(attempts=1)
    options = types.HttpOptions(base_url=server.url, retry_options=retries, timeout=timeout)
    key = key or server.key
    if server.provider == "google":
        client = genai.Client(api_key=key, http_options=options)
    else:
        token = Credentials(token=key)  # type: ignore[no-untyped-call]
        client = genai.Client(
            vertexai=True, project="p", location="europe-west4", credentials=token, http_options=options
        )
    with client:
        yield client


@pytest.fixture(params=["google", "google-vertex"])
def server(request: pytest.FixtureRequest) -> Iterator[StandIn]:
    with StandIn(request.param, script=SCRIPT) as server:
        yield server


@pytest.fixture
def client(server: StandIn) -> Iterator[genai.Client]:
    with client_of(server) as client:
        yield client


def content_of(response: types.GenerateContentResponse) -> types.Content:
    assert response.candidates and response.candidates[0].content
    return response.candidates[0].content


def parts_of(*responses: types.GenerateContentResponse) -> list[types.Part]:
    return [part for response in responses for part in content_of(response).parts or []]


def results(parts: list[types.Part]) -> list[types.Part]:
    """The results of all calls, as in the SDK's documentation."""
    calls = [part.function_call for part in parts if part.function_call]
    return [
        types.Part.from_function_response(name=call.name or "", response={"output": f"18 C in {call.args}"})
        for call in calls
    ]


# -- loops of the SDK --------------------------------------------------------------------------------------------------


def test_a_tool_loop_of_the_sdk(client: genai.Client, server: StandIn) -> None:
    chat = client.chats.create(model=MODEL, config=CONFIG)
    first = chat.send_message("Weather in Paris and Rome?")
    thought, text, *calls = parts_of(first)
    assert (thought.text, thought.thought) == (THINKING, True)
    assert first.text == TEXTS[0] and text.thought is None
    assert [call.function_call and call.function_call.args for call in calls] == ARGUMENTS
    assert [part.thought_signature is not None for part in (thought, text, *calls)] == [False, False, True, False]
    assert first.candidates and first.candidates[0].finish_reason is types.FinishReason.STOP
    assert (first.model_version, first.response_id) == (MODEL, f"{server.provider}-1")
    second = chat.send_message(results(calls))  # type: ignore[arg-type]
    assert second.text == TEXTS[1]
    assert chat.send_message("Thanks.").text == "Answer 3."
    assert not server.refused


def test_a_tool_loop_of_the_sdk_as_streams(client: genai.Client, server: StandIn) -> None:
    history: list[Any] = [QUESTION]
    texts: list[str] = []
    for _ in (*SCRIPT, "and another"):
        chunks = list(client.models.generate_content_stream(model=MODEL, contents=history, config=CONFIG))
        parts = parts_of(*chunks)
        texts.append("".join(part.text or "" for part in parts if not part.thought))
        history += [types.ModelContent(parts), types.UserContent(results(parts) or "Go on.")]
        last = chunks[-1].candidates
        assert last and last[0].finish_reason is types.FinishReason.STOP
    assert texts == [*TEXTS, "Answer 3."]
    assert not server.refused


def test_the_sdk_calls_functions_itself(client: genai.Client, server: StandIn) -> None:
    whole_answer: list[str] = []

    def weather(city: str, days: int = 1, note: str = "") -> str:
        whole_answer.append(city)
        return "18 C"

    config = types.GenerateContentConfig(tools=[weather])
    response = client.models.generate_content(model=MODEL, contents="Weather in Paris and Rome?", config=config)
    assert (whole_answer, response.text) == (["Paris", "Rome"], TEXTS[1])
    assert len(server.requests) == 2 and not server.refused


def test_usage_is_counted_like_google(client: genai.Client) -> None:
    usage = client.models.generate_content(model=MODEL, contents="go").usage_metadata
    assert usage is not None and usage.prompt_token_count == 100 and usage.cached_content_token_count == 30
    assert (usage.candidates_token_count, usage.thoughts_token_count, usage.total_token_count) == (16, 15, 131)


def test_a_text_is_signed_after_thinking_and_in_a_stream_on_an_empty_text() -> None:
    for thought in (ThinkingContent("hm"), ThinkingContent("", redacted=True)):
        reply = Reply([thought, TextContent("One two three four.")])
        with StandIn("google", script=[reply, reply]) as server, client_of(server) as client:
            whole = parts_of(client.models.generate_content(model=MODEL, contents="go"))
            streamed = parts_of(*client.models.generate_content_stream(model=MODEL, contents="go"))
        assert whole[-1].text == "One two three four." and whole[-1].thought_signature
        assert streamed[-1].text == "" and streamed[-1].thought_signature
        assert not any(part.thought_signature for part in (*whole[:-1], *streamed[:-1]))
        assert any(part.thought for part in whole) is not thought.redacted


@pytest.mark.parametrize(
    ("model", "content", "signed"),
    [
        (MODEL, [TextContent("Hi.")], 0),
        (MODEL, [ToolCall("call_1", "weather", {})], 1),
        (OLDER, [ToolCall("call_1", "weather", {})], 0),
        (OLDER, CALLS, 1),
        (OLDER, ANSWER, 0),
        ("gemini-2.0-flash", CALLS, 0),
    ],
)
def test_each_model_signs_the_blocks_that_the_real_one_signs(
    model: str, content: list[AssistantContent], signed: int
) -> None:
    with StandIn("google", script=[Reply(content)]) as server, client_of(server) as client:
        parts = parts_of(client.models.generate_content(model=model, contents="go"))
    assert sum(part.thought_signature is not None for part in parts) == signed
    assert not any(part.function_call and part.function_call.id for part in parts)


def test_an_answer_that_was_cut_and_one_that_was_refused() -> None:
    script = [Reply([TextContent("One two")], stop="length"), Reply([], stop="error")]
    with StandIn("google", script=[*script, *script]) as server, client_of(server) as client:
        cut, refused = (client.models.generate_content(model=MODEL, contents="go").candidates for _ in script)
        streamed = [list(client.models.generate_content_stream(model=MODEL, contents="go")) for _ in script]
    assert cut and cut[0].finish_reason is types.FinishReason.MAX_TOKENS
    assert refused and refused[0].finish_reason is types.FinishReason.SAFETY
    ends = [chunks[-1].candidates for chunks in streamed]
    assert [end and end[0].finish_reason for end in ends] == [cut[0].finish_reason, refused[0].finish_reason]


# -- refusals ----------------------------------------------------------------------------------------------------------


def refused(client: genai.Client, contents: list[Any], model: str = MODEL) -> str:
    with pytest.raises(errors.ClientError) as found:
        client.models.generate_content(model=model, contents=contents, config=CONFIG)
    assert (found.value.code, found.value.status) == (400, "INVALID_ARGUMENT")
    return found.value.message or ""


def first_answer(client: genai.Client) -> types.Content:
    return content_of(client.models.generate_content(model=MODEL, contents=[QUESTION], config=CONFIG))


def resigned(answer: types.Content, signature: bytes | None) -> list[Any]:
    """The request after an answer with another signature."""
    parts = [part.model_copy() for part in answer.parts or []]
    for part in parts:
        if part.thought_signature is not None:
            part.thought_signature = signature
    return [QUESTION, types.ModelContent(parts), types.UserContent(results(parts))]


def test_a_call_without_its_response_is_refused(client: genai.Client, server: StandIn) -> None:
    answer = first_answer(client)
    text = "the number of function response parts is equal to the number of function call parts"
    assert text in refused(client, [QUESTION, answer, types.UserContent(results(answer.parts or [])[0])])
    assert text in refused(client, [QUESTION, answer, QUESTION])
    assert len(server.refused) == 2


def test_a_call_without_its_signature_is_refused(client: genai.Client) -> None:
    history = resigned(first_answer(client), None)
    assert "Function call is missing a thought_signature in functionCall parts." in refused(client, history)
    # Models before Gemini 3 do not require it.
    client.models.generate_content(model=OLDER, contents=history, config=CONFIG)


def test_the_shape_of_another_protocol_is_refused(client: genai.Client, server: StandIn) -> None:
    answer = types.Content(role="assistant", parts=[types.Part(text="hm")])
    assert "Please use a valid role: user, model." in refused(client, [QUESTION, answer, QUESTION])
    call = types.Part(function_call=types.FunctionCall(id="call_1", name="weather", args={}))
    result = types.Part(function_response=types.FunctionResponse(id="call_1", name="weather", response={}))
    history = [QUESTION, types.ModelContent(call), types.UserContent(result)]
    if server.provider == "google-vertex":
        assert 'Unknown name "id"' in refused(client, history, model=OLDER)
    else:  # the Gemini API accepts ids, and Gemini CLI sends them
        client.models.generate_content(model=OLDER, contents=history, config=CONFIG)


def test_foreign_signatures_are_refused(client: genai.Client, server: StandIn) -> None:
    text = "Corrupted thought signature."
    if server.provider == "google-vertex":
        text = "Unable to submit request because Thought signature is not valid.."
    answer = first_answer(client)
    with StandIn(server.provider, account="other", script=SCRIPT) as other, client_of(other) as theirs:
        foreign = next(part.thought_signature for part in first_answer(theirs).parts or [] if part.thought_signature)
    assert refused(client, resigned(answer, foreign)) == text
    assert refused(client, resigned(answer, b"made up")) == text
    assert refused(client, resigned(answer, b"made up"), model=OLDER) == text


@pytest.mark.parametrize("dummy", ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"])
def test_documented_dummy_signatures_are_accepted(client: genai.Client, server: StandIn, dummy: str) -> None:
    answer = first_answer(client)
    for raw in (dummy.encode(), base64.urlsafe_b64decode(dummy)):
        client.models.generate_content(model=MODEL, contents=resigned(answer, raw), config=CONFIG)
    assert not server.refused


def test_a_wrong_key_and_a_wrong_path_are_refused(server: StandIn) -> None:
    with client_of(server, key="another") as client, pytest.raises(errors.ClientError) as found:
        client.models.generate_content(model=MODEL, contents="go")
    assert (found.value.code, found.value.message) == (400, "API key not valid. Please pass a valid API key.")
    with client_of(server) as client, pytest.raises(errors.ClientError) as found:
        client.models.embed_content(model=MODEL, contents="go")
    assert (found.value.code, found.value.status) == (404, "NOT_FOUND")


# -- faults ----------------------------------------------------------------------------------------------------------

STATUSES: dict[FaultKind, tuple[type[errors.APIError], int, str]] = {
    "rate-limit": (errors.ClientError, 429, "RESOURCE_EXHAUSTED"),
    "server-error": (errors.ServerError, 500, "INTERNAL"),
    "unavailable": (errors.ServerError, 503, "UNAVAILABLE"),
    "overloaded": (errors.ServerError, 503, "UNAVAILABLE"),
    "wrong-key": (errors.ClientError, 400, "INVALID_ARGUMENT"),
    "overflow": (errors.ClientError, 400, "INVALID_ARGUMENT"),
}


@pytest.mark.parametrize("streams", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("kind", STATUSES)
def test_faults_with_a_status_are_errors_of_the_sdk(kind: FaultKind, streams: bool) -> None:
    error, code, status = STATUSES[kind]
    _, found = failure_of(
        StandIn("google", script=[Fault(kind, retry_after=2)]), error, streamed if streams else whole_answer
    )
    assert (found.code, found.status) == (code, status)
    assert found.response.headers["retry-after"] == "2"


def whole_answer(server: StandIn) -> Any:
    with client_of(server) as client:
        return client.models.generate_content(model=MODEL, contents="go")


def streamed(server: StandIn, timeout: int | None = None) -> Iterator[types.GenerateContentResponse]:
    with client_of(server, timeout=timeout) as client:
        yield from client.models.generate_content_stream(model=MODEL, contents="go")


IN_THE_STREAM: dict[FaultKind, type[Exception]] = {
    "error-event": errors.ServerError,
    "cut": httpx2.RemoteProtocolError,
    "silence": httpx2.ReadTimeout,
    "broken-json": errors.UnknownApiResponseError,
}


@pytest.mark.usefixtures("patient_until_silent")
@pytest.mark.parametrize("kind", IN_THE_STREAM)
def test_faults_in_mid_stream_are_errors_of_the_sdk(kind: FaultKind) -> None:
    timeout = int(1000 * (SHORT if kind == "silence" else HANGS))
    asks = partial(streamed, timeout=timeout)
    seen, error = failure_of(StandIn("google", script=[Fault(kind)]), IN_THE_STREAM[kind], asks)
    assert parts_of(*seen) and not any(each.candidates and each.candidates[0].finish_reason for each in seen)
    if isinstance(error, errors.APIError):
        assert (error.code, error.status) == (503, "UNAVAILABLE")


# -- segue as the client ---------------------------------------------------------------------------------------------


@given(contents(), st.sampled_from(["stop", "length"]), st.booleans(), st.sampled_from(GOOGLE.speakers))
def test_no_text_is_lost_and_there_is_one_signature(
    content: list[AssistantContent], stop: Any, streams: bool, model: segue.Model
) -> None:
    _, message = read_back(StandIn(model.provider), Reply(content, stop=stop), model, CONTEXT, streams)
    assert GOOGLE.compared(message.content, model) == GOOGLE.compared(content, model)
    assert len(signatures(segue.encode(continued(CONTEXT, message), model).body, model)) <= 1


# -- the SDK with segue's requests -----------------------------------------------------------------------------------


def plain(body: dict[str, Any]) -> dict[str, Any]:
    """Undo what the SDK changes: the spelling of one field, the alphabet of base64, and an empty config."""
    text = json.dumps(body).replace("parameters_json_schema", "parametersJsonSchema")
    found = json.loads(text.replace("-", "+").replace("_", "/"))
    return {name: value for name, value in found.items() if value != {}}


def test_the_sdk_sends_what_segue_encodes(client: genai.Client, server: StandIn) -> None:
    def whole(request: segue.Request) -> bytes:
        kwargs = request.sdk_kwargs()
        kwargs["config"]["shouldReturnHttpResponse"] = True  # the raw bytes of the answer
        answer = client.models.generate_content(**kwargs).sdk_http_response
        assert answer is not None and answer.body is not None
        return answer.body.encode()

    def pieces(request: segue.Request) -> Iterator[bytes]:
        """The SDK does not expose the bytes of a stream, but every chunk is the JSON of one event."""
        for chunk in client.models.generate_content_stream(**request.sdk_kwargs()):
            yield f"data: {chunk.model_dump_json(by_alias=True, exclude_none=True)}\n\n".encode()

    model = segue.get_model(f"{server.provider}/{MODEL}")
    context, second, events = exchange_through_sdk(
        model, server, whole, pieces, same=lambda sent, meant: plain(sent) == plain(meant)
    )
    assert events.count("text_delta") == 3 and second.usage.total_tokens == 30
    request = segue.encode(continued(context, second), model)
    assert segue.decode(whole(request), request).text == "Answer 3."
    assert signatures(server.requests[-1]) == ["functionCall", "text"] and not server.refused
