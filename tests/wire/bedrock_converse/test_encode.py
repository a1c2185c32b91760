"""The content of requests for each family of Converse."""

import json
from base64 import b64decode, b64encode
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from wire.bedrock_converse.judge import faults

import segue
from segue.render import Request, encode, lint
from segue.types import (
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    Model,
    Options,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from segue.wire.bedrock_converse import PROTOCOL

IMAGE = ImageContent("aGVsbG8=", "image/png")
SENT_IMAGE = {"image": {"format": "png", "source": {"bytes": "aGVsbG8="}}}
BASH = ToolDefinition("bash", "Run it", {"type": "object", "properties": {}})
SONNET_45 = "anthropic.claude-sonnet-4-5-20250929-v1:0"
SONNET_46 = "anthropic.claude-sonnet-4-6"
OPUS_47 = "anthropic.claude-opus-4-7"
FABLE = "anthropic.claude-fable-5"
NOVA = "amazon.nova-lite-v1:0"
LLAMA = "meta.llama3-1-70b-instruct-v1:0"
LLAMA_4 = "meta.llama4-maverick-17b-instruct-v1:0"
MISTRAL = "mistral.ministral-3-14b-instruct"
MISTRAL_7B = "mistral.mistral-7b-instruct-v0:2"
R1 = "deepseek.r1-v1:0"
KIMI = "moonshotai.kimi-k2.5"
QWEN = "qwen.qwen3-32b-v1:0"
GPT_OSS = "openai.gpt-oss-120b-1:0"
GLM = "zai.glm-4.7"


def model(name: str) -> Model:
    return segue.get_model(f"amazon-bedrock/{name}")


def answer(target: Model | None, *content: Any, stop: Any = "stop") -> AssistantMessage:
    """An answer of the target itself, or of an unknown model."""
    origin = ("x", "y", "z") if target is None else (target.protocol, target.provider, target.id)
    blocks = [TextContent(block) if isinstance(block, str) else block for block in content]
    return AssistantMessage(content=blocks, protocol=origin[0], provider=origin[1], model=origin[2], stop_reason=stop)


def result(call_id: str, *content: Any, name: str = "bash", is_error: bool = False) -> ToolResultMessage:
    blocks = [TextContent(block) if isinstance(block, str) else block for block in content]
    return ToolResultMessage(call_id, name, blocks, is_error=is_error)


def call(call_id: str, name: str = "bash", **arguments: Any) -> ToolCall:
    return ToolCall(call_id, name, arguments)


def sent(name: str, *messages: Message, options: Options | None = None, system: str | None = None) -> Request:
    """The request for ``name``, checked by every judge."""
    request = encode(Context(system_prompt=system, messages=list(messages), tools=[BASH]), model(name), options)
    assert lint(request.body, "bedrock-converse", request.model) == []
    assert faults(request) == []
    return request


def turns(request: Request) -> list[tuple[str, list[Any]]]:
    return [(turn["role"], turn["content"]) for turn in request.body["messages"]]


def codes(request: Request) -> list[str]:
    return [change.code for change in request.changes]


def dropped(request: Request) -> list[str]:
    return [change.detail.split(":")[0] for change in request.changes if change.code == "option-dropped"]


USER = UserMessage("hi")
SENT_USER = ("user", [{"text": "hi"}])


# -- calls and results -----------------------------------------------------------------------------------------------


def use(call_id: str, name: str = "bash", **arguments: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}


def done(call_id: str, *content: Any, **more: Any) -> dict[str, Any]:
    blocks = [{"text": block} if isinstance(block, str) else block for block in content]
    return {"toolResult": {"toolUseId": call_id, "content": blocks, **more}}


def test_results_of_parallel_calls_are_in_one_turn_in_the_order_of_the_calls() -> None:
    target = model(SONNET_45)
    request = sent(
        SONNET_45,
        USER,
        answer(target, call("a", n=1), call("b", n=2), stop="toolUse"),
        result("b", "two"),
        result("a", "one"),
    )
    assert turns(request) == [
        SENT_USER,
        ("assistant", [use("a", n=1), use("b", n=2)]),
        ("user", [done("a", "one"), done("b", "two")]),
    ]
    assert codes(request) == ["result-moved"]


def test_ids_that_repeat_become_two_and_each_result_follows_its_own_call() -> None:
    messages = [USER]
    for text in ("one", "two"):
        messages += [answer(None, call("functions.bash:0", n=text), stop="toolUse"), result("functions.bash:0", text)]  # type: ignore[list-item]
    found = turns(sent(SONNET_45, *messages))
    pairs = [
        (uses["toolUse"]["toolUseId"], uses["toolUse"]["input"]["n"], results["toolResult"])
        for (_, [uses]), (_, [results]) in zip(found[1::2], found[2::2], strict=True)
    ]
    assert len({call_id for call_id, _, _ in pairs}) == 2
    assert [(n, r["toolUseId"], r["content"]) for call_id, n, r in pairs] == [
        ("one", pairs[0][0], [{"text": "one"}]),
        ("two", pairs[1][0], [{"text": "two"}]),
    ]


def test_a_name_that_is_refused_is_the_same_in_tools_calls_and_choice() -> None:
    context = Context(
        messages=[USER, answer(None, call("a", "my-tool.x"), stop="toolUse"), result("a", "ok", name="my-tool.x")],
        tools=[ToolDefinition("my-tool.x")],
    )
    body = encode(context, model(NOVA), Options(tool_choice="my-tool.x")).body
    name = body["toolConfig"]["tools"][0]["toolSpec"]["name"]
    assert "-" not in name
    assert body["messages"][1]["content"][0]["toolUse"]["name"] == name
    assert body["toolConfig"]["toolChoice"] == {"tool": {"name": name}}


def test_text_of_another_model_after_its_calls_moves_before_them() -> None:
    request = sent(SONNET_45, USER, answer(None, call("a"), "and then", stop="toolUse"), result("a", "ok"))
    assert turns(request)[1] == ("assistant", [{"text": "and then"}, use("a")])
    assert "blocks-reordered" in codes(request)


def test_text_of_the_target_after_its_last_call_comes_before_it() -> None:
    target = model(SONNET_45)
    request = sent(SONNET_45, USER, answer(target, call("a"), "and then", stop="toolUse"), result("a", "ok"))
    assert turns(request)[1] == ("assistant", [{"text": "and then"}, use("a")])
    assert codes(request) == ["blocks-reordered"]


def test_a_failed_result_has_a_flag_on_claude_and_nova_and_a_text_elsewhere() -> None:
    messages = (USER, answer(None, call("a"), stop="toolUse"), result("a", "it broke", is_error=True))
    for name in (SONNET_45, NOVA):
        assert turns(sent(name, *messages))[2] == ("user", [done("a", "it broke", status="error")])
    request = sent(LLAMA, *messages)
    assert turns(request)[2] == ("user", [done("a", "Error: it broke")])
    assert codes(request) == ["error-as-text"]


def test_a_result_that_is_an_object_is_sent_as_json_if_the_dialect_says_so() -> None:
    messages = [USER, answer(None, call("a"), call("b"), call("c"), stop="toolUse")]
    for call_id, text in (("a", '{"n": 1}'), ("b", "[1]"), ("c", "{not json")):
        messages.append(result(call_id, text))  # type: ignore[arg-type]
    assert turns(sent(MISTRAL, *messages))[2] == (
        "user",
        [done("a", {"json": {"n": 1}}), done("b", "[1]"), done("c", "{not json")],
    )
    assert turns(sent(LLAMA, *messages))[2][1][0] == done("a", '{"n": 1}')


# -- images ----------------------------------------------------------------------------------------------------------


def test_images_stay_in_results_if_the_target_accepts_them() -> None:
    messages = (USER, answer(None, call("a"), stop="toolUse"), result("a", "look", IMAGE))
    for name in (SONNET_45, NOVA, LLAMA_4):
        assert turns(sent(name, *messages))[2] == ("user", [done("a", "look", SENT_IMAGE)])


def test_images_follow_the_batch_if_results_cannot_have_them() -> None:
    request = sent(
        KIMI,
        USER,
        answer(None, call("a"), call("b"), stop="toolUse"),
        result("a", IMAGE),
        result("b", "text", IMAGE),
    )
    assert turns(request)[2] == (
        "user",
        [
            done("a", "(see the images below)"),
            done("b", "text"),
            {"text": "Images from the tool results above:"},
            SENT_IMAGE,
            SENT_IMAGE,
        ],
    )
    assert codes(request).count("image-moved") == 2


def test_images_of_a_failed_result_move_on_claude() -> None:
    messages = (USER, answer(None, call("a"), stop="toolUse"), result("a", IMAGE, is_error=True))
    assert turns(sent(SONNET_45, *messages))[2][1] == [
        done("a", "(see the images below)", status="error"),
        {"text": "Images from the tool results above:"},
        SENT_IMAGE,
    ]
    assert turns(sent(NOVA, *messages))[2][1] == [done("a", SENT_IMAGE, status="error")]
    assert turns(sent(LLAMA_4, *messages))[2][1] == [done("a", "Error: (see the images below)", SENT_IMAGE)]


def test_an_image_of_an_unknown_format_becomes_text() -> None:
    request = sent(SONNET_45, UserMessage([ImageContent("PHN2Zz4=", "image/svg+xml"), ImageContent("", "image/png")]))
    assert turns(request) == [
        (
            "user",
            [{"text": "(image omitted: image/svg+xml is not supported)"}, {"text": "(image omitted: it is empty)"}],
        )
    ]
    assert codes(request) == ["image-downgraded", "image-downgraded"]


def test_boto3_gets_bytes_and_the_id_of_the_model() -> None:
    target = model(SONNET_45)
    payload = b64encode(b"secret").decode()
    request = sent(
        SONNET_45,
        UserMessage([IMAGE]),
        answer(target, ThinkingContent("", payload, redacted=True), call("a"), stop="toolUse"),
        result("a", IMAGE),
    )
    kwargs = request.sdk_kwargs()
    assert kwargs["modelId"] == SONNET_45
    assert "modelId" not in request.body
    first, second, third = kwargs["messages"]
    assert first["content"][0]["image"]["source"]["bytes"] == b"hello"
    assert second["content"][0]["reasoningContent"]["redactedContent"] == b"secret"
    assert third["content"][0]["toolResult"]["content"][0]["image"]["source"]["bytes"] == b"hello"
    assert request.body["messages"][1]["content"][0]["reasoningContent"]["redactedContent"] == payload


def test_a_redacted_payload_that_is_not_base64_is_encoded() -> None:
    target = model(SONNET_45)
    request = sent(SONNET_45, USER, answer(target, ThinkingContent("", "päyload", redacted=True), "x"), USER)
    block = request.body["messages"][1]["content"][0]
    assert b64decode(block["reasoningContent"]["redactedContent"]).decode() == "päyload"


# -- turns -----------------------------------------------------------------------------------------------------------


def test_text_and_tool_blocks_are_in_separate_turns_if_the_target_requires_it() -> None:
    request = sent(
        LLAMA, USER, answer(None, "let me see", call("a"), stop="toolUse"), result("a", "ok"), UserMessage("go on")
    )
    assert turns(request) == [
        SENT_USER,
        ("assistant", [{"text": "let me see"}]),
        ("user", [{"text": "Continue."}]),
        ("assistant", [use("a")]),
        ("user", [done("a", "ok")]),
        ("assistant", [{"text": "Understood."}]),
        ("user", [{"text": "go on"}]),
    ]
    assert codes(request) == ["filler-inserted", "filler-inserted"]


def test_a_text_with_citations_is_in_its_own_turn_too() -> None:
    citation = {"title": "T", "sourceContent": [{"text": "x"}], "location": {"documentChar": {"documentIndex": 0}}}
    text = TextContent("let me see", json.dumps([citation]))
    request = sent(LLAMA, USER, answer(model(LLAMA), text, call("a"), stop="toolUse"), result("a", "ok"))
    cited = {"citationsContent": {"content": [{"text": "let me see"}], "citations": [citation]}}
    assert turns(request) == [
        SENT_USER,
        ("assistant", [cited]),
        ("user", [{"text": "Continue."}]),
        ("assistant", [use("a")]),
        ("user", [done("a", "ok")]),
    ]


def test_the_targets_own_text_between_calls_and_results_moves_if_it_is_refused_there() -> None:
    request = sent(LLAMA, USER, answer(model(LLAMA), call("a"), "then", stop="toolUse"), result("a", "ok"))
    assert [role for role, _ in turns(request)] == ["user", "assistant", "user", "assistant", "user"]
    assert turns(request)[1:4:2] == [("assistant", [{"text": "then"}]), ("assistant", [use("a")])]
    assert "blocks-reordered" in codes(request)


def test_moved_images_get_their_own_turn_if_results_cannot_be_mixed() -> None:
    request = sent(MISTRAL, USER, answer(None, call("a"), stop="toolUse"), result("a", IMAGE), UserMessage("and?"))
    assert turns(request)[2:] == [
        ("user", [done("a", "(see the images below)")]),
        ("assistant", [{"text": "Understood."}]),
        ("user", [{"text": "Images from the tool results above:"}, SENT_IMAGE, {"text": "and?"}]),
    ]


def test_adjacent_messages_of_one_role_are_one_turn() -> None:
    request = sent(SONNET_45, USER, UserMessage("there"), answer(None, "a"), answer(None, "b"), USER)
    assert turns(request) == [
        ("user", [{"text": "hi"}, {"text": "there"}]),
        ("assistant", [{"text": "a"}, {"text": "b"}]),
        SENT_USER,
    ]
    assert codes(request) == ["turns-merged", "turns-merged"]


def test_a_leading_answer_gets_an_opening_if_the_user_must_begin() -> None:
    request = sent(NOVA, answer(None, "hello"), USER)
    assert turns(request)[0] == ("user", [{"text": "Continue the conversation."}])
    assert codes(request) == ["filler-inserted"]
    for name in (SONNET_45, QWEN, KIMI, GLM):
        assert turns(sent(name, answer(None, "hello"), USER))[0][0] == "assistant"


def test_a_last_answer_gets_a_closing_unless_it_is_a_prefill() -> None:
    for name in (SONNET_46, NOVA, LLAMA):
        request = sent(name, USER, answer(None, "hello"))
        assert turns(request)[-1] == ("user", [{"text": "Continue."}])
        assert codes(request) == ["filler-inserted"]
    assert turns(sent(SONNET_45, USER, answer(None, "hello")))[-1] == ("assistant", [{"text": "hello"}])


def test_an_answer_that_cannot_be_continued_is_closed_even_if_a_prefill_is_accepted() -> None:
    own = model(SONNET_45)
    for last in (answer(None, "hello "), answer(own, ThinkingContent("hm", "sig"), "hello")):
        assert turns(sent(SONNET_45, USER, last))[-1] == ("user", [{"text": "Continue."}])
    assert turns(sent(SONNET_45, answer(None, "hello")))[-1][0] == "user"


def test_a_system_prompt_opens_the_conversation_if_the_target_has_none() -> None:
    request = sent(MISTRAL_7B, USER, system="Be brief.")
    assert "system" not in request.body
    assert turns(request) == [("user", [{"text": "Be brief."}, {"text": "hi"}])]
    assert "system-as-text" in codes(request)
    assert turns(sent(MISTRAL_7B, answer(None, "hello"), USER, system="Be brief."))[0] == (
        "user",
        [{"text": "Be brief."}],
    )
    assert sent(NOVA, USER, system="Be brief.").body["system"] == [{"text": "Be brief."}]


def test_calls_and_results_become_text_for_a_model_without_tools() -> None:
    request = sent(
        R1,
        USER,
        answer(None, "let me see", call("a", cmd="ls"), call("b"), stop="toolUse"),
        result("a", "file"),
        result("b", "it broke", is_error=True),
        UserMessage("go on"),
    )
    assert "toolConfig" not in request.body
    assert turns(request) == [
        SENT_USER,
        ("assistant", [{"text": "let me see"}, {"text": '[Call to bash] {"cmd":"ls"}'}, {"text": "[Call to bash] {}"}]),
        (
            "user",
            [
                {"text": "[Result of the call to bash]\nfile"},
                {"text": "[Result of the call to bash]\nError: it broke"},
                {"text": "go on"},
            ],
        ),
    ]
    assert codes(request).count("tools-as-text") == 3
    assert dropped(request) == ["tools"]


def test_a_history_with_calls_gets_no_placeholder_tool_for_a_model_without_tools() -> None:
    context = Context(messages=[USER, answer(None, call("a"), stop="toolUse"), result("a", "ok")])
    assert codes(encode(context, model(R1))) == ["tools-as-text", "tools-as-text"]
    assert encode(context, model(LLAMA)).body["toolConfig"]["tools"][0]["toolSpec"]["name"] == "unavailable_tool"


# -- thinking --------------------------------------------------------------------------------------------------------


def test_own_thinking_is_sent_back_to_claude_unchanged() -> None:
    target = model(SONNET_45)
    request = sent(
        SONNET_45,
        USER,
        answer(
            target,
            ThinkingContent("let me see", "sig1"),
            call("a"),
            ThinkingContent("", "sig2"),
            call("b"),
            stop="toolUse",
        ),
        result("a", "ok"),
        result("b", "ok"),
    )
    assert turns(request)[1] == (
        "assistant",
        [
            {"reasoningContent": {"reasoningText": {"text": "let me see", "signature": "sig1"}}},
            use("a"),
            {"reasoningContent": {"reasoningText": {"text": "", "signature": "sig2"}}},
            use("b"),
        ],
    )
    assert request.changes == []


def test_thinking_of_another_origin_is_never_sent_as_thinking() -> None:
    for origin in (model(SONNET_46), None):
        request = sent(SONNET_45, USER, answer(origin, ThinkingContent("hm", "sig"), "hello"), USER)
        assert turns(request)[1] == ("assistant", [{"text": "[Reasoning] hm"}, {"text": "hello"}])


def test_all_thinking_is_dropped_if_an_answer_ends_with_thinking() -> None:
    own = model(SONNET_45)
    cut = answer(own, ThinkingContent("a", "s1"), "hello", ThinkingContent("b", "s2"), stop="length")
    request = sent(SONNET_45, USER, cut, USER)
    assert turns(request)[1] == ("assistant", [{"text": "hello"}])
    assert codes(request) == ["thinking-dropped"]
    alone = sent(SONNET_45, USER, answer(own, ThinkingContent("a", "s1"), stop="length"))
    assert turns(alone) == [SENT_USER]


def test_a_conversation_with_only_thinking_gets_a_closing() -> None:
    own = model(SONNET_45)
    assert turns(sent(SONNET_45, answer(own, ThinkingContent("a", "s1"), stop="length"))) == [
        ("user", [{"text": "Continue."}])
    ]


def test_deepseek_gets_its_thinking_back_without_a_signature() -> None:
    own = model(R1)
    request = sent(
        R1, USER, answer(own, ThinkingContent("hm"), "hello"), answer(own, ThinkingContent("x", "s"), "y"), USER
    )
    assert [block.get("reasoningContent") for block in turns(request)[1][1]] == [
        {"reasoningText": {"text": "hm"}},
        None,
        {"reasoningText": {"text": "x"}},
        None,
    ]
    assert "signature-dropped" in codes(request)


def test_a_model_that_accepts_no_thinking_gets_none_even_if_it_is_signed() -> None:
    request = sent(LLAMA, USER, answer(model(LLAMA), ThinkingContent("hm", "sig"), "hello"), USER)
    assert turns(request)[1] == ("assistant", [{"text": "hello"}])
    assert "thinking-dropped" in codes(request)


# -- options ---------------------------------------------------------------------------------------------------------


def test_without_options_nothing_is_added() -> None:
    assert set(sent(SONNET_45, USER).body) == {"messages", "toolConfig"}


def test_the_path_contains_the_model_and_whether_the_answer_is_streamed() -> None:
    assert sent(SONNET_45, USER).path == "/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"
    assert sent(SONNET_45, USER, options=Options(stream=True)).path.endswith("/converse-stream")
    whole = sent(LLAMA, USER, options=Options(stream=True))  # "doesn't support tool use in streaming mode"
    assert whole.path.endswith("/converse")
    assert dropped(whole) == ["stream"]
    bare = segue.encode(Context(messages=[UserMessage("Hi")]), model(LLAMA), Options(stream=True))
    assert bare.path.endswith("/converse-stream") and dropped(bare) == []


def test_sampling_stops_and_limits_are_mapped_or_reported() -> None:
    options = Options(max_tokens=100, temperature=0.5, stop=("END", " "))
    request = sent(NOVA, USER, options=options)
    assert request.body["inferenceConfig"] == {"maxTokens": 100, "stopSequences": ["END"], "temperature": 0.5}
    assert dropped(request) == ["stop"]
    assert dropped(sent(OPUS_47, USER, options=Options(temperature=0.5))) == ["temperature"]
    assert dropped(sent(GLM, USER, options=Options(stop=("END",)))) == ["stop"]
    clamped = sent(NOVA, USER, options=Options(max_tokens=10_000_000, temperature=2.0))
    assert clamped.body["inferenceConfig"] == {"maxTokens": model(NOVA).max_tokens, "temperature": 1}
    assert dropped(clamped) == ["max_tokens", "temperature"]


@pytest.mark.parametrize(
    ("name", "level", "fields"),
    [
        (SONNET_45, "low", {"thinking": {"type": "enabled", "budget_tokens": 2_048}}),
        (SONNET_45, "off", None),
        (SONNET_46, "high", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}),
        (SONNET_46, "off", None),
        (OPUS_47, "max", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "xhigh"}}),
        (OPUS_47, "off", {"thinking": {"type": "disabled"}}),
        (QWEN, "medium", {"reasoning_config": "low"}),
        (QWEN, "off", None),
        (GPT_OSS, "max", {"reasoning_effort": "high"}),
    ],
)
def test_reasoning_is_mapped_for_each_family(name: str, level: Any, fields: Any) -> None:
    request = sent(name, USER, options=Options(reasoning=level))
    assert request.body.get("additionalModelRequestFields") == fields
    assert dropped(request) == []


