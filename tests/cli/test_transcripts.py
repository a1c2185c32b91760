"""Sessions of other tools at the shell: listing, reading, importing and transferring them."""

import json
from pathlib import Path

import pytest
from support.kitchen import MODEL, Terminal, environment, kitchen, log_of
from support.transcripts import CASES, lay_out, shown

import segue
from segue import Context, transcripts
from segue.agent.state import rebuilt
from segue.cli import main
from segue.session import SEPARATOR, MessageAdded, open_store
from segue.transcripts import Source, recognised

Captured = pytest.CaptureFixture[str]
TARGET = "mistral/mistral-large-latest"
CASE = {f"{path.parent.name}-{path.stem}": path for path in CASES}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a session of Claude Code and one of pi."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "PI_CODING_AGENT_DIR", "GEMINI_CLI_HOME",
                 "KIMI_CODE_HOME"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    laid("claude-code-rewound", tmp_path / ".claude" / "projects" / "-home-ada-tern")
    laid("pi-tree", tmp_path / ".pi" / "agent" / "sessions" / "--home-ada-tern--")
    return tmp_path


def laid(case: str, folder: Path) -> Path:
    return lay_out(json.loads(CASE[case].read_text("utf-8")), folder)


def test_sessions_of_all_tools_are_listed(home: Path, capsys: Captured) -> None:
    assert main(["transcripts", "--json", "--count"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {(row["tool"], row["title"], row["model"], row["messages"]) for row in rows} == {
        ("claude-code", "One", "claude-opus-4-6", 4),
        ("pi", "Terns", "claude-opus-4-5", 5),
    }
    assert main(["transcripts", "pi"]) == 0
    assert "Terns" in capsys.readouterr().out


def test_sessions_of_kimi_code_are_listed(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    laid("kimi-session", home / "elsewhere")
    monkeypatch.setenv("KIMI_CODE_HOME", str(home / "elsewhere"))
    assert main(["transcripts", "kimi", "--json"]) == 0
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (row["id"], row["title"], row["cwd"]) == ("session_1", "Terns", "/home/ada/tern")


def test_a_listing_reads_only_the_ends_of_a_file(tmp_path: Path) -> None:
    path = laid("claude-code-rewound", tmp_path)
    rows = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*rows[:2], *[b"x" * 1000] * 2000, *rows[2:]]) + b"\n")
    (info,) = transcripts.list(path)
    assert (info.title, info.model, info.cwd) == ("One", "claude-opus-4-6", "/home/ada/tern")


@pytest.mark.parametrize(
    "command", [["show"], ["project", "--to", TARGET], ["encode", "--to", TARGET], ["lint", "--model", TARGET],
                ["export", "--as", "openai-completions"], ["import"]]
)  # fmt: skip
def test_commands_accept_sessions_of_other_tools(command: list[str], tmp_path: Path, capsys: Captured) -> None:
    assert main([command[0], str(laid("codex-parallel-calls", tmp_path)), *command[1:]]) in (0, 1)
    captured = capsys.readouterr()
    assert "a session of Codex CLI (0.146.0" in captured.err
    assert "gAAAAAsealed" not in captured.err


@pytest.mark.parametrize("name", CASE)
def test_commands_read_what_the_library_reads(name: str, tmp_path: Path, capsys: Captured) -> None:
    """Files that are lists of messages or have request bodies as lines are read as such."""
    path = laid(name, tmp_path)
    form = recognised(Source(path))
    assert form is not None
    status = main(["import", str(path)])
    captured = capsys.readouterr()
    if form.is_plain(Source(path)):
        assert f"{path}: a session of" not in captured.err
    else:
        assert status == 0
        assert f"{path}: a session of {form.title}" in captured.err
        found = Context.from_json(captured.out.encode("utf-8", "replace"))
        assert list(map(shown, found.messages)) == list(map(shown, transcripts.read(path).context.messages))


