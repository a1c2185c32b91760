"""Edges that were found by trying to break it; each stays here."""

import json
from typing import Any

import msgspec
import pytest

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
    Usage,
    UserMessage,
)

CLAUDE = segue.get_model("anthropic/claude-sonnet-4-5")
BOUND = segue.get_model("anthropic/claude-opus-5-5")
OPENAI = segue.get_model("openai/gpt-5.4")
HALF = "\ud800"


def answer(*content: Any, of: segue.Model | None = None, **fields: Any) -> AssistantMessage:
    origin = (
        {"protocol": of.protocol, "provider": of.provider, "model": of.id}
        if of
        else dict.fromkeys(("protocol", "provider", "model"), "")
    )
    return AssistantMessage(**({"content": list(content), "stop_reason": "toolUse", **origin} | fields))


def itself() -> dict[str, Any]:
    value: dict[str, Any] = {"half": HALF}
    value["self"] = value
    return value


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"x": value}
    return {"half": HALF, "deep": value}


@pytest.mark.parametrize(
    "arguments",
    [
        {"half": HALF, "number": float("nan")},
        {"half": HALF, "thing": object()},
        itself(),
        deep(100_000),
    ],
    ids=["nan", "object", "itself", "deep"],
)
def test_half_a_character_hides_nothing_else_that_json_cannot_hold(arguments: dict[str, Any]) -> None:
    context = Context(messages=[UserMessage("go"), answer(ThinkingContent(""), ToolCall("1", "bash", arguments))])
    with pytest.raises(segue.FormatError, match=r"^messages\[1\]\.content\[1\]\.arguments"):
        segue.project(context, OPENAI)
    with pytest.raises(segue.FormatError):
        context.to_json()


@pytest.mark.parametrize("blank", ["\u3000", "\u00a0 ", " \u2003\n", "\u2028"])
def test_white_space_of_any_script_is_not_text(blank: str) -> None:
    stored = [UserMessage("hello"), answer(TextContent(blank), of=OPENAI, stop_reason="stop"), UserMessage(blank)]
    rendered = segue.project(Context(messages=stored), OPENAI)
    assert rendered.context.messages == stored[:1]
    assert [change.code for change in rendered.changes] == ["empty-dropped"] * 4  # each text, and each message


def reader(name: str, *globs: str) -> segue.Model:
    """This Claude, as if its row stated that it reads the thinking of these."""
    model = segue.get_model(f"anthropic/{name}")
    return msgspec.structs.replace(model, dialect=msgspec.structs.replace(model.dialect, reads_thinking_of=globs))


def test_what_another_model_of_the_account_may_read_is_shared_not_copied() -> None:
    sibling = reader("claude-opus-4-1", "claude-sonnet-4*")
    call = ToolCall("toolu_1", "bash", {})
    stored: list[Message] = [
        UserMessage("go"),
        answer(ThinkingContent("hm", "c2ln"), TextContent("well"), call, of=CLAUDE),
        ToolResultMessage(call.id, call.name, [TextContent("done")]),
    ]
    rendered = segue.project(Context(messages=stored, tools=[ToolDefinition("bash")]), sibling, "phi-core")
    assert rendered.changes == []
    assert [id(message) for message in rendered.context.messages] == [id(message) for message in stored]


def test_only_texts_of_answers_have_signatures() -> None:
    context = Context(
        messages=[
            UserMessage([TextContent("", "sig"), TextContent("go", "sig")]),
            answer(ToolCall("toolu_1", "bash", {}), of=CLAUDE),
            ToolResultMessage("toolu_1", "bash", [TextContent(" ", "sig")]),
        ],
        tools=[ToolDefinition("bash")],
    )
    rendered = segue.project(context, CLAUDE)
    assert rendered.context.messages[0] == UserMessage("go")
    assert rendered.context.messages[2].content == [TextContent("(no output)")]
    assert [(change.code, change.message, change.block) for change in rendered.changes] == [
        ("signature-dropped", 0, 0),
        ("signature-dropped", 0, 1),
        ("empty-dropped", 0, 0),
        ("signature-dropped", 2, 0),
        ("empty-dropped", 2, 0),
        ("empty-filled", 2, None),
    ]