@pytest.mark.parametrize(("name", "level"), [(FABLE, "off"), (GPT_OSS, "off"), (R1, "high"), (LLAMA, "high")])
def test_reasoning_that_cannot_be_set_is_reported(name: str, level: Any) -> None:
    request = sent(name, USER, options=Options(reasoning=level))
    assert "additionalModelRequestFields" not in request.body
    assert "reasoning" in dropped(request)


def test_thinking_by_budget_leaves_room_for_the_answer() -> None:
    body = sent(SONNET_45, USER, options=Options(reasoning="high")).body
    assert body["inferenceConfig"]["maxTokens"] == 16_384 + 8_192
    tight = sent(SONNET_45, USER, options=Options(reasoning="high", max_tokens=1_500))
    assert tight.body["additionalModelRequestFields"]["thinking"]["budget_tokens"] == 1_024
    assert dropped(sent(SONNET_45, USER, options=Options(reasoning="high", max_tokens=1_000))) == ["reasoning"]


def test_thinking_is_left_out_in_a_tool_loop_without_it_and_with_a_prefill() -> None:
    loop = (USER, answer(None, call("a"), stop="toolUse"), result("a", "ok"))
    options = Options(reasoning="high", temperature=0.5)
    assert dropped(sent(SONNET_45, *loop, options=options)) == ["reasoning"]
    assert dropped(sent(SONNET_45, USER, answer(None, "hello"), options=options)) == ["reasoning"]
    assert dropped(sent(SONNET_46, *loop, options=Options(reasoning="high"))) == []
    assert dropped(sent(SONNET_45, USER, options=options)) == ["temperature"]


