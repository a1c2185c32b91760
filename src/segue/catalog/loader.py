"""Read the catalog's files: the built-in ones and the user's. Each is read once, when it is first needed.

The built-in rows are read from two JSON files: ``models.json``, and ``compiled.json``, which is made of the TOML files
by ``scripts/compile_catalog.py`` (``make docs``) after all checks. Rows of models are decoded when they are used. A
user's file with faults raises one ``CatalogError`` that lists all of them.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..errors import CatalogError
from ..types import Model
from .check import Faults, build, model_faults, read_cells, read_family, read_model, read_provider, with_likes
from .refreshed import Refreshed, applied, read_refreshed
from .rows import Compiled, Family, ModelRow, ModelsFile, Provider, RawModels

HERE = Path(__file__).parent
SECTIONS = ("providers", "models", "families")
"""The sections of a user's file."""

FilePath = str | os.PathLike[str]
Row = TypeVar("Row", Provider, ModelRow)
Reader = Callable[[str, object, str, Faults], Row | None]


class Rows(Mapping[str, ModelRow]):
    """Rows of models by ``provider/model``, decoded when they are read, with newer facts in ``refreshed``."""

    def __init__(
        self, rows: Mapping[str, msgspec.Raw | ModelRow], refreshed: Mapping[str, Refreshed] | None = None
    ) -> None:
        self._rows = rows
        self._refreshed = refreshed or {}
        self._names = {**dict.fromkeys(rows), **dict.fromkeys(self._refreshed)} if refreshed else rows
        self._read: dict[str, ModelRow] = {}

    def __getitem__(self, ref: str) -> ModelRow:
        found = self._read.get(ref)
        if found is None:
            found = self._read[ref] = self._decoded(ref)
        return found

    def _decoded(self, ref: str) -> ModelRow:
        row = self._rows.get(ref)
        decoded = row if row is None or isinstance(row, ModelRow) else _ROW.decode(row)
        new = self._refreshed.get(ref)
        found = decoded if new is None else applied(decoded, new, ref)
        if found is None:
            raise KeyError(ref)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def refreshed(self, facts: Mapping[str, Refreshed]) -> "Rows":
        """The same rows, with newer facts."""
        return Rows(self._rows, facts)

    def changed(self, rows: Mapping[str, ModelRow]) -> "Rows":
        """These rows, and those of ``rows`` in their place or beside them."""
        if not rows:
            return self
        return Rows({**self._rows, **rows}, {ref: new for ref, new in self._refreshed.items() if ref not in rows})


_ROW = msgspec.json.Decoder(ModelRow)


