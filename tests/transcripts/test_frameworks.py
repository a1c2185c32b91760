"""Messages of frameworks: written and read back they are the same, and unchanged ones are handed back as they were."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from support.transcripts import shown

import segue
from segue import AssistantMessage, Context, Message, TextContent, ThinkingContent, ToolCall, ToolResultMessage
from segue.transcripts import Target, format_named, langchain, openai_agents, pydantic_ai, signatures, vercel
from segue.transcripts.langchain_writing import write_messages as write_langchain
from segue.transcripts.pydantic_ai_writing import write_messages as write_pydantic_ai
from segue.transcripts.vercel_writing import write_messages as write_vercel

FORMS: dict[str, tuple[Callable[..., Any], Callable[..., list[Any]]]] = {
    "pydantic-ai": (pydantic_ai.read_messages, write_pydantic_ai),
    "langchain": (langchain.read_messages, write_langchain),
    "vercel": (vercel.read_messages, write_vercel),
    "openai-agents": (openai_agents.read_items, openai_agents.write_items),
}
HOLDS_ALL = ("pydantic-ai", "langchain", "vercel")
CASES = Path(__file__).parent.parent / "cases" / "transcripts"

ITEM = '{"type":"reasoning","id":"rs_0a1b2c3d4e5f","summary":[],"encrypted_content":"gAAA"}'
ORIGINS: dict[str, tuple[str, str, list[Any]]] = {
    "anthropic-messages": ("anthropic", "claude-sonnet-4-5", [None, "c2lnbmVk"]),
    "google-generative-ai": ("google", "gemini-3-pro", [None, "Z29vZ2xl"]),
    "openai-responses": ("openai", "gpt-5.1", [None, ITEM]),
    "bedrock-converse": ("amazon-bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0", [None, "YmVkcm9jaw=="]),
}
pick = st.sampled_from
WORDS = pick(["terns", "gulls and skuas", "日本語", "{}", " ", "two\nlines"])
SHOWN = st.one_of(
    WORDS.map(TextContent),
    pick(
        [segue.ImageContent("iVBORw0KGgo=", "image/png"), segue.ImageContent.from_url("https://example.com/tern.png")]
    ),
    pick([segue.FileContent(b"%PDF-1.4", "application/pdf", name="list.pdf"), segue.FileContent(b"RIFF", "audio/wav")]),
)
ARGUMENTS = st.dictionaries(pick(["page", "name"]), pick([1, "x", None, [1, {"a": "ü"}]]), max_size=2)


@st.composite
def conversations(draw: Callable[..., Any]) -> Context:
    """Conversations whose calls have ids of their own; some calls have no result."""
    messages: list[Message] = []
    for turn in range(draw(st.integers(1, 4))):
        messages.append(segue.UserMessage(draw(st.lists(SHOWN, min_size=1, max_size=3)), draw(st.booleans())))
        protocol = draw(pick([*ORIGINS]))
        provider, model, thoughts = ORIGINS[protocol]
        blocks: list[Any] = [
            ThinkingContent(draw(WORDS), draw(pick(thoughts))),
            *draw(st.lists(WORDS.map(TextContent), max_size=1)),
            *(ToolCall(f"call_{turn}_{at}", "lookup", draw(ARGUMENTS)) for at in range(draw(st.integers(0, 2)))),
        ]
        usage = segue.Usage(3, 4, 5, 6, 18)
        kept = blocks[draw(st.integers(0, 1)) :] or [TextContent("Yes.")]
        answer = AssistantMessage(
            kept, protocol=protocol, provider=provider, model=model, timestamp=1793534400000, usage=usage
        )
        messages.append(answer)
        calls = [block for block in kept if isinstance(block, ToolCall)]
        for call in calls[: draw(st.integers(0, len(calls)))]:
            content = draw(st.lists(SHOWN, min_size=1, max_size=2))
            is_error = draw(st.booleans()) and all(isinstance(block, TextContent) for block in content[1:] or content)
            content = content[:1] if is_error and isinstance(content[0], TextContent) else content
            failed = is_error and isinstance(content[0], TextContent)
            messages.append(ToolResultMessage(call.id, call.name, content, failed, draw(st.booleans())))
    return Context(messages, system_prompt=draw(pick([None, "You know terns."])))


def essence(message: Message) -> Any:
    """What a form must keep: signatures in parts, because items of Responses are stored in parts."""
    if not isinstance(message, AssistantMessage):
        return message
    signed = [signatures.opened(block, message.protocol) for block in message.content if block.type != "provider"]
    spent = (message.usage.input, message.usage.cache_read, message.usage.cache_write, message.usage.output)
    return shown(message), signed, message.provider, message.model, message.protocol, message.timestamp, spent


@pytest.mark.parametrize("name", HOLDS_ALL)
@given(context=conversations())
def test_what_is_written_is_read_back(name: str, context: Context) -> None:
    read, write = FORMS[name]
    found = read(json.loads(json.dumps(write(context)))).context
    assert found.system_prompt == context.system_prompt
    assert [*map(essence, found.messages)] == [*map(essence, context.messages)]


@given(context=conversations())
def test_items_of_agents_keep_texts_calls_and_results(context: Context) -> None:
    """Thinking without its encrypted content, marks and the origin have no place in an item."""
    found = openai_agents.read_items(openai_agents.write_items(context)).context

    def lines(each: Context) -> list[str]:
        blocks = [block for message in each.messages for block in message.content]
        texts = [block.id if isinstance(block, ToolCall) else getattr(block, "text", "") or "" for block in blocks]
        return [kept for text in texts if (kept := text.removeprefix("Error: ").strip()) and not kept.startswith("(")]

    assert lines(found) == lines(context)


@pytest.mark.parametrize("name", FORMS)
@given(context=conversations())
def test_unchanged_messages_are_handed_back_as_they_were(name: str, context: Context) -> None:
    read, write = FORMS[name]
    items = write(context)
    found = read(items)
    again = write(found.context, found.originals)
    assert len(again) == len(items) and all(one is two for one, two in zip(again, items, strict=True))
    longer = Context([*found.context.messages, segue.UserMessage("One more")], system_prompt=found.system_prompt)
    again = write(longer, found.originals)
    assert all(one is two for one, two in zip(again, items, strict=False)) and len(again) == len(items) + 1


@pytest.mark.parametrize("name", FORMS)
def test_a_changed_message_or_prompt_is_written_anew(name: str) -> None:
    read, write = FORMS[name]
    context = Context(
        [segue.UserMessage("One"), AssistantMessage("1"), segue.UserMessage("Two"), AssistantMessage("2")],
        system_prompt="Old.",
    )
    items = write(context)
    found = read(items)
    messages = list(found.context.messages)
    messages[1] = AssistantMessage("changed")
    again = read(write(Context(messages, system_prompt="New."), found.originals)).context
    assert [shown(message) for message in again.messages] == [
        "user: One",
        "answer stop: changed",
        "user: Two",
        "answer stop: 2",
    ]
    assert again.system_prompt == (None if name == "openai-agents" else "New.")


@pytest.mark.parametrize("name", FORMS)
def test_a_file_that_is_written_is_recognised(name: str, tmp_path: Path) -> None:
    context = Context([segue.UserMessage("One"), AssistantMessage("1")])
    write = format_named(name).write
    assert write is not None
    draft = write(context, Target(id="5f1c", now=0, cwd="/"))
    (tmp_path / draft.name).write_bytes(draft.data)
    found = segue.transcripts.read(tmp_path / draft.name)
    assert found.tool == name and [*map(shown, found.messages)] == ["user: One", "answer stop: 1"]


def test_what_a_form_cannot_hold_is_reported(tmp_path: Path) -> None:
    searched = segue.ProviderContent({"type": "web_search_call"}, "web_search_call", "terns")
    answer = AssistantMessage([ThinkingContent("Terns."), searched, TextContent("Yes.")])
    tool = segue.ToolDefinition("lookup", "Looks it up", {"type": "object"})
    context = Context([segue.UserMessage("Terns?", injected=True), answer], system_prompt="Birds.", tools=[tool])
    for name in HOLDS_ALL:
        written = segue.transcripts.write(context, name, directory=tmp_path)
        assert [each.code for each in written.changes] == ["tools-left-out", "block-left-out"]
    written = segue.transcripts.write(context, "openai-agents", directory=tmp_path)
    codes = [(each.code, each.where) for each in written.changes]
    assert ("system-left-out", "") in codes and ("tools-left-out", "") in codes
    assert ("block-left-out", "message 0") in codes and ("block-left-out", "message 1") in codes
