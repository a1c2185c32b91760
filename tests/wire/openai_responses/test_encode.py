"""The content of a body: items, ids, order, results, images, tools and options, and the reported changes."""

import json
from typing import Any

import pytest
from msgspec.structs import replace
from wire.openai_responses.answers import reasoning

import segue
from segue.render import Request, encode
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

GPT = segue.get_model("openai/gpt-5.4")
IMAGE = ImageContent("aGVsbG8=", "image/png")
URL = {"type": "input_image", "image_url": "data:image/png;base64,aGVsbG8=", "detail": "auto"}


TWICE = [ThinkingContent("", reasoning(1)), TextContent("", "msg_2")]


def own(*content: Any, model: Model = GPT, **more: Any) -> AssistantMessage:
    stop = "toolUse" if any(isinstance(block, ToolCall) for block in content) else "stop"
    fields: dict[str, Any] = {"provider": model.provider, "model": model.id, "stop_reason": stop} | more
    return AssistantMessage(content=list(content), protocol=model.protocol, **fields)


def result(call_id: str, *content: Any, **more: Any) -> ToolResultMessage:
    return ToolResultMessage(call_id, "bash", list(content) or [TextContent("done")], **more)


def sent(*messages: Message, model: Model = GPT, options: Options | None = None, **more: Any) -> Request:
    return encode(Context(messages=[UserMessage("go"), *messages], **more), model, options)


def items(request: Request) -> list[Any]:
    """Everything after the first question."""
    found: list[Any] = request.body["input"][1:]
    return found


def codes(request: Request) -> list[tuple[str, int | None]]:
    return [(change.code, change.message) for change in request.changes]


class TestReasoningItems:
    """OAR-11: a reasoning item has a summary, which may be empty, and no content."""

    @pytest.mark.parametrize("summary", [{}, {"summary": None}, {"summary": []}])
    def test_an_item_without_a_summary_gets_an_empty_one(self, summary: Any) -> None:
        stored = {"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA", **summary}
        request = sent(own(ThinkingContent("", json.dumps(stored)), TextContent("a", "msg_1")), UserMessage("next"))
        assert items(request)[0] == {"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA", "summary": []}

    def test_an_item_is_sent_back_without_content(self) -> None:
        content = [{"type": "reasoning_text", "text": "hm"}]
        stored = {"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA", "summary": [], "content": content}
        request = sent(own(ThinkingContent("", json.dumps(stored)), TextContent("a", "msg_1")), UserMessage("next"))
        assert not any("content" in item for item in items(request) if item.get("type") == "reasoning")