class Tables(msgspec.Struct, frozen=True, eq=False):
    """All rows, after the checks."""

    providers: dict[str, Provider]
    models: Rows
    families: tuple[Family, ...]
    # The user's file, as it was read, and its families, which are the last of all.
    user: dict[str, Any] = {}
    user_families: tuple[Family, ...] = ()
    # Models that were resolved before, by name and protocol.
    resolved: dict[tuple[str, str | None], Model] = msgspec.field(default_factory=dict)
    # The names of all models, once they were asked for.
    _names: list[str] = msgspec.field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The names of all models, by provider (in the order of the file) and id."""
        if not self._names:
            of: dict[str, list[str]] = {provider: [] for provider in self.providers}
            for ref in self.models:
                of[ref.partition("/")[0]].append(ref)
            for names in of.values():
                names.sort()
                self._names.extend(names)
        return self._names


@cache
def built_in() -> Tables:
    """Return the built-in rows."""
    compiled = msgspec.json.decode((HERE / "compiled.json").read_bytes(), type=Compiled)
    generated = msgspec.json.decode((HERE / "models.json").read_bytes(), type=RawModels).models
    return Tables(compiled.providers, Rows({**generated, **compiled.models}), compiled.families)


@lru_cache(maxsize=4)
def _refreshed(path: str, changed: int) -> Tables:
    base = built_in()
    known = {ref: new for ref, new in read_refreshed(path).models.items() if ref.partition("/")[0] in base.providers}
    return msgspec.structs.replace(base, models=base.models.refreshed(known), resolved={}, _names=[]) if known else base


def with_refreshed(path: str) -> Tables:
    """Return the built-in rows with the newer facts in the file at ``path``, if there is one."""
    try:
        changed = os.stat(path).st_mtime_ns
    except (OSError, ValueError):
        return built_in()
    return _refreshed(path, changed)


def with_file(file: FilePath, base: Tables | None = None) -> Tables:
    """Return the built-in rows, or those of ``base``, overridden by those of a user's file. The file is read again only
    if it has changed."""
    path = os.fspath(file)
    try:
        changed = os.stat(path).st_mtime_ns
    except OSError as error:
        raise CatalogError(path, [f"cannot be read: {error.strerror or error}"]) from None
    except ValueError as error:  # not a path: it contains a NUL, for example
        raise CatalogError(path, [f"cannot be read: {error}"]) from None
    return _with_file(path, changed, base or built_in())


@lru_cache(maxsize=8)
def _with_file(path: str, changed: int, base: Tables) -> Tables:
    document, faults = _toml(Path(path)), Faults()
    unknown = [name for name in document if name not in SECTIONS]
    faults += [f"{name}: unknown section; the sections are {', '.join(SECTIONS)}" for name in unknown]
    providers = _all_providers(base.providers, document, faults)
    models = base.models.changed(_changed_models(base.models, document, providers, faults))
    added = _families(document, faults)
    _stop_at(path, faults)
    return Tables(providers, models, (*base.families, *added), document, added)


def user_file() -> str | None:
    """Return the path of the user's file, if there is one: ``$SEGUE_CATALOG``, or ``segue/catalog.toml`` in the user's
    configuration directory."""
    named = os.environ.get("SEGUE_CATALOG")
    if named:
        return named
    settings = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    path = os.path.join(settings, "segue", "catalog.toml")
    return path if os.path.exists(path) else None


# -- the sources of the built-in rows ----------------------------------------------------------------------------------


def compiled() -> Compiled:
    """Check all built-in files, and return what ``compiled.json`` has to contain."""
    manual, faults = _toml(HERE / "providers.toml"), Faults()
    providers = _all_providers({}, manual, faults)
    _stop_at("providers.toml", faults)
    generated = _generated(HERE / "models.json", providers)
    models = _changed_models(generated, manual, providers, faults)
    _stop_at("providers.toml", faults)
    families = _families(_toml(HERE / "families.toml"), faults)
    _stop_at("families.toml", faults)
    return Compiled(providers=providers, families=families, models=models)


def _generated(path: Path, providers: Mapping[str, Provider]) -> dict[str, ModelRow]:
    """Read the generated rows. They are decoded together; only if that fails, row by row to find all faults."""
    data, faults = path.read_bytes(), Faults()
    try:
        rows = msgspec.json.decode(data, type=ModelsFile).models
    except msgspec.ValidationError:
        rows = _row_by_row(data, faults)
    for ref, row in rows.items():
        if ref != row.ref:
            faults.append(f"models.{ref}: the row is that of {row.ref}")
        for protocol, cells in row.dialect.items():
            read_cells(protocol, cells, f"models.{ref}.dialect.{protocol}", faults)
        faults += [f"models.{ref}.{text}" for text in model_faults(row, providers)]
    _stop_at(path.name, faults)
    return rows


def _row_by_row(data: bytes, faults: Faults) -> dict[str, ModelRow]:
    document = msgspec.json.decode(data)
    tables = document.get("models", {}) if isinstance(document, dict) else {}
    build(ModelsFile, {**document, "models": {}} if isinstance(document, dict) else document, "file", faults)
    rows = {ref: build(ModelRow, table, f"models.{ref}", faults) for ref, table in tables.items()}
    return {ref: row for ref, row in rows.items() if row is not None}


# -- sections ----------------------------------------------------------------------------------------------------------


def _all_providers(base: Mapping[str, Provider], document: Mapping[str, Any], faults: Faults) -> dict[str, Provider]:
    changed = _changed(base, document.get("providers", {}), "providers", read_provider, faults)
    return with_likes({**base, **changed}, faults)


def _changed_models(
    base: Mapping[str, ModelRow], document: Mapping[str, Any], providers: Mapping[str, Provider], faults: Faults
) -> dict[str, ModelRow]:
    models = _changed(base, document.get("models", {}), "models", read_model, faults)
    for ref, row in models.items():
        faults += [f'models."{ref}".{text}' for text in model_faults(row, providers)]
    return models


def _families(document: Mapping[str, Any], faults: Faults) -> tuple[Family, ...]:
    tables = document.get("families", [])
    if not isinstance(tables, list):
        faults.append("families: expected a list of tables: [[families]]")
        return ()
    found = [read_family(table, f"families[{index}]", faults) for index, table in enumerate(tables)]
    return tuple(family for family in found if family is not None)


def _changed(
    base: Mapping[str, Row], tables: object, section: str, read: Reader[Row], faults: Faults
) -> dict[str, Row]:
    """Read ``tables``: rows that ``base`` has are changed field by field, others are added."""
    if not isinstance(tables, Mapping):
        faults.append(f"{section}: expected a table")
        return {}
    rows: dict[str, Row] = {}
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
        kept |= {name: _only(kept.get(name, {}), spoken) for name in ("dialect", "base_urls")} | {"routes": []}
    if isinstance(new.get("cost"), Mapping):
        kept["cost"] = {name: price for name, price in old.get("cost", {}).items() if name not in ("steps", "tiers")}
    return kept


def _only(table: Mapping[str, Any], names: list[Any]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name in names}


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
