"""The requests that members of the family get, by content."""

import json
from typing import Any

import msgspec
import pytest
from support.targets import built_in
from wire.openai_completions.judge import faults

from segue.render import Request, encode, lint
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

NAME = "openai-completions"
IMAGE = ImageContent("aGVsbG8=", "image/png")
SENT_IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}}
BASH = ToolDefinition("bash", "Run it", {"type": "object", "properties": {}})
GPT, DEEPSEEK, KIMI, R1 = "openai/gpt-4-turbo", "deepseek/deepseek-v4-pro", "moonshot/kimi-k2.5", "deepseek/deepseek-r1"
LOCAL, GEMINI = "llamacpp/a-model", "openrouter/google/gemini-3-flash-preview"


def model_of(ref: str, **cells: Any) -> Model:
    model = built_in().resolve(ref, NAME)
    return msgspec.structs.replace(model, dialect=msgspec.structs.replace(model.dialect, **cells)) if cells else model


def answer(*content: Any, of: str = "anthropic/claude-sonnet-4-5", protocol: str = NAME) -> AssistantMessage:
    provider, _, model = of.partition("/")
    stop = "toolUse" if any(isinstance(block, ToolCall) for block in content) else "stop"
    return AssistantMessage(content=list(content), protocol=protocol, provider=provider, model=model, stop_reason=stop)  # type: ignore[arg-type]


def sent(ref: str, *messages: Message, system: str | None = None, tools: Any = (), **cells: Any) -> Request:
    """Encode a request, and check that neither lint nor the independent checks find a fault."""
    context = Context(system_prompt=system, messages=list(messages), tools=list(tools))
    request = encode(context, model_of(ref, **cells))
    assert lint(request.body, NAME, request.model) == []
    assert faults(request) == []
    return request


def turns(request: Request) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = request.body["messages"]
    return found


def codes(request: Request) -> list[str]:
    return [change.code for change in request.changes]


def call(number: int, name: str = "bash", **arguments: Any) -> ToolCall:
    return ToolCall(f"call_{number}", name, arguments or {"n": number})


def result(number: int, text: str = "done", **fields: Any) -> ToolResultMessage:
    return ToolResultMessage(f"call_{number}", "bash", [TextContent(text)], **fields)