def test_a_side_file_is_not_read_as_a_conversation(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "msg_1.json"
    path.write_text('{"id": "msg_1", "sessionID": "ses_1", "role": "assistant", "time": {"created": 1}}')
    assert main(["show", str(path)]) == 2
    assert f"segue: {path}: this is a message of opencode without its parts" in capsys.readouterr().err


def test_other_conversations_of_a_file_are_counted(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "chats.json"
    turns = [{"from": "human", "value": "Terns?"}, {"from": "gpt", "value": "Three."}]
    path.write_text(json.dumps([{"conversations": turns}, {"conversations": turns}]))
    assert main(["show", str(path)]) == 0
    assert f"{path}: 1 of 2 conversations, with the id 1" in capsys.readouterr().err


def test_a_transfer_writes_what_the_other_tool_resumes(home: Path, capsys: Captured) -> None:
    assert main(["transfer", "claude-code", "codex", "--cwd", "/home/ada/tern", "--dry-run"]) == 0
    assert "would write" in capsys.readouterr().err
    assert not (home / ".codex").exists()
    assert main(["transfer", "claude-code", "codex", "--cwd", "/home/ada/tern"]) == 0
    resume = capsys.readouterr().out
    (path,) = (home / ".codex").rglob("*.jsonl")
    found = transcripts.read(path)
    assert found.id is not None and found.id in resume and "codex resume" in resume
    assert len(found.context.messages) == 4
    (branch,) = transcripts.read(next((home / ".claude").rglob("*.jsonl"))).branches
    into = str(home / "into")
    assert (
        main(["transfer", "claude-code", "pi", "--cwd", "/home/ada/tern", "--branch", branch.id, "--into", into]) == 0
    )
    (path,) = Path(into).rglob("*.jsonl")
    assert len(transcripts.read(path).context.messages) == 6


@pytest.mark.parametrize("arguments", [["nothing", "codex"], ["claude-code", "nothing"], ["claude-code", "aider"]])
def test_a_transfer_that_cannot_be_made_says_why(home: Path, arguments: list[str], capsys: Captured) -> None:
    assert main(["transfer", *arguments, "--cwd", "/home/ada/tern"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_small_window_is_reported(home: Path, capsys: Captured) -> None:
    path = home / "long.jsonl"
    rows = [json.loads(line) for line in laid("pi-tree", home / "x").read_text("utf-8").splitlines()]
    rows[2]["message"]["content"] = "tern " * 300_000
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert main(["transfer", str(path), "claude-code", "--dry-run", "--model", "openai/gpt-4o"]) == 0
    assert "do not fit the window of openai/gpt-4o" in capsys.readouterr().err


def test_a_conversation_that_does_not_fit_is_compacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """The summary replaces the older turns, and the newest ones are written as they were."""
    path = tmp_path / "long.jsonl"
    messages = [
        message
        for at in range(40)
        for message in (segue.UserMessage(f"Question {at}. " + "tern " * 4000), segue.AssistantMessage(f"Answer {at}."))
    ]
    source = transcripts.write(segue.Context(messages), "pi", directory=tmp_path / "pi", cwd=str(tmp_path))
    path.write_bytes(source.path.read_bytes())
    with kitchen(*["## Goal\nCount terns."] * 9) as cook:
        for name, value in environment(tmp_path, cook.url).items():
            monkeypatch.setenv(name, value)
        small = ["--model", "openai/gpt-4o", "--compact", MODEL]
        assert main(["transfer", str(path), "codex", "--into", str(tmp_path / "out"), *small]) == 0
        assert len(cook.requests) >= 1
    assert "do not fit the window of openai/gpt-4o" in capsys.readouterr().err
    (written,) = (tmp_path / "out").rglob("*.jsonl")
    found = [shown(each) for each in transcripts.read(written).context.messages]
    assert "Count terns." in found[0] and found[-1] == "answer stop: Answer 39."
    assert len(found) < len(messages)
    assert segue.preview(transcripts.read(written).context, segue.get_model("openai/gpt-4o")).fits
    assert path.read_bytes() == source.path.read_bytes()


def test_a_compressed_session_is_read_listed_and_transferred(home: Path, capsys: Captured) -> None:
    import zstandard

    plain = laid("codex-parallel-calls", home / "plain")
    folder = home / ".codex" / "sessions" / "2026" / "03" / "01"
    folder.mkdir(parents=True)
    packed = folder / "rollout-2026-03-01T10-00-00-0195a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b.jsonl.zst"
    packed.write_bytes(zstandard.compress(plain.read_bytes()))
    assert transcripts.read(packed).log == transcripts.read(plain).log
    assert main(["transcripts", "codex", "--json"]) == 0
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert row["path"] == str(packed) and row["id"] == transcripts.read(plain).id
    assert main(["transfer", row["id"], "pi", "--into", str(home / "into"), "--dry-run"]) == 0
    packed.write_bytes(packed.read_bytes()[:4] + b"x" * 50)
    assert main(["show", str(packed)]) == 2
    assert "cannot be decompressed" in capsys.readouterr().err


def imported(path: Path, store: Path, capsys: Captured) -> list[str]:
    assert main(["sessions", "import", str(path), "--store", str(store)]) == 0
    return capsys.readouterr().out.split()


def test_an_import_is_a_family_and_a_second_one_adds_only_what_is_new(tmp_path: Path, capsys: Captured) -> None:
    path, store = laid("claude-code-rewound", tmp_path), tmp_path / "s.db"
    main_session, branch = imported(path, store, capsys)
    with open_store(str(store)) as opened:
        assert (opened.info(branch).parent, opened.info(branch).parent_entry) == (main_session, 2)
        assert [opened.head(name) for name in (main_session, branch)] == [4, 6]
    rows = path.read_text("utf-8").splitlines()
    row = json.loads(rows[0]) | {"uuid": "u99", "parentUuid": "a8"}
    path.write_text("\n".join([*rows, json.dumps(row)]) + "\n", "utf-8")
    assert imported(path, store, capsys) == [main_session, branch]
    assert imported(path, store, capsys) == [main_session, branch]
    with open_store(str(store)) as opened:
        assert [opened.head(name) for name in (main_session, branch)] == [5, 6]


def test_rows_after_a_session_was_continued_here_become_a_fork(tmp_path: Path, capsys: Captured) -> None:
    path, store = laid("claude-code-rewound", tmp_path), tmp_path / "s.db"
    session, _ = imported(path, store, capsys)
    with open_store(str(store)) as opened:
        here = MessageAdded(key="here", time=1, message=segue.UserMessage("Continued here"))
        opened.append(session, [here], after=4)
    rows = path.read_text("utf-8").splitlines()
    row = json.loads(rows[0]) | {"uuid": "u99", "parentUuid": "a8"}
    path.write_text("\n".join([*rows, json.dumps(row)]) + "\n", "utf-8")
    fork, _ = imported(path, store, capsys)
    assert fork != session
    with open_store(str(store)) as opened:
        assert opened.head(session) == 5 and opened.head(fork) == 5
        assert opened.info(fork).parent == session


def test_a_compaction_is_an_entry_and_the_whole_log_is_stored(tmp_path: Path, capsys: Captured) -> None:
    path, store = laid("claude-code-preserved-segment", tmp_path), tmp_path / "s.db"
    (session,) = imported(path, store, capsys)
    expected = transcripts.read(path)
    with open_store(str(store)) as opened:
        live = segue.Session.open(session, store=opened)
        assert [m.content for m in live.messages] == [m.content for m in expected.context.messages]
        assert opened.head(session) == len(expected.messages) + 1


def test_a_family_has_the_conversation_its_forks_and_its_sub_agents(tmp_path: Path, capsys: Captured) -> None:
    store = tmp_path / "s.db"
    session, agent = imported(laid("claude-code-subagent-v2.1", tmp_path), store, capsys)
    with open_store(str(store)) as opened:
        assert agent.startswith(session + SEPARATOR)
        assert (opened.info(agent).parent, opened.info(agent).parent_entry) == (session, None)
        assert [opened.head(session), opened.head(agent)] == [4, 4]


def test_chat_continues_the_conversation_that_was_imported_not_a_branch(tmp_path: Path, capsys: Captured) -> None:
    path = laid("claude-code-rewound", tmp_path)
    session, _ = imported(path, tmp_path / "sessions.db", capsys)
    expected = [shown(message) for message in transcripts.read(path).context.messages]
    with kitchen("Two terns.") as cook:
        env = environment(tmp_path, cook.url)
        with Terminal(env, "--continue", "--no-tools", "--model", MODEL, cwd=tmp_path) as terminal:
            terminal.says("How many?")
            terminal.hears("Two terns.")
            terminal.presses("d")
            terminal.leaves()
        assert len(cook.requests[-1]["messages"]) == len(expected) + 1
    stored = rebuilt(log_of(tmp_path / "sessions.db", session)).messages
    assert [shown(message) for message in stored][:-1] == [*expected, "user: How many?"]
