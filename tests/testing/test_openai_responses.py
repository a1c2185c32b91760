"""The stand-in of OpenAI Responses, tested with the provider's own SDK and with segue's client."""

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter
from support.facts import ARGUMENTS, CALLS, FACTS, TEXTS
from support.openai_sdk import IN_THE_STREAM, STATUSES
from support.talk import exchange_through_sdk, failure_of
from support.waiting import HANGS, SHORT

import segue
from segue.testing import Fault, FaultKind, Reply, StandIn
from segue.testing.signatures import Signer
from segue.testing.voices.item_ids import is_issued, new_id, reasoning_of
from segue.types import TextContent

MODEL = "gpt-5.6-terra"
TOOLS: list[Any] = [
    {
        "type": "function",
        "name": "weather",
        "description": "Current weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "strict": False,
    }
]
QUESTION: Any = {"role": "user", "content": "Weather in Paris and Rome?"}
SCRIPT = FACTS["openai-responses"].script


def client_of(server: StandIn, **settings: Any) -> openai.OpenAI:
    # Loopback needs no certificates, and loading them is slower than most tests here.
    http = openai.DefaultHttpxClient(verify=False)
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.key, max_retries=0, http_client=http, **settings)


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn("openai", script=SCRIPT) as server:
        yield server


@pytest.fixture
def client(server: StandIn) -> Iterator[openai.OpenAI]:
    with client_of(server) as client:
        yield client


def outputs(response: Response) -> list[Any]:
    """The results of all calls of a response, as in the SDK's documentation."""
    return [
        {"type": "function_call_output", "call_id": item.call_id, "output": f"18 C in {item.arguments}"}
        for item in response.output
        if item.type == "function_call"
    ]


# -- loops of the SDK --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("store", [None, False], ids=["default", "stateless"])
def test_a_tool_loop_of_the_sdk(client: openai.OpenAI, server: StandIn, store: bool | None) -> None:
    more: Any = {} if store is None else {"store": store}
    first = client.responses.create(model=MODEL, input=[QUESTION], tools=TOOLS, **more)
    assert [item.type for item in first.output] == ["reasoning", "message", "function_call", "function_call"]
    assert [json.loads(item.arguments) for item in first.output if item.type == "function_call"] == ARGUMENTS
    assert first.status == "completed" and first.output_text == TEXTS[0]
    assert first.usage is not None and first.usage.input_tokens == 100
    history: list[Any] = [QUESTION, *first.output, *outputs(first)]
    second = client.responses.create(model=MODEL, input=history, tools=TOOLS, **more)
    assert second.output_text == TEXTS[1]
    assert not server.refused


def test_a_tool_loop_of_the_sdk_as_streams(client: openai.OpenAI, server: StandIn) -> None:
    history: list[Any] = [QUESTION]
    texts: list[str] = []
    for _ in SCRIPT:
        with client.responses.stream(model=MODEL, input=history, tools=TOOLS) as stream:
            texts.append("".join(event.delta for event in stream if event.type == "response.output_text.delta"))
            response = stream.get_final_response()
        history += [item.to_dict() for item in response.output]
        history = [_without_parsed(item) for item in history] + outputs(response)
    assert texts == TEXTS
    assert not server.refused


def _without_parsed(item: Any) -> Any:
    """The item without fields that the SDK adds when it parses, and that the API refuses (OAR-02)."""
    kept = {name: value for name, value in item.items() if name not in ("parsed_arguments", "parsed")}
    if isinstance(kept.get("content"), list):
        kept["content"] = [_without_parsed(part) for part in kept["content"]]
    return kept


def test_fields_that_codex_adds_are_accepted(client: openai.OpenAI, server: StandIn) -> None:
    """Codex 0.166 sends `client_metadata`, and null as the content of reasoning items."""
    extra = {"client_metadata": {"x-codex-installation-id": "1"}}
    first = client.responses.create(model=MODEL, input=[QUESTION], tools=TOOLS, extra_body=extra)
    items: list[Any] = [item.to_dict() for item in first.output]
    reasoning = [item for item in items if item["type"] == "reasoning"]
    for item in reasoning:
        item["content"] = None
    assert reasoning
    client.responses.create(model=MODEL, input=[QUESTION, *items, *outputs(first)], tools=TOOLS, extra_body=extra)
    assert not server.refused


def test_every_event_is_one_that_the_sdk_knows(client: openai.OpenAI) -> None:
    """The SDK does not validate what it receives; here its types are checked."""
    event_type: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    whole_answer: Any = {"model": MODEL, "input": [QUESTION], "tools": TOOLS, "stream": True}
    with client.responses.with_streaming_response.create(**whole_answer) as raw:
        lines = [line.removeprefix("data: ") for line in raw.iter_lines() if line.startswith("data: ")]
    events = [event_type.validate_json(line) for line in lines]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert [type(event).__name__ for event in events] == [json_type(line) for line in lines]
    whole = client.responses.with_raw_response.create(model=MODEL, input=[QUESTION])
    TypeAdapter(Response).validate_json(whole.content)


