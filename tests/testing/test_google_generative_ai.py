"""The stand-in of Google generateContent, judged by the provider's own SDK and used by segue's client."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
from google import genai
from google.genai import errors, types
from google.oauth2.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st
from support.providers import CONTEXT, reach

import segue
from segue.testing import Fault, FaultKind, Reply, StandIn
from segue.types import (
    AssistantContent,
    AssistantMessage,
    Context,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)

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
CALLS: list[AssistantContent] = [
    ThinkingContent("I should look it up.\n\nTwo cities, two “calls”."),
    TextContent("Let me look."),
    ToolCall("", "weather", {"city": "Paris"}),
    ToolCall("", "weather", {"city": "Rome", "days": 3, "note": 'a "quoted" \\ ✓'}),
]
ANSWER: list[AssistantContent] = [ThinkingContent("Two numbers."), TextContent("18 C in Paris, 24 C in Rome ☀.")]
USAGE = Usage(input=70, output=31, cache_read=30, total_tokens=131)
SCRIPT = [Reply(CALLS, usage=USAGE), Reply(ANSWER)]


@contextmanager
def client_of(server: StandIn, key: str | None = None, timeout: int | None = None) -> Iterator[genai.Client]:
    """The SDK for the surface that the stand-in is; Vertex is asked with a token, for a project and a location."""
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
    """The results of all calls, as the SDK's documentation makes them."""
    calls = [part.function_call for part in parts if part.function_call]
    return [
        types.Part.from_function_response(name=call.name or "", response={"output": f"18 C in {call.args}"})
        for call in calls
    ]


# -- the SDK's own way -----------------------------------------------------------------------------------------------


def test_a_tool_loop_of_the_sdk(client: genai.Client, server: StandIn) -> None:
    chat = client.chats.create(model=MODEL, config=CONFIG)
    first = chat.send_message("Weather in Paris and Rome?")
    thought, text, *calls = parts_of(first)
    assert (thought.text, thought.thought) == ("I should look it up.\n\nTwo cities, two “calls”.", True)
    assert first.text == "Let me look." and text.thought is None
    assert [call.function_call and call.function_call.args for call in calls] == [
        {"city": "Paris"},
        {"city": "Rome", "days": 3, "note": 'a "quoted" \\ ✓'},
    ]
    assert [part.thought_signature is not None for part in (thought, text, *calls)] == [False, False, True, False]
    assert first.candidates and first.candidates[0].finish_reason is types.FinishReason.STOP
    assert (first.model_version, first.response_id) == (MODEL, f"{server.provider}-1")
    second = chat.send_message(results(calls))  # type: ignore[arg-type]
    assert second.text == "18 C in Paris, 24 C in Rome ☀."
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
    assert texts == ["Let me look.", "18 C in Paris, 24 C in Rome ☀.", "Answer 3."]
    assert not server.refused


def test_the_sdk_calls_functions_by_itself(client: genai.Client, server: StandIn) -> None:
    asked: list[str] = []

    def weather(city: str, days: int = 1, note: str = "") -> str:
        asked.append(city)
        return "18 C"

    config = types.GenerateContentConfig(tools=[weather])
    response = client.models.generate_content(model=MODEL, contents="Weather in Paris and Rome?", config=config)
    assert (asked, response.text) == (["Paris", "Rome"], "18 C in Paris, 24 C in Rome ☀.")
    assert len(server.requests) == 2 and not server.refused


def test_usage_is_counted_as_google_counts(client: genai.Client) -> None:
    usage = client.models.generate_content(model=MODEL, contents="go").usage_metadata
    assert usage is not None and usage.prompt_token_count == 100 and usage.cached_content_token_count == 30
    assert (usage.candidates_token_count, usage.thoughts_token_count, usage.total_token_count) == (16, 15, 131)


def test_a_text_is_signed_after_thinking_and_in_a_stream_behind_it() -> None:
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
def test_models_sign_what_they_sign(model: str, content: list[AssistantContent], signed: int) -> None:
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


