"""Newer facts about models from models.dev: reading its document, and the file in the user's directory that keeps them.

Only names, limits, prices, kinds of input and last days are read. An address, a header, the variable of a key or a way
to authenticate never is, so that a manipulated source cannot redirect keys. Everything is checked when it is downloaded
and again when the file is read; what fails is left out, and the shipped rows serve. ``segue models --refresh``
downloads and writes the file.
"""

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ..types import Modality
from .check import model_faults
from .rows import Day, ModelRow, Provider, RowCost, RowRates, RowStep, Text, Tokens

FILE_VARIABLE = "SEGUE_REFRESHED"
SHARED_WINDOW = 32_768
"""An output limit that repeats a larger window means that it is not known."""
MOST_TOKENS = 100_000_000
MOST_DOLLARS = 1_000
"""Larger numbers are errors."""


class Refreshed(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is brought about one model. Fields that are absent stay as they are."""

    name: Text | None = None
    context_window: Tokens | None = None
    max_input_tokens: Tokens | None = None
    max_tokens: Tokens | None = None
    input: tuple[Modality, ...] | None = None
    reasoning: bool | None = None
    tools: bool | None = None
    cost: RowCost | None = None
    retires: Day | None = None


class RefreshedFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file: where and when its rows were read, and the rows by ``provider/model``."""

    source: str = ""
    date: str = ""
    models: dict[str, Refreshed] = {}


def refreshed_file() -> str:
    """The path of the file: ``$SEGUE_REFRESHED``, or ``segue/models.json`` in the user's directory for data."""
    named = os.environ.get(FILE_VARIABLE)
    if named:
        return named
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(data, "segue", "models.json")


def read_refreshed(path: str) -> RefreshedFile:
    """Read the file at ``path``, again only if it has changed. One that is missing or damaged has no rows."""
    try:
        stat = os.stat(path)
    except (OSError, ValueError):
        return RefreshedFile()
    return _read(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=4)
def _read(path: str, changed: int, size: int) -> RefreshedFile:
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=RefreshedFile)
    except (OSError, msgspec.DecodeError, RecursionError):
        return RefreshedFile()


def write_refreshed(path: str, file: RefreshedFile) -> None:
    """Write the file, whole or not at all."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    new = f"{path}.new"
    Path(new).write_bytes(msgspec.json.encode(file))
    os.replace(new, path)


def applied(row: ModelRow | None, new: Refreshed, ref: str) -> ModelRow:
    """The row with what is newer. Prices that have not changed keep their steps, tiers and one-hour caches."""
    provider, _, model_id = ref.partition("/")
    known = row or ModelRow(provider=provider, id=model_id)
    changed = {name: value for name in new.__struct_fields__ if (value := getattr(new, name)) is not None}
    if new.cost is not None and _pair(new.cost) == _pair(known.cost):
        del changed["cost"]
    window = changed.get("context_window", known.context_window)
    for name in ("max_tokens", "max_input_tokens"):
        limit = changed.get(name, getattr(known, name))
        if limit is not None and window is not None and limit > window:
            changed[name] = window
    changed["unverified"] = tuple(name for name in known.unverified if name not in changed)
    return msgspec.structs.replace(known, **changed)


def _pair(rates: RowRates) -> tuple[float | None, float | None]:
    return rates.input, rates.output


# -- models.dev --------------------------------------------------------------------------------------------------------


def from_models_dev(
    document: object, providers: Mapping[str, Provider], rows: Mapping[str, ModelRow]
) -> tuple[dict[str, Refreshed], list[str]]:
    """Read the document of models.dev (``api.json``): what it has about models of our providers, and what is wrong."""
    found: dict[str, Refreshed] = {}
    faults: list[str] = []
    if not isinstance(document, Mapping):
        return {}, ["the document is not an object"]
    for provider in providers.values():
        theirs = document.get(provider.models_dev or provider.id)
        models = theirs.get("models") if isinstance(theirs, Mapping) else None
        for model_id, entry in models.items() if isinstance(models, Mapping) else ():
            ref = f"{provider.id}/{model_id}"
            try:
                new = _refreshed(entry, rows.get(ref))
                if new is not None and not _is_name(model_id):
                    raise ValueError("its name has characters that cannot be printed")
                if new is not None:
                    faults_of = list(model_faults(applied(rows.get(ref), new, ref), providers))
                    if faults_of:
                        raise ValueError(faults_of[0])
                    found[ref] = new
            except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
                faults.append(f"{ref}: {error}")
    return found, faults


def _is_name(model_id: object) -> bool:
    return isinstance(model_id, str) and 0 < len(model_id) <= 200 and model_id.isprintable()


def _refreshed(entry: Mapping[str, Any], row: ModelRow | None) -> Refreshed | None:
    """What an entry says; ``None`` if it is not a model for chat, or a new one without a window."""
    modalities, limit = entry.get("modalities") or {}, entry.get("limit") or {}
    window, output = _tokens(limit.get("context")), _tokens(limit.get("output"))
    if modalities.get("output") not in (None, ["text"]) or (row is None and (window is None or output is None)):
        return None
    fields: dict[str, Any] = {
        "context_window": window,
        "max_input_tokens": _tokens(limit.get("input")),
        "max_tokens": None if output == window and (window or 0) > SHARED_WINDOW else output,
        "input": ["text", "image"] if "image" in modalities.get("input", ()) else None if row else ["text"],
        "reasoning": entry.get("reasoning") if row is None else None,
        "tools": False if row is None and entry.get("tool_call") is False else None,
        "name": entry.get("name") if row is None else None,
        "retires": entry.get("deprecation_date"),
    }
    known = {name: value for name, value in fields.items() if value is not None}
    cost = _cost(entry.get("cost") or {}, row)
    new: Refreshed = msgspec.convert(known | ({} if cost is None else {"cost": msgspec.to_builtins(cost)}), Refreshed)
    return new


def _tokens(number: object) -> int | None:
    if not isinstance(number, int | float) or isinstance(number, bool) or number <= 0:
        return None
    if number > MOST_TOKENS:
        raise ValueError(f"{number:g} tokens are implausible")
    return int(number)


def _cost(cost: Mapping[str, Any], row: ModelRow | None) -> RowCost | None:
    rates = _rates(cost)
    if "input" not in rates or "output" not in rates:
        return None
    if not any(rates.values()) and row is not None and row.cost.input:
        raise ValueError("it has a price, and cannot have become free")
    steps = sorted(
        (RowStep(above=int(part["tier"]["size"]), **_rates(part)) for part in cost.get("tiers") or []),
        key=lambda step: step.above,
    )
    return msgspec.structs.replace(RowCost(steps=tuple(steps)), **rates)


def _rates(table: Mapping[str, Any]) -> dict[str, float]:
    names = ("input", "output", "cache_read", "cache_write")
    found = {name: float(table[name]) for name in names if isinstance(table.get(name), int | float)}
    for name, price in found.items():
        if not 0 <= price <= MOST_DOLLARS:
            raise ValueError(f"a price of {price:g} dollars per million for {name} is implausible")
    return found
