"""Read the catalog's files: the three built-in ones and the user's. Each is read once, when it is first needed.

A file with faults raises one ``CatalogError`` that lists all of them.
"""

import os
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..errors import CatalogError
from .check import Faults, build, model_faults, read_cells, read_family, read_model, read_provider, with_likes
from .rows import Family, ModelRow, ModelsFile, Provider

HERE = Path(__file__).parent
SECTIONS = ("providers", "models")
"""The sections of a user's file."""

FilePath = str | os.PathLike[str]
Row = TypeVar("Row", Provider, ModelRow)
Reader = Callable[[str, object, str, Faults], Row | None]


class Tables(msgspec.Struct, frozen=True):
    """All rows, after the checks."""

    providers: dict[str, Provider]
    models: dict[str, ModelRow]
    families: tuple[Family, ...]
    # The user's file, as it was read.
    user: dict[str, Any] = {}


@cache
def built_in() -> Tables:
    """Return the built-in rows."""
    manual = _toml(HERE / "providers.toml")
    providers = _providers(manual)
    models = _manual_models(manual, providers, _models(HERE / "models.json", providers))
    return Tables(providers, models, _families(HERE / "families.toml"))


def with_file(file: FilePath) -> Tables:
    """Return the built-in rows, overridden by those of a user's file. The file is read again only if it has changed."""
    path = os.fspath(file)
    try:
        changed = os.stat(path).st_mtime_ns
    except OSError as error:
        raise CatalogError(path, [f"cannot be read: {error.strerror or error}"]) from None
    except ValueError as error:  # not a path: it contains a NUL, for example
        raise CatalogError(path, [f"cannot be read: {error}"]) from None
    return _with_file(path, changed)


@lru_cache(maxsize=8)
def _with_file(path: str, changed: int) -> Tables:
    base, document, faults = built_in(), _toml(Path(path)), Faults()
    unknown = [name for name in document if name not in SECTIONS]
    faults += [f"{name}: unknown section; the sections are {' and '.join(SECTIONS)}" for name in unknown]
    providers = _all_providers(base.providers, document, faults)
    models = _with_models(base.models, document, providers, faults)
    _stop_at(path, faults)
    return Tables(providers, models, base.families, document)


def user_file() -> str | None:
    """Return the path of the user's file, if there is one: ``$SEGUE_CATALOG``, or ``segue/catalog.toml`` in the user's
    configuration directory."""
    named = os.environ.get("SEGUE_CATALOG")
    if named:
        return named
    settings = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    path = os.path.join(settings, "segue", "catalog.toml")
    return path if os.path.exists(path) else None


def _providers(document: Mapping[str, Any]) -> dict[str, Provider]:
    faults = Faults()
    found = _all_providers({}, document, faults)
    _stop_at("providers.toml", faults)
    return found


def _all_providers(base: Mapping[str, Provider], document: Mapping[str, Any], faults: Faults) -> dict[str, Provider]:
    return with_likes(_overlay(base, document.get("providers", {}), "providers", read_provider, faults), faults)


def _manual_models(
    document: Mapping[str, Any], providers: Mapping[str, Provider], generated: Mapping[str, ModelRow]
) -> dict[str, ModelRow]:
    """Return the generated rows, overridden by those that are maintained by hand."""
    faults = Faults()
    found = _with_models(generated, document, providers, faults)
    _stop_at("providers.toml", faults)
    return found


def _with_models(
    base: Mapping[str, ModelRow], document: Mapping[str, Any], providers: Mapping[str, Provider], faults: Faults
) -> dict[str, ModelRow]:
    models = _overlay(base, document.get("models", {}), "models", read_model, faults)
    for ref, row in models.items():
        if row is not base.get(ref):
            faults += [f'models."{ref}".{text}' for text in model_faults(row, providers)]
    return models


def _families(path: Path) -> tuple[Family, ...]:
    faults = Faults()
    tables = _toml(path).get("families", [])
    found = [read_family(table, f"families[{index}]", faults) for index, table in enumerate(tables)]
    _stop_at(path.name, faults)
    return tuple(family for family in found if family is not None)


def _models(path: Path, providers: Mapping[str, Provider]) -> dict[str, ModelRow]:
    """Read the generated rows. They are decoded together; only if that fails, row by row to find all faults."""
    data, faults = path.read_bytes(), Faults()
    try:
        rows = msgspec.json.decode(data, type=ModelsFile).models
    except msgspec.ValidationError:
        rows = _row_by_row(data, faults)
    for index, row in enumerate(rows):
        place = f"models[{index}] ({row.ref})"
        for protocol, cells in row.dialect.items():
            read_cells(protocol, cells, f"{place}.dialect.{protocol}", faults)
        faults += [f"{place}.{text}" for text in model_faults(row, providers)]
    _stop_at(path.name, faults)
    return {row.ref: row for row in rows}


def _row_by_row(data: bytes, faults: Faults) -> tuple[ModelRow, ...]:
    document = msgspec.json.decode(data)
    tables = document.get("models", []) if isinstance(document, dict) else []
    build(ModelsFile, {**document, "models": []} if isinstance(document, dict) else document, "file", faults)
    rows = [build(ModelRow, table, f"models[{index}]", faults) for index, table in enumerate(tables)]
    return tuple(row for row in rows if row is not None)


def _overlay(
    base: Mapping[str, Row], tables: object, section: str, read: Reader[Row], faults: Faults
) -> dict[str, Row]:
    """Override ``base`` by ``tables``: rows that exist are changed field by field, others are added."""
    rows = dict(base)
    if not isinstance(tables, Mapping):
        faults.append(f"{section}: expected a table")
        return rows
    for name, table in tables.items():
        known = base.get(name)
        merged = table if known is None else _merge(_inherited(msgspec.to_builtins(known), table), table)
        row = read(name, merged, f'{section}."{name}"' if "." in name or "/" in name else f"{section}.{name}", faults)
        if row is not None:
            rows[name] = row
    return rows


def _inherited(old: dict[str, Any], new: Any) -> dict[str, Any]:
    """Return what a changed row inherits: all but the dialects of protocols that it no longer speaks, and steps and
    tiers of prices that are replaced."""
    if not isinstance(new, Mapping):
        return old
    kept = dict(old)
    if isinstance(spoken := new.get("protocols"), list):
        kept["dialect"] = {name: cells for name, cells in old.get("dialect", {}).items() if name in spoken}
    if isinstance(new.get("cost"), Mapping):
        kept["cost"] = {name: price for name, price in old.get("cost", {}).items() if name not in ("steps", "tiers")}
    return kept


def _merge(old: Any, new: Any) -> Any:
    """Override ``old`` by ``new``, merging tables at every depth."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return new
    return {**old, **{key: _merge(old.get(key), value) for key, value in new.items()}}


def _toml(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise CatalogError(str(path), [f"cannot be read: {error.strerror or error}"]) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogError(str(path), [f"not TOML: {error}"]) from None
    except RecursionError:
        raise CatalogError(str(path), ["nested too deeply to be read"]) from None


def _stop_at(source: str, faults: Faults) -> None:
    if faults:
        raise CatalogError(source, faults)