def json_type(line: str) -> str:
    """The name of the SDK's class for an event, to check that the right member of the union was chosen."""
    words = json.loads(line)["type"].replace("output_text", "text").replace(".", "_").split("_")
    return "".join(word.capitalize() for word in words) + "Event"


def test_the_client_for_azure() -> None:
    with StandIn("azure", script=SCRIPT) as server:
        http = openai.DefaultHttpxClient(verify=False)
        settings: Any = {"api_key": server.key, "api_version": "preview", "max_retries": 0, "http_client": http}
        with openai.AzureOpenAI(base_url=f"{server.url}/openai/v1", **settings) as client:
            first = client.responses.create(model=MODEL, input=[QUESTION], tools=TOOLS)
            history: list[Any] = [QUESTION, *first.output, *outputs(first)]
            assert client.responses.create(model=MODEL, input=history).output_text.startswith("18 C")
    assert not server.refused


def test_an_answer_that_was_cut_and_one_that_was_refused() -> None:
    script = [
        Reply([TextContent("One two")], stop="length"),
        Reply([TextContent("I cannot help with that.")], stop="error"),
        Reply([], stop="error"),
    ]
    with StandIn("openai", script=script) as server, client_of(server) as client:
        cut, refused, filtered = (client.responses.create(model=MODEL, input="go") for _ in script)
    assert cut.status == "incomplete" and cut.incomplete_details is not None
    assert cut.incomplete_details.reason == "max_output_tokens"
    assert refused.status == "completed" and refused.output[0].type == "message"
    assert refused.output[0].content[0].to_dict() == {"type": "refusal", "refusal": "I cannot help with that."}
    assert filtered.incomplete_details is not None and filtered.incomplete_details.reason == "content_filter"


# -- refusals ----------------------------------------------------------------------------------------------------------


def refused(client: openai.OpenAI, history: list[Any], **more: Any) -> openai.BadRequestError:
    whole_answer: dict[str, Any] = {"model": MODEL, "input": history, "tools": TOOLS, "store": False, **more}
    with pytest.raises(openai.BadRequestError) as found:
        client.responses.create(**whole_answer)
    assert found.value.type == "invalid_request_error"
    return found.value


def first_answer(client: openai.OpenAI) -> list[Any]:
    response = client.responses.create(model=MODEL, input=[QUESTION], tools=TOOLS, store=False)
    return [item.to_dict() for item in response.output]


def results(items: list[Any]) -> list[Any]:
    return [
        {"type": "function_call_output", "call_id": item["call_id"], "output": "18 C"}
        for item in items
        if item["type"] == "function_call"
    ]


def test_a_call_without_its_output_is_refused(client: openai.OpenAI, server: StandIn) -> None:
    error = refused(client, [QUESTION, *first_answer(client)])
    assert "No tool output found for function call" in error.message
    assert (error.status_code, error.param, error.code) == (400, "input[3]", None)
    assert error.request_id == "req_2" and len(server.refused) == 1


def test_the_shape_of_another_protocol_is_refused(client: openai.OpenAI) -> None:
    error = refused(client, [{"role": "assistant", "content": [{"type": "input_text", "text": "hm"}]}])
    assert "Supported values are: 'output_text' and 'refusal'." in error.message
    error = refused(client, [QUESTION], extra_body={"messages": []})
    assert "Unknown parameter" in error.message and error.param == "messages"


def test_reasoning_and_the_item_after_it_must_be_sent_together(client: openai.OpenAI) -> None:
    items = first_answer(client)
    thought, message, *calls = items
    error = refused(client, [QUESTION, message, *calls, *results(items)])
    expected = f"Item '{message['id']}' of type 'message' was provided without its required 'reasoning' item"
    assert f"{expected}: '{thought['id']}'" in error.message
    error = refused(client, [QUESTION, thought, QUESTION])
    assert "was provided without its required following item" in error.message


def test_reasoning_before_another_answer_is_refused(client: openai.OpenAI) -> None:
    thought = first_answer(client)[0]
    other = first_answer(client)
    error = refused(client, [QUESTION, thought, other[1]])
    assert f"Item '{thought['id']}' of type 'reasoning' was provided without its required following" in error.message


def test_items_without_ids_are_accepted(client: openai.OpenAI, server: StandIn) -> None:
    _, message, *calls = first_answer(client)
    plain: list[Any] = [{name: value for name, value in item.items() if name != "id"} for item in [message, *calls]]
    client.responses.create(model=MODEL, input=[QUESTION, *plain, *results(calls)], tools=TOOLS, store=False)
    assert not server.refused


