"""What `make clients` does without clients: facts, bodies without words of vendors, results as a table."""

from pathlib import Path

from clients import recorded, results, resumed
from clients.rows import CLIENTS, LAST, Ask

import segue
from segue.transcripts import format_named
from segue.types import (
    AssistantMessage,
    Context,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)


def test_every_client_is_pinned_and_has_a_format_that_is_written() -> None:
    for client in CLIENTS.values():
        assert client.version[0].isdigit()
        assert format_named(client.tool).resumes
        assert client.own.title not in client.families


def test_a_session_can_be_new_the_last_one_or_named() -> None:
    for client in CLIENTS.values():
        commands = [client.command(Ask("m", "Hi", session, "dot.png")) for session in ("", LAST, "an-id")]
        assert len({tuple(each) for each in commands}) == 3
        assert "an-id" in commands[2]
        assert all("Hi" in " ".join(each) and "dot.png" in " ".join(each) for each in commands)


def test_the_facts_of_a_conversation_are_its_texts_images_calls_and_results() -> None:
    calls = [ToolCall("a", "sh", {"cmd": resumed.ONE}), ToolCall("b", "sh", {"cmd": resumed.SLEEP})]
    context = Context(
        [
            UserMessage([TextContent("Go"), segue.ImageContent("aGk=", "image/png")]),
            UserMessage("The date is today.", injected=True),
            AssistantMessage([ThinkingContent("Well."), *calls]),
            ToolResultMessage("a", "sh", [TextContent("word-one\n")]),
        ]
    )
    called = [f"{resumed.ONE} was called", f"{resumed.ONE} → word-one", f"{resumed.SLEEP} was called"]
    assert list(resumed.facts(context)) == ["Go", "an image", "Well.", *called]


def test_a_recorded_body_has_no_words_of_its_vendor() -> None:
    tool = {"name": "Bash", "description": "Secret words.", "input_schema": {"x": {"description": "More words."}}}
    body = {
        "system": [{"type": "text", "text": "You are the best."}],
        "messages": [{"role": "user", "content": resumed.FIRST}],
        "tools": [tool, {"name": "A", "description": "Words."}, {"name": "B", "description": "Words."}],
    }
    said = recorded.anonymous(body)
    assert "ords." not in str(said) and "best" not in str(said)
    assert said["messages"] == body["messages"]
    assert [each["name"] for each in said["tools"]] == ["Bash", "A"]


def test_results_are_saved_one_by_one(tmp_path: Path) -> None:
    kept = results.Results(tmp_path / "results.json")
    kept.put("gateway", "A 1 → B", "tool turn", "")
    again = results.Results(tmp_path / "results.json")
    assert again.get("gateway", "A 1 → B", "tool turn") == ""
    assert again.get("gateway", "A 1 → B", "529 twice") is None
