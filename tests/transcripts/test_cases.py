"""Every case in ``tests/cases/transcripts/``: files as a tool writes them, and what is read from them.

A case has ``files`` (names, and rows, texts or documents), ``why``, and ``expect``. Rows that are texts are written as
they are, so that a case can have lines that are not JSON. A database is a list of statements or an object with
tables, a zip file an object with its members.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from support.transcripts import CASES, lay_out, shown, signatures

import segue
from segue import transcripts

TARGETS = (
    "anthropic/claude-sonnet-4-5",
    "openai/gpt-5.1",
    "google/gemini-2.5-pro",
    "mistral/mistral-large-latest",
    "amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    "moonshot/kimi-k2-thinking",
)


def described(found: transcripts.Transcript) -> dict[str, Any]:
    """What was read, in the form of ``expect``."""
    return {
        "tool": found.tool,
        "version": found.version,
        "id": found.id,
        "title": found.title,
        "cwd": found.cwd,
        "model": found.model,
        "messages": list(map(shown, found.context.messages)),
        "log": len(found.messages),
        "system": found.system_prompt,
        "tools": [tool.name for tool in found.tools],
        "signatures": [each for message in found.context.messages for each in signatures(message)],
        "usage": [
            [each.usage.input, each.usage.cache_read, each.usage.cache_write, each.usage.output]
            for each in found.context.messages
            if isinstance(each, segue.AssistantMessage)
        ],
        "branches": [
            [each.kind, each.shared, each.call, list(map(shown, each.context.messages[each.shared :]))]
            for each in found.branches
        ],
        "changes": [[each.line, each.code] for each in found.changes],
    }


@pytest.mark.parametrize("path", CASES, ids=[f"{path.parent.name}-{path.stem}" for path in CASES])
def test_a_file_is_read_as_its_tool_would_continue_it(path: Path, tmp_path: Path) -> None:
    case = json.loads(path.read_text("utf-8"))
    found = transcripts.read(lay_out(case, tmp_path), case.get("id"))
    assert found.tool == path.parent.name
    described_all = described(found)
    assert {name: described_all[name] for name in case["expect"]} == case["expect"]
    for context in (found.context, *(branch.context for branch in found.branches)):
        _check_targets(context)
    report = "".join(map(str, found.changes))
    for context in (found.context, *(branch.context for branch in found.branches)):
        for message in context.messages:
            assert not any(len(signature) > 3 and signature in report for signature in signatures(message))


def _check_targets(context: segue.Context) -> None:
    """The conversation can be sent to every kind of target."""
    if not context.messages:
        return
    for name in TARGETS:
        model = segue.get_model(name)
        try:
            request = segue.encode(context, model)
        except segue.ProjectionError:  # nothing to send
            continue
        assert segue.lint(request.body, model.protocol, model=model) == []


def test_every_format_that_reads_has_a_case() -> None:
    assert {path.parent.name for path in CASES} == {each.name for each in transcripts.formats()}


def test_a_file_in_no_known_form_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "claude.jsonl"
    path.write_text('{"a": 1}\n')
    with pytest.raises(segue.FormatError, match="not a transcript in a known form"):
        transcripts.read(path)


def test_signatures_of_a_transcript_are_sent_to_no_provider() -> None:
    """An endpoint that begins with ``transcript:`` equals only itself, even if the model has no endpoint."""
    model = segue.get_model("anthropic/claude-sonnet-4-5")
    thought = segue.ThinkingContent("Terns.", "signed-elsewhere")
    answer = segue.AssistantMessage(
        [thought, segue.TextContent("Terns.")],
        protocol=model.protocol,
        provider=model.provider,
        model=model.id,
        endpoint="transcript:claude-code",
    )
    context = segue.Context([segue.UserMessage("Which?"), answer, segue.UserMessage("Why?")])
    assert b"signed-elsewhere" not in segue.encode(context, model).json()
    assert b"signed-elsewhere" in segue.encode(context, model.replace(endpoint="transcript:claude-code")).json()


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (
            {"id": "c1", "agent": {}, "execution_status": "idle", "persistence_dir": "."},
            "state of a conversation",
        ),
        ({"agents": {"main": {"type": "main"}}, "workDir": "/home/ada/tern"}, "read agents/main/wire.jsonl"),
        (
            {"id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "type": "text", "text": "Terns"},
            "a part of a",
        ),
        ({"id": "msg_1", "sessionID": "ses_1", "role": "assistant", "time": {"created": 1}}, "without its parts"),
        ({"id": "ses_1", "projectID": "p", "directory": "/", "time": {"created": 1}}, "around this file"),
    ],
)
def test_a_side_file_of_a_tool_says_what_to_read(document: dict[str, Any], reason: str, tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "side.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(document))
    with pytest.raises(segue.FormatError, match=reason):
        transcripts.read(path)
