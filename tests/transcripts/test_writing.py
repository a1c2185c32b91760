"""Conversations are written so that a tool resumes them: what is read back is what was written."""

import contextlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace
from support.torn import torn_contexts
from support.transcripts import shown, signatures

import segue
from segue import transcripts
from segue.transcripts.writing import compare

WRITTEN = [each.name for each in transcripts.formats() if each.resumes]
MODEL = segue.get_model("anthropic/claude-sonnet-4-5")
IMAGE = segue.ImageContent(b"\x89PNG\r\n\x1a\n", "image/png")
NOW = 1_772_359_200_000
ID = "0195a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"


def conversation(tool: str) -> segue.Context:
    """Parallel calls, an image, thinking and an interrupted call, as if it came from ``tool``."""
    origin = {
        "protocol": MODEL.protocol,
        "provider": MODEL.provider,
        "model": MODEL.id,
        "endpoint": f"transcript:{tool}",
    }
    return segue.Context(
        [
            segue.UserMessage("<environment>\nlinux\n</environment>", injected=True),
            segue.UserMessage([segue.TextContent("What is it?"), IMAGE]),
            segue.AssistantMessage(
                [
                    segue.ThinkingContent("Two commands.", "EqQBsigned"),
                    segue.TextContent("Both."),
                    segue.ToolCall("toolu_A", "Bash", {"command": "ls"}),
                    segue.ToolCall("toolu_B", "Read", {"file_path": "a.py"}),
                ],
                **origin,
            ),
            segue.ToolResultMessage("toolu_A", "Bash", [segue.TextContent("a.py"), IMAGE]),
            segue.ToolResultMessage("toolu_B", "Read", "no such file", is_error=True),
            segue.AssistantMessage([segue.ToolCall("toolu_C", "Bash", {"command": "sleep 9"})], **origin),
        ],
        system_prompt="Be brief.",
    )


def test_six_tools_are_written() -> None:
    assert set(WRITTEN) >= {"claude-code", "codex", "opencode", "pi", "gemini-cli", "qwen-code"}


@pytest.mark.parametrize("tool", WRITTEN)
def test_a_session_of_another_tool_is_written_and_read_back(tool: str, tmp_path: Path) -> None:
    written = transcripts.write(
        conversation("elsewhere"), tool, directory=tmp_path, cwd="/home/ada/tern", title="Terns", id=ID, now=NOW
    )
    found = transcripts.read(written.path)
    assert (found.tool, found.cwd or "/home/ada/tern", found.title) == (tool, "/home/ada/tern", "Terns")
    calls = [shown(message).split(": ", 1)[1] for message in found.context.messages if message.role == "assistant"]
    assert "Bash(command=ls)" in calls[0] and "Read(file_path=a.py)" in calls[0] and "sleep 9" in calls[1]
    results = [message for message in found.context.messages if message.role == "toolResult"]
    assert len(results) == 3  # the interrupted call has one, too
    assert {each.code for each in written.changes} == {"injected-left-out", "system-left-out"}
    assert found.id is not None and (found.id in written.resume)
    assert not any("EqQBsigned" in signature for each in found.context.messages for signature in signatures(each))
    assert oct(written.path.stat().st_mode)[-3:] == "600"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [written.path]


@pytest.mark.parametrize("tool", ["claude-code", "opencode", "pi"])
def test_signatures_go_back_to_the_same_tool_exactly(tool: str, tmp_path: Path) -> None:
    written = transcripts.write(conversation(tool), tool, directory=tmp_path, now=NOW)
    found = transcripts.read(written.path)
    assert [each for message in found.context.messages for each in signatures(message)] == ["EqQBsigned"]
    assert "EqQBsigned" not in repr(written.changes) + repr(written.projected)
    assert sum(message.role == "user" for message in found.context.messages) == 2  # what the tool wrote itself stays


