"""The results of `make clients`: the state of a run as a file, and the tables of the docs."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PRINTED = Path(__file__).parent.parent.parent / "docs" / "clients.json"
"""The results of the last run that the docs show."""


class Results:
    """Outcomes by table, row and column; an empty outcome is a success. They are saved one by one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tables: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def get(self, table: str, row: str, column: str) -> str | None:
        """An outcome, or ``None`` if there is none yet."""
        outcome: str | None = self.tables.get(table, {}).get(row, {}).get(column)
        return outcome

    def put(self, table: str, row: str, column: str, outcome: str) -> None:
        """Save an outcome."""
        self.tables.setdefault(table, {}).setdefault(row, {})[column] = outcome
        self.tables["date"] = f"{datetime.now(UTC):%Y-%m-%d}"
        self.path.write_text(json.dumps(self.tables, indent=1, ensure_ascii=False) + "\n")


def table(name: str, corner: str) -> list[str]:
    """A table of the docs."""
    found = Results(PRINTED).tables
    rows: dict[str, dict[str, str]] = found.get(name, {})
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    lines = [f"| {corner} | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for title, row in rows.items():
        lines.append(f"| {title} | {' | '.join(_cell(row.get(column)) for column in columns)} |")
    return [f"Run on {found['date']}.", "", *lines]


def _cell(outcome: str | None) -> str:
    return "" if outcome is None else "no" if outcome else "yes"
