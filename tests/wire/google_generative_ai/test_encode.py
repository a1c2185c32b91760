"""The content of requests to Gemini, and the reported changes."""

from typing import Any

import msgspec
import pytest

import segue
from segue.dialects import AnthropicMessages, GoogleGenerativeAI
from segue.render import Request, encode
from segue.types import (
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    Model,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)

PROTOCOL = "google-generative-ai"
DUMMY = "skip_thought_signature_validator"
IMAGE = ImageContent("aGVsbG8=", "image/png")
INLINE = {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}
GEMINI_2_0 = segue.get_model("google/gemini-2.0-flash")
GEMINI_2_5 = segue.get_model("google/gemini-2.5-flash")
GEMINI_3 = segue.get_model("google/gemini-3-pro-preview")
GEMINI_3_8 = segue.get_model("google/gemini-3.8-flash")


def with_dialect(model: Model, **cells: Any) -> Model:
    assert isinstance(model.dialect, GoogleGenerativeAI)
    return msgspec.structs.replace(model, dialect=msgspec.structs.replace(model.dialect, **cells))


def answer(model: Model | None, *content: Any, stop: Any = "stop") -> AssistantMessage:
    """An answer of ``model``, or of another origin."""
    origin = ("anthropic-messages", "anthropic", "claude") if model is None else (PROTOCOL, model.provider, model.id)
    return AssistantMessage(
        content=list(content), protocol=origin[0], provider=origin[1], model=origin[2], stop_reason=stop
    )


def sent(model: Model, *messages: Message, tools: tuple[ToolDefinition, ...] = ()) -> Request:
    return encode(Context(messages=list(messages), tools=list(tools)), model)


def codes(request: Request) -> list[str]:
    return [change.code for change in request.changes if change.code != "id-projected"]


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def model_(*parts: Any) -> dict[str, Any]:
    return user(*parts) | {"role": "model"}


def call(name: str, signature: str | None = None, **args: Any) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {"name": name, "args": args}}
    return part if signature is None else part | {"thoughtSignature": signature}


def response(name: str, text: str, error: bool = False, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"error" if error else "output": text}, **more}}


# -- calls and results -----------------------------------------------------------------------------------------------


def test_a_batch_of_results_is_one_content_in_the_order_of_the_calls_and_the_user_message_is_the_next() -> None:
    request = sent(
        GEMINI_2_5,
        UserMessage("Hi"),
        answer(None, ToolCall("a", "one", {"n": 1}), ToolCall("a", "one", {"n": 2}), ToolCall("b", "two", {})),
        ToolResultMessage("b", "two", [TextContent("third")], is_error=True),
        ToolResultMessage("a", "one", [TextContent("first")]),
        ToolResultMessage("a", "one", [TextContent("second")]),
        UserMessage("Thanks"),
        UserMessage("Bye"),
    )
    assert request.body["contents"] == [
        user("Hi"),
        model_({**call("one", n=1), "thoughtSignature": DUMMY}, call("one", n=2), call("two")),
        user(response("one", "first"), response("one", "second"), response("two", "third", error=True)),
        user("Thanks"),
        user("Bye"),
    ]


def test_ids_are_sent_only_if_the_dialect_says_so() -> None:
    messages: list[Message] = [
        UserMessage("Hi"),
        answer(None, ToolCall("toolu_1", "one", {}), ToolCall("toolu_1", "one", {})),
        ToolResultMessage("toolu_1", "one", [TextContent("x")]),
        ToolResultMessage("toolu_1", "one", [TextContent("y")]),
    ]
    assert '"id"' not in sent(GEMINI_3, *messages).json().decode()
    _, asked, answered = sent(with_dialect(GEMINI_3, send_ids=True), *messages).body["contents"]
    ids = [part["functionCall"]["id"] for part in asked["parts"]]
    assert ids == [part["functionResponse"]["id"] for part in answered["parts"]]
    assert ids[0] == "toolu_1" and len(set(ids)) == 2


def test_texts_of_a_result_are_one_output() -> None:
    request = sent(
        GEMINI_3,
        UserMessage("Hi"),
        answer(None, ToolCall("a", "one", {})),
        ToolResultMessage("a", "one", [TextContent("x"), TextContent("y")]),
    )
    assert request.body["contents"][-1] == user(response("one", "x\ny"))


# -- images ----------------------------------------------------------------------------------------------------------


def with_images(model: Model, *content: Any, error: bool = False) -> Request:
    return sent(
        model,
        UserMessage("Hi"),
        answer(None, ToolCall("a", "one", {}), ToolCall("b", "two", {})),
        ToolResultMessage("a", "one", list(content), is_error=error),
        ToolResultMessage("b", "two", [TextContent("x")]),
        UserMessage("So?"),
    )


