"""Choices: presets, a limit on reasoning, a function for ids, custom strategies."""

from collections.abc import Sequence
from typing import Any

import pytest

import segue
from segue.types import (
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    Model,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

CLAUDE = segue.get_model("anthropic/claude-sonnet-4-5")
MISTRAL = segue.get_model("mistral/mistral-large-latest")


def answer(*content: Any, stop: Any = "toolUse") -> AssistantMessage:
    return AssistantMessage(content=list(content), protocol="x", provider="y", model="z", stop_reason=stop)


TORN = Context(
    messages=[
        UserMessage("go"),
        answer(ThinkingContent("hm", "sig"), ToolCall("a b", "bash", {})),
        ToolResultMessage("nobody", "read", [TextContent("left over")]),
        answer(TextContent("half"), stop="error"),
        UserMessage("next"),
    ]
)


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("default", ("drop", "text", "No result provided", "labelled")),
        ("or", ("drop-all", "drop", "No result provided", "text")),
        ("alchemy", ("drop-all", "drop", "No result provided", "text")),
        ("phi-core", ("keep-text", "text", "No result provided", "auto")),
        ("llxprt", ("drop", "pair", "Tool call interrupted or cancelled", "labelled")),
    ],
)
def test_presets_are_what_their_projects_chose(name: str, choices: tuple[str, ...]) -> None:
    policy = segue.Policy.preset(name)
    assert (policy.failed_turns, policy.orphan_results, policy.missing_result, policy.reasoning) == choices
    assert segue.project(TORN, MISTRAL, name).context == segue.project(TORN, MISTRAL, policy).context


def test_no_policy_is_the_default_one() -> None:
    assert segue.Policy.preset("default") == segue.Policy()
    assert segue.project(TORN, MISTRAL).context == segue.project(TORN, MISTRAL, "default").context


def test_off_renders_nothing() -> None:
    rendered = segue.project(TORN, MISTRAL, "off")
    assert rendered.context.messages == TORN.messages
    assert rendered.changes == []
    assert isinstance(rendered.context, segue.ProjectedContext)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: segue.Policy.preset("nope"), "there is no policy 'nope'; choose one of default, or,"),
        (lambda: segue.Policy(reasoning="loud"), "policy reasoning 'loud' is not one of labelled, text, drop, auto"),
        (lambda: segue.Policy(missing_result=" "), "missing_result must not be blank"),
        (lambda: segue.Policy(reasoning_limit=0), "reasoning_limit must be at least 1"),
    ],
)
def test_an_unknown_choice_is_refused(make: Any, text: str) -> None:
    with pytest.raises(segue.ProjectionError, match=text):
        make()


def test_anything_but_a_policy_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"a policy is a segue\.Policy, the name of a preset, or an object with"):
        segue.project(TORN, MISTRAL, 17)  # type: ignore[arg-type]


def test_foreign_thinking_can_be_capped_and_the_loss_is_reported() -> None:
    context = Context(messages=[UserMessage("go"), answer(ThinkingContent("abcdefgh"), stop="stop")])
    rendered = segue.project(context, CLAUDE, segue.Policy(reasoning_limit=3))
    assert rendered.context.messages[1].content == [TextContent("[Reasoning] abc")]
    (change,) = rendered.changes
    assert (change.code, change.lossy) == ("thinking-as-text", True)


class TestIdFunction:
    CONTEXT = Context(
        messages=[
            UserMessage("go"),
            answer(ToolCall("toolu_fits", "bash", {}), ToolCall("a b", "bash", {}), ToolCall("c d", "bash", {})),
        ]
    )

    def test_it_is_asked_only_for_ids_that_would_be_changed(self) -> None:
        asked: list[tuple[str, str, str]] = []

        def rename(stored: str, model: Model, message: AssistantMessage) -> str:
            asked.append((stored, model.ref, message.provider))
            return f"toolu_mine_{len(asked)}"

        rendered = segue.project(self.CONTEXT, CLAUDE, segue.Policy(tool_call_id=rename))
        assert asked == [("a b", CLAUDE.ref, "y"), ("c d", CLAUDE.ref, "y")]
        ids = [call.id for call in rendered.context.messages[1].content if isinstance(call, ToolCall)]
        assert ids == ["toolu_fits", "toolu_mine_1", "toolu_mine_2"]
        results = [each.tool_call_id for each in rendered.context.messages if isinstance(each, ToolResultMessage)]
        assert results == ids

    @pytest.mark.parametrize("returned", ["not valid", "no_prefix", "", 5])
    def test_an_id_that_the_target_refuses_is_an_error(self, returned: Any) -> None:
        with pytest.raises(
            segue.ProjectionError, match=r"returned .* for 'a b'; anthropic/claude-sonnet-4-5 accepts ids"
        ):
            segue.project(self.CONTEXT, CLAUDE, segue.Policy(tool_call_id=lambda *_: returned))

    def test_an_id_returned_twice_is_an_error(self) -> None:
        with pytest.raises(segue.ProjectionError, match="returned 'toolu_same' twice"):
            segue.project(self.CONTEXT, CLAUDE, segue.Policy(tool_call_id=lambda *_: "toolu_same"))


class TestStrategy:
    class OnlyTheLast:
        def translate_for_provider(self, messages: list[Message], target: Model) -> Sequence[Message]:
            del messages[:-3]  # the list is a copy
            return messages

    def test_what_it_returns_goes_through_all_passes(self) -> None:
        before = list(TORN.messages)
        rendered = segue.project(TORN, MISTRAL, self.OnlyTheLast())
        assert TORN.messages == before
        assert [type(message) for message in rendered.context.messages] == [UserMessage, UserMessage]
        assert [(change.code, change.message) for change in rendered.changes] == [
            ("result-orphaned", 0),
            ("failed-turn-dropped", 1),
        ]

    def test_it_can_fall_back_on_the_built_in_one(self) -> None:
        class WithoutImages:
            def translate_for_provider(self, messages: list[Message], target: Model) -> Sequence[Message]:
                kept = [message for message in messages if ImageContent not in map(type, message.content)]
                return segue.DefaultContextTranslation("llxprt").translate_for_provider(kept, target)

        context = Context(messages=[UserMessage([ImageContent("aGk=", "image/png")]), *TORN.messages])
        rendered = segue.project(context, MISTRAL, WithoutImages())
        assert rendered.changes == []
        assert rendered.context.messages == segue.project(TORN, MISTRAL, "llxprt").context.messages

    def test_anything_but_a_message_is_refused(self) -> None:
        class Wrong:
            def translate_for_provider(self, messages: list[Message], target: Model) -> Any:
                return ["text"]

        with pytest.raises(TypeError, match=r"messages\[0\] of a Context must be .*, not str"):
            segue.project(TORN, MISTRAL, Wrong())

    def test_the_built_in_one_is_a_strategy(self) -> None:
        assert isinstance(segue.DefaultContextTranslation(), segue.ContextTranslationStrategy)
        assert not isinstance(segue.Policy(), segue.ContextTranslationStrategy)
