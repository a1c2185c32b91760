"""Conversations of other tools are listed, searched and opened like segue's own."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.cases import CASES

import segue
from segue.studio import id_of

from .conftest import Running

SESSION = json.loads((CASES / "transcripts" / "claude-code" / "titles.json").read_bytes())["files"]["session.jsonl"]


def written(folder: Path) -> Path:
    """A session of Claude Code, where it stores them."""
    file = folder / "projects" / "tern" / "session.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(map(json.dumps, SESSION)))
    return file


def test_a_transcript_is_recognised_and_its_python_reads_the_same(studio: Running, tmp_path: Path) -> None:
    opened = studio.open(written(tmp_path))
    assert opened.form.startswith("Claude Code")
    page = studio.page(f"/c/{opened.id}?to=openai/gpt-5.4")
    assert "Claude Code" in page
    assert eval(opened.python, {"segue": segue}) == opened.context


def test_a_transcript_can_be_pasted(studio: Running) -> None:
    response = studio.paste("\n".join(map(json.dumps, SESSION)))
    assert "Claude Code 2.1.42" in response.text
    assert "<h1>Terns</h1>" in response.text


def test_transcripts_on_this_machine_are_listed_searched_and_opened_by_their_url(
    start: Callable[..., Running], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    file = written(tmp_path)
    studio = start()
    [listed] = [each for each in studio.json("/index.json")["transcripts"] if each["tool"] == "Claude Code"]
    assert listed["id"] == id_of("file", f"{file.resolve()}\x001")
    assert "Transcripts of other tools on this machine" in studio.page("/")
    assert studio.json("/index.json?q=terns")["found"][0]["id"] == listed["id"]
    assert studio.json("/index.json?q=nowhere-at-all")["found"] == []
    fresh = start()
    assert "which?" in fresh.page(f"/c/{listed['id']}").lower()


def test_a_transcript_without_a_title_has_the_same_name_in_the_list_and_on_its_page(
    start: Callable[..., Running], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    file = written(tmp_path)
    file.write_text("\n".join(json.dumps(row) for row in SESSION if row["type"] in ("user", "assistant")))
    studio = start()
    [listed] = [each for each in studio.json("/index.json")["transcripts"] if each["tool"] == "Claude Code"]
    assert f"<h1>{listed['name']}</h1>" in studio.page(f"/c/{listed['id']}")


def test_a_program_finds_the_files_of_other_tools_as_the_studio_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    file = written(tmp_path)
    found = [(form.name, path) for form, path, _ in segue.transcripts.places("claude-code")]
    assert found == [("claude-code", file)]
    assert ("claude-code", file) in [(form.name, path) for form, path, _ in segue.transcripts.places()]