# -- what it refuses -------------------------------------------------------------------------------------------------


def refused(client: genai.Client, contents: list[Any], model: str = MODEL) -> str:
    with pytest.raises(errors.ClientError) as found:
        client.models.generate_content(model=model, contents=contents, config=CONFIG)
    assert (found.value.code, found.value.status) == (400, "INVALID_ARGUMENT")
    return found.value.message or ""


def first_answer(client: genai.Client) -> types.Content:
    return content_of(client.models.generate_content(model=MODEL, contents=[QUESTION], config=CONFIG))


def resigned(answer: types.Content, signature: bytes | None) -> list[Any]:
    """The request after an answer whose signature is another one."""
    parts = [part.model_copy() for part in answer.parts or []]
    for part in parts:
        if part.thought_signature is not None:
            part.thought_signature = signature
    return [QUESTION, types.ModelContent(parts), types.UserContent(results(parts))]


def test_a_call_without_its_response_is_refused(client: genai.Client, server: StandIn) -> None:
    answer = first_answer(client)
    words = "the number of function response parts is equal to the number of function call parts"
    assert words in refused(client, [QUESTION, answer, types.UserContent(results(answer.parts or [])[0])])
    assert words in refused(client, [QUESTION, answer, QUESTION])
    assert len(server.refused) == 2


def test_a_call_without_its_signature_is_refused(client: genai.Client) -> None:
    history = resigned(first_answer(client), None)
    assert "Function call is missing a thought_signature in functionCall parts." in refused(client, history)
    # Before Gemini 3 nobody asks for it.
    client.models.generate_content(model=OLDER, contents=history, config=CONFIG)


def test_the_shape_of_another_protocol_is_refused(client: genai.Client) -> None:
    said = types.Content(role="assistant", parts=[types.Part(text="hm")])
    assert "Please use a valid role: user, model." in refused(client, [QUESTION, said, QUESTION])
    call = types.Part(function_call=types.FunctionCall(id="call_1", name="weather", args={}))
    result = types.Part(function_response=types.FunctionResponse(id="call_1", name="weather", response={}))
    history = [QUESTION, types.ModelContent(call), types.UserContent(result)]
    assert 'Unknown name "id"' in refused(client, history, model=OLDER)


def test_signatures_of_others_are_refused(client: genai.Client, server: StandIn) -> None:
    words = "Corrupted thought signature."
    if server.provider == "google-vertex":
        words = "Unable to submit request because Thought signature is not valid.."
    answer = first_answer(client)
    with StandIn(server.provider, account="other", script=SCRIPT) as other, client_of(other) as theirs:
        foreign = next(part.thought_signature for part in first_answer(theirs).parts or [] if part.thought_signature)
    assert refused(client, resigned(answer, foreign)) == words
    assert refused(client, resigned(answer, b"made up")) == words
    assert refused(client, resigned(answer, b"made up"), model=OLDER) == words