class TestStub:
    """The stand-in tool is part of what is sent, and so of what thinking is bound to."""

    def history(self) -> list[Message]:
        return [
            UserMessage("go"),
            answer(ToolCall("toolu_x", "bash", {}), of=OPENAI),
            ToolResultMessage("toolu_x", "bash", [TextContent("ok")]),
            UserMessage("next"),
        ]

    def stamped(self, messages: list[Message]) -> AssistantMessage:
        digest = segue.project(Context(messages=messages), BOUND).prefix_digest()
        return answer(ThinkingContent("hm", "sig"), TextContent("yes"), of=BOUND, prefix_digest=digest)

    def test_thinking_made_with_it_is_kept_with_it_and_projecting_again_changes_nothing(self) -> None:
        messages = self.history()
        once = segue.project(Context(messages=[*messages, self.stamped(messages), UserMessage("and?")]), BOUND)
        assert ThinkingContent("hm", "sig") in once.context.messages[4].content
        twice = segue.project(once.context, BOUND)
        assert (twice.changes, twice.context) == ([], once.context)

    def test_thinking_made_without_it_is_lost_when_it_appears(self) -> None:
        first: list[Message] = [UserMessage("hello")]
        context = Context(messages=[*first, self.stamped(first), *self.history()])
        rendered = segue.project(context, BOUND)
        assert "thinking-dropped" in [change.code for change in rendered.changes]

    def test_it_is_not_defined_for_calls_that_are_not_rendered(self) -> None:
        orphan = Context(messages=[UserMessage("go"), ToolResultMessage("x", "bash", [TextContent("ok")])])
        failed = Context(messages=[UserMessage("go"), answer(ToolCall("x", "bash", {}), stop_reason="error")])
        assert segue.project(orphan, CLAUDE).context.tools == []
        assert segue.project(failed, CLAUDE).context.tools == []
        assert len(segue.project(orphan, CLAUDE, "llxprt").context.tools) == 1


class TestBuiltInStrategy:
    def test_it_leaves_bound_thinking_to_the_projection_that_follows(self) -> None:
        base = Context(system_prompt="Be brief.", messages=[UserMessage("go")], tools=[ToolDefinition("bash")])
        digest = segue.project(base, BOUND).prefix_digest()
        own = answer(ThinkingContent("hm", "sig"), TextContent("yes"), of=BOUND, prefix_digest=digest)
        context = Context(
            system_prompt="Be brief.", messages=[*base.messages, own, UserMessage("next")], tools=base.tools
        )
        assert segue.project(context, BOUND, segue.DefaultContextTranslation()).context.messages == context.messages

    def test_nothing_stays_nothing(self) -> None:
        assert segue.DefaultContextTranslation().translate_for_provider([], CLAUDE) == []


def test_the_report_can_always_be_written() -> None:
    context = Context(messages=[UserMessage("go"), ToolResultMessage(HALF, f"f{HALF}", [TextContent("x")])])
    changes = segue.project(context, CLAUDE).changes
    assert json.loads(msgspec.json.encode(changes))


def test_preview_accepts_what_projection_accepts() -> None:
    """A failed turn is left out, whatever its arguments hold."""
    context = Context(
        messages=[
            UserMessage("go"),
            answer(ToolCall("1", "bash", {"x": object()}), stop_reason="error"),
            answer(TextContent("yes"), stop_reason="stop", usage=Usage(input=100)),
            UserMessage("next"),
        ]
    )
    assert segue.preview(context, CLAUDE).fits


def test_another_claude_of_the_account_loses_thinking_whose_prefix_was_edited() -> None:
    other = segue.get_model("anthropic/claude-opus-4-5")
    context = Context(
        messages=[UserMessage("go"), answer(ThinkingContent("hm", "sig"), of=other, prefix_digest="0" * 32)]
    )
    kept = segue.project(context, reader(CLAUDE.id, "claude-opus-4*"), "phi-core").context.messages[1]
    shown = segue.project(context, BOUND, "phi-core").context.messages[1]
    assert kept.content == [ThinkingContent("hm", "sig")]
    assert shown.content == [TextContent("[Reasoning] hm")]


@pytest.mark.parametrize("stored", ["", "functions.", "functions.bash:7", "toolu_1"])
def test_ids_that_count_are_counted_whatever_was_stored(stored: str) -> None:
    kimi = segue.get_model("moonshot/kimi-k2-thinking")
    call = ToolCall(stored, "bash", {})
    history = [UserMessage("go"), answer(call), ToolResultMessage(stored, "bash", [TextContent("done")])]
    rendered = segue.project(Context(messages=history), kimi).context.messages
    assert rendered[1].content == [ToolCall("functions.bash:0", "bash", {})]
    assert isinstance(rendered[2], ToolResultMessage) and rendered[2].tool_call_id == "functions.bash:0"


def test_ids_are_the_same_after_more_of_them_than_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    stored: list[Message] = [UserMessage("go")]
    for number in range(9):
        call = ToolCall(f"toolu_remembered_{number % 7}", "bash", {})  # ids that no other test has
        stored += [answer(call), ToolResultMessage(call.id, "bash", [TextContent("done")])]
    with monkeypatch.context() as patched:
        patched.setattr("segue.projection.passes.ids._Wanted.MAX_SIZE", 2)
        few = segue.project(Context(messages=stored), OPENAI)
    assert segue.project(Context(messages=stored), OPENAI) == few
    assert len({block.id for each in few.context.messages for block in each.content if type(block) is ToolCall}) == 9
