"""The documentation is correct: its Python runs, its commands work, its tables match the code."""

import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import error_index
import print_docs
import pytest
import recipes
import reference
import variables
from support.printed import answers, blocks, environment, run, run_python

import segue
from segue.catalog import get_provider
from segue.wire.registry import PROTOCOLS, protocol_of

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")])
PAGES.remove(ROOT / "docs" / print_docs.FRONT)  # the README again
IDS = [page.name for page in PAGES]


def code(page: Path, language: str) -> str:
    """All code of a page in a language that can run."""
    return "\n".join(block.code for block in blocks(page, language) if not block.not_run)


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_the_python_of_a_page_runs_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    if not code(page, "python"):
        return
    with environment(tmp_path, answers(page)) as env:
        done = run_python(code(page, "python"), tmp_path, env)
    assert done.returncode == 0, done.stderr
    if done.stdout:
        assert done.stdout in "".join(block.code for block in blocks(page, "text"))


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_the_commands_of_a_page_work(page: Path, tmp_path: Path) -> None:
    """Those in `sh` blocks, and those after a prompt in `console` blocks."""
    lines = [*code(page, "sh").splitlines(), *re.findall(r"^\$ (.*)", code(page, "console"), flags=re.MULTILINE)]
    if not lines:
        return
    with environment(tmp_path, answers(page)) as env:
        for line in lines:
            program, *arguments = shlex.split(line, comments=True) or [""]
            if program == "segue":
                done = run([sys.executable, "-m", "segue", *arguments], tmp_path, env)
                assert done.returncode == 0, f"{line}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_the_toml_and_json_of_a_page_can_be_read(page: Path) -> None:
    for block in blocks(page, "toml"):
        tomllib.loads(block.code)
    for block in blocks(page, "json"):
        json.loads(block.code)


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_the_blocks_of_a_page_are_in_languages_that_are_tested(page: Path) -> None:
    known = {"python", "sh", "console", "toml", "json", "text", "js"}  # a recipe has JavaScript: `make recipes`
    assert set(re.findall(r"^ *```(\w+)", page.read_text(), flags=re.MULTILINE)) <= known


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_the_links_of_a_page_have_targets(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)[^)]*\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_every_recipe_has_a_page_a_program_an_output_and_pinned_versions() -> None:
    for name in recipes.names():
        page = (ROOT / "docs" / f"recipe-{name.replace('_', '-')}.md").read_text()
        assert f"<!-- printed: program_{name} -->" in page and f"<!-- printed: output_{name} -->" in page
        assert re.findall("^## (.*)", page, re.MULTILINE) == [
            "What goes wrong",
            "The one line",
            "What you see",
            "The whole program",
        ]
        for line in (recipes.REQUIREMENTS / f"{name}.txt").read_text().splitlines():
            assert line.startswith("#") or "==" in line or line == "pytest"
        shown = (recipes.RECIPES / f"{name}.txt").read_text()
        assert "without segue: refused (4" in shown and "\nwith segue:    refused" not in shown and "unchanged" in shown


def test_what_is_printed_is_up_to_date() -> None:
    for path, text in print_docs.files().items():
        assert path.read_text() == text, f"run `make docs`: {path.name}"


def pages_of(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for below in entry.values():
            yield from pages_of(below) if isinstance(below, list) else [below]


def test_every_page_is_in_the_navigation() -> None:
    listed = list(pages_of(print_docs.navigation()))
    written = [page.name for page in (ROOT / "docs").glob("*.md")] + [f"reference/{file}" for file in reference.pages()]
    assert sorted(listed) == sorted(written), "mkdocs.yml lists the pages of docs/"


def test_the_site_builds_without_a_warning_and_has_no_dead_link(tmp_path: Path) -> None:
    """Zensical checks every link between pages, with its anchor."""
    for name in ("docs", "mkdocs.yml", "README.md", "ARCHITECTURE.md", "CHANGELOG.md"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    (tmp_path / "docs" / "reference").mkdir(exist_ok=True)
    for file, text in reference.pages().items():
        (tmp_path / "docs" / "reference" / file).write_text(text)
    done = run([str(Path(sys.executable).parent / "zensical"), "build", "--strict"], tmp_path, os.environ)
    assert done.returncode == 0, done.stdout + done.stderr
    built = tmp_path / "build" / "site"
    for address in re.findall(r"\]\(([^)]+)\)", (built / "llms.txt").read_text()):
        assert (built / address / "index.html").exists(), address


def test_every_variable_that_is_read_has_a_row() -> None:
    keys = {key for name in segue.list_providers() for key in get_provider(name).keys}
    known = {*variables.OWN, *variables.OTHERS, *variables.BASIC, *keys}
    read = variables.read_in_code()
    assert read <= known, "add a row to scripts/variables.py"
    assert {*variables.OWN, *variables.OTHERS} <= read


def test_every_message_of_a_provider_has_a_heading() -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text()
    for protocol in PROTOCOLS:
        for rule in protocol_of(protocol).rules:
            if rule.severity == "error":
                for text in error_index.messages(rule):
                    assert f"{error_index.heading(text)}\n" in page, rule.number
    headings = re.findall(r"^### (.*)", page, flags=re.MULTILINE)
    assert len(headings) == len(set(headings)) > 200


def test_names_of_segue_in_pages_exist() -> None:
    """Except in the changelog, which also has names of earlier versions. Telemetry has names of its own."""
    recorded = (ROOT / "src" / "segue" / "telemetry" / "names.py").read_text()
    rooms = {path.stem for path in (ROOT / "src" / "segue").iterdir()}
    rooms |= set(re.findall(r'"segue\.(\w+)', recorded))
    for page in set(PAGES) - {ROOT / "CHANGELOG.md"}:
        for name in re.findall(r"`segue\.(\w+)", page.read_text()):
            assert name in rooms or hasattr(segue, name), f"{page.name}: segue.{name}"


def test_the_readme_names_the_commands_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", code(ROOT / "README.md", "sh"), flags=re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_the_page_about_the_chat_names_all_its_commands() -> None:
    from segue.cli.chat_commands import COMMANDS

    page = (ROOT / "docs" / "chat.md").read_text()
    named = re.findall(r"`(/[a-z]+)", "".join(re.findall(r"^\| (`/.*?) \|", page, flags=re.MULTILINE)))
    assert sorted(named) == sorted(COMMANDS)


def test_every_change_code_has_a_phrase() -> None:
    from typing import get_args

    from segue.projection.summary import PHRASES
    from segue.types import ChangeCode

    assert set(PHRASES) == set(get_args(ChangeCode))
