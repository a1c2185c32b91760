"""The stand-ins of Chat Completions and its family, tested with three providers' own SDKs and with segue's client."""

import json
from collections.abc import Iterator
from typing import Any

import groq
import openai
import pytest
from cerebras.cloud import sdk as cerebras
from cerebras.cloud.sdk.types.chat import ChatCompletion as CerebrasCompletion
from groq.types.chat import ChatCompletion as GroqCompletion, ChatCompletionChunk as GroqChunk
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import TypeAdapter
from support.facts import ARGUMENTS, CALLS, CLAUDE, FACTS, GEMINI, GLM, GPT, TEXTS, THINKING
from support.openai_sdk import IN_THE_STREAM, STATUSES
from support.providers import CONTEXT, reach
from support.talk import answer_of, continued, exchange_through_sdk, failure_of
from support.targets import built_in
from support.waiting import HANGS, SHORT

import segue
from segue.testing import Fault, FaultKind, Reply, StandIn
from segue.testing.voices.completions_quirks import QUIRKS
from segue.types import TextContent, ThinkingContent, ToolCall

PROTOCOL = "openai-completions"
MODEL = "gpt-4.1"
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "weather", "description": "Weather", "parameters": PARAMETERS}}
]
QUESTION: Any = {"role": "user", "content": "Weather in Paris and Rome?"}
SCRIPT = FACTS[PROTOCOL].script


def standin(provider: str = "openai", **settings: Any) -> StandIn:
    return StandIn(provider, protocol=PROTOCOL, **settings)


def client_of(server: StandIn, **settings: Any) -> Any:
    """A client of the provider's SDK: OpenAI's, or its own."""
    sdk: Any = {"groq": groq, "cerebras": cerebras}.get(server.provider, openai)
    http = sdk.DefaultHttpxClient(verify=False)  # loopback needs no certificates, and loading them is slow
    settings = {"api_key": server.key, "max_retries": 0, "http_client": http, **settings}
    if sdk is groq:
        return groq.Groq(base_url=server.url, **settings)
    if sdk is cerebras:
        return cerebras.Cerebras(base_url=server.url, warm_tcp_connection=False, **settings)
    return openai.OpenAI(base_url=f"{server.url}/v1", **settings)


@pytest.fixture
def server() -> Iterator[StandIn]:
    with standin(script=SCRIPT) as server:
        yield server


@pytest.fixture
def client(server: StandIn) -> Iterator[openai.OpenAI]:
    with client_of(server) as client:
        yield client


def results(message: Any) -> list[Any]:
    """The results of all calls of a message, as in the SDKs' documentation."""
    return [
        {"role": "tool", "tool_call_id": call.id, "content": f"18 C for {call.function.arguments}"}
        for call in message.tool_calls or []
    ]


# -- loops of the SDKs -------------------------------------------------------------------------------------------------

LOOPS = [
    ("openai", MODEL),
    ("openai", "o3"),
    ("deepseek", "deepseek-v4-pro"),
    ("moonshot", "kimi-k2.6"),
    ("openrouter", CLAUDE),
    ("openrouter", GEMINI),
    ("openrouter", GPT),
    ("minimax", "MiniMax-M2.5"),
    ("groq", "openai/gpt-oss-120b"),
    ("cerebras", "gpt-oss-120b"),
]


@pytest.mark.parametrize(("provider", "model"), LOOPS)
def test_a_tool_loop_of_the_sdk(provider: str, model: str) -> None:
    """Answers are sent back as the SDK's own objects, with all of their fields."""
    with standin(provider, script=SCRIPT) as server, client_of(server) as client:
        whole_answer: dict[str, Any] = {"model": model, "tools": TOOLS}
        first = client.chat.completions.create(messages=[QUESTION], **whole_answer)
        message = first.choices[0].message
        assert message.content.endswith(TEXTS[0]) and first.choices[0].finish_reason == "tool_calls"
        assert [json.loads(call.function.arguments) for call in message.tool_calls] == ARGUMENTS
        assert (first.usage.prompt_tokens, first.usage.total_tokens) == (100, 130)
        second = client.chat.completions.create(messages=[QUESTION, message, *results(message)], **whole_answer)
        assert second.choices[0].message.content.endswith(TEXTS[1]) and second.choices[0].finish_reason == "stop"
        assert not server.refused


