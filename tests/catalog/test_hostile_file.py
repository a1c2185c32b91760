"""A user's catalog with arbitrary values in any place is read, or refused with one error that lists its faults."""

import datetime
import json
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from support.hostile import places, replaced

import segue
from segue.catalog.loader import with_file

DOCUMENT: dict[str, Any] = {
    "providers": {
        "mine": {
            "name": "Mine",
            "base_url": "http://localhost:1234/v1",
            "keys": ["MY_KEY"],
            "needs_key": False,
            "protocols": ["openai-completions"],
            "also": ["my"],
            "defaults": {"context_window": 32768, "max_tokens": 4096, "input": ["text"], "reasoning": True},
            "dialect": {"openai-completions": {"id_form": "nine", "reasoning_accepts": ["reasoning"]}},
        },
        "openai": {"base_url": "http://localhost:1235/v1", "protocols": ["openai-completions"]},
    },
    "models": {
        "mine/one": {
            "name": "One",
            "context_window": 8192,
            "max_tokens": 1024,
            "input": ["text", "image"],
            "cost": {"input": 1.5, "output": 2.0},
            "dialect": {"openai-completions": {"prefix_bound": True}},
        }
    },
}
HOSTILE: list[Any] = [True, -1, 2**70, 1e308, math.nan, math.inf, "", "\x00", [], {}, [[]], [{}], {"": 1}]
HOSTILE += [{"type": {}}, [None], datetime.date(2026, 11, 17), datetime.time(1, 2), {"a/b": {"c.d": [1]}}]


def toml(value: Any) -> str:
    """Write a value as TOML with inline tables. TOML has no null, so null becomes an empty string."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        return "nan" if math.isnan(value) else "inf" if math.isinf(value) else repr(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return json.dumps("" if value is None else value)


def written(document: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(key)} = {toml(value)}\n" for key, value in document.items())


def read(path: Path, text: str | bytes) -> None:
    path.write_bytes(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    faults: list[segue.CatalogError] = []
    try:
        with_file(str(path))
    except segue.CatalogError as error:
        faults.append(error)
    assert all(error.faults and str(path) in str(error) for error in faults)


def test_the_unchanged_document_is_valid(tmp_path: Path) -> None:
    assert tomllib.loads(written(DOCUMENT)) == DOCUMENT
    path = tmp_path / "catalog.toml"
    path.write_text(written(DOCUMENT))
    assert "mine/one" in with_file(str(path)).models


def test_a_catalog_with_arbitrary_values_is_read_or_refused(tmp_path: Path) -> None:
    number = 0
    for _, path in places([DOCUMENT]):
        for new in HOSTILE:
            if path:
                number += 1
                read(tmp_path / f"{number}.toml", written(replaced(DOCUMENT, path, new)))
    assert number > 300


@pytest.mark.parametrize("data", [b"\xff", b"\x00", b"a = " + b"[" * 100_000, b"a = 1e999", b"a", b"[providers", b"=1"])
def test_bytes_that_are_not_a_catalog_are_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "catalog.toml").write_bytes(data)
    with pytest.raises(segue.CatalogError):
        with_file(str(tmp_path / "catalog.toml"))


@given(data=st.binary(max_size=20), at=st.integers(0, 900), size=st.integers(0, 20))
def test_damaged_bytes_are_read_or_refused(
    data: bytes, at: int, size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    document = written(DOCUMENT).encode()
    read(tmp_path_factory.mktemp("catalog") / "catalog.toml", document[:at] + data + document[at + size :])


@pytest.mark.parametrize("path", ["", "nul\0l", "nowhere/catalog.toml", "/", "x" * 5000])
def test_a_path_that_is_not_a_file_is_refused(path: str) -> None:
    with pytest.raises(segue.CatalogError):
        with_file(path)
