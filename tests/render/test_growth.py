"""Rendering is linear in the size of the conversation, also for hostile ones. Calls are counted, not seconds."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any
from unittest.mock import patch

import pytest

import segue
from segue.dialects import ids
from segue.render.renderer import Renderer
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
from segue.wire.openai_completions import turns

# One of each protocol, and of each form of ids.
TARGETS = [
    "anthropic/claude-opus-5-5",
    "openai/gpt-5.2",
    "openrouter/anthropic/claude-opus-4.6",
    "moonshot/kimi-k2-thinking",
    "google/gemini-3-pro-preview",
    "amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    "amazon-bedrock/meta.llama3-1-70b-instruct-v1:0",
    "mistral/mistral-large-latest",
]
IMAGE = ImageContent("iVBORw0KGgo=", "image/png")


def steps(act: Callable[[], object]) -> int:
    """The number of function calls, including those of functions written in C."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(before)
    return count


def answer(content: list[Any], model: Model | None = None, stop: str = "toolUse") -> AssistantMessage:
    origin = ("", "", "") if model is None else (model.protocol, model.provider, model.id)
    return AssistantMessage(
        content=content,
        protocol=origin[0],
        provider=origin[1],
        model=origin[2],
        stop_reason=stop,
    )


def result(call_id: str, name: str = "bash", **fields: Any) -> ToolResultMessage:
    return ToolResultMessage(call_id, name, [TextContent("ok")], **fields)


def same_id(count: int, model: Model | None, call_id: str = "call_0") -> list[Message]:
    """Turns that all use the same id, like those of servers that count from 0 in each answer."""
    turn = [UserMessage("go"), answer([ToolCall(call_id, "bash", {})], model), result(call_id)]
    return turn * count


def one_answer(blocks: list[Any], model: Model | None, results: list[Message]) -> list[Message]:
    return [UserMessage("go"), answer(blocks, model), *results, UserMessage("and?")]


def nested(depth: int) -> dict[str, Any]:
    arguments: dict[str, Any] = {"": "\ud800"}
    for _ in range(depth):
        arguments = {"x": [arguments]}
    return arguments


def calls_of(count: int) -> list[ToolCall]:
    return [ToolCall(f"c{at}", "bash", {}) for at in range(count)]