@pytest.mark.parametrize("tool", WRITTEN)
@given(
    context=torn_contexts(MODEL),
    names=st.sampled_from(["keep", "translate", "text"]),
    source=st.sampled_from([None, "elsewhere"]),
)
def test_any_conversation_is_the_same_after_writing_and_reading(
    tool: str, context: segue.Context, names: str, source: str | None
) -> None:
    """Writing compares what it reads back, and refuses a difference."""
    if source is not None:
        context = replace(context, messages=[_read_from(source, message) for message in context.messages])
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(segue.ProjectionError):  # nothing to write
        written = transcripts.write(context, tool, directory=folder, now=NOW, names=names)
        found = transcripts.read(written.path)
        assert compare(written.context.messages, found.context.messages, transcripts.format_named(tool)) == ""
        assert not any(
            len(each) > 3 and each in repr(written.changes) for m in context.messages for each in signatures(m)
        )


def _read_from(tool: str, message: segue.Message) -> segue.Message:
    answered = isinstance(message, segue.AssistantMessage)
    return replace(message, endpoint=f"transcript:{tool}") if answered else message


def test_the_conversations_have_all_that_can_be_lost() -> None:
    """Parallel calls, images, files, thinking with signatures, interrupted calls and injected messages."""
    wanted = {"parallel", "image", "file", "signature", "interrupted", "injected"}
    seen: set[str] = set()

    @settings(max_examples=60, database=None, derandomize=True)
    @given(context=torn_contexts(MODEL))
    def look(context: segue.Context) -> None:
        if not wanted <= seen:
            seen.update(_features(context))

    look()
    assert wanted <= seen


def _features(context: segue.Context) -> Iterator[str]:
    answered = {message.tool_call_id for message in context.messages if isinstance(message, segue.ToolResultMessage)}
    for message in context.messages:
        kinds = [block.type for block in message.content]
        yield from (kind for kind in kinds if kind in ("image", "file"))
        if isinstance(message, segue.UserMessage) and message.injected:
            yield "injected"
        if isinstance(message, segue.AssistantMessage):
            calls = [block.id for block in message.content if isinstance(block, segue.ToolCall)]
            yield from ["parallel"] if len(calls) > 1 else []
            yield from ["interrupted"] if message.stop_reason == "aborted" or set(calls) - answered else []
            yield from ["signature"] if signatures(message) else []


def test_common_tools_get_the_names_of_the_other_agent(tmp_path: Path) -> None:
    context = conversation("claude-code")
    written = transcripts.write(context, "opencode", directory=tmp_path / "a", names="translate", now=NOW)
    calls = [call for each in written.context.messages if each.role == "assistant" for call in each.tool_calls]
    assert [(call.name, call.arguments) for call in calls[:2]] == [
        ("bash", {"command": "ls"}),
        ("read", {"filePath": "a.py"}),
    ]
    written = transcripts.write(context, "codex", directory=tmp_path / "b", names="text", now=NOW)
    assert not any(each.role == "toolResult" for each in written.context.messages)


def test_a_dry_run_writes_nothing_and_existing_files_are_kept(tmp_path: Path) -> None:
    arguments = {"directory": tmp_path, "id": ID, "now": NOW, "cwd": "/home/ada/tern"}
    assert not transcripts.write(conversation("x"), "pi", dry_run=True, **arguments).path.exists()
    first = transcripts.write(conversation("x"), "pi", **arguments).path.read_bytes()
    with pytest.raises(segue.SettingError, match="exists already"):
        transcripts.write(conversation("x"), "pi", **arguments)
    assert json.loads(first.splitlines()[0])["cwd"] == "/home/ada/tern"


@pytest.mark.parametrize(("tool", "versions"), [("qwen-code", "12345"), ("codex", "7"), ("claude-code", "47")])
def test_a_new_session_has_an_id_that_its_tool_accepts(tool: str, versions: str, tmp_path: Path) -> None:
    """Qwen Code 0.24.4 takes other ids for titles, and finds no session; Codex reads the time of version 7."""
    written = transcripts.write(segue.Context([segue.UserMessage("Hi")]), tool, directory=tmp_path, cwd="/home/ada")
    assert written.id[14] in versions
