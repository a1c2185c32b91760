"""Arrow tables: the conversations of their rows, and the same table with other columns changed or added."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from .batches import added_values, candidates, original_text, written_to
from .reading import read_row
from .work import Outcome, Settings, Sizes, work_on

CODES = pa.list_(pa.string())
TYPES = {"segue_changes": CODES, "segue_lost": CODES, "segue_findings": CODES, "segue_rejected": pa.string()} | {
    f"segue_{name}": pa.int64() for name in Sizes.__struct_fields__
}
HUGGING_FACE = b"huggingface"
"""Metadata that describes the types of columns; it would be wrong for those that are changed."""


def rows_of(table: pa.Table, column: str | None) -> list[dict[str, Any]]:
    """The rows of a table, with the columns that may hold a conversation."""
    rows: list[dict[str, Any]] = table.select(candidates(table.column_names, column)).to_pylist(
        maps_as_pydicts="strict"
    )
    return rows


def outcomes_of_table(table: pa.Table, settings: Settings) -> list[Outcome]:
    """What becomes of each row of a table."""
    rows = rows_of(table, settings.column)
    return [work_on(partial(read_row, row, settings.column, from_arrow=True), settings) for row in rows]


def changed_table(
    table: pa.Table,
    outcomes: Sequence[Outcome],
    settings: Settings,
    target: tuple[str, ...],
    *,
    keeps_rejected: bool,
) -> pa.Table:
    """The table with the results in place of the conversations, and with the added columns. Others are shared."""
    if not keeps_rejected:
        kept = [outcome.rejected is None for outcome in outcomes]
        table = table.filter(pa.array(kept, pa.bool_()))
        outcomes = [outcome for outcome in outcomes if outcome.rejected is None]
    if settings.command == "convert" and target:
        table = _with_results(table, outcomes, target)
    values = [added_values(outcome, settings) for outcome in outcomes]
    if keeps_rejected:
        values = [value | {"segue_rejected": outcome.rejected} for value, outcome in zip(values, outcomes, strict=True)]
    for name in values[0] if values else ():
        table = _with_column(table, name, pa.array([value[name] for value in values], TYPES[name]))
    metadata = {key: value for key, value in (table.schema.metadata or {}).items() if key != HUGGING_FACE}
    return table.replace_schema_metadata(metadata or None)


def _with_results(table: pa.Table, outcomes: Sequence[Outcome], target: tuple[str, ...]) -> pa.Table:
    texts = [None if outcome.result is None else outcome.result.decode() for outcome in outcomes]
    if None in texts:
        originals = table.select([target[0]]).to_pylist(maps_as_pydicts="strict")
        texts = [
            original_text(row, target) if text is None else text for text, row in zip(texts, originals, strict=True)
        ]
    column, name = pa.array(texts, pa.string()), written_to(target)
    at = table.column_names.index(target[0])
    table = table.drop_columns([each for each in target if each in table.column_names])
    return table.add_column(at, name, column) if name not in table.column_names else _with_column(table, name, column)


def _with_column(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    if name in table.column_names:
        return table.set_column(table.column_names.index(name), name, values)
    return table.append_column(name, values)
