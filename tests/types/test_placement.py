"""A block that is not allowed in a message is refused by mypy, by the constructor, and when JSON is read."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from segue.errors import FormatError
from segue.types import (
    PLACEMENT,
    AssistantMessage,
    Block,
    Context,
    FileContent,
    ImageContent,
    Message,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

BLOCKS: dict[str, Block] = {
    "text": TextContent("x"),
    "image": ImageContent("aGk=", "image/png"),
    "file": FileContent("aGk=", "text/plain"),
    "thinking": ThinkingContent("x"),
    "provider": ProviderContent({}, "web_search_call"),
    "toolCall": ToolCall("1", "a", {}),
}
MAKERS = {
    "user": lambda blocks: UserMessage(blocks),
    "assistant": lambda blocks: AssistantMessage(
        content=blocks, protocol="", provider="", model="", stop_reason="stop"
    ),
    "toolResult": lambda blocks: ToolResultMessage("1", "a", blocks),
}
CLASSES: dict[str, type[Message]] = {
    "user": UserMessage,
    "assistant": AssistantMessage,
    "toolResult": ToolResultMessage,
}
# The table of the format, written again for the comparison with PLACEMENT.
ALLOWED = {
    "user": {"text", "image", "file"},
    "assistant": {"text", "thinking", "toolCall", "provider"},
    "toolResult": {"text", "image", "file"},
}
PAIRS = [(role, kind) for role in ALLOWED for kind in BLOCKS]


def as_json(role: str, kind: str) -> bytes:
    message: dict[str, Any] = msgspec.to_builtins(MAKERS[role]([]))
    message["content"] = [BLOCKS["text"], BLOCKS[kind]]
    return msgspec.json.encode({"messages": [message]})


@pytest.mark.parametrize(("role", "kind"), PAIRS)
def test_the_table_of_placement_is_that_of_the_format(role: str, kind: str) -> None:
    assert (type(BLOCKS[kind]) in PLACEMENT[CLASSES[role]]) == (kind in ALLOWED[role])


@pytest.mark.parametrize(("role", "kind"), PAIRS)
def test_python_and_json_accept_and_refuse_the_same_blocks(role: str, kind: str) -> None:
    if kind in ALLOWED[role]:
        made = MAKERS[role]([BLOCKS["text"], BLOCKS[kind]])
        assert Context.from_json(as_json(role, kind)).messages == [made]
        return
    with pytest.raises(TypeError) as refused:
        MAKERS[role]([BLOCKS["text"], BLOCKS[kind]])
    assert type(BLOCKS[kind]).__name__ in str(refused.value)
    assert CLASSES[role].__name__ in str(refused.value)
    with pytest.raises(FormatError) as unread:
        Context.from_json(as_json(role, kind))
    article = {"image": "an", "assistant": "an"}
    reason = f"{article.get(kind, 'a')} {kind} block is not allowed in {article.get(role, 'a')} {role} message"
    assert str(unread.value) == f"messages[0].content[1]: {reason}"


def test_mypy_refuses_exactly_the_wrong_placements(tmp_path: Path) -> None:
    values = {
        "text": 'segue.TextContent("x")',
        "image": 'segue.ImageContent("aGk=", "image/png")',
        "file": 'segue.FileContent("aGk=", "text/plain")',
        "thinking": 'segue.ThinkingContent("x")',
        "provider": 'segue.ProviderContent({}, "web_search_call")',
        "toolCall": 'segue.ToolCall("1", "a", {})',
    }
    makers = {
        "user": "segue.UserMessage([{}])",
        "assistant": 'segue.AssistantMessage(content=[{}], protocol="", provider="", model="", stop_reason="stop")',
        "toolResult": 'segue.ToolResultMessage("1", "a", [{}])',
    }
    lines = ["import segue"] + [makers[role].format(values[kind]) for role, kind in PAIRS]
    snippet = tmp_path / "snippet.py"
    snippet.write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path), str(snippet)],
        capture_output=True,
        text=True,
        check=False,
    )
    complained = {int(line.split(":")[1]) for line in done.stdout.splitlines() if "error:" in line}
    wrong = {number for number, (role, kind) in enumerate(PAIRS, 2) if kind not in ALLOWED[role]}
    assert complained == wrong, done.stdout + done.stderr


def test_a_context_holds_messages_and_tools_only() -> None:
    with pytest.raises(TypeError, match=r"messages\[0\] of a Context must be .*, not TextContent"):
        Context(messages=[TextContent("x")])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"tools\[0\] of a Context must be ToolDefinition, not dict"):
        Context(messages=[], tools=[{}])  # type: ignore[list-item]


@pytest.mark.parametrize("content", [b"bytes", 5, None, {"type": "text"}])
def test_content_that_is_not_a_list_of_blocks_is_refused(content: Any) -> None:
    with pytest.raises(TypeError, match="content of a ToolResultMessage must be a list of blocks"):
        ToolResultMessage("1", "a", content)


@pytest.mark.parametrize("arguments", ["{}", None, [("a", 1)]])
def test_arguments_are_an_object_and_never_a_string(arguments: Any) -> None:
    with pytest.raises(TypeError, match="arguments of a ToolCall must be a dict"):
        ToolCall("1", "a", arguments)