def test_images_stay_in_the_response_from_gemini_3_on() -> None:
    request = with_images(GEMINI_3, TextContent("see"), IMAGE, error=True)
    assert request.body["contents"][2:] == [
        user(response("one", "see", error=True, parts=[INLINE]), response("two", "x")),
        user("So?"),
    ]
    assert codes(request) == []


def test_images_of_a_batch_follow_it_in_a_separate_content_before_gemini_3() -> None:
    request = with_images(GEMINI_2_5, IMAGE, IMAGE)
    assert request.body["contents"][2:] == [
        user(response("one", "(see the images below)"), response("two", "x")),
        user("Images from the tool results above:", INLINE, INLINE),
        user("So?"),
    ]
    assert codes(request) == ["image-moved"]


@pytest.mark.parametrize(
    ("content", "text", "expected"),
    [
        ([IMAGE], "(see the images below)", ["empty-filled"]),
        ([IMAGE, TextContent("a")], "a", ["blocks-reordered"]),
        ([TextContent("a"), IMAGE], "a", []),
    ],
)
def test_moved_images_of_a_result_are_reported(content: list[Any], text: str, expected: list[str]) -> None:
    request = with_images(GEMINI_3, *content)
    assert request.body["contents"][2]["parts"][0] == response("one", text, parts=[INLINE])
    assert codes(request) == expected


# -- signatures ------------------------------------------------------------------------------------------------------


def test_own_answers_are_sent_back_unchanged_with_signatures_on_the_same_parts() -> None:
    request = sent(
        GEMINI_3,
        UserMessage("Hi"),
        answer(
            GEMINI_3,
            ThinkingContent("hm", "dGhpbms="),
            TextContent("On it.", "dGV4dA=="),
            ToolCall("a", "one", {}, "c2ln"),
            ToolCall("b", "two", {}),
        ),
        ToolResultMessage("a", "one", [TextContent("x")]),
        ToolResultMessage("b", "two", [TextContent("y")]),
        answer(GEMINI_3, ThinkingContent("unsigned"), TextContent("Done."), TextContent("", "bGFzdA==")),
        UserMessage("And?"),
    )
    assert request.body["contents"][1] == model_(
        {"text": "hm", "thought": True, "thoughtSignature": "dGhpbms="},
        {"text": "On it.", "thoughtSignature": "dGV4dA=="},
        call("one", "c2ln"),
        call("two"),
    )
    assert request.body["contents"][3] == model_(
        {"text": "unsigned", "thought": True}, "Done.", {"text": "", "thoughtSignature": "bGFzdA=="}
    )
    assert request.changes == []


def test_an_unsigned_first_call_of_every_content_gets_the_dummy_in_all_turns() -> None:
    def turn(origin: Model | None, *signatures: str | None) -> list[Message]:
        calls = [ToolCall(f"t{at}", "one", {}, signature) for at, signature in enumerate(signatures)]
        results = [ToolResultMessage(each.id, "one", [TextContent("x")]) for each in calls]
        return [UserMessage("Hi"), answer(origin, TextContent("so"), *calls), *results]

    history = [*turn(None, "foreign", None), *turn(GEMINI_3, None, "c2ln"), *turn(GEMINI_3, "c2ln", None)]
    request = sent(GEMINI_3, *history)
    signed = [
        [part.get("thoughtSignature") for part in content["parts"]]
        for content in request.body["contents"]
        if content["role"] == "model"
    ]
    assert signed == [[None, DUMMY, None], [None, DUMMY, "c2ln"], [None, "c2ln", None]]
    older = sent(GEMINI_2_5, *history).body["contents"]
    unsigned = [content["parts"][1].get("thoughtSignature") for content in older if content["role"] == "model"]
    assert unsigned == [DUMMY, DUMMY, DUMMY], "2.5 has refused a call without a signature, too"
    own = sent(GEMINI_2_5, *turn(GEMINI_2_5, None, None)).json().decode()
    assert DUMMY not in own, "what it did not sign itself goes back as it was"
    assert DUMMY not in sent(GEMINI_2_0, *history).json().decode()


@pytest.mark.parametrize("signature", ["reasoning_content", "Es4DC", '{"id":"rs_1"}', "abc=defg", "é123"])
def test_a_signature_that_is_not_base64_is_never_sent(signature: str) -> None:
    request = sent(
        GEMINI_3,
        UserMessage("Hi"),
        answer(
            GEMINI_3, ThinkingContent("", signature), TextContent(" ", signature), ToolCall("a", "one", {}, signature)
        ),
        ToolResultMessage("a", "one", [TextContent("x")]),
    )
    assert request.body["contents"][1] == model_(call("one", DUMMY))
    # The name of a field is not a signature, so nothing is left of thinking without text.
    thinking = "thinking-dropped" if signature == "reasoning_content" else "signature-dropped"
    assert sorted(codes(request)) == sorted([thinking, "signature-dropped", "signature-dropped"])


