"""`segue sessions`: list, show, fork, export, import and delete, on the command line."""

import io
import json
import subprocess
import sys
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from support.entries import message_entry
from support.postgres import Postgres

from segue.cli import main
from segue.session import (
    AttemptFailed,
    CallStarted,
    Compacted,
    ExposedStoreWarning,
    MessageAdded,
    ModelChosen,
    SQLiteStore,
    SystemPromptSet,
    TurnBegun,
    TurnEnded,
    open_store,
)
from segue.types import AssistantMessage, Context, TextContent, ToolCall, ToolResultMessage, UserMessage

Captured = pytest.CaptureFixture[str]


def answer(text: str, model: str, **fields: Any) -> AssistantMessage:
    blocks = [TextContent(text), *([ToolCall("c1", "look", {"at": "oven"})] if "look" in text else [])]
    named: dict[str, Any] = {"stop_reason": "stop", **fields}
    return AssistantMessage(content=blocks, protocol="p", provider="bakery", model=model, **named)


def entries() -> list[Any]:
    """A turn with a call, a switch, a failed attempt, a compaction, and a cancelled turn."""
    found = ToolResultMessage("c1", "look", [TextContent("it is warm")])
    made: list[Any] = [
        (SystemPromptSet, {"system_prompt": "Be brief."}),
        (TurnBegun, {"model": "bakery/rye", "protocol": "p"}),
        (MessageAdded, {"message": UserMessage("Is the oven on?")}),
        (MessageAdded, {"message": answer("I look.", "rye", stop_reason="toolUse")}),
        (CallStarted, {"call": "c1"}),
        (MessageAdded, {"message": found}),
        (MessageAdded, {"message": answer("It is.", "rye")}),
        (TurnEnded, {"how": "done"}),
        (ModelChosen, {"model": "bakery/spelt", "protocol": "q"}),
        (TurnBegun, {"model": "bakery/spelt", "protocol": "q"}),
        (MessageAdded, {"message": UserMessage("And now?")}),
        (
            AttemptFailed,
            {
                "model": "bakery/spelt",
                "protocol": "q",
                "kind": "rate-limit",
                "text": "slow down",
                "then": "retry",
                "status": 429,
            },
        ),
        (MessageAdded, {"message": answer("Still on.", "spelt")}),
        (TurnEnded, {"how": "done"}),
        (Compacted, {"summary": UserMessage("They asked about an oven."), "first": "k11", "model": "bakery/spelt"}),
        (MessageAdded, {"message": UserMessage("Off with it!")}),
        (TurnEnded, {"how": "cancelled", "reason": "by the user"}),
    ]
    numbered = enumerate(made, 1)
    return [kind(key=f"k{number}", time=1_700_000_000_000 + number, **fields) for number, (kind, fields) in numbered]


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def path(tmp_path: Path) -> str:
    where = str(tmp_path / "sessions.db")
    with open_store(where) as store:
        store.create("oven", time=1_600_000_000_000, title="About the oven")
        store.append("oven", entries(), after=0)
        store.create("empty", time=1_500_000_000_000)
    return where


def sessions(path: str, *arguments: str) -> int:
    return main(["sessions", "--store", path, *arguments])


def test_list(path: str, capsys: Captured) -> None:
    assert sessions(path, "fork", "oven", "--at", "3", "--as", "shorter") == 0
    capsys.readouterr()
    assert sessions(path, "list") == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header == "id       changed           entries  title"
    assert [line.split()[0] for line in lines] == ["shorter", "oven", "empty"]
    assert lines[0].endswith("3  About the oven (from oven, entry 3)")
    assert lines[1] == f"oven     {local_time(1_700_000_000)}       17  About the oven"
    assert lines[2] == f"empty    {local_time(1_500_000_000)}        0"
    assert main(["sessions", "--store", path]) == 0
    assert capsys.readouterr().out.splitlines() == [header, *lines], "segue sessions alone lists them"


