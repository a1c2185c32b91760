"""The resolved dialects, locked in a file."""

import sys
from pathlib import Path

from segue.catalog import Catalog

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from matrix import render  # noqa: E402  (a neighbour, also a command)


def test_the_matrix_of_dialects_is_that_of_the_file() -> None:
    """If the change is intended: make docs"""
    assert render(Catalog.load()) == (HERE / "matrix.txt").read_text(encoding="utf-8")
