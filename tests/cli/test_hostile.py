"""Every command with hostile text in every field, in a terminal: only segue's own control sequences are printed."""

import json
import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support import mcp_bad_server
from support.commands import BASE, TALK, TARGET, entries, make_files, with_value
from support.kitchen import MODEL, Terminal, calls, environment, kitchen
from support.loopback import serve
from support.terminals import EVIL, WORD, leaks, on_terminal, poisoned

import segue
from segue.cli import COMMANDS
from segue.cli.sessions import ACTIONS
from segue.session import (
    SessionInfo,
    export_session,
    open_store,
)
from segue.testing import Reply
from segue.types import TextContent, ThinkingContent
from segue.wire.registry import PROTOCOLS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")

EXAMPLE = Path(__file__).parents[2] / "examples" / "three-models.json"
TARGETS = {
    "anthropic-messages": "anthropic/claude-sonnet-4-5",
    "openai-completions": "groq/openai/gpt-oss-120b",
    "openai-responses": "openai/gpt-5.4",
    "google-generative-ai": "google/gemini-2.5-pro",
    "bedrock-converse": "amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    "mistral-chat": TARGET,
}


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SEGUE_DEBUG")
    monkeypatch.delenv("NO_COLOR", raising=False)


def safe(*arguments: str) -> str:
    """Run a command and return its output, which must be safe and must not be an internal error."""
    status, shown = on_terminal(*arguments)
    assert status in (0, 1, 2), shown
    assert not leaks(shown), (arguments, leaks(shown))
    assert "internal error (" not in shown and "Traceback" not in shown, (arguments, shown)
    return shown


def written(path: Path, document: Any) -> str:
    path.write_text(json.dumps(document))
    return str(path)


def text(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False)


# -- conversations, bodies, sessions, catalogs -------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("--json",)], ids=["drawn", "json"])
@pytest.mark.parametrize("command", ["show", "project", "encode"])
def test_every_field_of_a_conversation(command: str, words: tuple[str, ...], tmp_path: Path) -> None:
    target = () if command == "show" else ("--to", TARGET)
    full = () if command == "encode" else ("--full",)
    seen = 0
    for _, document in poisoned(TALK):
        shown = safe(command, written(tmp_path / "talk.json", document), *target, *full, *words)
        seen += WORD in shown
    assert seen > 20, "most of them are printed"


def test_every_field_of_a_conversation_that_is_linted_as_it_is_stored(tmp_path: Path) -> None:
    for _, document in poisoned(TALK):
        safe("lint", written(tmp_path / "talk.json", document), "--model", TARGET, "--warnings")


def test_every_field_of_a_list_of_models_of_a_server(tmp_path: Path) -> None:
    listing = {"object": "list", "data": [{"id": EVIL, "object": EVIL}, {"id": f"second{EVIL}"}]}
    with serve(json.dumps(listing).encode(), "application/json") as url:
        environment(tmp_path, url)
        safe("doctor")
        safe("doctor", "--json")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_field_of_an_exported_conversation(protocol: str, tmp_path: Path) -> None:
    for _, document in poisoned(TALK):
        safe("export", written(tmp_path / "talk.json", document), "--as", protocol)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_field_of_a_body(protocol: str, tmp_path: Path) -> None:
    context = segue.Context.from_json(EXAMPLE.read_bytes())
    body = json.loads(segue.encode(context, segue.get_model(TARGETS[protocol])).json())
    seen = 0
    for _, document in poisoned(_short(body)):
        path = written(tmp_path / "body.json", document)
        seen += WORD in safe("lint", path, "--as", protocol, "--model", TARGETS[protocol])
        safe("lint", path, "--as", protocol, "--json")
        safe("lint", path, "--warnings")
        safe("import", path, "--from", protocol)
        safe("import", path)
    assert seen > 5, "findings quote what they found"


def _short(body: dict[str, Any]) -> dict[str, Any]:
    """The body with only the first items of each list: one of each kind is enough."""
    return {key: value[:6] if isinstance(value, list) else value for key, value in body.items()}


def exported(tmp_path: Path) -> list[Any]:
    where = str(tmp_path / "first.db")
    with open_store(where) as store:
        store.create("one", time=1, title="a talk")
        store.append("one", entries(), after=0)
        store.fork("one", len(entries()), "two", time=2)
        return [json.loads(line) for line in export_session(store, "two")]


def test_every_field_of_a_session(tmp_path: Path) -> None:
    """Each one is imported. If it is refused, its errors are printed; otherwise it is listed, shown and exported."""
    lines = exported(tmp_path)
    where = str(tmp_path / "second.db")
    seen = refused = 0
    for at, (_, document) in enumerate(poisoned(lines)):
        if not isinstance(document, list):
            continue
        path = tmp_path / "session.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in document))
        name = f"s{at}"
        shown = safe("sessions", "--store", where, "import", str(path), "--as", name)
        stored = any(info.id == name for info in infos_of(where))
        refused += not stored
        if stored:
            seen += WORD in safe("sessions", "--store", where, "show", name, "--thinking", "--full")
            safe("sessions", "--store", where, "check", name, "--to", TARGET)
        else:
            seen += WORD in shown
    assert seen > 20 and refused > 5
    safe("sessions", "--store", where, "list")
    safe("sessions", "--store", where, "list", "--json")
    for name in [info.id for info in infos_of(where)]:
        safe("sessions", "--store", where, "export", name)
        safe("sessions", "--store", where, "show", name, "--json")


