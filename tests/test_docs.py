"""The documentation is correct: its Python runs, its commands work, its tables match the code."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")])
IDS = [page.name for page in PAGES]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_the_python_of_a_page_runs_from_top_to_bottom(page: Path) -> None:
    code = "\n".join(blocks(page, "python"))
    done = subprocess.run(
        [sys.executable, "-W", "error::SyntaxWarning", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if done.stdout:
        assert done.stdout in "".join(blocks(page, "text"))


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_the_commands_of_a_page_work(page: Path) -> None:
    for command in re.findall(r"^segue .*", "".join(blocks(page, "sh")), flags=re.MULTILINE):
        done = subprocess.run(
            [sys.executable, "-m", *command.split()], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_the_links_of_a_page_have_targets(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)[^)]*\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_printed_tables_are_up_to_date() -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        from print_docs import printed
    finally:
        sys.path.pop(0)
    for page in PAGES:
        assert printed(page.read_text()) == page.read_text(), f"run `make docs`: {page.name}"


def test_the_readme_names_the_commands_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", "".join(blocks(ROOT / "README.md", "sh")), flags=re.MULTILINE):
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
