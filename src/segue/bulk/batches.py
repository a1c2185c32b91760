"""The same work as pure functions on a batch of rows, for pipelines of your own: Ray Data, `datasets`, or a loop.

A batch is an Arrow table, a dict of columns, or a list of rows; the result has the same kind and the same rows. Columns
are added: ``segue_changes``, ``segue_lost`` and ``segue_findings`` are lists of codes, ``segue_rejected`` is the reason
why a row was left as it is, or null.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ..catalog import as_model
from ..errors import SettingError
from ..types import Model, Options
from ..types.codec import json_text
from .reading import COLUMNS, FRAME, Row, read_row
from .work import Outcome, Settings, Sizes, work_on

Batch = Any
"""A ``pyarrow.Table``, a dict with a list or array for each column, or a list of dicts."""
PAIR = ("prompt", "completion")
MESSAGES = "messages"
"""The column for the result of a prompt and its completion."""
NAMES = ("segue_changes", "segue_lost", "segue_findings")


def lint_batch(
    batch: Batch, *, to: Model | str | None = None, protocol: str | None = None, column: str | None = None
) -> Batch:
    """Add what a provider would refuse in each conversation, as rules in ``segue_findings``.

    Conversations are checked as they are stored: for the model ``to``, for a protocol, or for the protocol whose form
    they have.
    """
    return _on_batch(batch, Settings(command="lint", model=_model(to), protocol=protocol, column=column))


def convert_batch(
    batch: Batch,
    *,
    to: Model | str | None = None,
    protocol: str | None = None,
    policy: str = "default",
    options: Options | None = None,
    column: str | None = None,
    check: bool = False,
) -> Batch:
    """Replace each conversation: by the request body for the model ``to``, or by its form in ``protocol``.

    The result is JSON text in the column that held the conversation. With ``check``, ``segue_findings`` has what a
    provider would still refuse.
    """
    settings = Settings(
        command="convert",
        model=_model(to),
        protocol=protocol,
        policy=policy,
        options=options or Options(),
        column=column,
        check=check,
    )
    check_target(settings)
    return _on_batch(batch, settings)


def stats_batch(batch: Batch, *, column: str | None = None) -> Batch:
    """Add how large each conversation is: ``segue_messages``, ``segue_calls``, ``segue_tokens`` and so on."""
    return _on_batch(batch, Settings(command="stats", column=column))


def check_target(settings: Settings) -> None:
    """Raise unless conversions have exactly one target."""
    if (settings.model is None) == (settings.protocol is None):
        raise SettingError("name a model or a protocol to convert to, and not both")


def _model(name: Model | str | None) -> Model | None:
    return None if name is None else as_model(name)


def _on_batch(batch: Batch, settings: Settings) -> Batch:
    if hasattr(batch, "to_pylist"):
        from .tables import changed_table, outcomes_of_table

        outcomes = outcomes_of_table(batch, settings)
        return changed_table(batch, outcomes, settings, target_of(outcomes), keeps_rejected=True)
    if isinstance(batch, Mapping):
        columns = {name: _plain(values) for name, values in batch.items()}
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        done = _on_rows(rows, settings, from_arrow=True)
        names = dict.fromkeys(name for row in done for name in row) or columns
        return {name: [row.get(name) for row in done] for name in names}
    return _on_rows([dict(row) for row in batch], settings, from_arrow=False)


def _on_rows(rows: Sequence[dict[str, Any]], settings: Settings, from_arrow: bool) -> list[dict[str, Any]]:
    outcomes = [work_on(partial(read_row, row, settings.column, from_arrow=from_arrow), settings) for row in rows]
    target = target_of(outcomes)
    done = []
    for row, outcome in zip(rows, outcomes, strict=True):
        if settings.command == "convert" and target:
            text = original_text(row, target) if outcome.result is None else outcome.result.decode()
            row = {name: value for name, value in row.items() if name not in target} | {written_to(target): text}
        done.append(row | added_values(outcome, settings) | {"segue_rejected": outcome.rejected})
    return done


def _plain(values: Any) -> list[Any]:
    """A column as Python values: arrays of NumPy, also inside values, become lists."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    return [_plain_value(value) for value in values]


def _plain_value(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return [_plain_value(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain_value(item) for name, item in value.items()}
    return value


# -- columns ----------------------------------------------------------------------------------------------------------


def target_of(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """The columns that hold the conversations: those of the first row that could be read."""
    return next((outcome.columns for outcome in outcomes if outcome.rejected is None), ())


def written_to(columns: tuple[str, ...]) -> str:
    """The column that gets the result of a conversation in these columns."""
    return MESSAGES if columns == PAIR else columns[0]


def original_text(row: Row, columns: tuple[str, ...]) -> str | None:
    """What a rejected row has in these columns, as text."""
    value = row.get(columns[0])
    return value if value is None or isinstance(value, str) else json_text(value)


def added_values(outcome: Outcome, settings: Settings) -> dict[str, Any]:
    """The columns that are added to a row."""
    if settings.command == "stats":
        sizes = outcome.sizes or Sizes()
        return {f"segue_{name}": getattr(sizes, name) for name in sizes.__struct_fields__}
    findings = None if outcome.findings is None else list(outcome.findings)
    return dict(zip(NAMES, (list(outcome.changes), outcome.lost, findings), strict=True))


def candidates(names: Sequence[str], column: str | None) -> list[str]:
    """The columns that have to be read to find the conversation: all of them only if no name is known."""
    if column is not None:
        known = {column, *FRAME}
    elif any(name in COLUMNS for name in names) or set(PAIR) <= set(names):
        known = {*COLUMNS, *FRAME, *PAIR}
    else:
        return list(names)
    return [name for name in names if name in known]