Shape = Callable[[int, Model], list[Message]]
HOSTILE: dict[str, Shape] = {
    "one id in every turn, of the target": same_id,
    "one id in every turn, of another": lambda n, model: same_id(n, None),
    "no id in any turn": lambda n, model: same_id(n, None, ""),
    "orphans": lambda n, model: [UserMessage("go"), *(result(f"c{at}") for at in range(n))],
    "orphans of one id": lambda n, model: [UserMessage("go"), *(result("c") for _ in range(n))],
    "results without an id": lambda n, model: one_answer(calls_of(1), None, [result("")] * n),
    "results before their calls": lambda n, model: [
        message for at in range(n) for message in (result(f"c{at}"), answer([ToolCall(f"c{at}", "bash", {})]))
    ],
    "one message of many texts": lambda n, model: [UserMessage([TextContent("a")] * n)],
    "one message of empty and signed texts": lambda n, model: [
        UserMessage([TextContent("x"), *[TextContent(""), TextContent("a", "signed")] * n])
    ],
    "one message of images and half characters": lambda n, model: [UserMessage([IMAGE, TextContent("\ud800")] * n)],
    "one answer of many thoughts, texts and calls": lambda n, model: one_answer(
        [block for call in calls_of(n) for block in (ThinkingContent("t", "s"), TextContent("x"), call)],
        model,
        [result(call.id, is_error=True) for call in calls_of(n)],
    ),
    "results in the reverse order": lambda n, model: one_answer(
        calls_of(n), model, [result(call.id) for call in reversed(calls_of(n))]
    ),
    "calls without results": lambda n, model: one_answer(calls_of(n), model, []),
    "a result of many images": lambda n, model: one_answer(
        calls_of(1), model, [ToolResultMessage("c0", "bash", [IMAGE, TextContent("a")] * n)]
    ),
    "names that are refused": lambda n, model: one_answer(
        [ToolCall(f"c{at}", f"a.b {at}", {}) for at in range(n)],
        model,
        [result(f"c{at}", f"a.b {at}") for at in range(n)],
    ),
    "a long name": lambda n, model: [
        *one_answer([ToolCall("c", "x.[" * n, {})], model, [result("c", "x.[" * n)]),
        result("gone", "x.[" * n),
    ],
    "failed turns": lambda n, model: [
        UserMessage("go"),
        *(answer([TextContent("x"), call], model, "error") for call in calls_of(n)),
        *(result(call.id) for call in calls_of(n)),
    ],
    "wide and deep arguments": lambda n, model: one_answer(
        [ToolCall("c0", "bash", {f"k{at}": [at, "\ud800"] for at in range(n)}), ToolCall("c1", "bash", nested(n))],
        model,
        [result("c0"), result("c1")],
    ),
    "many users, many answers": lambda n, model: [UserMessage("x")] * n + [answer([TextContent("y")], model)] * n,
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", HOSTILE)
def test_twice_the_conversation_is_twice_the_work(shape: str, target: str) -> None:
    model = segue.get_model(target)

    def render(count: int) -> int:
        context = Context(messages=HOSTILE[shape](count, model), tools=[ToolDefinition("bash")])
        segue.encode(context, model)  # what is kept for all conversations is there before it is counted

        def act() -> None:
            request = segue.encode(context, model)
            request.json()
            assert request.changes is not None

        return steps(act)

    assert render(160) < 2.3 * render(80)


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_neighbours_of_one_role_are_joined_in_one_step(role: str) -> None:
    """Texts are copied once, not once for each neighbour, so intermediate strings are no longer than the result."""
    model = segue.get_model("deepseek/deepseek-r1")
    text = "x" * 1_000
    one: Message = UserMessage(text) if role == "user" else answer([TextContent(text)], None, "stop")
    context = Context(messages=[UserMessage("go"), *[one] * 500])
    joined: list[int] = []
    original = turns._joined

    def counted(contents: list[Any]) -> Any:
        made = original(contents)
        joined.append(len(made))
        return made

    with patch.object(turns, "_joined", counted):
        body = segue.encode(context, model).body
    assert len(body["messages"]) == (1 if role == "user" else 3)
    assert sum(joined) < 2 * 500 * 1_010


def digests(act: Callable[[], object]) -> int:
    count = 0
    original = ids.blake2b

    def counted(*arguments: Any, **named: Any) -> Any:
        nonlocal count
        count += 1
        return original(*arguments, **named)

    with patch.object(ids, "blake2b", counted):
        act()
    return count


FORMS = {segue.get_model(name).dialect.id_form: name for name in [*TARGETS, "groq/openai/gpt-oss-120b"]}


def test_the_targets_have_every_form_of_ids() -> None:
    assert (
        set(FORMS) == set(segue.dialects.ID_SHAPES) if hasattr(segue, "dialects") else set(FORMS) == set(ids.ID_SHAPES)
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("own", [True, False])
def test_a_thousand_turns_of_one_id_need_a_digest_each(form: str, own: bool) -> None:
    model = segue.get_model(FORMS[form])
    shape = ids.ID_SHAPES[form]
    for call_id in ("call_0", "", "abcdefghi", "toolu_0"):
        context = Context(messages=same_id(1_000, model if own else None, call_id))
        made = digests(lambda context=context: segue.encode(context, model))
        assert made <= (0 if shape.counted else 1_003)
        rendered = segue.project(context, model).context.messages
        sent = [block.id for message in rendered for block in message.content if isinstance(block, ToolCall)]
        assert len(set(sent)) == 1_000


@pytest.mark.parametrize("form", FORMS)
def test_a_renderer_that_goes_back_returns_the_same_ids_with_a_few_digests_each(form: str) -> None:
    """Every answer is sent once before the result of its call, so that the renderer goes back when it arrives."""
    model = segue.get_model(FORMS[form])
    messages = same_id(200, model)
    renderer = Renderer(model)
    last = None

    def grow() -> None:
        nonlocal last
        for count in range(1, len(messages) + 1):
            last = renderer.request(Context(messages=messages[:count]), None, count - 1)

    assert digests(grow) <= 4 * 200
    assert last is not None and last.json() == segue.encode(Context(messages=messages), model).json()


def unique(count: int) -> list[Message]:
    return [
        message
        for at in range(count)
        for message in (UserMessage("go"), answer([ToolCall(f"call_{at}", "bash", {})]), result(f"call_{at}"))
    ]


GROWING: dict[str, Callable[[int], list[Message]]] = {
    "one id in every turn": lambda n: same_id(n, None),
    "no id in any turn": lambda n: same_id(n, None, ""),
    "an orphan at the beginning": lambda n: [UserMessage("go"), result("gone"), *unique(n)],
    "a result without an id at the beginning": lambda n: [UserMessage("go"), result(""), *unique(n)],
    "orphans alone": lambda n: [UserMessage("go"), *(result(f"gone{at}") for at in range(3 * n))],
    "results before their calls": lambda n: HOSTILE["results before their calls"](n, segue.get_model(TARGETS[0])),
    "calls without results": lambda n: [message for message in unique(n) if not isinstance(message, ToolResultMessage)],
}


@pytest.mark.parametrize("target", ["anthropic/claude-sonnet-4-5", "moonshot/kimi-k2-thinking", TARGETS[-1]])
@pytest.mark.parametrize("shape", GROWING)
def test_a_renderer_only_renders_what_is_new(shape: str, target: str) -> None:
    """Twice the conversation, sent at every step, is twice the work."""
    model = segue.get_model(target)

    def grow(count: int) -> int:
        messages = GROWING[shape](count)

        def act() -> None:
            renderer = Renderer(model)
            for length in range(1, len(messages) + 1):
                renderer.request(Context(messages=messages[:length]), None, length - 1)

        act()
        return steps(act)

    assert grow(80) < 2.3 * grow(40)
