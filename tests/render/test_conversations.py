"""A conversation is whatever people have, a model is a model or its name: everywhere, with the same result."""

from collections.abc import Callable
from operator import is_
from typing import Any

import anthropic.types
import openai.types.chat
import openai.types.responses
import pytest
from google.genai import types as google_types
from hypothesis import given, settings
from mistralai.client import models as mistral_models
from support.providers import MODELS
from support.torn import torn_contexts

import segue
from segue import AssistantMessage, Context, FormatError, TextContent, ThinkingContent, ToolCall, UserMessage
from segue.render import as_context

NAME = "openai/gpt-5.1"
OPENAI_LIST = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Paris?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Paris"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "18 C"},
]
CONTEXT = Context(
    [
        UserMessage("Weather in Paris?"),
        AssistantMessage([ToolCall("call_1", "weather", {"city": "Paris"})], protocol="openai-completions"),
        segue.ToolResultMessage("call_1", "weather", "18 C"),
    ],
    system_prompt="Be brief.",
)
FORMS: dict[str, Any] = {
    "a Context": CONTEXT,
    "an OpenAI-style list": OPENAI_LIST,
    "a tuple": tuple(OPENAI_LIST),
    "a chat completions body": {"model": "gpt-5.1", "messages": OPENAI_LIST, "temperature": 1},
    "JSON in bytes": segue.export(CONTEXT, "openai-completions").json(),
    "segue's own JSON as a dict": segue.types.codec.read_json(CONTEXT.to_json()),
    "segue's messages between dicts": [*OPENAI_LIST[:2], CONTEXT.messages[1], *OPENAI_LIST[3:]],
}
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "project": lambda it, model: segue.project(it, model).context,
    "encode": lambda it, model: segue.encode(it, model).body,
    "preview": lambda it, model: segue.preview(it, model).request.body,
    "renderer": lambda it, model: segue.Renderer(model).request(it).body,
    "export": lambda it, model: segue.export(it, "openai-completions").body,
    "stream": lambda it, model: segue.stream(it, model, connection=segue.Connection(api_key="k")).request.body,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_conversation_gives_the_same_result(form: str, call: Callable[[Any, Any], Any]) -> None:
    assert call(FORMS[form], NAME) == call(CONTEXT, segue.get_model(NAME))


def test_a_text_is_one_message_of_the_user_even_if_it_looks_like_json() -> None:
    for text in ("Hello!", '{"messages": []}', "[]"):
        assert as_context(text) == Context([UserMessage(text)])


def test_reading_a_list_keeps_the_messages_of_segue_as_they_are() -> None:
    assert all(map(is_, as_context(CONTEXT.messages).messages, CONTEXT.messages))
    assert as_context(CONTEXT) is CONTEXT


@given(torn_contexts(MODELS["openai-responses"]))
@settings(max_examples=50)
def test_a_list_of_segues_messages_is_the_same_as_a_context(context: Context) -> None:
    assert as_context(context.messages) == Context(context.messages)


@pytest.mark.parametrize("protocol", MODELS)
def test_an_exported_body_and_its_bare_list_are_conversations(protocol: str) -> None:
    body = segue.export(CONTEXT, protocol).body
    history = segue.wire.protocol_of(protocol).history
    assert [m.content for m in as_context(body).messages] == [m.content for m in segue.ingest(body, protocol).messages]
    listed = segue.ingest(body[history], protocol)
    assert [m.content for m in listed.messages] == [m.content for m in segue.ingest(body, protocol).messages]
    assert segue.encode(body, NAME).body  # any protocol for any model


# -- objects of the SDKs ---------------------------------------------------------------------------------------------