@pytest.mark.parametrize(
    ("name", "choice", "expected"),
    [
        (SONNET_45, "auto", {"auto": {}}),
        (SONNET_45, "required", {"any": {}}),
        (SONNET_45, "bash", {"tool": {"name": "bash"}}),
        (SONNET_45, "none", None),
        (SONNET_45, "nothing", None),
        (LLAMA, "auto", {"auto": {}}),
        (LLAMA, "required", None),
        (FABLE, "bash", None),
    ],
)
def test_a_tool_choice_is_mapped_or_reported(name: str, choice: str, expected: Any) -> None:
    request = sent(name, USER, options=Options(tool_choice=choice))
    assert request.body["toolConfig"].get("toolChoice") == expected
    assert dropped(request) == ([] if expected else ["tool_choice"])


def test_a_forced_tool_is_left_out_with_a_thinking_budget() -> None:
    request = sent(SONNET_45, USER, options=Options(tool_choice="required", reasoning="low"))
    assert "toolChoice" not in request.body["toolConfig"]
    assert dropped(request) == ["tool_choice"]


def test_cache_points_are_after_the_last_two_user_turns_also_of_a_growing_conversation() -> None:
    """One reads what the request before has written, the other one writes for the next request."""
    point, messages = {"cachePoint": {"type": "default"}}, [USER]
    renderer = segue.Renderer(segue.get_model(f"amazon-bedrock/{SONNET_45}"))
    for number in range(1, 5):
        body = renderer.request(Context(messages=messages), Options(cache="short")).body
        marked = [turn["content"][-1] == point for turn in body["messages"] if turn["role"] == "user"]
        assert marked == [False] * (number - 2) + [True] * min(number, 2)
        messages = [*messages, AssistantMessage([TextContent("Hello.")]), USER]


