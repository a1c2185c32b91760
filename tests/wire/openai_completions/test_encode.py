"""What the members of the family are sent, by content."""

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
    """A request that no judge has anything against."""
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
        assert [made["id"] for made in spoken["tool_calls"]] == ["call_1", "call_2"]
        assert spoken["tool_calls"][1]["function"] == {"name": "bash", "arguments": '{"n":2}'}
        assert (first, second) == (
            {"role": "tool", "tool_call_id": "call_1", "content": "one"},
            {"role": "tool", "tool_call_id": "call_2", "content": "two"},
        )

    def test_a_reused_id_is_two_ids_and_each_result_stays_with_its_call(self) -> None:
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
        assert [made["id"] for turn in turns(request) for made in turn.get("tool_calls", [])] == [
            "functions.bash:0",
            "functions.bash:1",
            "functions.bash:2",
        ]

    def test_an_unknown_server_gets_ids_of_nine(self) -> None:
        request = sent(LOCAL, UserMessage("go"), answer(call(7)), result(7))
        [made] = turns(request)[1]["tool_calls"]
        assert len(made["id"]) == 9 and made["id"].isalnum()
        assert turns(request)[2]["name"] == "bash"

    def test_a_name_that_is_refused_is_mapped_in_tools_history_and_results(self) -> None:
        request = sent(
            LOCAL, UserMessage("go"), answer(call(1, "my.tool")), result(1), tools=[ToolDefinition("my.tool")]
        )
        name = request.body["tools"][0]["function"]["name"]
        assert name == turns(request)[1]["tool_calls"][0]["function"]["name"] == turns(request)[2]["name"] != "my.tool"

    def test_an_error_is_written_before_the_text_once(self) -> None:
        request = sent(
            GPT,
            UserMessage("go"),
            answer(call(1), call(2), of=GPT),
            result(1, "it broke", is_error=True),
            result(2, "Error: gone", is_error=True),
        )
        assert [turn["content"] for turn in turns(request)[2:]] == ["Error: it broke", "Error: gone"]
        assert codes(request) == ["error-as-text"]

    def test_images_of_results_move_behind_the_whole_batch(self) -> None:
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

    def test_images_stay_in_results_where_the_dialect_says_so(self) -> None:
        both = ToolResultMessage("call_1", "bash", [TextContent("look"), IMAGE], is_error=True)
        context = Context(messages=[UserMessage("go"), answer(call(1), of=GPT), both])
        request = encode(context, model_of(GPT, images_in_results=True))
        assert turns(request)[2]["content"] == [{"type": "text", "text": "Error: look"}, SENT_IMAGE]

    def test_one_call_at_a_time_where_a_template_wants_it(self) -> None:
        request = sent(
            "llamacpp/llama-3.1-8b", UserMessage("go"), answer(call(1), call(2)), result(1, "one"), result(2, "two")
        )
        assert [turn["role"] for turn in turns(request)] == ["user", "assistant", "tool", "assistant", "tool"]
        assert [turn["content"] for turn in turns(request)][2::2] == ["one", "two"]
        assert "blocks-reordered" in codes(request)