class TestCallsAndResults:
    def test_parallel_calls_keep_ids_names_arguments_and_order(self) -> None:
        request = sent(
            GPT,
            UserMessage("go"),
            answer(call(1), call(2), of=GPT),
            result(2, "two"),
            result(1, "one"),
            UserMessage("?"),
        )
        _, spoken, first, second, _ = turns(request)
        assert [each["id"] for each in spoken["tool_calls"]] == ["call_1", "call_2"]
        assert spoken["tool_calls"][1]["function"] == {"name": "bash", "arguments": '{"n":2}'}
        assert (first, second) == (
            {"role": "tool", "tool_call_id": "call_1", "content": "one"},
            {"role": "tool", "tool_call_id": "call_2", "content": "two"},
        )

    def test_a_reused_id_becomes_two_ids_and_each_result_keeps_its_call(self) -> None:
        request = sent(
            GPT,
            UserMessage("go"),
            answer(call(0, n=1), of=GPT),
            result(0, "one"),
            answer(call(0, n=2), of=GPT),
            result(0, "two"),
        )
        _, first, one, second, two = turns(request)
        assert first["tool_calls"][0]["id"] == one["tool_call_id"] == "call_0"
        assert second["tool_calls"][0]["id"] == two["tool_call_id"] != "call_0"
        assert (one["content"], two["content"]) == ("one", "two")

    def test_kimi_ids_are_counted_over_the_conversation(self) -> None:
        request = sent(
            KIMI, UserMessage("go"), answer(call(7), call(9)), result(7), result(9), answer(call(3)), result(3)
        )
        assert [each["id"] for turn in turns(request) for each in turn.get("tool_calls", [])] == [
            "functions.bash:0",
            "functions.bash:1",
            "functions.bash:2",
        ]

    def test_an_unknown_server_gets_ids_of_nine_characters(self) -> None:
        request = sent(LOCAL, UserMessage("go"), answer(call(7)), result(7))
        [each] = turns(request)[1]["tool_calls"]
        assert len(each["id"]) == 9 and each["id"].isalnum()
        assert turns(request)[2]["name"] == "bash"

    def test_an_invalid_name_is_replaced_in_tools_history_and_results(self) -> None:
        request = sent(
            LOCAL, UserMessage("go"), answer(call(1, "my.tool")), result(1), tools=[ToolDefinition("my.tool")]
        )
        name = request.body["tools"][0]["function"]["name"]
        assert name == turns(request)[1]["tool_calls"][0]["function"]["name"] == turns(request)[2]["name"] != "my.tool"

    def test_a_failed_result_is_prefixed_with_error_once(self) -> None:
        request = sent(
            GPT,
            UserMessage("go"),
            answer(call(1), call(2), of=GPT),
            result(1, "it broke", is_error=True),
            result(2, "Error: gone", is_error=True),
        )
        assert [turn["content"] for turn in turns(request)[2:]] == ["Error: it broke", "Error: gone"]
        assert codes(request) == ["error-as-text"]

    def test_images_of_results_move_after_the_whole_batch(self) -> None:
        shots = ToolResultMessage("call_1", "bash", [IMAGE])
        request = sent(KIMI, UserMessage("go"), answer(call(1), call(2)), shots, result(2), UserMessage("well?"))
        roles = [turn["role"] for turn in turns(request)]
        assert roles == ["user", "assistant", "tool", "tool", "user", "user"]
        assert turns(request)[2]["content"] == "(see the images below)"
        assert turns(request)[4]["content"] == [
            {"type": "text", "text": "Images from the tool results above:"},
            SENT_IMAGE,
        ]
        assert "image-moved" in codes(request)

    def test_images_stay_in_results_if_the_dialect_accepts_them(self) -> None:
        both = ToolResultMessage("call_1", "bash", [TextContent("look"), IMAGE], is_error=True)
        context = Context(messages=[UserMessage("go"), answer(call(1), of=GPT), both])
        request = encode(context, model_of(GPT, images_in_results=True))
        assert turns(request)[2]["content"] == [{"type": "text", "text": "Error: look"}, SENT_IMAGE]

    def test_one_call_at_a_time_if_a_template_requires_it(self) -> None:
        request = sent(
            "llamacpp/llama-3.1-8b", UserMessage("go"), answer(call(1), call(2)), result(1, "one"), result(2, "two")
        )
        assert [turn["role"] for turn in turns(request)] == ["user", "assistant", "tool", "assistant", "tool"]
        assert [turn["content"] for turn in turns(request)][2::2] == ["one", "two"]
        assert "blocks-reordered" in codes(request)


