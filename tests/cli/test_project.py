"""`segue project`: what another model would receive of a conversation, and what is changed for it."""

import json
import re
from pathlib import Path

import pytest

import segue
from segue.cli import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "three-models.json"


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def test_summary_rendered_messages_and_changes_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["project", str(EXAMPLE), "--to", "mistral/mistral-large-latest"]) == 0
    shown = capsys.readouterr().out
    for part in (
        "mistral/mistral-large-latest gets 14 messages\n  lost: 1 failed turn left out\n",
        "fits: about 2,",
        "[Reasoning] The chart falls at 09:10.",
        "✗ placeholder: No result provided",
        " 10 left out\n    ~ failed-turn-dropped  the turn ended in aborted",
        "~ id-projected  'toolu_01A7deploys' is sent as ",
    ):
        assert part in shown


def test_messages_keep_the_numbers_of_the_stored_conversation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["project", str(EXAMPLE), "--to", "mistral/mistral-large-latest"]) == 0
    numbers = re.findall(r"^ *(\d+) (?:user|left out|[a-z-]+/)", capsys.readouterr().out, flags=re.MULTILINE)
    assert numbers == ["0", "1", "4", "5", "6", "9", "10", "11", "12"]


def test_every_change_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    context = segue.Context.from_json(EXAMPLE.read_bytes())
    changes = segue.encode(context, segue.get_model("deepseek/deepseek-v4-pro"), policy="or").changes
    assert main(["project", str(EXAMPLE), "--to", "deepseek/deepseek-v4-pro", "--policy", "or"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("~ ") == len(changes)


def test_json_has_the_rendered_conversation_and_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["project", str(EXAMPLE), "--to", "moonshot/kimi-k2-thinking", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    expected = segue.encode(segue.Context.from_json(EXAMPLE.read_bytes()), segue.get_model("moonshot/kimi-k2-thinking"))
    assert document["context"] == json.loads(expected.projection.context.to_json())
    assert [change["code"] for change in document["changes"]] == [change.code for change in expected.changes]
    assert document["fits"] is True
    assert document["tokens"]["low"] <= document["tokens"]["tokens"] <= document["tokens"]["high"]


def test_jsonl_gives_one_line_per_conversation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "conversations.jsonl"
    path.write_text(
        '{"messages":[{"role":"user","content":"a"}]}\n{"messages":[]}\n{"messages":[{"role":"user","content":"c"}]}\n'
    )
    assert main(["project", str(path), "--to", "openai/gpt-5.4", "--json"]) == 2
    done = capsys.readouterr()
    assert len(done.out.splitlines()) == 2
    _, error = done.err.splitlines()
    assert error.startswith(f"segue: {path}: conversation 2: there is nothing to send: the conversation has no message")


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("nowhere/model", "segue: unknown provider 'nowhere'"),
        ("gpt-5.4", "provider/model"),
    ],
)
def test_an_unknown_target_is_status_2(target: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["project", str(EXAMPLE), "--to", target]) == 2
    assert text in capsys.readouterr().err


def test_an_unknown_policy_is_bad_usage() -> None:
    with pytest.raises(SystemExit) as left:
        main(["project", str(EXAMPLE), "--to", "openai/gpt-5.4", "--policy", "nope"])
    assert left.value.code == 2
