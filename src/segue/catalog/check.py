"""Check rows. All faults are collected, each with its place; nothing is repaired."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, TypeVar, get_args

import msgspec
from msgspec import Struct

from ..dialects import DIALECTS
from .rows import RATES, Cells, Family, ModelRow, Provider, RowCost, RowRates

Record = TypeVar("Record", bound=Struct)
Table = Mapping[str, Any]
Faults = list[str]


def build(kind: type[Record], table: object, place: str, faults: Faults) -> Record | None:
    """Make a record of ``kind`` from ``table``, or return ``None`` and add one fault for every wrong field."""
    if not isinstance(table, Mapping):
        faults.append(f"{place}: expected a table")
        return None
    fields = _fields(kind)
    found = [f"{place}.{name}: unknown field{_near(name, fields)}" for name in table if name not in fields]
    values: dict[str, Any] = {}
    for name, entry in fields.items():
        if name not in table:
            found += [f"{place}.{name}: missing"] if entry.required else []
            continue
        try:
            values[name] = msgspec.convert(table[name], entry.type)
        except msgspec.ValidationError as error:
            found.append(f"{place}.{name}: {_reason(error)}")
    faults += found
    return None if found else kind(**values)


@cache
def _fields(kind: type[Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {entry.name: entry for entry in msgspec.structs.fields(kind)}


def _reason(error: msgspec.ValidationError) -> str:
    """Return msgspec's text, with the path inside the field (if any) in front."""
    text, _, path = str(error).partition(" - at `$")
    inner = path.rstrip("`").lstrip(".")
    return f"{inner}: {text}" if inner else text