def infos_of(where: str) -> list[SessionInfo]:
    with open_store(where) as store:
        return store.sessions()


def test_a_session_is_listed_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = str(tmp_path / "names.db")
    lines = exported(tmp_path)
    lines[0] |= {"title": EVIL, "parent": EVIL}
    path = tmp_path / "session.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    monkeypatch.setenv("SEGUE_SESSIONS", where)
    safe("sessions", "--store", where, "import", str(path))
    shown = safe("sessions", "--store", where, "list")
    assert shown.count("\n") == 2 and WORD in shown, "the header and one line"
    assert WORD in safe("completion", "words", "sessions", "show", ""), "the title describes the session"


CATALOG = {
    "providers": {"mine": {"name": "Mine", "base_url": "http://127.0.0.1:9", "protocols": ["openai-completions"]}},
    "models": {"mine/one": {"name": "One", "context_window": 1000, "family": "gpt"}},
}


def toml(document: Any) -> str:
    """Write a catalog as TOML. Strings are written as JSON, which TOML can read."""
    lines = []
    for table, rows in document.items() if isinstance(document, dict) else []:
        for name, cells in rows.items() if isinstance(rows, dict) else []:
            lines.append(f"[{_toml(table)}.{_toml(name)}]")
            lines += (
                [f"{_toml(key)} = {_toml(value)}" for key, value in cells.items()] if isinstance(cells, dict) else []
            )
    return "\n".join(lines)


def _toml(value: Any) -> str:
    return (
        json.dumps(value)
        .replace("\\udb40\\udc41", "\\U000e0041")
        .replace("\\udb40\\udd00", "\\U000e0100")
        .replace("\x7f", "\\u007f")
    )


def test_every_field_of_a_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, talk = tmp_path / "own.toml", written(tmp_path / "talk.json", TALK)
    seen = 0
    for _, document in poisoned(CATALOG):
        path.write_text(toml(document))
        shown = safe("models", "--catalog", str(path)) + safe("models", "--catalog", str(path), "--json")
        seen += WORD in shown
        safe("project", talk, "--to", "mine/one", "--catalog", str(path))
        monkeypatch.setenv("SEGUE_CATALOG", str(path))
        safe("models", "mine")
        safe("doctor")
        safe("completion", "words", "models", "--provider", "")
        safe("completion", "words", "encode", "--to", "")
    assert seen > 5


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return make_files(tmp_path)


# -- arguments and file names ------------------------------------------------------------------------------------------


def test_the_table_has_every_command() -> None:
    parts = {"sessions": ACTIONS, "bulk": ("lint", "convert", "stats")}
    named = {f"{name} {part}".strip() for name in COMMANDS for part in parts.get(name, ("",))}
    assert named == set(BASE)


@pytest.mark.parametrize("command", BASE)
def test_every_argument_of_every_command(command: str, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        def wait(self) -> None:
            raise KeyboardInterrupt

    monkeypatch.chdir(files)
    # The command serves until Ctrl-C.
    monkeypatch.setattr("segue.cli.standin.threading", SimpleNamespace(Event=Interrupted))
    for arguments in with_value(command, BASE[command](files), EVIL):
        status, shown = on_terminal(*arguments)
        assert status in (0, 1, 2, 130), shown
        assert not leaks(shown), (arguments, leaks(shown))
        assert "internal error (" not in shown and "Traceback" not in shown, (arguments, shown)


@pytest.mark.parametrize("command", ["show", "project", "encode", "lint", "import", "export", "sessions import"])
@pytest.mark.parametrize(
    "content", [None, b"{", b'{"messages": 3}', EVIL.encode()], ids=["missing", "cut", "bad", "not JSON"]
)
def test_hostile_file_names_are_printed_in_one_line(command: str, content: bytes | None, files: Path) -> None:
    path = files / f"{EVIL.replace('/', '')}.json"
    if content is not None:
        path.write_bytes(content)
    depth = len(command.split())
    base = BASE[command](files)
    shown = safe(*base[:depth], str(path), *base[depth + 1 :])
    assert [WORD in line for line in shown.splitlines()].count(True) == 1, "one line names the file"


# -- models, providers and MCP servers ---------------------------------------------------------------------------------

ANSWER = Reply(
    [ThinkingContent(EVIL), TextContent(EVIL), *calls((f"look{EVIL}", {EVIL: EVIL, "list": [EVIL]})).content]
)


def test_answers_calls_and_results_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "evil.txt").write_text(EVIL)
    with kitchen(ANSWER, calls(("read_file", {"path": "evil.txt"})), Reply([TextContent(EVIL)])) as server:
        environment(tmp_path, server.url)
        common = ("--model", MODEL, "--root", str(tmp_path), "--allow-all", "--store", str(tmp_path / "run.db"))
        shown = safe("run", EVIL, *common)
        assert WORD in shown
        server.say(ANSWER, calls(("read_file", {"path": "evil.txt"})), Reply([TextContent(EVIL)]))
        assert WORD in safe("run", EVIL, *common, "--json")
    assert WORD in safe("sessions", "list", "--store", str(tmp_path / "run.db"))


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
@pytest.mark.parametrize("words", [(), ("--json",)], ids=["drawn", "json"])
def test_the_error_of_a_provider(status: int, words: tuple[str, ...], tmp_path: Path) -> None:
    body = json.dumps({"error": {"message": EVIL, "type": EVIL, "code": EVIL, "param": EVIL}}).encode()
    with serve(body, "application/json", status) as url:
        environment(tmp_path, url)
        shown = safe("run", "hello", "--model", MODEL, "--store", str(tmp_path / "run.db"), *words)
    assert WORD in shown


