"""What the form of a framework has no field for, in the metadata that it keeps for applications."""

from typing import Any

from ..types import Context, ProviderContent
from ..types.text import count_of
from .reading import object_of
from .source import Object
from .values import Remark, Report

KEY = "segue"


def marked(field: str, **values: Any) -> Object:
    """The field with the values that are not empty; nothing if all are."""
    kept = {name: value for name, value in values.items() if value}
    return {field: {KEY: kept}} if kept else {}


def left_out(context: Context) -> tuple[Remark, ...]:
    """What no list of messages of a framework has a place for."""
    report = Report()
    if context.tools:
        report.add("tools-left-out", f"{count_of(len(context.tools), 'definition')} of tools")
    for at, message in enumerate(context.messages):
        if any(isinstance(block, ProviderContent) for block in message.content):
            report.add(
                "block-left-out", "content that only its provider can read; its text is kept", where=f"message {at}"
            )
    return tuple(report)


def mark_of(metadata: Any) -> Object:
    """The values in a field of metadata."""
    return object_of(object_of(metadata).get(KEY))
