"""A renderer that continues where it stopped returns, byte for byte, what rendering from scratch returns."""

import gc
import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from support import torn
from support.clean import clean_contexts
from support.targets import distinct_on_the_wire

import segue
from segue import Context, Model, Options, Renderer, SegueError, ToolDefinition
from segue.types import (
    AssistantMessage,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from segue.wire.registry import PROTOCOLS


def some(protocol: str, count: int) -> dict[str, Model]:
    """About ``count`` models of a protocol with different dialects, spread over the catalog."""
    models = distinct_on_the_wire(protocol)
    return {f"{name} ({protocol})": models[name] for name in list(models)[:: max(len(models) // count, 1)]}


MODELS = {
    name: model
    for protocol in PROTOCOLS
    for name, model in some(protocol, 8 if os.environ.get("SEGUE_SOAK") else 4).items()
}
targets = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
OPTIONS = [None, Options(stream=True, cache="short", reasoning="high"), Options(cache="long", max_tokens=2_000)]
CLAUDE = segue.get_model("anthropic/claude-sonnet-4-5")
TOOLS = [ToolDefinition("bash"), ToolDefinition("my.tool", "does it")]


def outcome(make: Callable[..., segue.Request], *asked: Any) -> Any:
    """The request, or the error if it cannot be rendered."""
    try:
        request = make(*asked)
        return (
            request.json(),
            request.changes,
            request.path,
            request.prefix_digest(),
            request.projection.context.to_json(),
            request.added,
        )
    except UnicodeEncodeError as error:  # where nothing is repaired; which text is the first depends on what is written
        return type(error), ""
    except SegueError as error:
        return type(error), str(error)


@st.composite
def walks(draw: Callable[..., Any], model: Model) -> list[tuple[Context, Options | None]]:
    """A conversation that grows and is edited."""
    context = draw(clean_contexts(model) | torn.torn_contexts(model))
    walk = [(context, None)]
    for _ in range(draw(st.integers(1, 5))):
        messages = list(context.messages)
        act = draw(torn.pick(["grow", "grow", "grow", "late", "cut", "edit", "prompt", "tools", "again"]))
        if act == "grow":
            messages += draw(torn.torn_messages(model))
        elif act == "late":
            messages += late_results(messages, draw)
        elif act == "cut":
            messages = messages[: draw(st.integers(0, len(messages)))]
        elif act == "edit" and messages:
            messages[draw(st.integers(0, len(messages) - 1))] = UserMessage("edited")
        prompt = draw(torn.pick([None, "be kind"])) if act == "prompt" else context.system_prompt
        tools = draw(st.lists(torn.pick(TOOLS), max_size=2)) if act == "tools" else context.tools
        context = Context(system_prompt=prompt, messages=messages, tools=tools)
        walk.append((context, draw(torn.pick(OPTIONS))))
    return walk


def late_results(messages: list[Message], draw: Callable[..., Any]) -> list[Message]:
    """A result, real or synthetic, of any call so far."""
    calls = [block for message in messages for block in message.content if isinstance(block, ToolCall)]
    if not calls:
        return []
    call = draw(torn.pick(calls))
    return [ToolResultMessage(call.id, call.name, [TextContent("late")], synthetic=draw(st.booleans()))]


@targets
@settings(max_examples=max(settings().max_examples // 6, 1))
@given(st.data(), torn.pick([None, "or", "llxprt", "off"]))
def test_continuing_returns_what_rendering_from_scratch_returns(
    model: Model, data: st.DataObject, policy: str | None
) -> None:
    renderer = Renderer(model, policy)
    requests: list[tuple[segue.Request, bytes]] = []
    for context, options in data.draw(walks(model)):
        expected = outcome(segue.encode, context, model, options, policy)
        found = outcome(renderer.request, context, options)
        assert found == expected
        if isinstance(found[0], bytes):
            requests.append((renderer.request(context, options), found[0]))
    for request, data_then in requests:
        assert request.json() == data_then, "an earlier request changed with the later ones"


@targets
def test_a_long_conversation_that_grows_by_turns_is_the_same_at_every_request(model: Model) -> None:
    messages: list[Message] = []
    renderer = Renderer(model)
    for number in range(60):
        call = ToolCall(f"toolu_{number:024}", "bash", {"n": number})
        messages += [
            UserMessage(f"question {number}"),
            answer(model, TextContent("let me see"), call),
            ToolResultMessage(call.id, "bash", [TextContent(f"done {number}")]),
            answer(model, TextContent(f"answer {number}")),
        ]
        context = Context(messages=list(messages), tools=TOOLS)
        request = renderer.request(context, OPTIONS[1], since=max(len(messages) - 4, 0))
        assert request.json() == segue.encode(context, model, OPTIONS[1]).json()
        assert request.body == segue.encode(context, model, OPTIONS[1]).body


@targets
def test_a_turn_that_grows_changes_neither_earlier_requests_nor_the_checkpoint(model: Model) -> None:
    """Requests, and the checkpoint of the renderer, share their last turn with it."""
    growing = [UserMessage("one"), UserMessage("two"), UserMessage("three")]
    walk = [*[growing[:count] for count in (1, 2, 3)], [*growing[:2], UserMessage("another")]]
    renderer = Renderer(model)
    requests = [renderer.request(Context(messages=messages)) for messages in walk]
    for request, messages in zip(requests, walk, strict=True):
        assert request.json() == segue.encode(Context(messages=messages), model).json()


def answer(model: Model, *content: Any) -> AssistantMessage:
    stop: Any = "toolUse" if isinstance(content[-1], ToolCall) else "stop"
    return AssistantMessage(
        content=list(content), protocol=model.protocol, provider=model.provider, model=model.id, stop_reason=stop
    )


def test_a_placeholder_of_an_answer_that_was_replaced_is_forgotten() -> None:
    model = segue.get_model("google/gemini-3-pro-preview")
    asked = UserMessage("go")
    renderer = Renderer(model)
    assert renderer.request(Context(messages=[asked, answer(CLAUDE, ToolCall("a", "bash", {}))])).added
    assert not renderer.request(Context(messages=[asked, answer(CLAUDE, TextContent("done"))])).added


def test_a_late_result_far_back_is_found_by_comparing_and_with_since() -> None:
    model = segue.get_model("anthropic/claude-sonnet-4-5")
    call = ToolCall("toolu_1", "bash", {})
    stand_in = ToolResultMessage("toolu_1", "bash", [TextContent("unknown")], is_error=True, synthetic=True)
    messages: list[Message] = [UserMessage("go"), answer(model, call), stand_in]
    for number in range(600):
        messages += [UserMessage(f"question {number}"), answer(model, TextContent(f"answer {number}"))]
    messages.append(UserMessage("and now?"))
    comparing, informed = Renderer(model), Renderer(model)
    for renderer in (comparing, informed):
        renderer.request(Context(messages=messages)).json()
    count = len(messages)
    messages = [*messages, ToolResultMessage("toolu_1", "bash", [TextContent("the real one")])]
    expected = segue.encode(Context(messages=messages), model).json()
    assert b"the real one" in expected and b"unknown" not in expected
    assert comparing.request(Context(messages=messages)).json() == expected
    assert informed.request(Context(messages=messages), since=count).json() == expected


def test_unchanged_messages_are_shared_with_the_stored_conversation() -> None:
    model = segue.get_model("anthropic/claude-sonnet-4-5")
    messages: list[Message] = [UserMessage("one"), answer(model, TextContent("two")), UserMessage("three")]
    request = Renderer(model).request(Context(messages=messages))
    assert all(one is other for one, other in zip(request.messages, messages, strict=True))


def test_a_result_that_was_replaced_in_place_is_rendered_again() -> None:
    model = segue.get_model("anthropic/claude-sonnet-4-5")
    first, second = ToolCall("toolu_1", "bash", {}), ToolCall("toolu_2", "bash", {})
    messages: list[Message] = [
        UserMessage("go"),
        answer(model, first, second),
        ToolResultMessage("toolu_2", "bash", [TextContent("two")]),
        UserMessage("wait"),
        ToolResultMessage("toolu_1", "bash", [TextContent("one")]),
    ]
    renderer = Renderer(model)
    renderer.request(Context(messages=messages))
    for text in ("another one", "and another"):
        messages = [*messages[:-1], ToolResultMessage("toolu_1", "bash", [TextContent(text)])]
        found = renderer.request(Context(messages=messages)).json()
        assert found == segue.encode(Context(messages=messages), model).json()
        assert text.encode() in found


@targets
def test_a_request_creates_no_reference_cycles(model: Model) -> None:
    """The memory of a rendering is freed when the request is dropped."""
    call = ToolCall("toolu_1", "bash", {"n": 1})
    context = Context(
        system_prompt="be brief",
        messages=[
            UserMessage("go"),
            answer(CLAUDE, ThinkingContent("hm", "c2ln"), TextContent("well"), call),
            ToolResultMessage(call.id, call.name, [TextContent("done")]),
            answer(CLAUDE, call),
        ],
        tools=TOOLS,
    )
    segue.encode(context, model).json()  # what is made once stays
    Renderer(model).request(context).json()
    gc.freeze()  # only what is made from here on is looked through
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        segue.encode(context, model).json()
        Renderer(model).request(context).json()
        gc.collect()
        left = {type(each).__qualname__ for each in gc.garbage if type(each).__module__.startswith("segue")}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.unfreeze()
    assert left == set()


@targets
def test_the_tools_of_a_request_do_not_depend_on_earlier_requests(model: Model) -> None:
    """Encoded tools are cached; neither cache markers nor edits of the caller may get into the cache."""
    schema = {"anyOf": [{"type": "object", "properties": {"n": {"type": "integer"}}}]}
    context = Context(messages=[UserMessage("go")], tools=[ToolDefinition("bash", "runs it", schema)])
    first = segue.encode(context, model)
    sent, changes = first.json(), first.changes
    for entry in first.body.get("tools", []):
        _spoil(entry)
    for options in OPTIONS[1:]:
        segue.encode(context, model, options).json()
    again = segue.encode(context, model)
    assert again.json() == sent
    assert again.changes == changes


def _spoil(value: Any) -> None:
    """Empty all lists and dicts in ``value``."""
    for below in list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, list) else []:
        _spoil(below)
    if isinstance(value, dict | list):
        value.clear()


def test_an_answer_that_lost_a_block_can_be_rendered_again() -> None:
    """The positions of blocks are counted again, without leftovers of the first time."""
    openai = segue.get_model("openai/gpt-5.1")
    call = ToolCall("toolu_1", "bash", {"n": 1})
    asked = [UserMessage("go"), answer(CLAUDE, ThinkingContent("", "c2ln", redacted=True), TextContent("well"), call)]
    renderer = Renderer(openai)
    for text in ("done", "done better"):
        result = ToolResultMessage(call.id, call.name, [TextContent(text)])
        context = Context(messages=[*asked, result], tools=TOOLS)
        changes = [(change.code, change.message, change.block) for change in renderer.request(context).changes]
        assert changes[-2:] == [("thinking-dropped", 1, 0), ("id-projected", 1, 2)]