@pytest.mark.parametrize("dummy", ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"])
def test_documented_dummies_stand_in_for_a_signature(client: genai.Client, server: StandIn, dummy: str) -> None:
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


def go(client: genai.Client, streams: bool) -> None:
    if streams:
        list(client.models.generate_content_stream(model=MODEL, contents="go"))
    else:
        client.models.generate_content(model=MODEL, contents="go")


@pytest.mark.parametrize("streams", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("kind", STATUSES)
def test_faults_with_a_status_are_errors_of_the_sdk(kind: FaultKind, streams: bool) -> None:
    error, code, status = STATUSES[kind]
    with (
        StandIn("google", script=[Fault(kind, retry_after=2)]) as server,
        client_of(server) as client,
        pytest.raises(error) as found,
    ):
        go(client, streams)
    assert (found.value.code, found.value.status) == (code, status)
    assert found.value.response.headers["retry-after"] == "2"


IN_THE_STREAM: dict[FaultKind, type[Exception]] = {
    "error-event": errors.ServerError,
    "cut": httpx2.RemoteProtocolError,
    "silence": httpx2.ReadTimeout,
    "broken-json": errors.UnknownApiResponseError,
}


@pytest.mark.parametrize("kind", IN_THE_STREAM)
def test_faults_in_mid_stream_are_errors_of_the_sdk(kind: FaultKind) -> None:
    seen: list[types.GenerateContentResponse] = []
    with (
        StandIn("google", script=[Fault(kind)]) as server,
        client_of(server, timeout=300) as client,
        pytest.raises(IN_THE_STREAM[kind]) as found,
    ):
        seen.extend(client.models.generate_content_stream(model=MODEL, contents="go"))
    assert parts_of(*seen) and not any(each.candidates and each.candidates[0].finish_reason for each in seen)
    if isinstance(found.value, errors.APIError):
        assert (found.value.code, found.value.status) == (503, "UNAVAILABLE")


# -- segue as the client ---------------------------------------------------------------------------------------------


def answered(context: Context, answer: AssistantMessage) -> Context:
    calls: list[Message] = [ToolResultMessage(call.id, call.name, [TextContent("18 C")]) for call in answer.tool_calls]
    return Context(
        system_prompt=context.system_prompt,
        messages=[*context.messages, answer, *(calls or [UserMessage("And tomorrow?")])],
        tools=context.tools,
    )


def bare(content: list[AssistantContent]) -> list[Any]:
    """Blocks without what the provider made; parts of one kind in a row are one block, and withheld ones are none."""
    found: list[Any] = []
    for block in content:
        if isinstance(block, ToolCall):
            found.append((ToolCall, block.name, block.arguments))
            continue
        words = block.text if isinstance(block, TextContent) else "" if block.redacted else block.thinking
        if words and found and found[-1][0] is type(block):
            found[-1] = (type(block), found[-1][1] + words)
        elif words:
            found.append((type(block), words))
    return found


def told(ref: str, context: Context, server: StandIn, streams: bool) -> AssistantMessage:
    if streams:
        return segue.stream_sync(ref, context, connection=reach(server)).finished()
    return segue.complete_sync(ref, context, connection=reach(server))


def signatures(body: dict[str, Any]) -> list[str]:
    """Which parts of a request are signed, by what they hold."""
    parts = [part for content in body["contents"] for part in content["parts"]]
    return [next(iter(part)) for part in parts if "thoughtSignature" in part]


@pytest.mark.parametrize("streams", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("provider", ["google", "google-vertex"])
@pytest.mark.parametrize("model", [MODEL, "gemini-3-pro-preview", OLDER, "gemini-2.0-flash"])
def test_what_is_decoded_goes_back_and_is_accepted(provider: str, model: str, streams: bool) -> None:
    ref = f"{provider}/{model}"
    with StandIn(provider, script=SCRIPT) as server:
        first = told(ref, CONTEXT, server, streams)
        assert bare(first.content) == bare(CALLS) and first.stop_reason == "toolUse"
        usage = (first.usage.input, first.usage.output, first.usage.cache_read, first.usage.total_tokens)
        assert usage == (70, 31, 30, 131)
        context = answered(CONTEXT, first)
        second = told(ref, context, server, streams)
        assert bare(second.content) == bare(ANSWER) and second.stop_reason == "stop"
        third = told(ref, answered(context, second), server, streams)
        assert third.text == "Answer 3." and not server.refused
        sent = signatures(server.requests[-1])
    assert sent == {MODEL: ["functionCall", "text"], OLDER: ["functionCall"], "gemini-2.0-flash": []}.get(model, sent)
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
    st.sampled_from([f"google/{MODEL}", f"google/{OLDER}", f"google-vertex/{MODEL}"]),
)
def test_what_the_voice_says_the_decoder_reads(
    content: list[AssistantContent], stop: Any, streams: bool, ref: str
) -> None:
    """Every block comes back, and the whole answer passes the rules and the check of signatures."""
    model = segue.get_model(ref)
    standin = StandIn(model.provider)
    spoken = standin.spoken(Reply(content, stop=stop), model)
    decoder = segue.Decoder(segue.encode(CONTEXT, model))
    for data in standin.voice.events(spoken) if streams else [json.dumps(standin.voice.whole(spoken)).encode()]:
        decoder.feed(data)
    decoder.close()
    assert decoder.message is not None and bare(decoder.message.content) == bare(content)
    body = segue.encode(answered(CONTEXT, decoder.message), model).body
    assert standin.objection(body, model) is None
    signed = [part for place in body["contents"] for part in place["parts"] if "thoughtSignature" in part]
    genuine = [part for part in signed if not part["thoughtSignature"].startswith("skip_")]
    assert len(genuine) <= 1
    if genuine:
        assert StandIn(model.provider, account="other").objection(body, model) is not None


def test_another_account_refuses_what_was_signed_here() -> None:
    model = segue.get_model(f"google/{MODEL}")
    with StandIn("google", script=SCRIPT) as server, StandIn("google", account="other") as other:
        request = segue.encode(CONTEXT, model)
        answer = segue.decode(asked(server, request), request)
        request = segue.encode(answered(CONTEXT, answer), model)
        asked(server, request)
        with pytest.raises(errors.ClientError, match="Corrupted thought signature"):
            asked(other, request)
        # segue's client knows that it is another endpoint, and sends the dummy there.
        server.say(*SCRIPT)
        context = answered(CONTEXT, segue.complete_sync(model, CONTEXT, connection=reach(server)))
        assert segue.complete_sync(model, context, connection=reach(other)).stop_reason == "stop"


def asked(server: StandIn, request: segue.Request) -> bytes:
    """The answer's own bytes, as the SDK gives them to those who want them."""
    kwargs = request.sdk_kwargs()
    kwargs["config"]["shouldReturnHttpResponse"] = True
    with client_of(server) as client:
        answer = client.models.generate_content(**kwargs).sdk_http_response
    assert answer is not None and answer.body is not None
    return answer.body.encode()


# -- the SDK with segue's requests -----------------------------------------------------------------------------------


def plain(body: dict[str, Any]) -> dict[str, Any]:
    """The SDK writes one field in its other spelling, base64 in its other alphabet, and an empty config."""
    text = json.dumps(body).replace("parameters_json_schema", "parametersJsonSchema")
    found = json.loads(text.replace("-", "+").replace("_", "/"))
    return {name: value for name, value in found.items() if value != {}}


def test_the_sdk_sends_what_segue_encodes(client: genai.Client, server: StandIn) -> None:
    model = segue.get_model(f"{server.provider}/{MODEL}")
    request = segue.encode(CONTEXT, model)
    first = segue.decode(asked(server, request), request)
    assert plain(server.requests[-1]) == plain(request.body) and bare(first.content) == bare(CALLS)

    # Of a stream the SDK gives no bytes, but every chunk is the JSON of one event.
    request = segue.encode(answered(CONTEXT, first), model, segue.Options(stream=True))
    decoder = segue.Decoder(request)
    events = []
    for chunk in client.models.generate_content_stream(**request.sdk_kwargs()):
        events += decoder.feed(f"data: {chunk.model_dump_json(by_alias=True, exclude_none=True)}\n\n".encode())
    events += decoder.close()
    second = decoder.message
    assert plain(server.requests[-1]) == plain(request.body)
    assert second is not None and bare(second.content) == bare(ANSWER) and second.stop_reason == "stop"
    assert [event.type for event in events].count("text_delta") == 3 and second.usage.total_tokens == 30

    request = segue.encode(answered(answered(CONTEXT, first), second), model)
    assert segue.decode(asked(server, request), request).text == "Answer 3."
    assert signatures(server.requests[-1]) == ["functionCall", "text"] and not server.refused
