"""`make tour` tells its story: who plays the providers, what is refused and why, what was changed, what is staged."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

TOUR = Path(__file__).parents[1] / "examples" / "tour.py"


@pytest.fixture(scope="module")
def shown() -> str:
    done = subprocess.run([sys.executable, str(TOUR)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def words(text: str) -> str:
    return " ".join(text.split())


def test_it_begins_with_the_conversation_the_providers_and_the_source_of_their_rules(shown: str) -> None:
    introduction = words(shown.partition("\n1. ")[0])
    for part in (
        "The conversation:",
        "A stand-in plays each provider",
        "docs/rules.md",
        '"As stored"',
        '"Through segue"',
    ):
        assert part in introduction


def test_every_turn_says_what_happens_and_why_it_was_refused_and_what_was_changed(shown: str) -> None:
    turns = re.split(r"\n\d\. ", shown)[1:]
    assert len(turns) == 7
    for turn in turns[1:]:
        assert re.search(r"as stored: +refused \(HTTP 400\): \w", turn)
        assert re.search(r"because: +\w", turn)
        assert re.search(r"through segue: +accepted", turn)
        assert re.search(r"adapted: +\d", turn)


def test_the_words_of_the_providers_are_complete(shown: str) -> None:
    text = words(shown)
    for error in (
        "Please ensure that the number of function response parts is equal to the number of function call parts of the "
        "function call turn.",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
        "`tool_use` ids were found without `tool_result` blocks immediately after. Each `tool_use` block must have a "
        "corresponding `tool_result` block in the next message.",
    ):
        assert error in text
    assert not re.search(r" …$", shown, re.MULTILINE), "no line is cut"


def test_the_staged_failure_is_announced_before_it_happens(shown: str) -> None:
    text = words(shown)
    assert text.index("Now a failure that is staged") < text.index("then, as staged, the connection broke")


def test_it_ends_with_the_result(shown: str) -> None:
    assert shown.splitlines()[-1].endswith("none refused. Claude's signatures came back intact.")
    assert " 1 messages" not in shown