def test_cache_points_are_after_the_system_prompt_and_the_last_user_turn() -> None:
    hour, minutes = {"type": "default", "ttl": "1h"}, {"type": "default"}
    body = sent(SONNET_45, USER, system="Be brief.", options=Options(cache="long")).body
    assert body["system"] == [{"text": "Be brief."}, {"cachePoint": hour}]
    assert body["messages"][-1]["content"] == [{"text": "hi"}, {"cachePoint": hour}]
    nova = sent(NOVA, USER, options=Options(cache="long"))
    assert nova.body["messages"][-1]["content"][-1] == {"cachePoint": minutes}
    assert dropped(nova) == ["cache"]
    llama = sent(LLAMA, USER, options=Options(cache="short"))
    assert turns(llama) == [SENT_USER]
    assert dropped(llama) == ["cache"]


def test_metadata_of_plain_characters_is_sent() -> None:
    request = sent(NOVA, USER, options=Options(metadata={"user_id": "u1", "bad": "ä"}))
    assert request.body["requestMetadata"] == {"user_id": "u1"}
    assert dropped(request) == ["metadata"]
    many = sent(NOVA, USER, options=Options(metadata={f"k{n}": "v" for n in range(20)}))
    assert len(many.body["requestMetadata"]) == 16


def test_a_schema_that_is_not_an_object_is_adapted_on_a_copy() -> None:
    odd = ToolDefinition("odd", "", {"anyOf": [{"type": "object"}], "properties": None})
    context = Context(messages=[USER], tools=[odd])
    request = encode(context, model(NOVA))
    assert request.body["toolConfig"]["tools"][0]["toolSpec"] == {
        "name": "odd",
        "inputSchema": {"json": {"properties": {}, "type": "object"}},
    }
    assert codes(request) == ["schema-adapted"]
    assert msgspec.json.decode(odd.parameters) == {"anyOf": [{"type": "object"}], "properties": None}


