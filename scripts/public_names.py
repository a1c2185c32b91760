"""Write the table of public names in `src/segue/__init__.py`, from the `__all__` of the rooms. `make docs`; a test
compares."""

import re
from importlib import import_module
from pathlib import Path
from textwrap import fill

SOURCE = Path(__file__).parent.parent / "src" / "segue" / "__init__.py"
TABLE = re.compile(r"(?<=^_NAMES = \{\n).*?(?=^\}$)", re.DOTALL | re.MULTILINE)


def rooms(source: str) -> list[str]:
    """The rooms whose names are public: those that `__init__.py` imports everything from, for type checkers."""
    return re.findall(r"^    from \.(\w+) import \*$", source, flags=re.MULTILINE)


def with_names(source: str) -> str:
    """The source of `__init__.py` with the table of names as it should be."""
    rows = [_row(room, " ".join(sorted(import_module(f"segue.{room}").__all__))) for room in rooms(source)]
    return TABLE.sub(lambda _: "".join(rows), source)


def _row(room: str, names: str) -> str:
    """A row of the table, as ruff formats it."""
    row = f'    "{room}": "{names}",\n'
    if len(row) <= 121:
        return row
    lines = [names] if len(names) <= 110 else fill(names, 109).split("\n")
    return f'    "{room}": (\n        ' + ' "\n        '.join(f'"{line}' for line in lines) + '"\n    ),\n'


if __name__ == "__main__":
    SOURCE.write_text(with_names(SOURCE.read_text()))