class TestShape:
    def test_the_system_prompt_has_the_role_that_the_target_knows(self) -> None:
        spoken = {ref: turns(sent(ref, UserMessage("go"), system="Be brief."))[0]["role"] for ref in (GPT, DEEPSEEK)}
        assert spoken == {GPT: "developer", DEEPSEEK: "system"}

    def test_the_system_prompt_is_a_user_message_if_there_is_no_role_for_it(self) -> None:
        merged = sent("llamacpp/gemma-2-2b-it", UserMessage("go"), system="Be brief.")
        assert turns(merged) == [{"role": "user", "content": "Be brief.\n\ngo"}]
        assert "system-as-text" in codes(merged)
        apart = sent("openai/o1-mini", UserMessage("go"), system="Be brief.")
        assert [turn["content"] for turn in turns(apart)] == ["Be brief.", "go"]

    def test_adjacent_messages_are_merged_if_roles_must_alternate(self) -> None:
        messages = [
            UserMessage("a"),
            UserMessage("b"),
            answer(TextContent("c")),
            answer(TextContent("d")),
            UserMessage("e"),
        ]
        assert [turn["content"] for turn in turns(sent(R1, *messages))] == ["a\n\nb", "c\n\nd", "e"]
        assert [turn["content"] for turn in turns(sent(GPT, *messages))] == ["a", "b", "c", "d", "e"]

    def test_images_merge_as_parts(self) -> None:
        request = sent(LOCAL, UserMessage([TextContent("a"), IMAGE]), UserMessage("b"), UserMessage("c"))
        assert turns(request)[0]["content"].count("image omitted") == 1
        seeing = msgspec.structs.replace(model_of(LOCAL), input=("text", "image"))
        context = Context(messages=[UserMessage([TextContent("a"), IMAGE]), UserMessage("b"), UserMessage("c")])
        [turn] = turns(encode(context, seeing))
        assert turn["content"] == [{"type": "text", "text": "a"}, SENT_IMAGE, {"type": "text", "text": "b\n\nc"}]

    def test_fillers_at_the_start_between_messages_and_at_the_end(self) -> None:
        request = sent(LOCAL, answer(call(1)), result(1), UserMessage("b"), answer(TextContent("c")))
        assert [(turn["role"], turn["content"]) for turn in turns(request)] == [
            ("user", "Continue the conversation."),
            ("assistant", ""),
            ("tool", "done"),
            ("assistant", "Understood."),
            ("user", "b"),
            ("assistant", "c"),
            ("user", "Continue."),
        ]
        assert codes(request).count("filler-inserted") == 3

    def test_openai_accepts_an_answer_as_the_first_message(self) -> None:
        assert [turn["role"] for turn in turns(sent(GPT, answer(TextContent("a")), UserMessage("b")))] == [
            "assistant",
            "user",
        ]

    @pytest.mark.parametrize(("ref", "expected"), [(GPT, None), (DEEPSEEK, ""), (KIMI, None), (LOCAL, "")])
    def test_content_of_a_message_with_calls_is_what_the_dialect_accepts(self, ref: str, expected: str | None) -> None:
        turn = turns(sent(ref, UserMessage("go"), answer(call(1)), result(1)))[1]
        assert turn["content"] == expected

    def test_content_can_be_left_out(self) -> None:
        assert "content" not in turns(sent(GPT, UserMessage("go"), answer(call(1)), result(1), empty_content="omit"))[1]

    def test_text_after_a_call_is_reported(self) -> None:
        request = sent(GPT, UserMessage("go"), answer(TextContent("a"), call(1), TextContent("b"), of=GPT), result(1))
        assert turns(request)[1]["content"] == "a\n\nb"
        assert codes(request) == ["blocks-reordered"]

    def test_an_unsupported_image_type_becomes_a_placeholder(self) -> None:
        request = sent(GPT, UserMessage([TextContent("a"), ImageContent("Qk0=", "image/bmp")]))
        assert turns(request)[0]["content"] == "a\n\n(image omitted: model does not support images)"
        assert codes(request) == ["image-downgraded"]

    def test_an_unsupported_image_type_in_a_result_becomes_a_placeholder(self) -> None:
        shot = ToolResultMessage("call_1", "bash", [TextContent("a"), ImageContent("Qk0=", "image/bmp")])
        request = sent(GPT, UserMessage("go"), answer(call(1), of=GPT), shot)
        assert turns(request)[2]["content"] == "a\n(tool image omitted: model does not support images)"
        assert codes(request) == ["image-downgraded"]

    def test_a_wrong_media_type_is_corrected(self) -> None:
        [turn] = turns(sent(GPT, UserMessage([ImageContent("/9j/4AAQ", "image/png")])))
        assert turn["content"][0]["image_url"]["url"] == "data:image/jpeg;base64,/9j/4AAQ"