def test_the_stderr_of_an_mcp_server(tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    program.write_text(f"import sys\nsys.exit({EVIL!r})\n")
    shown = safe("run", "hello", "--model", MODEL, "--mcp", shlex.join([sys.executable, str(program)]))
    assert "its last output" in shown and WORD in shown


def test_the_tools_of_an_mcp_server(tmp_path: Path) -> None:
    """Names, descriptions, why tools are left out, and the results of calls."""
    right = {
        "name": f"good{EVIL}",
        "title": EVIL,
        "description": EVIL,
        "inputSchema": {"type": "object", "title": EVIL},
    }
    wrong = [{"name": EVIL}, {"name": f"bad{EVIL}", "inputSchema": {"type": "object", "required": [EVIL, EVIL]}}]
    (tmp_path / "tools.json").write_text(json.dumps({"tools": [right, *wrong, {**right, "description": "second"}]}))
    program = [sys.executable, mcp_bad_server.__file__, str(tmp_path / "tools.json"), str(tmp_path / "begun")]
    with kitchen(calls((right["name"], {})), Reply([TextContent(EVIL)])) as server:
        environment(tmp_path, server.url)
        shown = safe(
            "run", "hello", "--model", MODEL, "--allow-all", "--mcp", shlex.join(program), "--store", ":memory:"
        )
    assert shown.count("is left out") >= 2 and WORD in shown


class Watched(Terminal):
    """A chat whose whole output is recorded."""

    def __init__(self, env: dict[str, str], *arguments: str, cwd: Path) -> None:
        super().__init__(env, *arguments, cwd=cwd)
        self.child.logfile_read = self.recorded = _Recorder()


class _Recorder(list[str]):
    def write(self, text: str) -> None:
        self.append(text)

    def flush(self) -> None:
        pass


def test_a_chat(tmp_path: Path) -> None:
    """Thinking, text, calls, the question before a call, edited arguments, results, and the next start."""
    (tmp_path / "evil.txt").write_text(EVIL)
    with kitchen(ANSWER, calls(("shell", {"command": f"cat evil.txt #{EVIL}"})), Reply([TextContent(EVIL)])) as server:
        env = environment(tmp_path, server.url)
        with Watched(env, "--model", MODEL, cwd=tmp_path) as terminal:
            terminal.sees("/help lists")
            terminal.types("Go.")
            terminal.sees("may shell run?")
            terminal.types("e")
            terminal.sees("shell with:")
            terminal.types("")
            terminal.sees("allowed with")
            terminal.child.expect(r"\d out")
            terminal.types("/cost")
            terminal.sees("this session")
            terminal.types("/undo")
            terminal.sees("is undone")
            terminal.presses("c")
            terminal.presses("d")
            terminal.leaves()
            first = "".join(terminal.recorded)
        with Watched(env, "--model", MODEL, "--session", last_session(tmp_path), cwd=tmp_path) as terminal:
            terminal.sees("/help lists")
            terminal.child.send("\x1b[A")  # brings back an earlier message
            terminal.presses("c")
            terminal.presses("d")
            terminal.leaves()
            second = "".join(terminal.recorded)
    assert first.count(WORD) > 3 and not chat_leaks(first), chat_leaks(first)
    assert WORD in second and not chat_leaks(second), chat_leaks(second)


def last_session(tmp_path: Path) -> str:
    with open_store(str(tmp_path / "sessions.db")) as store:
        return max(store.sessions(), key=lambda info: info.entries).id


def chat_leaks(shown: str) -> list[str]:
    """Like ``leaks``, without the sequences of the input line, which move the cursor and set modes and colours."""
    moves = r"\x1b\[\d*[ABCDK]|\x1b\[0?J|\x1b\[\?(?:1|7|12|25|2004)[hl]|\x1b\[0(?:;\d+)*m|\x1b\[6n|\r|\x08|\x1b\[0? ?q"
    return leaks(re.sub(moves, "", shown))