@pytest.mark.parametrize("counted", [True, False])
def test_a_tool_loop_of_the_sdk_as_streams(client: openai.OpenAI, server: StandIn, counted: bool) -> None:
    history: list[Any] = [QUESTION]
    options: Any = {"include_usage": counted}
    for text in TEXTS:
        seen = ""
        with client.chat.completions.stream(
            model=MODEL, messages=history, tools=TOOLS, stream_options=options
        ) as stream:
            for event in stream:
                seen += event.delta if event.type == "content.delta" else ""
            completion = stream.get_final_completion()
        assert seen == text and (completion.usage is not None) is counted
        message = completion.choices[0].message
        history += [_sent_back(message), *results(message)]
    assert not server.refused


def _sent_back(message: Any) -> Any:
    """The message without fields that the SDK adds when it parses an answer."""
    given = message.to_dict(mode="json")
    calls = [
        {"id": call["id"], "type": "function", "function": {n: call["function"][n] for n in ("name", "arguments")}}
        for call in given.get("tool_calls") or []
    ]
    kept = {name: value for name, value in given.items() if name not in ("parsed", "annotations", "tool_calls")}
    return {**kept, **({"tool_calls": calls} if calls else {})}


@pytest.mark.parametrize("provider", ["groq", "cerebras"])
def test_streams_of_other_sdks(provider: str) -> None:
    with standin(provider, script=SCRIPT) as server, client_of(server) as client:
        chunks = list(
            client.chat.completions.create(model="gpt-oss-120b", messages=[QUESTION], tools=TOOLS, stream=True)
        )
    choices = [chunk.choices[0] for chunk in chunks]
    assert "".join(choice.delta.reasoning or "" for choice in choices) == THINKING
    assert "".join(choice.delta.content or "" for choice in choices) == TEXTS[0]
    called = [call for choice in choices for call in choice.delta.tool_calls or []]
    assert [json.loads(call.function.arguments)["city"] for call in called] == ["Paris", "Rome"]
    assert choices[-1].finish_reason == "tool_calls"
    usage = chunks[-1].x_groq.usage if provider == "groq" else chunks[-1].usage
    assert usage.total_tokens == 130


TYPES: dict[str, tuple[Any, Any]] = {
    "openai": (ChatCompletion, ChatCompletionChunk),
    "groq": (GroqCompletion, GroqChunk),
    "cerebras": (CerebrasCompletion, CerebrasCompletion),
}


@pytest.mark.parametrize("provider", [name for name in QUIRKS if name != "azure"])
def test_every_chunk_is_one_that_the_sdk_knows(provider: str) -> None:
    """The SDKs do not validate what they receive; here their types are checked."""
    sdk = provider if provider in TYPES else "openai"
    whole, piece = (TypeAdapter[Any](kind) for kind in TYPES[sdk])
    with standin(provider, script=SCRIPT * 2) as server, client_of(server) as client:
        whole_answer: Any = {"model": "some-model", "messages": [QUESTION]}
        with client.chat.completions.with_streaming_response.create(**whole_answer, stream=True) as raw:
            lines = [line.removeprefix("data: ") for line in raw.iter_lines() if line.startswith("data: ")]
        assert lines.pop() == "[DONE]"
        for line in lines:
            piece.validate_json(line)
        whole.validate_json(client.chat.completions.with_raw_response.create(**whole_answer).http_response.content)


def test_the_client_for_azure() -> None:
    with standin("azure", script=SCRIPT) as server:
        http = openai.DefaultHttpxClient(verify=False)
        settings: Any = {"api_key": server.key, "api_version": "2024-10-21", "max_retries": 0, "http_client": http}
        with openai.AzureOpenAI(azure_endpoint=server.url, **settings) as client:
            message = client.chat.completions.create(model=MODEL, messages=[QUESTION], tools=TOOLS).choices[0].message
            history: list[Any] = [QUESTION, message, *results(message)]
            chunks = list(client.chat.completions.create(model=MODEL, messages=history, stream=True))
    assert not server.refused and not chunks[0].choices
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[1:]) == TEXTS[1]