class TestSameOrigin:
    def test_an_answer_is_sent_back_as_its_original_items(self) -> None:
        signature = reasoning(1, summary=[{"type": "summary_text", "text": "hm"}], status="completed")
        request = sent(
            own(
                ThinkingContent("hm", signature),
                TextContent("On it.", '{"id":"msg_1","phase":"commentary"}'),
                ToolCall("call_a", "bash", {"b": 1, "a": None}, "fc_1"),
                ToolCall("call_b", "bash", {}, "fc_2"),
            ),
            result("call_a"),
            result("call_b"),
        )
        assert items(request) == [
            json.loads(signature),
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "On it.", "annotations": []}],
                "phase": "commentary",
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_a",
                "name": "bash",
                "arguments": '{"b":1,"a":null}',
            },
            {"type": "function_call", "id": "fc_2", "call_id": "call_b", "name": "bash", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_a", "output": "done"},
            {"type": "function_call_output", "call_id": "call_b", "output": "done"},
        ]
        assert list(items(request)[0]) == ["id", "type", "summary", "encrypted_content", "status"]
        assert request.changes == []

    def test_reasoning_without_readable_text_is_sent_back(self) -> None:
        request = sent(own(ThinkingContent("", reasoning(1)), TextContent("Hi.", '{"id":"msg_1"}')))
        assert [item.get("id") for item in items(request)] == ["rs_1", "msg_1"]

    def test_an_answer_without_reasoning_keeps_its_ids(self) -> None:
        request = sent(own(TextContent("Hi.", "msg_1"), ToolCall("call_a", "bash", {}, "fc_1")), result("call_a"))
        assert [item.get("id") for item in items(request)] == ["msg_1", "fc_1", None]
        assert request.changes == []

    def test_members_that_the_api_does_not_accept_are_left_out(self) -> None:
        stored = reasoning(1, content=None, created_by="me", status=None)
        item = items(sent(own(ThinkingContent("", stored), TextContent("Hi.", "msg_1"))))[0]
        assert item == {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAA"}

    def test_parts_of_one_message_are_one_item(self) -> None:
        request = sent(own(TextContent("one", '{"id":"msg_1"}'), TextContent("two", '{"id":"msg_1"}')))
        assert [part["text"] for part in items(request)[0]["content"]] == ["one", "two"]
        assert len(items(request)) == 1

    def test_a_reasoning_item_that_was_split_is_sent_once(self) -> None:
        parts = [ThinkingContent(text, reasoning(1)) for text in ("one", "two")]
        assert [item["id"] for item in items(sent(own(*parts, TextContent("Hi.", "msg_1"))))] == ["rs_1", "msg_1"]

    @pytest.mark.parametrize(
        "blocks",
        [
            pytest.param([ThinkingContent("", "{broken"), TextContent("Hi.", "msg_1")], id="broken JSON"),
            pytest.param([ThinkingContent("", "c2ln"), TextContent("Hi.", "msg_1")], id="not JSON"),
            pytest.param([ThinkingContent("", "{" * 100_000), TextContent("Hi.", "msg_1")], id="deep"),
            pytest.param([ThinkingContent("", '{"id":"\\ud800"}'), TextContent("Hi.", "msg_1")], id="half a character"),
            pytest.param([ThinkingContent("", '{"type":"reasoning"}'), TextContent("Hi.", "msg_1")], id="no id"),
            pytest.param(
                [ThinkingContent("", reasoning(1, encrypted_content="")), TextContent("Hi.", "msg_1")], id="no content"
            ),
            pytest.param(
                [ThinkingContent("", reasoning(1, summary="x")), TextContent("Hi.", "msg_1")], id="no list of summaries"
            ),
            pytest.param([ThinkingContent("", reasoning(1)), TextContent("Hi.")], id="a message without an id"),
            pytest.param([ThinkingContent("", reasoning(1)), TextContent("Hi.", "{broken")], id="a broken message"),
            pytest.param([ThinkingContent("", reasoning(1)), TextContent("Hi.", '{"id":"x"}')], id="another prefix"),
            pytest.param([ThinkingContent("", reasoning(1)), TextContent("Hi.", "msg_" + "x" * 400)], id="a long id"),
            pytest.param([TextContent("Hi.", "msg_1"), ThinkingContent("", reasoning(1))], id="no follower"),
            pytest.param(
                [ThinkingContent("", reasoning(1)), TextContent("Hi.", "msg_1"), *TWICE],
                id="one item twice",
            ),
        ],
    )
    def test_one_invalid_item_means_that_no_item_has_an_id(self, blocks: list[Any]) -> None:
        request = sent(own(*blocks))
        assert items(request) == [{"type": "message", "role": "assistant", "content": "Hi."}]
        assert ("thinking-dropped", 1) in codes(request)
        signed = any(isinstance(block, TextContent) and block.text_signature for block in blocks)
        assert (("signature-dropped", 1) in codes(request)) == signed

    def test_a_call_whose_signature_is_not_an_item_id_is_sent_without_one(self) -> None:
        request = sent(
            own(ThinkingContent("", reasoning(1)), ToolCall("call_a", "bash", {}, "call_a")), result("call_a")
        )
        assert items(request)[0] == {"type": "function_call", "call_id": "call_a", "name": "bash", "arguments": "{}"}
        assert codes(request) == [("signature-dropped", 1), ("thinking-dropped", 1)]

    def test_item_ids_are_not_sent_twice(self) -> None:
        answer = own(ThinkingContent("", reasoning(1)), TextContent("Hi.", "msg_1"))
        request = sent(answer, UserMessage("again"), answer)
        assert [item.get("id") for item in items(request)] == ["rs_1", "msg_1", None, None]
        assert codes(request) == [("signature-dropped", 3), ("thinking-dropped", 3)]

    def test_an_answer_whose_reasoning_was_dropped_is_sent_without_ids(self) -> None:
        """ "Item 'fc_…' was provided without its required 'reasoning' item": projection dropped the empty thinking."""
        request = sent(own(ThinkingContent(""), ToolCall("call_a", "bash", {}, "fc_1")), result("call_a"))
        assert "id" not in items(request)[0]
        assert codes(request) == [("empty-dropped", 1), ("signature-dropped", 1)]

    def test_a_failed_answer_with_results_is_sent_without_ids(self) -> None:
        failed = own(ThinkingContent("", reasoning(1)), ToolCall("call_a", "bash", {}, "fc_1"), stop_reason="aborted")
        assert [item.get("id") for item in items(sent(failed, result("call_a")))] == [None, None]

    def test_the_phase_is_kept_when_the_id_is_dropped(self) -> None:
        request = sent(own(ThinkingContent("", "x"), TextContent("Hi.", '{"id":"msg_1","phase":"final_answer"}')))
        assert items(request)[0]["phase"] == "final_answer"

    def test_a_phase_alone_is_not_an_item(self) -> None:
        request = sent(own(TextContent("Hi.", '{"phase":"final_answer"}')))
        assert items(request) == [{"type": "message", "role": "assistant", "content": "Hi.", "phase": "final_answer"}]
        assert request.changes == []

    def test_models_without_phases_get_no_phase(self) -> None:
        model = segue.get_model("openai/gpt-5.1")
        request = sent(own(TextContent("Hi.", '{"id":"msg_1","phase":"final_answer"}'), model=model), model=model)
        assert "phase" not in items(request)[0]

    def test_a_model_that_does_not_reason_gets_no_reasoning(self) -> None:
        model = segue.get_model("openai/gpt-4.1")
        request = sent(own(ThinkingContent("", reasoning(1)), TextContent("Hi.", "msg_1"), model=model), model=model)
        assert items(request) == [{"type": "message", "role": "assistant", "content": "Hi."}]

    def test_an_input_with_only_reasoning_gets_a_filler(self) -> None:
        request = encode(Context(messages=[own(ThinkingContent("", reasoning(1)))]), GPT)
        assert request.body["input"] == [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Continue."}]}
        ]
        assert codes(request) == [("thinking-dropped", 0), ("filler-inserted", 0)]


class TestOtherOrigin:
    @pytest.mark.parametrize(
        "origin",
        [
            {"provider": "azure"},
            {"model": segue.get_model("openai/gpt-5.6")},
            {"endpoint": "another account"},
        ],
    )
    def test_items_of_another_origin_are_never_sent(self, origin: dict[str, Any]) -> None:
        """Another account, model or host: ids and encrypted content are never portable (AZU-05)."""
        answer = own(
            ThinkingContent("hm", reasoning(1)),
            TextContent("Hi.", "msg_1"),
            ToolCall("call_a", "bash", {}, "fc_1"),
            **origin,
        )
        request = sent(answer, result("call_a"), model=replace(GPT, endpoint="mine"))
        assert items(request) == [
            {"type": "message", "role": "assistant", "content": "[Reasoning] hm"},
            {"type": "message", "role": "assistant", "content": "Hi."},
            {"type": "function_call", "call_id": "call_a", "name": "bash", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_a", "output": "done"},
        ]

    def test_foreign_thinking_is_left_out_even_without_passes(self) -> None:
        answer = own(ThinkingContent("hm", "EqQBsig"), TextContent("Hi."), provider="anthropic")
        request = encode(Context(messages=[answer]), GPT, policy="off")
        assert request.body["input"] == [{"type": "message", "role": "assistant", "content": "Hi."}]
        assert codes(request) == [("thinking-dropped", 0)]

    def test_reused_and_empty_ids_become_distinct_and_results_follow(self) -> None:
        def answer() -> AssistantMessage:
            return own(ToolCall("0", "bash", {"n": 1}), ToolCall("0", "read", {"n": 2}), provider="nobody")

        request = sent(
            answer(),
            ToolResultMessage("0", "read", [TextContent("two")]),
            ToolResultMessage("0", "bash", [TextContent("one")]),
            answer(),
        )
        made = [(item["call_id"], item["name"]) for item in items(request) if item["type"] == "function_call"]
        outputs = [(item["call_id"], item["output"]) for item in items(request) if "output" in item]
        assert len({call_id for call_id, _ in made}) == 4
        assert [name for _, name in made] == ["bash", "read", "bash", "read"]
        assert [call_id for call_id, _ in outputs] == [call_id for call_id, _ in made]
        assert [output for _, output in outputs] == ["one", "two", *["Error: No result provided"] * 2]

    def test_names_are_replaced_in_tools_history_and_tool_choice(self) -> None:
        request = sent(
            own(ToolCall("call_a", "my.tool", {}), provider="nobody"),
            ToolResultMessage("call_a", "my.tool", [TextContent("done")]),
            tools=[ToolDefinition("my.tool")],
            options=Options(tool_choice="my.tool"),
        )
        name = request.body["tools"][0]["name"]
        assert name != "my.tool" and items(request)[0]["name"] == name
        assert request.body["tool_choice"] == {"type": "function", "name": name}


class TestResults:
    def test_images_stay_in_results(self) -> None:
        request = sent(own(ToolCall("call_a", "bash", {})), result("call_a", TextContent("look"), IMAGE))
        assert items(request)[1]["output"] == [{"type": "input_text", "text": "look"}, URL]
        assert request.changes == []

    def test_images_move_after_the_whole_batch_if_results_may_not_have_images(self) -> None:
        model = replace(GPT, dialect=replace(GPT.dialect, images_in_results=False))
        request = sent(
            own(ToolCall("call_a", "bash", {}), ToolCall("call_b", "bash", {})),
            result("call_a", IMAGE),
            result("call_b", TextContent("look"), IMAGE),
            UserMessage("well?"),
            model=model,
        )
        assert [item.get("output") for item in items(request)] == [
            None,
            None,
            "(see the images below)",
            "look",
            None,
            None,
        ]
        moved = {"type": "input_text", "text": "Images from the tool results above:"}
        assert items(request)[4] == {"type": "message", "role": "user", "content": [moved, URL, URL]}
        assert codes(request) == [("image-moved", 2), ("image-moved", 3)]

    @pytest.mark.parametrize(
        ("content", "output", "changes"),
        [
            ([TextContent("it broke")], "Error: it broke", 1),
            ([TextContent("Error: it broke")], "Error: it broke", 0),
            ([IMAGE, TextContent("look")], [URL, {"type": "input_text", "text": "Error: look"}], 1),
            ([IMAGE], [{"type": "input_text", "text": "Error: (see the images below)"}, URL], 1),
        ],
    )
    def test_the_text_of_a_failed_result_begins_with_error(self, content: list[Any], output: Any, changes: int) -> None:
        request = sent(own(ToolCall("call_a", "bash", {})), result("call_a", *content, is_error=True))
        assert items(request)[1]["output"] == output
        assert codes(request) == [("error-as-text", 2)] * changes

    def test_adjacent_messages_of_one_role_are_not_merged(self) -> None:
        request = sent(UserMessage([TextContent("one"), IMAGE]), own(TextContent("a")), own(TextContent("b")))
        assert [item["role"] for item in items(request)] == ["user", "assistant", "assistant"]
        assert request.changes == []


class TestTools:
    def test_tools_are_flat_and_not_strict(self) -> None:
        schema = {"type": "object", "properties": {"a": {"type": "string"}}, "$defs": {"x": {"minimum": 1.5}}}
        request = sent(tools=[ToolDefinition("bash", "Run", schema), ToolDefinition("read")])
        assert request.body["tools"] == [
            {"type": "function", "name": "bash", "description": "Run", "parameters": schema, "strict": False},
            {
                "type": "function",
                "name": "read",
                "parameters": {"type": "object", "properties": {}},
                "strict": False,
            },
        ]
        assert request.changes == []

    @pytest.mark.parametrize(
        ("schema", "expected", "is_reported"),
        [
            ({"type": "object"}, {"type": "object", "properties": {}}, False),
            (
                {"type": "object", "properties": {"a": {"type": ["array", "null"]}, "default": {"type": "array"}}},
                {
                    "type": "object",
                    "properties": {
                        "a": {"type": ["array", "null"], "items": {}},
                        "default": {"type": "array", "items": {}},
                    },
                },
                True,
            ),
            ({"anyOf": [{"type": "object"}]}, {"type": "object", "properties": {}}, True),
            ({"type": "string"}, {"type": "object", "properties": {}}, True),
        ],
    )
    def test_schemas_are_adapted_on_a_copy(self, schema: Any, expected: Any, is_reported: bool) -> None:
        tool = ToolDefinition("bash", "", schema)
        request = sent(tools=[tool])
        assert request.body["tools"][0]["parameters"] == expected
        assert tool.schema == schema
        assert codes(request) == [("schema-adapted", None)] * is_reported


class TestOptions:
    @pytest.mark.parametrize(
        ("model", "options", "expected"),
        [
            ("openai/gpt-5.4", Options(max_tokens=100), {"max_output_tokens": 100}),
            ("openai/gpt-5.4", Options(reasoning="off"), {"reasoning": {"effort": "none"}}),
            ("openai/gpt-5.4", Options(reasoning="max"), {"reasoning": {"effort": "xhigh"}}),
            ("openai/gpt-5.4", Options(reasoning="minimal"), {"reasoning": {"effort": "low"}}),
            ("openai/gpt-5.6", Options(reasoning="max"), {"reasoning": {"effort": "max"}}),
            ("openai/gpt-4.1", Options(reasoning="off"), {}),
            ("openai/gpt-4.1", Options(temperature=0.5), {"temperature": 0.5}),
            ("openai/gpt-5.4", Options(cache="short"), {}),
            ("openai/gpt-5.4", Options(cache="long"), {"prompt_cache_retention": "24h"}),
            ("openai/gpt-5.6", Options(cache="short"), {"prompt_cache_options": {"ttl": "30m"}}),
            ("openai/gpt-5.6", Options(cache="long"), {"prompt_cache_options": {"ttl": "12h"}}),
            ("openai/gpt-5.6", Options(cache="none"), {"prompt_cache_options": {"mode": "explicit"}}),
            ("openai/gpt-5.4", Options(stream=True), {"stream": True}),
            (
                "openai/gpt-5.4",
                Options(metadata={"user_id": "u", "a": "b"}),
                {"safety_identifier": "u", "metadata": {"a": "b"}},
            ),
            ("azure/gpt-5.4", Options(metadata={"user_id": "u"}), {"user": "u"}),
            ("openai/gpt-5.4", Options(tool_choice="required"), {"tool_choice": "required"}),
            ("openai/gpt-5.4", Options(tool_choice="bash"), {"tool_choice": {"type": "function", "name": "bash"}}),
        ],
    )
    def test_an_option_becomes_a_parameter(self, model: str, options: Options, expected: dict[str, Any]) -> None:
        plain = sent(model=segue.get_model(model), tools=[ToolDefinition("bash")])
        request = sent(model=segue.get_model(model), tools=[ToolDefinition("bash")], options=options)
        assert {name: value for name, value in request.body.items() if name not in plain.body} == expected
        assert request.changes == []

    @pytest.mark.parametrize(
        ("model", "options", "more"),
        [
            ("openai/gpt-5.4", Options(temperature=0.5), {}),
            ("openai/gpt-4.1", Options(temperature=2.5), {}),
            ("openai/gpt-5.4", Options(stop=("END",)), {}),
            ("openai/gpt-5.4", Options(max_tokens=1), {"max_output_tokens": 16}),
            ("openai/gpt-4.1", Options(reasoning="high"), {}),
            ("openai/gpt-5", Options(reasoning="off"), {}),
            ("openai/gpt-5.4", Options(cache="none"), {}),
            ("openai/gpt-4o", Options(cache="long"), {}),
            ("openai/gpt-5.4", Options(tool_choice="bash"), {}),
            ("openai/gpt-5.4", Options(metadata={"k" * 65: "v"}), {}),
        ],
    )
    def test_an_option_that_is_refused_is_left_out_and_reported(
        self, model: str, options: Options, more: dict[str, Any]
    ) -> None:
        target = segue.get_model(model)
        request = sent(model=target, options=options)
        assert request.body == sent(model=target).body | more
        assert [change.code for change in request.changes] == ["option-dropped"]

    def test_max_tokens_are_limited_to_those_of_the_model(self) -> None:
        request = sent(options=Options(max_tokens=10**9))
        assert request.body["max_output_tokens"] == GPT.max_tokens
        assert [change.code for change in request.changes] == ["option-dropped"]

    def test_nothing_is_stored_on_the_server_and_encrypted_reasoning_is_requested(self) -> None:
        assert sent().body["store"] is False
        assert sent().body["include"] == ["reasoning.encrypted_content"]
        assert "include" not in sent(model=segue.get_model("openai/gpt-4.1")).body

    def test_the_system_prompt_is_the_instructions(self) -> None:
        assert sent(system_prompt="Be brief.").body["instructions"] == "Be brief."
