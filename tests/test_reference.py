"""The reference of the public API is complete: every public name has a page, a signature and a docstring."""

from functools import cache
from importlib import import_module

import reference

import segue


@cache
def every() -> dict[str, reference.Entry]:
    return {entry.name: entry for room in reference.MODULES for entry in reference.entries(room)}


def test_every_public_name_is_in_the_reference() -> None:
    assert {f"segue.{name}" for name in segue.__all__} <= set(every())
    for module in reference.APART:
        assert {f"segue.{module}.{name}" for name in import_module(f"segue.{module}").__all__} <= set(every())


def test_every_public_name_and_method_says_what_it_is() -> None:
    entries = [each for entry in every().values() for each in (entry, *entry.members)]
    assert [entry.name for entry in entries if not entry.text or not entry.signature] == []


def test_fields_have_their_comments_and_functions_their_arguments() -> None:
    assert "def encode(" in every()["segue.encode"].signature
    assert "model" in every()["segue.encode"].signature
    assert "self" not in every()["segue.complete"].signature
    fields = dict(every()["segue.testing.Reply"].fields)
    assert fields["pause: float = 0.0"] == "Seconds between two events of a stream."
    assert every()["segue.Message"].signature == "Message = UserMessage | AssistantMessage | ToolResultMessage"