FUNCTION = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Paris"}'}}
SDK_LISTS: dict[str, list[Any]] = {
    "openai": [
        {"role": "user", "content": "Weather in Paris?"},
        openai.types.chat.ChatCompletionMessage.model_validate({"role": "assistant", "tool_calls": [FUNCTION]}),
        {"role": "tool", "tool_call_id": "call_1", "content": "18 C"},
    ],
    "anthropic": [
        {"role": "user", "content": "Weather in Paris?"},
        {
            "role": "assistant",
            "content": [
                anthropic.types.ToolUseBlock(id="call_1", name="weather", input={"city": "Paris"}, type="tool_use")
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "18 C"}]},
    ],
    "openai responses": [
        {"role": "user", "content": "Weather in Paris?"},
        openai.types.responses.ResponseFunctionToolCall(
            arguments='{"city":"Paris"}', call_id="call_1", name="weather", type="function_call"
        ),
        {"type": "function_call_output", "call_id": "call_1", "output": "18 C"},
    ],
    "google": [
        google_types.Content(role="user", parts=[google_types.Part(text="Weather in Paris?")]),
        google_types.Content(
            role="model",
            parts=[
                google_types.Part(
                    function_call=google_types.FunctionCall(id="call_1", name="weather", args={"city": "Paris"})
                )
            ],
        ),
        google_types.Content(
            role="user",
            parts=[
                google_types.Part(
                    function_response=google_types.FunctionResponse(
                        id="call_1", name="weather", response={"output": "18 C"}
                    )
                )
            ],
        ),
    ],
    "mistral": [
        mistral_models.UserMessage(content="Weather in Paris?"),
        mistral_models.AssistantMessage(tool_calls=[mistral_models.ToolCall.model_validate(FUNCTION)]),
        mistral_models.ToolMessage(tool_call_id="call_1", name="weather", content="18 C"),
    ],
}


@pytest.mark.parametrize("sdk", SDK_LISTS)
def test_a_history_may_hold_the_objects_that_an_sdk_returned(sdk: str) -> None:
    read = segue.ingest(SDK_LISTS[sdk])
    assert [message.role for message in read.messages] == ["user", "assistant", "toolResult"]
    call = read.messages[1].content[0]
    assert isinstance(call, ToolCall) and (call.name, call.arguments) == ("weather", {"city": "Paris"})
    assert [message.content for message in read.messages[::2]] == [m.content for m in CONTEXT.messages[::2]]
    assert as_context(SDK_LISTS[sdk]).messages[0] == read.messages[0]


def test_signed_thinking_of_an_sdk_object_is_replayed_to_its_origin() -> None:
    thinking = anthropic.types.ThinkingBlock(thinking="Hm.", signature="c2ln", type="thinking")
    text = anthropic.types.TextBlock(text="Hello.", type="text")
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": [thinking, text]}]
    context = segue.ingest([*history, {"role": "user", "content": "And?"}], model="anthropic/claude-sonnet-5")
    answer = context.messages[1]
    assert answer.content == [ThinkingContent("Hm.", "c2ln"), TextContent("Hello.")]
    assert segue.encode(context, "anthropic/claude-sonnet-5").body["messages"][1]["content"][0]["signature"] == "c2ln"
    assert not segue.encode(context, NAME).body["input"][1].get("encrypted_content")


# -- answers go back into the list -----------------------------------------------------------------------------------


def test_an_answer_may_be_appended_to_a_list_of_dicts() -> None:
    history: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    history.append(AssistantMessage([ToolCall("call_9", "weather", {})], provider="openai", model="gpt-5.1"))
    history.append({"role": "tool", "tool_call_id": "call_9", "content": "18 C"})
    history += [{"role": "system", "content": "Now in French."}, {"role": "user", "content": "And?"}]
    context = as_context(history)
    assert context.system_prompt == "Be brief."
    assert context.messages[2] == segue.ToolResultMessage("call_9", "weather", "18 C")
    assert context.messages[3] == UserMessage("[System] Now in French.", injected=True)


def test_a_model_by_name_is_the_origin_in_the_protocol_of_the_body() -> None:
    body = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]}
    answer = segue.ingest(body, "openai-completions", NAME).messages[1]
    assert isinstance(answer, AssistantMessage)
    assert (answer.protocol, answer.provider, answer.model) == ("openai-completions", "openai", "gpt-5.1")
    assert [each.rule for each in segue.lint(body | {"model": "gpt-5.1"}, model=NAME)] == ["X-07"]  # ends in an answer


WRONG: dict[str, tuple[Any, str]] = {
    "one message": ({"role": "user", "content": "Hi"}, "this is one message, not a conversation; put it in a list"),
    "texts": (["Hi", "there"], "a list of messages contains objects; item 0 is a str"),
    "other objects": ([object()], "an object of type object is not JSON"),
    "another kind of body": ({"prompt": "Hi"}, "this is not a conversation in a known form"),
    "messages of another library": ([{"type": "human", "content": "Hi"}], "this is not a conversation in a known form"),
    "text in bytes": (b"Hi", "not JSON"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_read_has_a_clear_error(name: str) -> None:
    conversation, text = WRONG[name]
    with pytest.raises(FormatError, match=text):
        segue.encode(conversation, NAME)