def local_time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def test_a_session_without_a_title_is_listed_with_its_first_message(path: str, capsys: Captured) -> None:
    with open_store(path) as store:
        store.create("untitled", time=1)
        store.append("untitled", entries(), after=0)
    assert sessions(path) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("untitled")]
    assert line.endswith("Is the oven on?")


@pytest.mark.parametrize("exists", [True, False])
def test_a_message_says_that_there_are_no_sessions(
    exists: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("SEGUE_SESSIONS", raising=False)
    if exists:
        with open_store(None):
            pass
    assert main(["sessions"]) == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("there are no sessions yet")) == ("", 1)
    assert main(["sessions", "list", "--json"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("action", ["show", "export", "fork", "delete"])
def test_the_beginning_of_an_id_is_enough(action: str, path: str, capsys: Captured) -> None:
    with open_store(path) as store:
        store.create("oven~look", time=1)  # of a sub-agent
        store.create("other", time=1)
    assert sessions(path, action, "o") == 2
    assert capsys.readouterr().err.startswith("segue: several sessions begin with o: ")
    assert sessions(path, action, "") == 2
    assert sessions(path, action, "ove") == 0


def test_list_as_json(path: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert sessions(path, "list", "--json") == 0
    first, _ = map(json.loads, capsysbinary.readouterr().out.splitlines())
    assert first == {
        "id": "oven",
        "created": 1_600_000_000_000,
        "changed": 1_700_000_000_017,
        "entries": 17,
        "title": "About the oven",
        "parent": None,
        "parentEntry": None,
    }


def test_hostile_titles_and_times_are_printed_safely(path: str, capsys: Captured) -> None:
    with open_store(path) as store:
        store.create("odd", time=2**62, title="two\nlines \x1b[2J")
    assert sessions(path, "list") == 0
    assert "two lines \N{REPLACEMENT CHARACTER}[2J" in capsys.readouterr().out.splitlines()[1]


def test_show_prints_the_messages_and_the_other_entries(path: str, capsys: Captured) -> None:
    assert sessions(path, "show", "oven") == 0
    shown = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert shown == [
        "session oven  About the oven",
        "1 § system prompt",
        "Be brief.",
        "3 user",
        "Is the oven on?",
        "4 bakery/rye",
        "I look.",
        '→ look(at="oven")',
        "✓ it is warm",
        "7 bakery/rye",
        "It is.",
        "9 ⇄ from the next turn on bakery/spelt  (q)",
        "11 user",
        "And now?",
        "12 ✗ bakery/spelt failed: rate-limit, HTTP 429; tried again  slow down",
        "13 bakery/spelt  ⇄ was bakery/rye",
        "Still on.",
        "15 ≡ compacted by bakery/spelt: everything before entry 11 is now this summary",
        "They asked about an oven.",
        "16 user",
        "Off with it!",
        "17 ■ the turn ended: cancelled  by the user",
        "7 messages · 2 models",
    ]


def test_show_as_json_is_a_conversation(path: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert sessions(path, "show", "oven", "--json") == 0
    context = Context.from_json(capsysbinary.readouterr().out)
    assert context.system_prompt == "Be brief."
    assert context.messages == [entry.message for entry in entries() if isinstance(entry, MessageAdded)]


def test_fork_chooses_a_name_and_prints_it(path: str, capsys: Captured) -> None:
    for expected in ("oven-at-17", "oven-at-17-2", "oven-at-17-3"):
        assert sessions(path, "fork", "oven") == 0
        assert capsys.readouterr().out == f"{expected}\n"
    with open_store(path) as store:
        assert store.info("oven-at-17-2").entries == 17
        assert store.info("oven-at-17-2").created > 1_700_000_000_000


def test_export_and_import(path: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert sessions(path, "export", "oven") == 0
    data = capsysbinary.readouterr().out
    assert data.count(b"\n") == 18
    file, other = str(tmp_path / "oven.jsonl"), str(tmp_path / "other.db")
    assert sessions(path, "export", "oven", "-o", file) == 0
    assert Path(file).read_bytes() == data
    for expected in (b"17", b"0"):
        assert sessions(other, "import", file) == 0
        done = capsysbinary.readouterr()
        assert (done.out, done.err) == (b"oven\n", b"segue: new entries: " + expected + b"\n")
    assert sessions(other, "export", "oven") == 0
    assert capsysbinary.readouterr().out == data
    assert sessions(other, "import", file, "--as", "again") == 0
    assert capsysbinary.readouterr().out == b"again\n"


def test_import_from_standard_input(path: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    line = b'{"entry":"session","version":1,"id":"piped","created":1,"changed":1,"entries":0}\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(line)))
    assert sessions(path, "import", "-") == 0
    assert capsys.readouterr().out == "piped\n"


def test_every_bad_line_of_an_import_is_reported(path: str, tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "bad.jsonl"
    header = '{"entry":"session","version":1,"id":"bad","created":1,"changed":1,"entries":2}\n'
    file.write_text(header + "{oops\n" + '{"entry":"whatever"}\n')
    assert sessions(path, "import", str(file)) == 2
    done = capsys.readouterr()
    assert done.out == ""
    assert done.err.splitlines() == [
        f"segue: {file}:2: not JSON: object keys must be strings (byte 1)",
        f"segue: {file}:3: entry: Invalid value 'whatever'",
    ]
    with open_store(path) as store:
        assert len(store.sessions()) == 2


def test_delete(path: str, capsys: Captured) -> None:
    assert sessions(path, "delete", "none", "oven") == 2
    assert capsys.readouterr().err == "segue: there is no session none; segue sessions lists them\n"
    with open_store(path) as store:
        assert [info.id for info in store.sessions()] == ["empty"]
    assert sessions(path, "delete", "empty") == 0


@pytest.mark.parametrize("action", [["show", "none"], ["fork", "none"], ["export", "none"]])
def test_an_unknown_session_is_status_2(path: str, action: list[str], capsys: Captured) -> None:
    assert sessions(path, *action) == 2
    assert capsys.readouterr().err == "segue: there is no session none; segue sessions lists them\n"


def test_a_missing_store_is_not_created(tmp_path: Path, capsys: Captured) -> None:
    for action in (["list"], ["show", "x"], ["fork", "x"], ["export", "x"], ["delete", "x"]):
        assert sessions(str(tmp_path / "typo.db"), *action) == 2
        assert "typo.db: there is no store of sessions" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_list_is_empty_if_nothing_was_ever_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.delenv("SEGUE_SESSIONS", raising=False)
    monkeypatch.setattr("segue.cli.sessions.default_path", lambda: tmp_path / "sessions.db")
    assert main(["sessions", "list"]) == 0
    assert capsys.readouterr().out == ""
    monkeypatch.setenv("SEGUE_SESSIONS", str(tmp_path / "typo.db"))
    assert main(["sessions", "list"]) == 2
    assert list(tmp_path.iterdir()) == []


def test_the_store_may_come_before_or_after_the_action(
    path: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    assert main(["sessions", "list", "--store", path]) == 0
    after = capsys.readouterr().out
    monkeypatch.setenv("SEGUE_SESSIONS", path)
    assert main(["sessions", "list"]) == 0
    assert capsys.readouterr().out == after != ""


def test_sessions_in_postgresql(postgres: Postgres) -> None:
    where = postgres.fresh()
    with open_store(where) as store:
        store.create("s", time=0, title="on a server")
        store.append("s", [message_entry("a", "hello there")], after=0)
    for action, text in ((["list"], "on a server"), (["show", "s"], "hello there")):
        done = subprocess.run(
            [sys.executable, "-m", "segue", "sessions", "--store", where, *action], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert text in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
class TestPermissions:
    """Only their owner may read conversations, also in exports. A store that others may read gives a warning."""

    def test_only_the_owner_may_read_an_export_even_over_an_older_file(self, path: str, tmp_path: Path) -> None:
        new, old, link = tmp_path / "new.jsonl", tmp_path / "old.jsonl", tmp_path / "link.jsonl"
        old.write_text("old")
        old.chmod(0o666)
        link.symlink_to(old)
        for to in (new, link):
            assert sessions(path, "export", "oven", "-o", str(to)) == 0
        assert link.is_symlink() and old.read_bytes() == new.read_bytes()
        assert {each.stat().st_mode & 0o777 for each in (new, old)} == {0o600}

    def test_a_failed_export_leaves_the_old_file(self, path: str, tmp_path: Path, capsys: Captured) -> None:
        """The second half of the session cannot be read: the old file stays, and no other file is left."""
        with SQLiteStore(path) as store, store._writing() as tables:
            tables.run("UPDATE segue_entries SET body = ? WHERE number = 9", b"{")
        folder = tmp_path / "exports"
        folder.mkdir()
        (folder / "oven.jsonl").write_text("old")
        for name in ("oven.jsonl", "new.jsonl"):
            assert sessions(path, "export", "oven", "-o", str(folder / name)) == 2
            assert "entry 9 of session oven cannot be read" in capsys.readouterr().err
        assert [file.name for file in folder.iterdir()] == ["oven.jsonl"]
        assert (folder / "oven.jsonl").read_text() == "old"

    def test_an_export_to_a_missing_directory_names_the_path(self, path: str, tmp_path: Path, capsys: Captured) -> None:
        to = tmp_path / "nowhere" / "oven.jsonl"
        assert sessions(path, "export", "oven", "-o", str(to)) == 2
        assert capsys.readouterr().err == f"segue: {to}: No such file or directory\n"

    @pytest.mark.parametrize(
        ("mode", "may"), [(0o666, "read and change"), (0o644, "read"), (0o640, "read"), (0o602, "read and change")]
    )
    def test_a_store_that_others_may_use_gives_a_warning(
        self, path: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch, mode: int, may: str
    ) -> None:
        monkeypatch.setattr("warnings.showwarning", lambda *_: None)  # `main` sets its own and does not restore it
        Path(path).chmod(mode)
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            assert sessions(path, "list") == 0
        [warning] = capsys.readouterr().err.splitlines()
        assert warning.startswith(f"segue: note: {path}: other users of this machine may {may} these sessions")
        assert warning.endswith(f"chmod 600 {path}")
        with pytest.warns(ExposedStoreWarning, match=f"mode {mode:04o}"), open_store(path):
            pass


def test_the_json_of_a_session_has_results_in_the_order_of_their_calls(tmp_path: Path, capsys: Captured) -> None:
    """The log has them in the order of completion."""
    calls = [ToolCall(f"c{at}", "look", {}) for at in range(3)]
    asks = AssistantMessage(content=calls, protocol="p", provider="bakery", model="rye", stop_reason="toolUse")
    ready = [ToolResultMessage(f"c{at}", "look", [TextContent(str(at))]) for at in (2, 0, 1)]
    log: list[Any] = [
        TurnBegun(key="t", time=1, model="bakery/rye", protocol="p"),
        *[
            MessageAdded(key=f"k{at}", time=1, message=each)
            for at, each in enumerate([UserMessage("Look."), asks, *ready])
        ],
    ]
    with open_store(tmp_path / "s.db") as store:
        store.create("monday", time=1)
        store.append("monday", log, after=0)
    assert main(["sessions", "--store", str(tmp_path / "s.db"), "show", "monday", "--json"]) == 0
    context = Context.from_json(capsys.readouterr().out)
    assert [each.tool_call_id for each in context.messages if isinstance(each, ToolResultMessage)] == ["c0", "c1", "c2"]