def test_an_encoder_refuses_a_model_of_another_protocol() -> None:
    other = replace(segue.get_model("openai/gpt-5.4"), protocol=PROTOCOL.name)
    with pytest.raises(TypeError, match="BedrockConverse"):
        encode(Context(messages=[USER]), other)


def test_the_judge_finds_faults() -> None:
    request = sent(SONNET_45, UserMessage([IMAGE]))
    request.body["messages"][0]["content"][0]["image"]["format"] = "svg"
    request.body["messages"].append({"role": "tool", "content": [{"text": "a", "cachePoint": {}}]})
    request.body["toolConfig"]["tools"][0]["toolSpec"]["name"] = "a.b" * 40
    request.body["inferenceConfig"] = {"topK": 1}
    text = "\n".join(faults(request))
    for fault in (
        "'svg' is none of",
        "'tool' is none of",
        "a union of 2",
        "does not match",
        "is not from 1 to 64",
        "topK",
    ):
        assert fault in text


@pytest.mark.parametrize("level", [None, "low"])
def test_a_bound_claude_drops_thinking_that_is_bound_to_another_conversation(level: Any) -> None:
    fields = sent("us.anthropic.claude-opus-5-5", USER, options=Options(reasoning=level)).body[
        "additionalModelRequestFields"
    ]
    assert fields["anthropic_beta"] == ["thinking-binding-controls-2026-08-01"]
    assert fields["thinking"] == {
        "type": "adaptive",
        "block_binding": {"prefix_mismatch_behavior": "drop_block"},
    }
    assert "additionalModelRequestFields" not in sent(FABLE, USER).body


def test_thinking_of_a_bound_claude_can_be_turned_off_while_no_thinking_is_sent() -> None:
    haiku = "us.anthropic.claude-haiku-5-5"
    off = Options(reasoning="off")
    assert sent(haiku, USER, options=off).body["additionalModelRequestFields"] == {"thinking": {"type": "disabled"}}
    thought = answer(model(haiku), ThinkingContent("hm", "sig"), TextContent("so"))
    request = sent(haiku, USER, thought, UserMessage("and?"), options=off)
    assert request.body["additionalModelRequestFields"]["thinking"]["type"] == "adaptive"
    assert "option-dropped" in codes(request)