class TestShape:
    def test_the_system_prompt_is_spoken_in_the_role_that_the_target_knows(self) -> None:
        spoken = {ref: turns(sent(ref, UserMessage("go"), system="Be brief."))[0]["role"] for ref in (GPT, DEEPSEEK)}
        assert spoken == {GPT: "developer", DEEPSEEK: "system"}

    def test_the_user_speaks_the_prompt_where_there_is_no_role_for_it(self) -> None:
        merged = sent("llamacpp/gemma-2-2b-it", UserMessage("go"), system="Be brief.")
        assert turns(merged) == [{"role": "user", "content": "Be brief.\n\ngo"}]
        assert "system-as-text" in codes(merged)
        apart = sent("openai/o1-mini", UserMessage("go"), system="Be brief.")
        assert [turn["content"] for turn in turns(apart)] == ["Be brief.", "go"]

    def test_neighbours_are_merged_where_roles_alternate(self) -> None:
        said = [
            UserMessage("a"),
            UserMessage("b"),
            answer(TextContent("c")),
            answer(TextContent("d")),
            UserMessage("e"),
        ]
        assert [turn["content"] for turn in turns(sent(R1, *said))] == ["a\n\nb", "c\n\nd", "e"]
        assert [turn["content"] for turn in turns(sent(GPT, *said))] == ["a", "b", "c", "d", "e"]

    def test_images_merge_as_parts(self) -> None:
        request = sent(LOCAL, UserMessage([TextContent("a"), IMAGE]), UserMessage("b"), UserMessage("c"))
        assert turns(request)[0]["content"].count("image omitted") == 1
        seeing = msgspec.structs.replace(model_of(LOCAL), input=("text", "image"))
        context = Context(messages=[UserMessage([TextContent("a"), IMAGE]), UserMessage("b"), UserMessage("c")])
        [turn] = turns(encode(context, seeing))
        assert turn["content"] == [{"type": "text", "text": "a"}, SENT_IMAGE, {"type": "text", "text": "b\n\nc"}]

    def test_fillers_open_bridge_and_close(self) -> None:
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

    def test_openai_takes_an_answer_first(self) -> None:
        assert [turn["role"] for turn in turns(sent(GPT, answer(TextContent("a")), UserMessage("b")))] == [
            "assistant",
            "user",
        ]

    @pytest.mark.parametrize(("ref", "expected"), [(GPT, None), (DEEPSEEK, ""), (KIMI, None), (LOCAL, "")])
    def test_content_beside_calls_is_what_the_dialect_takes(self, ref: str, expected: str | None) -> None:
        turn = turns(sent(ref, UserMessage("go"), answer(call(1)), result(1)))[1]
        assert turn["content"] == expected

    def test_content_can_be_left_out(self) -> None:
        assert "content" not in turns(sent(GPT, UserMessage("go"), answer(call(1)), result(1), empty_content="omit"))[1]

    def test_text_behind_a_call_is_told(self) -> None:
        request = sent(GPT, UserMessage("go"), answer(TextContent("a"), call(1), TextContent("b"), of=GPT), result(1))
        assert turns(request)[1]["content"] == "a\n\nb"
        assert codes(request) == ["blocks-reordered"]

    def test_a_kind_of_image_that_is_not_read_is_named(self) -> None:
        request = sent(GPT, UserMessage([TextContent("a"), ImageContent("Qk0=", "image/bmp")]))
        assert turns(request)[0]["content"] == "a\n\n(image omitted: model does not support images)"
        assert codes(request) == ["image-downgraded"]

    def test_a_result_keeps_the_word_for_an_image_that_is_not_read(self) -> None:
        shot = ToolResultMessage("call_1", "bash", [TextContent("a"), ImageContent("Qk0=", "image/bmp")])
        request = sent(GPT, UserMessage("go"), answer(call(1), of=GPT), shot)
        assert turns(request)[2]["content"] == "a\n(tool image omitted: model does not support images)"
        assert codes(request) == ["image-downgraded"]

    def test_a_lying_label_is_put_right(self) -> None:
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
    def test_it_goes_back_under_the_name_it_came_with_where_the_target_takes_that(
        self, ref: str, came_in: str | None, goes_back: str
    ) -> None:
        own = answer(ThinkingContent("hm", came_in), TextContent("a"), of=ref)
        request = sent(ref, UserMessage("go"), own, UserMessage("and?"))
        turn = turns(request)[1]
        assert turn == {"role": "assistant", "content": "a", goes_back: "hm"}
        assert codes(request) == []

    def test_details_go_back_as_they_came(self) -> None:
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

    def test_what_came_with_a_call_goes_back_in_the_details(self) -> None:
        entry = {"type": "reasoning.encrypted", "data": "x", "id": "call_1"}
        own = answer(ToolCall("call_1", "bash", {}, json.dumps(entry)), of=GEMINI)
        request = sent(GEMINI, UserMessage("go"), own, result(1))
        assert turns(request)[1]["reasoning_details"] == [entry]

    def test_an_unsigned_call_to_gemini_3_goes_with_the_dummy(self) -> None:
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

    def test_an_entry_follows_its_call_when_the_id_is_projected(self) -> None:
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
        said = [UserMessage("go"), answer(call(1)), result(1), answer(TextContent("a")), UserMessage("and?")]
        deepseek, kimi = turns(sent(DEEPSEEK, *said)), turns(sent(KIMI, *said))
        assert [turn.get("reasoning_content") for turn in deepseek if turn["role"] == "assistant"] == ["", ""]
        assert [turn.get("reasoning_content") for turn in kimi if turn["role"] == "assistant"] == [" ", None]

    def test_a_host_of_whom_nothing_is_known_gets_the_makers_own_field(self) -> None:
        request = sent(DEEPSEEK, UserMessage("go"), answer(TextContent("a")), UserMessage("?"), reasoning_field=None)
        assert turns(request)[1]["reasoning_content"] == ""

    def test_r1_gets_none_back(self) -> None:
        own = answer(ThinkingContent("hm", "reasoning_content"), TextContent("a"), of=R1)
        request = sent(R1, UserMessage("go"), own, UserMessage("and?"))
        assert turns(request)[1] == {"role": "assistant", "content": "a"}
        assert codes(request) == ["thinking-dropped"]

    def test_details_without_a_field_for_them_go_back_as_text_or_not_at_all(self) -> None:
        readable = answer(ThinkingContent("hm", '[{"type":"reasoning.text"}]'), TextContent("a"), of=KIMI)
        opaque = answer(ThinkingContent("", '[{"type":"reasoning.encrypted"}]'), TextContent("b"), of=KIMI)
        request = sent(KIMI, UserMessage("go"), readable, opaque, UserMessage("and?"))
        assert [turn.get("reasoning_content") for turn in turns(request)[1:3]] == ["hm", None]
        assert codes(request) == ["thinking-dropped"]

    def test_an_answer_of_nothing_but_thinking_is_left_out(self) -> None:
        own = answer(ThinkingContent("hm", "reasoning_content"), of=KIMI)
        request = sent(KIMI, UserMessage("go"), own, UserMessage("and?"))
        assert [turn["role"] for turn in turns(request)] == ["user", "user"]
        assert codes(request) == ["thinking-dropped"]
        assert turns(sent(KIMI, own)) == [{"role": "user", "content": "Continue."}]

    def test_two_answers_with_reasoning_are_parted_rather_than_merged(self) -> None:
        def own(text: str) -> AssistantMessage:
            return answer(ThinkingContent("hm", "reasoning_content"), TextContent(text), of=LOCAL)

        request = sent(LOCAL, UserMessage("go"), own("a"), own("b"), UserMessage("and?"))
        assert [turn["content"] for turn in turns(request)] == ["go", "a", "Continue.", "b", "and?"]

    def test_text_moves_out_where_it_may_not_stand_beside_reasoning_and_calls(self) -> None:
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
    def test_messages_as_they_are_do_not_break_the_encoder(self) -> None:
        context = Context(messages=[answer(call(1)), answer(ThinkingContent("x", "sig"), call(1)), result(9)])
        for ref in (GPT, LOCAL, KIMI, GEMINI):
            encode(context, model_of(ref), policy="off")
