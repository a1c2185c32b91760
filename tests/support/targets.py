"""Models to render for: one for each distinct dialect of the catalog."""

from functools import cache

from segue.catalog import Catalog
from segue.dialects import Dialect
from segue.types import Model


@cache
def built_in() -> Catalog:
    return Catalog.load(None)


@cache
def every() -> tuple[Model, ...]:
    """Every model that has a row, once for each protocol of its provider. Thousands: resolving them takes a second."""
    return tuple(built_in().resolve_all())


@cache
def distinct() -> dict[str, Model]:
    """Every combination of the fields that projection reads, by the name of the first model that has it."""
    return _distinct(tuple(name for name in Dialect.__struct_fields__ if not name.startswith("schema_")))


@cache
def distinct_on_the_wire(protocol: str) -> dict[str, Model]:
    """Every distinct dialect of a protocol, with the first model that has it, one that reads images if there is one.

    Models without a row are among them if their dialect is another one.
    """
    found: dict[Dialect, Model] = {}
    for model in (*_spoken(protocol), *_unknown(protocol)):
        known = found.get(model.dialect)
        if known is None or ("image" in model.input and "image" not in known.input and known.known):
            found[model.dialect] = model
    return {model.ref: model for model in found.values()}


@cache
def of_every_provider(protocol: str) -> dict[str, Model]:
    """The same, and one model of each provider, and one without a row."""
    first = {model.provider: model for model in reversed(_spoken(protocol))}
    return distinct_on_the_wire(protocol) | {model.ref: model for model in (*first.values(), *_unknown(protocol))}


@cache
def _spoken(protocol: str) -> list[Model]:
    return [model for model in every() if model.protocol == protocol]


def _unknown(protocol: str) -> list[Model]:
    speaking = [provider for provider in built_in().providers.values() if protocol in provider.protocols]
    return [built_in().resolve(f"{provider.id}/nobody-knows", protocol) for provider in speaking]


def spread(examples: int) -> int:
    """The number of examples for each of the targets of ``distinct``, so that many targets do not take more time."""
    return max(2, examples * 95 // len(distinct()))


def _distinct(fields: tuple[str, ...]) -> dict[str, Model]:
    found: dict[tuple[object, ...], Model] = {}
    for model in every():
        read = tuple(getattr(model.dialect, name) for name in fields)
        found.setdefault((model.protocol, model.input, *read), model)
    return {f"{model.ref} ({model.protocol})": model for model in found.values()}
