"""`segue show`: messages with their models, calls with their results, shortened thinking, tokens and cost."""

import json
from pathlib import Path

import pytest

from segue.cli import main
from segue.types import (
    AssistantMessage,
    Context,
    FileContent,
    ProviderContent,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

EXAMPLE = Path(__file__).parents[2] / "examples" / "three-models.json"


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def show(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["show", *arguments]) == 0
    return capsys.readouterr().out


def test_the_example_is_printed_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    shown = show(capsys, str(EXAMPLE))
    for part in (
        "You help run a small bakery's web shop.",
        "anthropic/claude-sonnet-5  1,240 in, 96 out, 1,180 to cache · $0.0096",
        "∴ thinking (signed, 115 characters)  The chart falls at 09:10.",
        "⇄ was anthropic/claude-sonnet-5",
        "ended in aborted",
        "! cancelled by the user",
        "13 messages · 3 models · 5,360 in, 383 out, 1,180 cached, 1,180 to cache · $0.0169",
    ):
        assert part in shown
    assert "first the rollback" not in shown.lower().replace("**rolling back** first the rollback", "")


def test_a_result_is_below_its_call(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line.strip() for line in show(capsys, str(EXAMPLE)).splitlines()]
    after = lines.index('→ rollback(service="web", version="v2.13.2")') + 1
    assert lines[after] == "✓ web is at v2.13.2"
    assert lines[lines.index('→ probe(region="asia")') + 1] == "no result"


def test_flags_show_thinking_and_long_results_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    shortened = show(capsys, str(EXAMPLE))
    full = show(capsys, "--thinking", "--full", str(EXAMPLE))
    thought = "I should look at the deploys and at the error log before guessing."
    assert thought not in shortened
    assert thought in " ".join(full.split())
    assert "more lines" in shortened
    assert "more lines" not in full
    assert full.count("card_token missing") == 18


def test_json_is_the_canonical_form(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["show", "--json", str(EXAMPLE)]) == 0
    assert capsysbinary.readouterr().out == Context.from_json(EXAMPLE.read_bytes()).to_json() + b"\n"


def test_results_that_answer_no_call_are_shown_at_their_position(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "torn.json"
    result = {"role": "toolResult", "toolCallId": "x9", "toolName": "weather", "content": [], "isError": True}
    path.write_text(json.dumps({"messages": [{"role": "user", "content": "hi"}, result]}))
    assert "1 orphan result  weather x9" in show(capsys, str(path))


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "escape.json"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": "\x1b[2Jgone [red]markup[/red]"}]}))
    shown = show(capsys, str(path))
    assert "\x1b" not in shown
    assert "\N{REPLACEMENT CHARACTER}[2Jgone [red]markup[/red]" in shown


def test_ordinary_characters_are_shown_unchanged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "a\u00a0b 日本\u3000語 👨\u200d👩\u200d👧 \u0915\u094d\u200d\u0937\r\ndef f():\n\treturn 1"
    path = tmp_path / "wide.json"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": text}]}))
    shown = show(capsys, str(path))
    assert "\N{REPLACEMENT CHARACTER}" not in shown
    assert "    def f():" in shown
    assert "        return 1" in shown


def test_a_long_line_is_shortened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "long.json"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": "x" * 300_000}]}))
    assert len(show(capsys, str(path))) < 3_000
    assert len(show(capsys, "--full", str(path))) > 300_000


def test_a_bad_line_is_reported_and_the_others_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "conversations.jsonl"
    good = '{"messages":[{"role":"user","content":"number %d"}]}\n'
    path.write_text(good % 1 + "{oops\n" + good % 3)
    assert main(["show", str(path)]) == 2
    done = capsys.readouterr()
    assert "number 1" in done.out
    assert "number 3" in done.out
    _, error = done.err.splitlines()
    assert error == f"segue: {path}:2: not JSON: object keys must be strings (byte 1)"


SEARCHED = '[{"type":"url_citation","url":"https://example.org/n","title":"Numbers"}]'
CITED = {
    # The sources that are shown, by the citations of each protocol.
    '[{"type":"page_location","cited_text":"42","document_index":0,"document_title":"report.pdf"}]': "report.pdf",
    '[{"type":"char_location","cited_text":"42","document_index":0,"document_title":null}]': "42",
    '[{"type":"web_search_result_location","cited_text":"42","title":"T","url":"https://e.org"}]': "T (https://e.org)",
    '{"id":"msg_1","annotations":[{"type":"file_citation","file_id":"f_1","filename":"a.txt","index":0}]}': "a.txt",
    SEARCHED: "Numbers (https://example.org/n)",
    '[{"type":"url_citation","url_citation":{"url":"https://e.org","title":"T"}}]': "T (https://e.org)",
    '[{"title":"T","location":{"web":{"url":"https://e.org","domain":"e.org"}}}]': "T (https://e.org)",
}


@pytest.mark.parametrize("signature", CITED)
def test_sources_of_a_text_are_below_it(signature: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(Context([AssistantMessage([TextContent("It is 42.", signature)])]), tmp_path, capsys)
    assert lines[lines.index("It is 42.") + 1] == f"◦ {CITED[signature]}"


def test_a_source_that_is_cited_twice_is_shown_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = json.dumps(json.loads(SEARCHED) * 2)
    lines = shown(Context([AssistantMessage([TextContent("It is 42.", twice)])]), tmp_path, capsys)
    assert lines.count("◦ Numbers (https://example.org/n)") == 1


def test_files_addresses_and_provider_content_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clip = FileContent(b"RIFF", "audio/wav", name="clip.wav")
    files = [clip, FileContent(url="https://example.org/a.pdf", mime_type="application/pdf")]
    search = ProviderContent({"type": "web_search_call"}, "web_search_call", "numbers")
    call = ToolCall("a", "draw", {"input": "a cat"}, kind="custom", namespace="art")
    answer = AssistantMessage([search, ProviderContent({"data": "x"}, "new"), call])
    context = Context([UserMessage(files, injected=True), answer, ToolResultMessage("a", "draw", [clip])])
    lines = shown(context, tmp_path, capsys)
    for line in (
        "0 user  written by a program",
        "▤ clip.wav, audio/wav, 4 bytes",
        "▤ application/pdf, https://example.org/a.pdf",
        "◇ web_search_call  numbers",
        "◇ new  (12 bytes)",
        '→ art.draw(input="a cat")',
    ):
        assert line in lines, line
    assert lines.count("▤ clip.wav, audio/wav, 4 bytes") == 2


def shown(context: Context, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The printed lines of a conversation."""
    path = tmp_path / "conversation.json"
    path.write_bytes(context.to_json())
    return [line.strip() for line in show(capsys, str(path)).splitlines()]
