"""Tool schemas as a target accepts them.

``adapt`` changes a copy of a schema to the form that the dialect names (``dialects/schemas.py``). Every change keeps
the meaning or accepts more than before, and all are reported; a schema that has the form is returned unchanged. A
schema without a type is read as its keywords imply. ``refused`` is the other side: what a target refuses.
"""

from typing import Any, NamedTuple

from ....dialects import SCHEMA_SHAPES, Dialect, SchemaShape
from .faults import refused as refused
from .keywords import Notes, Schema, well_formed
from .parts import adapted_parts
from .references import recursive as recursive, without_references
from .roots import ALTERNATIVES as ALTERNATIVES, adapted_root
from .subset import to_subset
from .unions import known_required, simple_unions, typed

_SHOWN = 6
"""How many places a text names."""


class Adapted(NamedTuple):
    """A schema for a target; what was changed, and which of its parts accept more than before."""

    schema: Schema
    changes: tuple[str, ...] = ()
    loosened: tuple[str, ...] = ()

    @property
    def text(self) -> str | None:
        """The changes as a text; ``None`` if there are none."""
        texts = list(self.changes)
        if self.loosened:
            shown = "; ".join(self.loosened[:_SHOWN])
            more = f"; {len(self.loosened) - _SHOWN} more" if len(self.loosened) > _SHOWN else ""
            texts.append(f"accepts more than before ({shown}{more})")
        return "; ".join(texts) or None


def shape_of(dialect: Dialect) -> SchemaShape:
    """What a dialect accepts."""
    shape = SCHEMA_SHAPES[dialect.schema_form]
    return shape if dialect.schema_refs is None else shape._replace(refs=dialect.schema_refs)


def adapt(schema: Any, shape: SchemaShape) -> Adapted:
    """The schema in a form that the target accepts. ``schema`` itself is not changed."""
    notes = Notes()
    made = adapted_root(well_formed(schema, shape.draft, notes) if schema is not None else None, shape, notes)
    made = without_references(adapted_parts(made, shape, notes), shape.refs, notes)
    if shape.unions == "alone":
        made = simple_unions(made, shape, notes)
    if shape.typed:
        made = typed(made, shape, notes)
    if shape.known_required:
        made = known_required(made, shape, notes)
    if shape.subset:
        made = to_subset(made, notes)
    if made == schema:
        return Adapted(schema)
    return Adapted(made, tuple(notes.changes), tuple(notes.loosened))
