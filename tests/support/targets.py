"""Models to render for: one for each distinct dialect of the catalog."""

from functools import cache

from segue.catalog import Catalog
from segue.dialects import Dialect
from segue.types import Model


@cache
def built_in() -> Catalog:
    return Catalog.load(None)


@cache
def distinct() -> dict[str, Model]:
    """Every combination of the fields that projection reads, by the name of the first model that has it."""
    return _distinct(tuple(name for name in Dialect.__struct_fields__ if not name.startswith("schema_")))


@cache
def distinct_on_the_wire(protocol: str) -> dict[str, Model]:
    """The same for the fields that the encoder of a protocol reads, and one model of each provider."""
    found: dict[tuple[object, ...], Model] = {}
    for model in built_in().resolve_all():
        if model.protocol == protocol:
            found.setdefault((model.dialect, model.input, model.reasoning), model)
            found.setdefault((model.provider,), model)
    for provider in built_in().providers.values():
        if protocol in provider.protocols:
            found.setdefault((provider.id, "unknown"), built_in().resolve(f"{provider.id}/nobody-knows", protocol))
    return {model.ref: model for model in found.values()}


def _distinct(fields: tuple[str, ...]) -> dict[str, Model]:
    found: dict[tuple[object, ...], Model] = {}
    for model in built_in().resolve_all():
        read = tuple(getattr(model.dialect, name) for name in fields)
        found.setdefault((model.protocol, model.input, *read), model)
    return {f"{model.ref} ({model.protocol})": model for model in found.values()}