def test_foreign_encrypted_content_is_refused(client: openai.OpenAI) -> None:
    thought, *rest = first_answer(client)
    forged = {**thought, "encrypted_content": "gAAAAABo-of-another-account-Rg=="}
    error = refused(client, [QUESTION, forged, *rest, *results(rest)])
    assert "The encrypted content gAAA...Rg== could not be verified. Reason: Encrypted content could" in error.message
    assert (error.code, error.param) == ("invalid_encrypted_content", None)


def test_encrypted_content_belongs_to_its_item(client: openai.OpenAI, server: StandIn) -> None:
    server.say(Reply(CALLS))
    thought, *rest = first_answer(client)
    other = first_answer(client)[0]
    forged = {**thought, "encrypted_content": other["encrypted_content"]}
    error = refused(client, [QUESTION, forged, *rest, *results(rest)])
    assert "Encrypted content item_id did not match the target item id." in error.message


@pytest.mark.parametrize("store", [True, False])
def test_foreign_items_are_not_found(client: openai.OpenAI, store: bool) -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather", "arguments": "{}"}
    error = refused(client, [QUESTION, call, *results([call])], store=store)
    assert "Item with id 'fc_1' not found." in error.message
    assert ("Items are not persisted when `store` is set to false." in error.message) is not store


def test_nothing_is_stored_on_the_server(client: openai.OpenAI) -> None:
    error = refused(client, [QUESTION], previous_response_id="resp_1")
    assert error.code == "previous_response_not_found"
    assert "Previous response with id 'resp_1' not found." in error.message


def test_an_id_shows_its_reasoning_and_its_account() -> None:
    ours, theirs = Signer("ours"), Signer("theirs")
    thought = new_id("rs", "hm", None, ours)
    call = new_id("fc", "call_1", thought, ours)
    assert is_issued(thought, ours) and is_issued(call, ours) and len(call) == len("fc_") + 48
    assert reasoning_of(call, ours) == thought and reasoning_of(thought, ours) is None
    assert new_id("rs", "hm", None, ours) != thought
    forged = ["", "fc_", "fc_1", "rs" + call[2:], call[:-1], call + "0", "msg_" + "0" * 48]
    assert not any(is_issued(each, ours) for each in forged)
    assert not is_issued(thought, theirs) and not is_issued(call, theirs)


# -- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", STATUSES)
def test_faults_with_a_status_are_errors_of_the_sdk(kind: FaultKind) -> None:
    error, status, code = STATUSES[kind]
    _, found = failure_of(StandIn("openai", script=[Fault(kind, retry_after=2)]), error, whole_answer)
    assert (found.status_code, found.code) == (status, code)
    assert found.response.headers["retry-after"] == "2"


def whole_answer(server: StandIn) -> Any:
    with client_of(server) as client:
        return client.responses.create(model=MODEL, input="go")


@pytest.mark.usefixtures("patient_until_silent")
@pytest.mark.parametrize("kind", IN_THE_STREAM)
def test_faults_in_mid_stream_are_errors_of_the_sdk(kind: FaultKind) -> None:
    patience = SHORT if kind == "silence" else HANGS
    seen, error = failure_of(
        StandIn("openai", script=[Fault(kind)]), IN_THE_STREAM[kind], lambda server: streamed(server, patience)
    )
    assert "response.output_text.delta" in seen and "response.completed" not in seen
    assert getattr(error, "code", None) == ("server_is_overloaded" if kind == "error-event" else None)


def streamed(server: StandIn, patience: float) -> Iterator[str]:
    with (
        client_of(server, timeout=patience) as client,
        client.responses.create(model=MODEL, input="go", stream=True) as stream,
    ):
        yield from (event.type for event in stream)


def test_a_wrong_key_is_refused(server: StandIn) -> None:
    with client_of(server).with_options(api_key="another") as client, pytest.raises(openai.AuthenticationError):
        client.responses.create(model=MODEL, input="go")


# -- the SDK with segue's requests -----------------------------------------------------------------------------------


def test_the_sdk_sends_what_segue_encodes(client: openai.OpenAI, server: StandIn) -> None:
    def whole(request: segue.Request) -> bytes:
        return client.responses.with_raw_response.create(**request.sdk_kwargs()).content

    def pieces(request: segue.Request) -> Iterator[bytes]:
        with client.responses.with_streaming_response.create(**request.sdk_kwargs()) as response:
            yield from response.iter_bytes()

    exchange_through_sdk(segue.get_model(f"openai/{MODEL}"), server, whole, pieces)