class TestReasoning:
    @pytest.mark.parametrize(
        ("ref", "came_in", "goes_back"),
        [
            (DEEPSEEK, "reasoning_content", "reasoning_content"),
            (KIMI, "reasoning_content", "reasoning_content"),
            ("groq/openai/gpt-oss-120b", "reasoning", "reasoning"),
            ("groq/openai/gpt-oss-120b", "reasoning_content", "reasoning"),
            ("cerebras/gpt-oss-120b", "reasoning", "reasoning"),
            ("together/openai/gpt-oss-120b", "reasoning_content", "reasoning_content"),
            ("together/openai/gpt-oss-120b", "reasoning", "reasoning"),
            ("openrouter/openai/gpt-oss-120b", "reasoning", "reasoning"),
            ("vllm/a-model", "reasoning_content", "reasoning_content"),
            ("llamacpp/a-model", "reasoning", "reasoning_content"),
            ("ollama/a-model", None, "reasoning"),
        ],
    )
    def test_reasoning_is_sent_back_in_its_original_field_if_the_target_accepts_it(
        self, ref: str, came_in: str | None, goes_back: str
    ) -> None:
        own = answer(ThinkingContent("hm", came_in), TextContent("a"), of=ref)
        request = sent(ref, UserMessage("go"), own, UserMessage("and?"))
        turn = turns(request)[1]
        assert turn == {"role": "assistant", "content": "a", goes_back: "hm"}
        assert codes(request) == []

    def test_reasoning_details_are_sent_back_unchanged(self) -> None:
        details = [
            {"type": "reasoning.text", "text": "hm", "signature": "s", "index": 0},
            {"type": "reasoning.encrypted"},
        ]
        own = answer(
            ThinkingContent("hm", json.dumps(details)), TextContent("a"), of="openrouter/anthropic/claude-opus-5.5"
        )
        request = sent("openrouter/anthropic/claude-opus-5.5", UserMessage("go"), own, UserMessage("and?"))
        assert turns(request)[1]["reasoning_details"] == details
        assert codes(request) == []

    def test_the_signature_of_a_call_is_sent_back_in_reasoning_details(self) -> None:
        entry = {"type": "reasoning.encrypted", "data": "x", "id": "call_1"}
        own = answer(ToolCall("call_1", "bash", {}, json.dumps(entry)), of=GEMINI)
        request = sent(GEMINI, UserMessage("go"), own, result(1))
        assert turns(request)[1]["reasoning_details"] == [entry]

    def test_an_unsigned_call_to_gemini_3_gets_the_dummy_signature(self) -> None:
        request = sent(GEMINI, UserMessage("go"), answer(call(1), call(2)), result(1), result(2))
        assert turns(request)[1]["reasoning_details"] == [
            {
                "type": "reasoning.encrypted",
                "data": "skip_thought_signature_validator",
                "id": "call_1",
                "format": "google-gemini-v1",
                "index": 0,
            }
        ]

    def test_an_encrypted_entry_gets_the_new_id_of_its_call(self) -> None:
        def own() -> AssistantMessage:
            details = '[{"type":"reasoning.encrypted","data":"x","id":"call_1"}]'
            return answer(ThinkingContent("", details), call(1), of=GEMINI)

        request = sent(GEMINI, UserMessage("go"), own(), result(1), UserMessage("again"), own(), result(1))
        for turn in (turns(request)[1], turns(request)[4]):
            assert turn["reasoning_details"][0]["id"] == turn["tool_calls"][0]["id"]
            assert turn["reasoning_details"][0]["data"] == "x"

    @pytest.mark.parametrize("ref", ["cerebras/zai-glm-4.7", "minimax/MiniMax-M2"])
    def test_thinking_in_tags(self, ref: str) -> None:
        own = answer(ThinkingContent("hm", "reasoning"), TextContent("a"), of=ref)
        request = sent(ref, UserMessage("go"), own, UserMessage("and?"))
        assert turns(request)[1] == {"role": "assistant", "content": "<think>\nhm\n</think>\n\na"}

    def test_deepseek_gets_the_field_on_every_answer_and_kimi_on_calls(self) -> None:
        messages = [UserMessage("go"), answer(call(1)), result(1), answer(TextContent("a")), UserMessage("and?")]
        deepseek, kimi = turns(sent(DEEPSEEK, *messages)), turns(sent(KIMI, *messages))
        assert [turn.get("reasoning_content") for turn in deepseek if turn["role"] == "assistant"] == ["", ""]
        assert [turn.get("reasoning_content") for turn in kimi if turn["role"] == "assistant"] == [" ", None]

    def test_an_unknown_host_gets_the_placeholder_in_the_field_of_the_models_maker(self) -> None:
        request = sent(DEEPSEEK, UserMessage("go"), answer(TextContent("a")), UserMessage("?"), reasoning_field=None)
        assert turns(request)[1]["reasoning_content"] == ""

    def test_r1_gets_no_reasoning_back(self) -> None:
        own = answer(ThinkingContent("hm", "reasoning_content"), TextContent("a"), of=R1)
        request = sent(R1, UserMessage("go"), own, UserMessage("and?"))
        assert turns(request)[1] == {"role": "assistant", "content": "a"}
        assert codes(request) == ["thinking-dropped"]

    def test_details_that_the_target_has_no_field_for_become_text_or_are_dropped(self) -> None:
        readable = answer(ThinkingContent("hm", '[{"type":"reasoning.text"}]'), TextContent("a"), of=KIMI)
        opaque = answer(ThinkingContent("", '[{"type":"reasoning.encrypted"}]'), TextContent("b"), of=KIMI)
        request = sent(KIMI, UserMessage("go"), readable, opaque, UserMessage("and?"))
        assert [turn.get("reasoning_content") for turn in turns(request)[1:3]] == ["hm", None]
        assert codes(request) == ["thinking-dropped"]

    def test_an_answer_with_only_thinking_is_left_out(self) -> None:
        own = answer(ThinkingContent("hm", "reasoning_content"), of=KIMI)
        request = sent(KIMI, UserMessage("go"), own, UserMessage("and?"))
        assert [turn["role"] for turn in turns(request)] == ["user", "user"]
        assert codes(request) == ["thinking-dropped"]
        assert turns(sent(KIMI, own)) == [{"role": "user", "content": "Continue."}]

    def test_two_answers_with_reasoning_are_separated_instead_of_merged(self) -> None:
        def own(text: str) -> AssistantMessage:
            return answer(ThinkingContent("hm", "reasoning_content"), TextContent(text), of=LOCAL)

        request = sent(LOCAL, UserMessage("go"), own("a"), own("b"), UserMessage("and?"))
        assert [turn["content"] for turn in turns(request)] == ["go", "a", "Continue.", "b", "and?"]

    def test_text_moves_to_its_own_message_if_it_may_not_be_with_reasoning_and_calls(self) -> None:
        ref = "llamacpp/gpt-oss-20b"
        own = answer(ThinkingContent("hm", "reasoning_content"), TextContent("a"), call(1), of=ref)
        request = sent(ref, UserMessage("go"), own, result(1))
        assert [(turn.get("content"), turn.get("reasoning_content")) for turn in turns(request)[1:3]] == [
            ("a", None),
            ("", "hm"),
        ]
        assert "blocks-reordered" in codes(request)

    def test_reasoning_of_another_origin_is_text(self) -> None:
        foreign = answer(ThinkingContent("hm", "reasoning_content"), TextContent("a"), of=KIMI)
        request = sent(GPT, UserMessage("go"), foreign, UserMessage("and?"))
        assert turns(request)[1] == {"role": "assistant", "content": "[Reasoning] hm\n\na"}


class TestPolicyOff:
    def test_unrepaired_messages_do_not_break_the_encoder(self) -> None:
        context = Context(messages=[answer(call(1)), answer(ThinkingContent("x", "sig"), call(1)), result(9)])
        for ref in (GPT, LOCAL, KIMI, GEMINI):
            encode(context, model_of(ref), policy="off")
