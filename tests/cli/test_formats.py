"""Every command that reads a conversation accepts every known format, and says which one it recognised."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import TALK, entries
from support.kitchen import environment

import segue
from segue.cli import main
from segue.cli.formats import FORMATS, Found, Source, read_one
from segue.session import export_session, open_store
from segue.wire import PROTOCOLS, protocol_of

Captured = pytest.CaptureFixture[str]
TARGET = "mistral/mistral-large-latest"
TORN = segue.Context.from_json(json.dumps(TALK))
CONTEXT = segue.Context(
    system_prompt="Be brief.",
    messages=[
        segue.UserMessage("What is here?"),
        segue.AssistantMessage(
            content=[segue.TextContent("I look."), segue.ToolCall("call_1", "look", {"where": "here"})],
            protocol="openai-responses",
            provider="openai",
            model="gpt-5.4",
            stop_reason="toolUse",
        ),
        segue.ToolResultMessage("call_1", "look", [segue.TextContent("a cat")]),
        segue.UserMessage("Go on."),
    ],
    tools=[
        segue.ToolDefinition("look", "Look around", {"type": "object", "properties": {"where": {"type": "string"}}})
    ],
)


def body(protocol: str) -> Any:
    return segue.export(CONTEXT, protocol).body


def lines(*values: Any) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def exported_session(tmp_path: Path) -> str:
    with open_store(str(tmp_path / "made.db")) as store:
        store.create("one", time=1, title="a talk")
        store.append("one", entries(), after=0)
        return b"".join(export_session(store, "one")).decode()


OWN = json.loads(CONTEXT.to_json())
FORMS: dict[str, tuple[Callable[[Path], str], str]] = {
    "own": (lambda path: json.dumps(OWN), "a conversation of segue"),
    "own, pretty": (lambda path: json.dumps(OWN, indent=2), "a conversation of segue"),
    "own, several": (lambda path: lines(OWN, OWN), "a conversation of segue"),
    "own, bare list": (lambda path: json.dumps(OWN["messages"]), "a list of segue's messages"),
    "own, one message per line": (lambda path: lines(*OWN["messages"]), "a list of segue's messages"),
    "exported session": (exported_session, "an exported session of segue"),
    "bodies, one per line": (
        lambda path: lines(body("anthropic-messages"), body("anthropic-messages")),
        "a request body of anthropic-messages",
    ),
    "messages of a protocol, one per line": (
        lambda path: lines(*body("openai-completions")["messages"]),
        "a list of messages of openai-completions",
    ),
    **{
        f"body of {each}": (lambda path, each=each: json.dumps(body(each)), f"a request body of {each}")
        for each in PROTOCOLS
        if each != "mistral-chat"
    },
    **{
        f"list of {each}": (
            lambda path, each=each: json.dumps(body(each)[protocol_of(each).history], indent=1),
            f"a list of messages of {each}",
        )
        for each in PROTOCOLS
        if each != "mistral-chat"
    },
}
"""How a file of each form is written, and how it is announced. Without ids of Mistral's form, an exported conversation
is also one of chat completions, so Mistral has its own test."""
COMMANDS: dict[str, list[str]] = {
    "show": [],
    "project": ["--to", TARGET],
    "encode": ["--to", TARGET],
    "export": ["--as", "mistral-chat"],
    "import": [],
    "sessions import": [],
}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_reads_every_form_and_announces_it_once(
    command: str, form: str, tmp_path: Path, capsys: Captured
) -> None:
    write, name = FORMS[form]
    path = tmp_path / "talk"
    path.write_text(write(tmp_path))
    assert main([*command.split(), str(path), *COMMANDS[command]]) == 0
    shown = capsys.readouterr()
    if (command, form) == ("sessions import", "exported session"):
        assert "new entries: 13" in shown.err
    else:
        assert shown.err.count(f"segue: {path}: {name}\n") == 1
    assert shown.out


@pytest.mark.parametrize("form", [each for each in FORMS if each != "exported session"])
def test_every_form_gives_the_same_conversation(form: str, tmp_path: Path, capsys: Captured) -> None:
    write, _ = FORMS[form]
    path = tmp_path / "talk"
    path.write_text(write(tmp_path))
    assert main(["import", str(path)]) == 0
    for line in capsys.readouterr().out.splitlines():
        read = segue.Context.from_json(line)
        assert [message.role for message in read.messages] == ["user", "assistant", "toolResult", "user"]
        texts = [block.text for each in read.messages for block in each.content if isinstance(block, segue.TextContent)]
        assert texts == ["What is here?", "I look.", "a cat", "Go on."]


def test_a_body_of_mistral_is_recognised_by_its_ids(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "talk"
    path.write_bytes(segue.encode(CONTEXT, segue.get_model(TARGET)).json())
    assert main(["show", str(path)]) == 0
    assert capsys.readouterr().err == f"segue: {path}: a request body of mistral-chat\n"


def test_each_line_has_its_own_form_and_bad_lines_are_reported(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "mixed.jsonl"
    path.write_text(lines(OWN, body("google-generative-ai")) + "{oops\n" + lines({"a": 1}))
    assert main(["import", str(path)]) == 2
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 2
    announced, also, bad, unknown = shown.err.splitlines()
    assert announced == f"segue: {path}: a conversation of segue"
    assert also == f"segue: {path}: a request body of google-generative-ai"
    assert bad.startswith(f"segue: {path}:3: not JSON")
    assert unknown.startswith(f"segue: {path}:4: this is not a conversation in a known form")


def test_every_row_of_the_table_is_reached() -> None:
    """The last row takes what no other row does."""
    heads = [
        [b'{"entry":"session","version":1}\n'],
        [b"SQLite format 3\0\x10\0\n"],
        [b'{"messages":[\n', b'{"role":"user","content":"hi"}\n', b"]}\n"],
        [b'{"role":"user","content":"hi"}\n'],
        [b'{"messages":[]}\n', b'{"messages":[]}\n'],
        [b"anything\n"],
    ]
    assert [next(at for at, each in enumerate(FORMATS) if each.matches(head)) for head in heads] == list(
        range(len(FORMATS))
    )


def test_a_conversation_imported_twice_is_stored_once(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(body("openai-completions")))
    assert main(["sessions", "import", str(path)]) == 0
    first = capsys.readouterr()
    assert "new entries: 5" in first.err and "1 tool not stored" in first.err
    assert main(["sessions", "import", str(path)]) == 0
    second = capsys.readouterr()
    assert second.out == first.out and "new entries: 0" in second.err
    assert main(["sessions", "show", first.out.strip()[:12], "--json"]) == 0
    stored = segue.Context.from_json(capsys.readouterr().out)
    assert stored.system_prompt == "Be brief." and len(stored.messages) == 4


# -- wrong files -------------------------------------------------------------------------------------------------------


def errors_of(capsys: Captured, *arguments: str) -> str:
    assert main(list(arguments)) == 2
    return capsys.readouterr().err


def test_a_database_gets_the_command_that_lists_its_sessions(tmp_path: Path, capsys: Captured) -> None:
    exported_session(tmp_path)
    path = str(tmp_path / "made.db")
    assert f"segue sessions list --store {path}" in errors_of(capsys, "show", path)
    assert main(["sessions", "list", "--store", path]) == 0


def test_the_name_of_a_session_gets_the_command_that_shows_it(tmp_path: Path, capsys: Captured) -> None:
    with open_store(None) as store:
        store.create("20261118-one", time=1)
    hint = "20261118 is a stored session, not a file; segue sessions show 20261118 shows it"
    assert hint in errors_of(capsys, "show", "20261118")
    assert main(["sessions", "show", "20261118"]) == 0


def test_the_name_of_a_file_gets_the_command_that_shows_it(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "talk.json"
    path.write_bytes(CONTEXT.to_json())
    where = ("--store", str(tmp_path / "s.db"))
    with open_store(where[1]):
        pass
    assert f"segue show {path} shows the file" in errors_of(capsys, "sessions", "show", str(path), *where)


def test_an_answer_of_a_provider_is_named_as_such(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "answer.json"
    path.write_text(json.dumps({"id": "x", "choices": [{"message": {"role": "assistant", "content": "hi"}}]}))
    assert "this is an answer of a provider" in errors_of(capsys, "show", str(path))


def test_a_body_for_another_protocol_gets_the_command_that_converts_it(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "body.json"
    path.write_text(json.dumps(body("anthropic-messages")))
    shown = errors_of(capsys, "lint", str(path), "--model", TARGET)
    assert f"but Mistral speaks mistral-chat; segue encode --to {TARGET} makes a body for it" in shown
    assert main(["encode", str(path), "--to", TARGET]) == 0


def test_reading_one_document_never_raises(tmp_path: Path) -> None:
    for data in (
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b"null",
        b"[[]]",
        b'{"messages":{}}',
        b'{"messages":[[]]}',
        b'{"version":1}',
    ):
        item = read_one(data, Source("f"))
        assert isinstance(item, Found) or str(item).startswith("f: ")
