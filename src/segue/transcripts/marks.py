"""What the form of a framework has no field for, in the metadata that it keeps for applications."""

from typing import Any

from .reading import object_of
from .source import Object

KEY = "segue"


def marked(field: str, **values: Any) -> Object:
    """The field with the values that are not empty; nothing if all are."""
    kept = {name: value for name, value in values.items() if value}
    return {field: {KEY: kept}} if kept else {}


def mark_of(metadata: Any) -> Object:
    """The values in a field of metadata."""
    return object_of(object_of(metadata).get(KEY))