def test_signatures_of_another_endpoint_are_replaced() -> None:
    here = msgspec.structs.replace(GEMINI_3, endpoint="here")
    made = answer(GEMINI_3, ToolCall("a", "one", {}, "c2ln"), stop="toolUse")
    there = msgspec.structs.replace(made, endpoint="there")
    request = sent(here, UserMessage("Hi"), there, ToolResultMessage("a", "one", [TextContent("x")]))
    assert request.body["contents"][1] == model_(call("one", DUMMY))


def test_thinking_of_another_model_is_never_sent_as_a_thought() -> None:
    request = sent(GEMINI_3, UserMessage("Hi"), answer(None, ThinkingContent("hm", "s"), TextContent("Yes")))
    assert request.body["contents"][1] == model_("[Reasoning] hm", "Yes")


# -- shape -----------------------------------------------------------------------------------------------------------


def test_adjacent_answers_are_one_content() -> None:
    request = sent(
        GEMINI_3,
        UserMessage("Hi"),
        answer(GEMINI_3, TextContent("a", "c2ln")),
        answer(None, TextContent("b"), ToolCall("a", "one", {})),
        ToolResultMessage("a", "one", [TextContent("x")]),
    )
    assert request.body["contents"] == [
        user("Hi"),
        model_({"text": "a", "thoughtSignature": "c2ln"}, "b", call("one", DUMMY)),
        user(response("one", "x")),
    ]
    assert codes(request) == ["turns-merged"]


def test_fillers_open_and_close_a_conversation_without_user_messages_there() -> None:
    request = sent(GEMINI_3_8, answer(GEMINI_3_8, TextContent("Hello")))
    assert request.body["contents"] == [user("Continue the conversation."), model_("Hello"), user("Continue.")]
    assert codes(request) == ["filler-inserted", "filler-inserted"]


def test_models_that_accept_a_prefill_continue_a_text_but_not_a_thought_or_an_empty_text() -> None:
    text, thought = TextContent("Once upon"), ThinkingContent("hm", "c2ln")
    assert sent(GEMINI_3, UserMessage("Hi"), answer(GEMINI_3, text)).body["contents"][-1] == model_("Once upon")
    for last in (thought, TextContent("", "c2ln")):
        request = sent(GEMINI_3, UserMessage("Hi"), answer(GEMINI_3, text, last))
        assert request.body["contents"][-1] == user("Continue.")


def test_an_answer_with_only_thinking_is_left_out_and_the_request_is_not_empty() -> None:
    lone = answer(GEMINI_3, ThinkingContent("hm", "c2ln"))
    request = sent(GEMINI_3, lone)
    assert request.body["contents"] == [user("Continue.")]
    assert codes(request) == ["thinking-dropped", "filler-inserted"]
    assert sent(GEMINI_3, lone, UserMessage("Hi")).body["contents"] == [user("Hi")]


def test_the_system_prompt_is_an_instruction_and_images_of_the_user_stay_in_place() -> None:
    context = Context(
        system_prompt="Be brief.", messages=[UserMessage([TextContent("a"), IMAGE, TextContent("b"), IMAGE])]
    )
    assert encode(context, GEMINI_3).body == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [user("a", INLINE, "b", INLINE)],
    }


def test_the_path_contains_the_model_and_whether_the_answer_is_streamed() -> None:
    context = Context(messages=[UserMessage("Hi")])
    assert encode(context, GEMINI_3).path == "/models/gemini-3-pro-preview:generateContent"
    streamed = encode(context, GEMINI_3, segue.Options(stream=True))
    assert streamed.path == "/models/gemini-3-pro-preview:streamGenerateContent?alt=sse"
    assert streamed.body == encode(context, GEMINI_3).body


def test_the_sdk_gets_bytes() -> None:
    kwargs = with_images(GEMINI_3, TextContent("a"), IMAGE).sdk_kwargs()
    assert kwargs["model"] == "gemini-3-pro-preview"
    assert kwargs["contents"][2]["parts"][0]["functionResponse"]["parts"][0]["inlineData"]["data"] == b"hello"
    assert isinstance(kwargs["contents"][1]["parts"][0]["thoughtSignature"], bytes)


def test_the_encoder_accepts_only_models_of_its_protocol() -> None:
    torn = msgspec.structs.replace(GEMINI_3, dialect=AnthropicMessages())
    with pytest.raises(TypeError, match="GoogleGenerativeAI"):
        encode(Context(messages=[UserMessage("Hi")]), torn)