def _near(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    match = get_close_matches(name, list(known), n=1)
    return f" (did you mean {match[0]}?)" if match else ""


def read_cells(protocol: str, table: object, place: str, faults: Faults) -> Cells:
    """Check the cells of ``protocol``, and replace empty strings by null where a cell may be null."""
    record = DIALECTS.get(protocol)
    if record is None:
        faults.append(f"{place}: unknown protocol{_near(protocol, DIALECTS)}; the protocols are {', '.join(DIALECTS)}")
        return {}
    if not isinstance(table, Mapping):
        faults.append(f"{place}: expected a table of cells")
        return {}
    cells = {name: None if value == "" and may_be_null(record, name) else value for name, value in table.items()}
    before = len(faults)
    build(record, cells, place, faults)
    return cells if len(faults) == before else {}


def may_be_null(record: type[Struct], name: str) -> bool:
    """Whether a cell may be null."""
    entry = _fields(record).get(name)
    return entry is not None and type(None) in get_args(entry.type)


def read_dialects(table: object, place: str, faults: Faults) -> dict[str, Cells]:
    """Read the cells of every protocol in a ``dialect`` table."""
    if not isinstance(table, Mapping):
        faults.append(f"{place}: expected one table of cells for each protocol")
        return {}
    return {protocol: read_cells(protocol, cells, f"{place}.{protocol}", faults) for protocol, cells in table.items()}


def read_provider(name: str, table: object, place: str, faults: Faults) -> Provider | None:
    """Make a row from a provider's table."""
    if not isinstance(table, Mapping):
        faults.append(f"{place}: expected a table")
        return None
    if not name or name != name.lower() or any(mark in name for mark in "/: "):
        faults.append(f"{place}: the name must be in lower case, without slash, colon or space")
    dialect = read_dialects(table.get("dialect", {}), f"{place}.dialect", faults)
    provider = build(Provider, {**table, "id": name, "dialect": dialect}, place, faults)
    if provider is not None:
        faults += [f"{place}.{text}" for text in _provider_faults(provider)]
    return provider


def _provider_faults(provider: Provider) -> Iterator[str]:
    for protocol in provider.protocols:
        if protocol not in DIALECTS:
            yield f"protocols: unknown protocol {protocol!r}{_near(protocol, DIALECTS)}"
    for protocol in provider.dialect:
        if protocol in DIALECTS and protocol not in provider.protocols:
            yield f"dialect.{protocol}: not one of its protocols ({', '.join(provider.protocols)})"
    for protocol in provider.base_urls:
        if protocol not in provider.protocols:
            yield f"base_urls.{protocol}: not one of its protocols ({', '.join(provider.protocols)})"
    for index, route in enumerate(provider.routes):
        for protocol in route.protocols:
            if protocol not in provider.protocols:
                yield f"routes[{index}].protocols: {protocol!r} is not one of its protocols"
        for glob in route.models:
            if glob != glob.lower():
                yield f"routes[{index}].models: {glob!r} must be in lower case"
    for index, form in enumerate(provider.names):
        if reason := _pattern_fault(form.pattern):
            yield f"names[{index}].pattern: {reason}"
    if provider.defaults.max_tokens > provider.defaults.context_window:
        yield "defaults.max_tokens: larger than context_window"


def _pattern_fault(pattern: str) -> str | None:
    try:
        groups = re.compile(pattern).groupindex
    except (re.error, RecursionError, OverflowError) as error:
        return f"not a regular expression: {error}"
    return None if "base" in groups else "must have a group named base: (?P<base>…)"


def with_likes(providers: Mapping[str, Provider], faults: Faults) -> dict[str, Provider]:
    """Complete the dialects of providers that are ``like`` another one: its cells, overridden by their own."""
    found = dict(providers)
    for name, provider in providers.items():
        if provider.like is None:
            continue
        other = providers.get(provider.like)
        if other is None or other.like is not None:
            reason = "unknown provider" if other is None else "is itself like another one:"
            faults.append(f"providers.{name}.like: {reason} {provider.like!r}")
            continue
        dialect = {
            protocol: {**other.dialect.get(protocol, {}), **provider.dialect.get(protocol, {})}
            for protocol in provider.protocols
        }
        found[name] = msgspec.structs.replace(
            provider, dialect={protocol: cells for protocol, cells in dialect.items() if cells}
        )
    return found


def read_model(ref: str, table: object, place: str, faults: Faults) -> ModelRow | None:
    """Make a row from a model's table; ``ref`` is ``provider/id``."""
    provider, slash, model_id = ref.partition("/")
    if not (provider and slash and model_id):
        faults.append(f'{place}: the name must be "provider/model"')
        return None
    if not isinstance(table, Mapping):
        faults.append(f"{place}: expected a table")
        return None
    dialect = read_dialects(table.get("dialect", {}), f"{place}.dialect", faults)
    return build(ModelRow, {**table, "provider": provider, "id": model_id, "dialect": dialect}, place, faults)


def model_faults(row: ModelRow, providers: Mapping[str, Provider]) -> Iterator[str]:
    """Yield the faults of a well-formed row that only all providers together show."""
    provider = providers.get(row.provider)
    if provider is None:
        yield f"provider: unknown provider {row.provider!r}{_near(row.provider, providers)}"
        return
    if row.base is not None:
        yield "base: only rows that are made for other forms of a name have it"
    window = row.context_window or provider.defaults.context_window
    if (row.max_tokens or 0) > window:
        yield f"max_tokens: {row.max_tokens} is larger than the context window of {window}"
    if (row.max_input_tokens or 0) > window:
        yield f"max_input_tokens: {row.max_input_tokens} is larger than the context window of {window}"
    yield from price_faults(row.cost)
    if row.protocol is not None and row.protocol not in provider.protocols:
        yield f"protocol: {row.provider} speaks {', '.join(provider.protocols)}, not {row.protocol}"
    for protocol in row.dialect:
        if protocol in DIALECTS and protocol not in provider.protocols:
            yield f"dialect.{protocol}: {row.provider} speaks {', '.join(provider.protocols)}"


def price_faults(cost: RowCost) -> Iterator[str]:
    """Yield the faults of prices: a longer prompt must not cost less, so no price may fall from step to step."""
    for place, prices in [("cost", cost), *((f"cost.tiers.{name}", tier) for name, tier in cost.tiers.items())]:
        before: RowRates = prices
        reached = 0
        for index, step in enumerate(prices.steps):
            if step.above <= reached:
                yield f"{place}.steps[{index}].above: must be larger than {reached}"
            for name in RATES:
                old, new = getattr(before, name), getattr(step, name)
                if old is not None and new is not None and new < old:
                    yield f"{place}.steps[{index}].{name}: {new:g} is less than {old:g} for a shorter prompt"
            before, reached = step, step.above


def read_family(table: object, place: str, faults: Faults) -> Family | None:
    """Make a row from a family's table."""
    family = build(Family, table, place, faults)
    if family is None:
        return None
    faults += [f"{place}.models: {glob!r} must be in lower case" for glob in family.models if glob != glob.lower()]
    cells = read_cells(family.protocol, family.dialect, f"{place}.dialect", faults)
    return msgspec.structs.replace(family, dialect=cells)
