"""Thinking that is bound to everything before it: kept while nothing is edited, dropped after an edit."""

import pytest
from msgspec.structs import replace

import segue
from segue.types import (
    AssistantMessage,
    Context,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)

BOUND = segue.get_model("anthropic/claude-opus-5-5")
FREE = segue.get_model("anthropic/claude-sonnet-4-5")
TOOLS = [ToolDefinition("bash", "run", {"type": "object"})]


def conversation(messages: list[Message], prompt: str = "Be brief.") -> Context:
    return Context(system_prompt=prompt, messages=messages, tools=TOOLS)


def talk(turns: int, prompt: str = "Be brief.", messages: list[Message] | None = None) -> list[Message]:
    """A real exchange: each answer is stamped with the digest of the request that it answers."""
    messages = list(messages or [])
    for turn in range(turns):
        messages.append(UserMessage(f"question {turn} of {len(messages)}"))
        for step in range(2):
            digest = segue.project(conversation(messages, prompt), BOUND).prefix_digest()
            call = ToolCall(f"toolu_{len(messages)}", "bash", {})
            content = [ThinkingContent(f"thought {len(messages)}", f"sig{len(messages)}")]
            messages.append(
                AssistantMessage(
                    content=[*content, call] if step == 0 else [*content, TextContent("done")],
                    protocol=BOUND.protocol,
                    provider=BOUND.provider,
                    model=BOUND.id,
                    stop_reason="toolUse" if step == 0 else "stop",
                    prefix_digest=digest,
                )
            )
            if step == 0:
                messages.append(ToolResultMessage(call.id, call.name, [TextContent("ok")]))
    return messages


def thoughts(rendered: segue.Projection) -> list[int]:
    """The stored messages whose thinking is still there."""
    return [
        source
        for source, message in zip(rendered.sources, rendered.context.messages, strict=True)
        if any(isinstance(block, ThinkingContent) for block in message.content)
    ]


def test_the_model_of_these_tests_is_bound() -> None:
    assert BOUND.dialect.prefix_bound
    assert not FREE.dialect.prefix_bound


def test_thinking_stays_while_nothing_is_edited() -> None:
    rendered = segue.project(conversation([*talk(3), UserMessage("next")]), BOUND)
    assert rendered.changes == []
    assert thoughts(rendered) == [1, 3, 5, 7, 9, 11]


@pytest.mark.parametrize("edited", [0, 2, 4, 6])
def test_an_edit_drops_all_thinking_after_it(edited: int) -> None:
    messages = talk(3)
    message = messages[edited]
    messages[edited] = replace(message, content=[TextContent("edited")])  # type: ignore[type-var]
    rendered = segue.project(conversation([*messages, UserMessage("next")]), BOUND)
    assert thoughts(rendered) == [index for index in (1, 3, 5, 7, 9, 11) if index < edited]
    assert {change.code for change in rendered.changes} == {"thinking-dropped"}


def test_another_system_prompt_or_other_tools_are_an_edit() -> None:
    messages = [*talk(1), UserMessage("next")]
    assert thoughts(segue.project(conversation(messages, "Be loud."), BOUND)) == []
    assert thoughts(segue.project(Context(system_prompt="Be brief.", messages=messages), BOUND)) == []


def test_thinking_made_after_the_loss_is_kept() -> None:
    """The prefix that the later answers saw is the one without the lost thinking."""
    messages = talk(1)
    messages[0] = UserMessage("edited")
    messages = talk(1, messages=messages)
    rendered = segue.project(conversation([*messages, UserMessage("next")]), BOUND)
    assert thoughts(rendered) == [5, 7]


def test_an_absent_digest_counts_as_equal_until_an_earlier_turn_lost_its_thinking() -> None:
    messages = talk(2)
    stripped = [
        replace(message, prefix_digest=None) if isinstance(message, AssistantMessage) else message
        for message in messages
    ]
    end = UserMessage("next")
    assert thoughts(segue.project(conversation([*stripped, end]), BOUND)) == [1, 3, 5, 7]
    torn = [UserMessage("edited"), messages[1], *stripped[2:], end]
    assert thoughts(segue.project(conversation(torn), BOUND)) == []


@pytest.mark.parametrize("removed", [1, 3, 5, 7, 9])
def test_missing_thinking_in_the_middle_drops_all_later_thinking(removed: int) -> None:
    """Each block is bound to the one before it, too: a gap makes all later ones invalid (CLIProxyAPI#5422, 2026-10)."""
    messages = talk(3)
    answer = messages[removed]
    kept = [block for block in answer.content if not isinstance(block, ThinkingContent)]
    messages[removed] = replace(answer, content=kept)  # type: ignore[type-var]
    rendered = segue.project(conversation([*messages, UserMessage("next")]), BOUND)
    assert thoughts(rendered) == [index for index in (1, 3, 5, 7, 9, 11) if index < removed]


def test_a_model_that_is_not_bound_keeps_its_thinking_after_an_edit() -> None:
    messages = [
        replace(message, model=FREE.id) if isinstance(message, AssistantMessage) else message for message in talk(1)
    ]
    messages[0] = UserMessage("edited")
    assert thoughts(segue.project(conversation(messages), FREE)) == [1, 3]


def test_usage_and_times_play_no_part() -> None:
    messages = talk(1)
    later = [
        replace(message, timestamp=99, usage=segue.Usage(input=5)) if isinstance(message, AssistantMessage) else message
        for message in messages
    ]
    one, other = (segue.project(conversation(each), BOUND).prefix_digest() for each in (messages, later))
    assert one == other