def test_an_answer_that_was_cut_and_one_that_was_refused() -> None:
    script = [
        Reply([TextContent("One two")], stop="length"),
        Reply([TextContent("I cannot help with that.")], stop="error"),
        Reply([], stop="error"),
    ]
    with standin(script=script) as server, client_of(server) as client:
        choices = [client.chat.completions.create(model=MODEL, messages=[QUESTION]).choices[0] for _ in script]
    assert [choice.finish_reason for choice in choices] == ["length", "stop", "content_filter"]
    assert choices[1].message.refusal == "I cannot help with that." and choices[1].message.content is None


@pytest.mark.parametrize("streams", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize(("provider", "error"), [("openai", "refusal: No."), ("groq", "content_filter")])
def test_a_refusal_is_an_error_for_the_client(provider: str, error: str, streams: bool) -> None:
    model = built_in().resolve(f"{provider}/some-model", PROTOCOL)
    with standin(provider, script=[Reply([TextContent("No.")], stop="error")]) as server:
        message = answer_of(model, CONTEXT, server, streams)
    assert (message.stop_reason, message.error_message) == ("error", error)
    assert isinstance(segue.error_of(message), segue.RefusedError)


@pytest.mark.parametrize("model", [CLAUDE, GPT])
def test_signatures_in_a_script_are_sent_and_refused_later(model: str) -> None:
    target = built_in().resolve(f"openrouter/{model}", PROTOCOL)
    script = [Reply([ThinkingContent("Hm.", "mine"), *CALLS[1:]])]
    with standin("openrouter", script=script) as server:
        first = answer_of(target, CONTEXT, server, streams=True)
        assert isinstance(first.content[0], ThinkingContent) and '"mine"' in (first.content[0].thinking_signature or "")
        again = answer_of(target, continued(CONTEXT, first), server, streams=True)
        assert isinstance(segue.error_of(again), segue.InvalidRequestError)
        server.say(Reply([first.content[0], TextContent("Hm.")]))
        assert answer_of(target, CONTEXT, server, streams=False).content[0] == first.content[0]


def test_the_extra_content_of_a_call_is_sent() -> None:
    attached = '{"extra_content":{"google":{"thought_signature":"Eq=="}}}'
    with standin("vllm", script=[Reply([ToolCall("", "weather", {"city": "Paris"}, attached)])]) as server:
        message = answer_of(built_in().resolve("vllm/some-model", PROTOCOL), CONTEXT, server, streams=True)
    assert message.tool_calls[0].thought_signature == attached


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_a_call_without_its_result_is_refused(client: openai.OpenAI, server: StandIn) -> None:
    message: Any = client.chat.completions.create(model=MODEL, messages=[QUESTION], tools=TOOLS).choices[0].message
    with pytest.raises(openai.BadRequestError, match="must be followed by tool messages") as found:
        client.chat.completions.create(model=MODEL, messages=[QUESTION, message, QUESTION], tools=TOOLS)
    error = found.value
    assert (error.status_code, error.type, error.param) == (400, "invalid_request_error", "messages[1].tool_calls")
    assert error.request_id == "req_2" and len(server.refused) == 1


def test_an_unknown_field_is_refused(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="unsupported") as found:
        client.chat.completions.create(model=MODEL, messages=[QUESTION], extra_body={"thinking": {"type": "enabled"}})
    assert found.value.param == "thinking"


def test_reasoning_in_another_field_is_refused_by_groq() -> None:
    history: Any = [QUESTION, {"role": "assistant", "content": "Hm.", "reasoning_content": "Hm?"}, QUESTION]
    with (
        standin("groq") as server,
        client_of(server) as client,
        pytest.raises(groq.BadRequestError, match="is unsupported"),
    ):
        client.chat.completions.create(model="openai/gpt-oss-120b", messages=history)


def test_errors_of_cerebras_are_flat() -> None:
    with (
        standin("cerebras") as server,
        client_of(server) as client,
        pytest.raises(cerebras.BadRequestError) as found,
    ):
        client.chat.completions.create(model="gpt-oss-120b", messages=[QUESTION], extra_body={"store": True})
    body: Any = found.value.body
    assert (body["code"], body["param"]) == ("wrong_api_format", "validation_error") and "error" not in body


def test_missing_reasoning_is_refused_by_kimi() -> None:
    with standin("moonshot", script=SCRIPT) as server, client_of(server) as client:
        whole_answer: dict[str, Any] = {"model": "kimi-k2.6", "tools": TOOLS}
        message = client.chat.completions.create(messages=[QUESTION], **whole_answer).choices[0].message
        bare = {name: value for name, value in message.to_dict().items() if name != "reasoning_content"}
        with pytest.raises(openai.BadRequestError, match="reasoning_content is missing"):
            client.chat.completions.create(messages=[QUESTION, bare, *results(message)], **whole_answer)


def test_ids_of_kimi_are_counted_over_the_conversation() -> None:
    with standin("moonshot", script=[*SCRIPT, Reply(CALLS)]) as server:
        context = CONTEXT
        for _ in range(3):
            answer = segue.complete_sync(context, "moonshot/kimi-k2.6", connection=reach(server))
            context = continued(context, answer)
        assert not server.refused
    ids = [call.id for call in answer.tool_calls]
    assert ids == ["functions.weather:2", "functions.weather:3"]


FORGED = {
    CLAUDE: "Invalid `signature` in `thinking` block",
    GEMINI: "Corrupted thought signature.",
    GPT: "The encrypted content gAAA... could not be verified.",
}


@pytest.mark.parametrize("model", FORGED)
def test_a_forged_signature_is_refused(model: str) -> None:
    with standin("openrouter", script=SCRIPT) as server, client_of(server) as client:
        whole_answer: dict[str, Any] = {"model": model, "tools": TOOLS}
        message = client.chat.completions.create(messages=[QUESTION], **whole_answer).choices[0].message
        given = message.to_dict()
        entry = given["reasoning_details"][0 if model == CLAUDE else 1]
        entry["signature" if model == CLAUDE else "data"] = "gAAAA-of-another-account"
        with pytest.raises(openai.BadRequestError, match="Provider returned error") as found:
            client.chat.completions.create(messages=[QUESTION, given, *results(message)], **whole_answer)
    body: Any = found.value.body
    assert FORGED[model] in json.loads(body["metadata"]["raw"])["message"]


def test_signed_reasoning_cannot_be_edited() -> None:
    with standin("openrouter", script=SCRIPT) as server, client_of(server) as client:
        whole_answer: dict[str, Any] = {"model": CLAUDE, "tools": TOOLS}
        message = client.chat.completions.create(messages=[QUESTION], **whole_answer).choices[0].message
        given = message.to_dict()
        given["reasoning_details"][0]["text"] += " More."
        with pytest.raises(openai.BadRequestError):
            client.chat.completions.create(messages=[QUESTION, given, *results(message)], **whole_answer)


def test_the_documented_dummy_signature_is_accepted() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Rome"}'}}
    dummy = {"type": "reasoning.encrypted", "data": "skip_thought_signature_validator", "id": "call_1"}
    details = [dummy | {"format": "google-gemini-v1", "index": 0}]
    answer = {"role": "assistant", "content": "", "tool_calls": [call], "reasoning_details": details}
    history: Any = [QUESTION, answer, {"role": "tool", "tool_call_id": "call_1", "content": "24 C"}]
    with standin("openrouter") as server, client_of(server) as client:
        client.chat.completions.create(model=GEMINI, messages=history, tools=TOOLS)
        assert not server.refused


# -- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", STATUSES)
def test_faults_with_a_status_are_errors_of_the_sdk(kind: FaultKind) -> None:
    error, status, code = STATUSES[kind]
    _, found = failure_of(standin(script=[Fault(kind, retry_after=2)]), error, whole_answer)
    assert (found.status_code, found.code) == (status, code)
    assert found.response.headers["retry-after"] == "2"


def whole_answer(server: StandIn) -> Any:
    with client_of(server) as client:
        return client.chat.completions.create(model=MODEL, messages=[QUESTION])


@pytest.mark.usefixtures("patient_until_silent")
@pytest.mark.parametrize("kind", IN_THE_STREAM)
def test_faults_in_mid_stream_are_errors_of_the_sdk(kind: FaultKind) -> None:
    patience = SHORT if kind == "silence" else HANGS
    seen, _ = failure_of(standin(script=[Fault(kind)]), IN_THE_STREAM[kind], lambda server: streamed(server, patience))
    assert "One two" in "".join(seen)


def streamed(server: StandIn, patience: float) -> Iterator[str]:
    with (
        client_of(server, timeout=patience) as client,
        client.chat.completions.create(model=MODEL, messages=[QUESTION], stream=True) as stream,
    ):
        yield from (chunk.choices[0].delta.content or "" for chunk in stream)


@pytest.mark.parametrize("provider", ["groq", "cerebras", "openrouter"])
def test_errors_in_streams_of_other_providers(provider: str) -> None:
    sdk: Any = {"groq": groq, "cerebras": cerebras}.get(provider, openai)
    with standin(provider, script=[Fault("error-event")]) as server, client_of(server) as client:
        stream = client.chat.completions.create(model="some-model", messages=[QUESTION], stream=True)
        with pytest.raises(sdk.APIError):
            list(stream)


def test_a_wrong_key_is_refused(server: StandIn) -> None:
    with client_of(server, api_key="another") as client, pytest.raises(openai.AuthenticationError):
        client.chat.completions.create(model=MODEL, messages=[QUESTION])


KINDS: dict[FaultKind, tuple[type[segue.ProviderError], ...]] = {
    "rate-limit": (segue.RateLimitError,),
    "server-error": (segue.ServerError,),
    "unavailable": (segue.OverloadedError,),
    # Some providers have no error for it, and answer that there are too many requests.
    "overloaded": (segue.OverloadedError, segue.RateLimitError, segue.ServerError),
    "wrong-key": (segue.AuthenticationError,),
    "overflow": (segue.ContextOverflowError,),
    "error-event": (segue.OverloadedError, segue.ServerError),
    "cut": (segue.NetworkError,),
    "broken-json": (segue.ProviderError,),
}


@pytest.mark.parametrize("provider", QUIRKS)
def test_the_client_distinguishes_the_faults_of_every_provider(provider: str) -> None:
    model = built_in().resolve(f"{provider}/some-model", PROTOCOL)
    with standin(provider) as server:
        connection = reach(server, retries=segue.Retries(count=0))
        for kind, errors in KINDS.items():
            server.say(Fault(kind))
            message = segue.stream_sync(CONTEXT, model, connection=connection).finished()
            assert isinstance(segue.error_of(message), errors), (kind, message.error_message)


# -- segue as the client, for every dialect of the family ------------------------------------------------------------


def test_all_quirks_are_of_a_provider_in_the_catalog() -> None:
    assert set(QUIRKS) <= {model.provider for model in FACTS[PROTOCOL].models}


@pytest.mark.parametrize("model", [CLAUDE, GEMINI, GPT, GLM])
def test_redacted_thinking_is_sent_back(model: str) -> None:
    target = built_in().resolve(f"openrouter/{model}", PROTOCOL)
    script = [Reply([ThinkingContent("", redacted=True), *CALLS])]
    with standin("openrouter", script=script) as server:
        first = answer_of(target, CONTEXT, server, streams=True)
        assert answer_of(target, continued(CONTEXT, first), server, streams=True).text == "Answer 2."
        entries = server.requests[1]["messages"][-3]["reasoning_details"]
        assert [entry["index"] for entry in entries] == list(range(len(entries)))
        assert entries[0]["type"] == "reasoning.encrypted" and not server.refused


# -- the SDKs with segue's requests ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("provider", "name"), LOOPS)
def test_the_sdk_sends_what_segue_encodes(provider: str, name: str) -> None:
    model = built_in().resolve(f"{provider}/{name}", PROTOCOL)
    with standin(provider, script=SCRIPT) as server, client_of(server) as client:

        def whole(request: segue.Request) -> Any:
            return client.chat.completions.with_raw_response.create(**request.sdk_kwargs()).http_response.content

        def pieces(request: segue.Request) -> Iterator[bytes]:
            with client.chat.completions.with_streaming_response.create(**request.sdk_kwargs()) as response:
                yield from response.iter_bytes()

        _, second, _ = exchange_through_sdk(model, server, whole, pieces)
    assert second.usage.total_tokens == 130
