"""Output to the terminal: what is made safe, what stays unchanged, and that no module bypasses it."""

import ast
import io
import json
import logging
import re
import subprocess
import sys
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from support.kitchen import MODEL, Terminal, environment, kitchen
from support.terminals import EVIL, leaks, pseudo_terminal
from support.waiting import HANGS, until

import segue.cli
from segue.cli import terminal
from segue.cli.printable import escape_json, mask, one_line, printable
from segue.cli.prompt_output import PromptOutput
from segue.cli.terminal import Screen, wrap_line
from segue.cli.turn_view import TurnView

CLI = Path(segue.cli.__file__).parent
TEXTS = st.text(st.characters() | st.sampled_from(sorted(set(EVIL))) | st.sampled_from("\ufe0f\u200d👩❤1⃣"))

ORDINARY = [
    "plain ASCII, é, ß, ñ, naïve",
    "e\u0301 combines",
    "日本\u3000語 한국어 עברית العربية",
    "👨\u200d👩\u200d👧 👩🏽\u200d💻 ❤\ufe0f\u200d🔥 🏴\u200d☠\ufe0f",
    "1\ufe0f\u20e3 #\ufe0f\u20e3",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "क्\u200dष می\u200cخواهم 葛\U000e0100",
    "a\u00a0b\u2009c",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_shown_unchanged(text: str) -> None:
    assert printable(text) == text and escape_json(text) == text


@pytest.mark.parametrize("character", sorted(set("".join(each for each in EVIL if not each.isprintable()))))
def test_each_hostile_character_is_replaced_at_any_position(character: str) -> None:
    for text in (character, f"a{character}", f"{character}b", f"a{character}{character}b"):
        assert character not in mask(text)


@given(TEXTS)
def test_safe_text_has_no_controls_and_is_not_changed_again(text: str) -> None:
    assert len(mask(text)) == len(text)
    for make_safe in (mask, printable, one_line):
        safe = make_safe(text)
        assert make_safe(safe) == safe and not leaks(safe)
    assert "\n" not in one_line(text)


@given(st.recursive(TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
def test_json_for_a_terminal_is_safe_and_has_the_same_values(value: object) -> None:
    document = json.dumps(value, ensure_ascii=False)
    assert json.loads(escape_json(document)) == value and not leaks(escape_json(document).replace("\t", ""))


@given(st.text(st.characters(codec="utf-8")))
def test_data_for_another_program_is_exact(text: str) -> None:
    data = io.BytesIO()
    before, sys.stdout = sys.stdout, io.TextIOWrapper(data, encoding="utf-8", newline="")
    try:
        terminal.print_text(text)
        terminal.write_json(json.dumps(text, ensure_ascii=False).encode())
        terminal.flush()
        assert data.getvalue().decode() == f"{text}\n{json.dumps(text, ensure_ascii=False)}"
    finally:
        sys.stdout = before


def test_prints_logs_and_warnings_of_libraries_are_safe() -> None:
    with pseudo_terminal() as shown, terminal.safe_output():
        print(EVIL)
        print(EVIL, file=sys.stderr)
        sys.stderr.write(EVIL)
        logging.StreamHandler().emit(logging.LogRecord("x", logging.ERROR, "", 0, EVIL, (), None))
    assert not leaks(shown[0]), leaks(shown[0])


# -- no module bypasses it ---------------------------------------------------------------------------------------------

ALLOWED = {
    "terminal.py": {"print", "rich", "sys.stdout", "sys.stderr"},
    "__init__.py": {"print"},  # prints its version without importing anything
    "keyboard.py": {"prompt_toolkit"},
    "prompt_output.py": {"prompt_toolkit"},
}
WRITERS = ("print", "input", "rich", "prompt_toolkit", "sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__")


def writers_of(source: str) -> set[str]:
    """The functions and files that a module could use to write to a terminal."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id=name)):
                found.add(name)
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                found.add(f"{module}.{name}")
            case ast.ImportFrom(module=str(module)):
                found |= {module.partition(".")[0], *(f"{module}.{each.name}" for each in node.names)}
            case ast.Import():
                found |= {each.name.partition(".")[0] for each in node.names}
    return found & {*WRITERS, "os.write", "os.writev", "os.system"}


@pytest.mark.parametrize("path", sorted(CLI.glob("*.py")), ids=lambda path: path.name)
def test_no_other_module_writes_to_the_terminal(path: Path) -> None:
    assert writers_of(path.read_text()) <= ALLOWED.get(path.name, set())


def test_the_test_finds_writers() -> None:
    assert writers_of("import sys\nfrom rich import x\nprint(sys.stdout)\nfrom sys import stderr") == {
        "rich",
        "print",
        "sys.stdout",
        "sys.stderr",
    }


# -- long lines, logs, closed files ------------------------------------------------------------------------------------


def count_work(monkeypatch: pytest.MonkeyPatch, text: str) -> tuple[int, int]:
    """Count the characters that are measured and drawn for one delta."""
    from rich import cells

    measured, drawn = [0], [0]
    measure = cells.get_character_cell_size

    def counting(character: str) -> int:
        measured[0] += 1
        return measure(character)

    class Counting(Screen):
        def line(self, *parts: terminal.Part, indent: int = 0, wrap: bool = True) -> None:
            drawn[0] += 1 + sum(len(text) for text, _ in parts)

    monkeypatch.setattr(cells, "get_character_cell_size", counting)
    screen = Counting(io.StringIO())
    screen.width = 80
    view = TurnView(screen)
    view._grow(text, "")
    view.end_line()
    monkeypatch.setattr(cells, "get_character_cell_size", measure)
    return measured[0], drawn[0]


@pytest.mark.parametrize("piece", ["x", "word ", "日本", "e\u0301", "👩\u200d", "\x1b[2J", "a\u0301\u0301\u0301"])
def test_the_work_for_a_line_is_linear_in_its_length(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    once = piece * (80_000 // len(piece))
    measured, drawn = count_work(monkeypatch, once)
    twice, more = count_work(monkeypatch, once * 2)
    assert measured <= len(once) and twice <= 2 * len(once)
    assert drawn <= 1.2 * len(once) and more <= 2.1 * drawn


@given(st.text(st.sampled_from("ab 日👩\u200d\ufe0fe\u0301")), st.integers(2, 30))
def test_a_wrapped_line_has_the_same_characters_and_its_parts_fit(text: str, width: int) -> None:
    from rich.cells import cell_len

    lines = wrap_line(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(cell_len(line) <= max(width, 3) for line in lines)


def test_pending_lines_are_not_joined() -> None:
    """Appending to one string would copy it for every line."""

    class App:
        is_running = False

    async def wait() -> list[str]:
        output = PromptOutput(App())  # type: ignore[arg-type]
        output._schedule = lambda: None  # type: ignore[method-assign]
        for number in range(3):
            output.write(f"{number}\n")
        return output._pending

    import asyncio

    assert asyncio.run(wait()) == ["0\n", "1\n", "2\n"]


@pytest.mark.skipif(sys.platform == "win32", reason="pexpect needs a Unix terminal")
@pytest.mark.parametrize("debug", [False, True])
def test_log_records_reach_the_chat_only_with_segue_debug(debug: bool, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import segue.cli.chat_commands as commands, logging, warnings\n"
        "async def _noise(chat, _):\n"
        "    for name in ('psycopg', 'psycopg.pool', 'anything'):\n"
        "        logging.getLogger(name).error('NOISE')\n"
        "    chat.view.note('quiet again')\n"
        "commands.COMMANDS['/noise'] = commands.Command('', _noise)\n"
    )
    with kitchen() as server:
        env = environment(tmp_path, server.url, PYTHONPATH=str(tmp_path), SEGUE_DEBUG="1" if debug else "")
        with Terminal(env, "--model", MODEL, cwd=tmp_path) as shown:
            shown.sees("/help lists")
            shown.types("/noise")
            shown.child.expect("quiet again")
            assert ("NOISE" in str(shown.child.before)) == debug
            shown.presses("d")
            shown.leaves()


EXAMPLE = Path(__file__).parents[2] / "examples" / "three-models.json"


@pytest.mark.parametrize(
    "command", ["--help", "--version", "models", f"show {EXAMPLE}", f"show {EXAMPLE} --json", "nosuch"]
)
@pytest.mark.parametrize(
    "ending", ["| true", "2>&1 | true", "| head -c 1", ">&-", "2>&-", ">/dev/full", "<&-", ">&- 2>&- <&-"]
)
def test_broken_pipes_full_disks_and_closed_files_give_no_traceback(command: str, ending: str) -> None:
    most = 4 if command == "nosuch" else 2  # for files, which form was recognised
    line = f'"{sys.executable}" -m segue {command} {ending}; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=False)
    assert b"Traceback" not in done.stderr and b"Exception ignored" not in done.stderr, done.stderr
    assert done.returncode in (0, 2) and done.stderr.count(b"\n") <= most, done.stderr


# -- other programs, narrow terminals, slow commands -------------------------------------------------------------------


VISIBLE = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.just(" "), max_size=300)


@given(st.lists(VISIBLE, min_size=1), st.integers(0, 8))
def test_lines_for_another_program_are_not_wrapped(lines: list[str], indent: int) -> None:
    file = io.StringIO()
    Screen(file).line(("\n".join(lines), "bold"), indent=indent)
    shown = [line.rstrip() for line in file.getvalue().split("\n")]
    assert shown == [*(f"{' ' * indent}{printable(line)}".rstrip() for line in lines), ""]


@given(
    st.lists(st.tuples(st.text("abc é漢", max_size=80), st.text("0123456789", max_size=9)), max_size=5),
    st.integers(terminal.MIN_WIDTH, 120),
    st.booleans(),
)
def test_a_table_fits_the_terminal_and_names_that_are_too_long_have_their_own_line(
    rows: list[tuple[str, str]], width: int, cut: bool
) -> None:
    file = io.StringIO()
    screen = Screen(file)
    screen._wraps, screen.width = True, width
    flexible = {"cuts" if cut else "breaks": "name"}
    columns = screen.table(("name", "size"), rows, ("name",), optional=("size",), **flexible)
    shown = file.getvalue().splitlines()
    for line in shown:
        assert terminal.cell_width(line) <= width or (not cut and line.strip() in {one_line(name) for name, _ in rows})
    if "size" in columns:
        assert all(size in file.getvalue() for _, size in rows)
    if not cut:
        assert all(one_line(name) in file.getvalue() for name, _ in rows)


class Recorder(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen_file(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """A terminal that is recorded; tests redirect standard error to it themselves, because pytest replaces it first."""
    file = Recorder()
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    monkeypatch.setenv("COLUMNS", "60")
    return file


def test_a_slow_command_shows_what_it_does_and_for_how_long_and_removes_it(screen_file: Recorder) -> None:
    with redirect_stderr(screen_file), terminal.busy(f"reading {EVIL}"):
        until(lambda: "reading EVIL" in screen_file.getvalue())
    shown = screen_file.getvalue()
    assert not leaks(shown.replace("\r", ""))
    *_, last, end = shown.split("\r")
    assert (last.strip(), end) == ("", "")


def test_what_is_printed_meanwhile_is_on_its_own_line(screen_file: Recorder) -> None:
    with redirect_stderr(screen_file), terminal.Busy("answering") as waiting:
        until(lambda: re.search(r"answering … \d+ s", screen_file.getvalue()))
        with waiting.paused():
            terminal.print_note("a call")
        until(lambda: screen_file.getvalue().rindex("answering") > screen_file.getvalue().index("a call"))
    assert re.search(r"\r *\rsegue: a call\n", screen_file.getvalue())


def test_a_quick_command_and_one_without_a_terminal_show_nothing(
    screen_file: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "PATIENCE", HANGS)
    with redirect_stderr(screen_file), terminal.busy("reading"):
        pass
    assert screen_file.getvalue() == ""
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    monkeypatch.setattr(screen_file, "isatty", lambda: False)
    with redirect_stderr(screen_file), terminal.busy("reading"), terminal.Busy("reading") as waiting, waiting.paused():
        pass
    assert screen_file.getvalue() == ""
