"""Every field of every case is carried over, reported, or left out for a reason that ``ignored_fields.toml`` has."""

import json
import tomllib
from itertools import groupby
from pathlib import Path

import pytest
from support.silent_fields import silent_fields
from support.transcripts import CASES

IGNORED = {
    name: {field for fields in reasons.values() for field in fields}
    for name, reasons in tomllib.loads((Path(__file__).parent / "ignored_fields.toml").read_text("utf-8")).items()
}
FILES = {name: list(paths) for name, paths in groupby(CASES, key=lambda path: path.parent.name)}


@pytest.mark.parametrize("name", FILES)
def test_no_field_is_left_out_silently(name: str) -> None:
    cases = (json.loads(path.read_text("utf-8")) for path in FILES[name])
    assert silent_fields(cases, IGNORED.get(name, set())) == set()


def test_the_table_names_known_formats() -> None:
    assert set(IGNORED) <= set(FILES)
