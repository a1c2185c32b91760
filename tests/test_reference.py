"""The reference of the public API is complete: every public name has a page, a signature and a docstring."""

from importlib import import_module

import pytest
import reference

import segue

EVERY = {entry.name: entry for room in reference.MODULES for entry in reference.entries(room)}
SAID = {**EVERY, **{member.name: member for entry in EVERY.values() for member in entry.members}}


def test_every_public_name_is_in_the_reference() -> None:
    assert {f"segue.{name}" for name in segue.__all__} <= set(EVERY)
    for module in reference.APART:
        assert {f"segue.{module}.{name}" for name in import_module(f"segue.{module}").__all__} <= set(EVERY)


@pytest.mark.parametrize("name", SAID)
def test_every_public_name_and_method_says_what_it_is(name: str) -> None:
    assert SAID[name].text
    assert SAID[name].signature


def test_fields_have_their_comments_and_functions_their_arguments() -> None:
    assert "def encode(" in EVERY["segue.encode"].signature
    assert "model" in EVERY["segue.encode"].signature
    assert "self" not in EVERY["segue.complete"].signature
    fields = dict(EVERY["segue.testing.Reply"].fields)
    assert fields["pause: float = 0.0"] == "Seconds between two events of a stream."
    assert EVERY["segue.Message"].signature == "Message = UserMessage | AssistantMessage | ToolResultMessage"
