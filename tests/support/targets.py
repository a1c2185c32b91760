"""Models to render for: one for each distinct dialect of the catalog, as far as projection can tell them apart."""

from functools import cache

from segue.catalog import Catalog
from segue.dialects import Dialect
from segue.types import Model


@cache
def built_in() -> Catalog:
    return Catalog.load(None)


@cache
def distinct() -> dict[str, Model]:
    """By name of the first model that has it: every combination of what projection reads."""
    found: dict[tuple[object, ...], Model] = {}
    for model in built_in().resolve_all():
        read = (
            model.protocol,
            "image" in model.input,
            *(getattr(model.dialect, name) for name in Dialect.__struct_fields__),
        )
        found.setdefault(read, model)
    return {f"{model.ref} ({model.protocol})": model for model in found.values()}
