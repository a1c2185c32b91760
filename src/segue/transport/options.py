"""Fields of a user's body, other than the conversation, that a target has refused.

A user's options are carried over unchanged. Only what was learnt from a refusal (``Model.learnt``), or what a cure
names for this request, changes them.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ..rules import CELLS
from ..types import Model
from ..wire import LEVELS, nearest_level, without_fields

Body = dict[str, Any]

RENAMED = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""Fields that have another name on some targets."""
LIMITED = (
    ("max_tokens",),
    ("max_completion_tokens",),
    ("max_output_tokens",),
    ("generationConfig", "maxOutputTokens"),
)
"""The fields that limit the output."""
EFFORTS = (("reasoning_effort",), ("reasoning", "effort"))
"""The fields that set the level of reasoning."""


def with_facts(body: Body, model: Model, fields: frozenset[str]) -> Body:
    """``body`` as the model accepts it by what was learnt about these ``fields`` of it."""
    if not fields:
        return body
    found: set[str] = set()
    smaller: Body = without_fields(body, [path.split(".") for path in _refused(model, fields)], found)
    for path in found & RENAMED.keys():
        smaller = {**smaller, RENAMED[path]: body[path]}
    if "max_tokens" in fields:
        smaller = _changed(smaller, LIMITED, lambda value: _limited(value, model.max_tokens))
    if "effort" in fields:
        smaller = _changed(smaller, EFFORTS, lambda value: _level(value, model))
    return smaller


def _refused(model: Model, fields: frozenset[str]) -> list[str]:
    """The paths that the learnt cells of the dialect forbid."""
    dialect, paths = model.dialect, list(model.dialect.refused_fields)
    for path, cells in CELLS.get(model.protocol, {}).items():
        learnt = [name for name in cells if name in fields]
        if learnt and all(getattr(dialect, name) == cells[name] for name in learnt) and learnt[0] == next(iter(cells)):
            paths.append(path)
    return paths


def _changed(body: Body, paths: tuple[tuple[str, ...], ...], change: Callable[[Any], Any]) -> Body:
    for path in paths:
        inner: Any = body.get(path[0]) if len(path) == 2 else body
        if isinstance(inner, Mapping) and path[-1] in inner:
            new = change(inner[path[-1]])
            changed = {**inner, path[-1]: new}
            body = {**body, path[0]: changed} if len(path) == 2 else changed
    return body


def _limited(value: Any, limit: int) -> Any:
    return min(value, limit) if isinstance(value, int) and not isinstance(value, bool) else value


def _level(value: Any, model: Model) -> Any:
    """The nearest level that the model has."""
    known = getattr(model.dialect, "effort", ())
    return value if value in known or not known or value not in LEVELS else nearest_level(value, known)


def without_reasoning(body: Body, model: Model) -> Body:
    """``body`` with reasoning turned off, for this request."""
    smaller = {name: value for name, value in body.items() if name not in REASONING}
    if "thinking" in body and "disabled" in getattr(model.dialect, "thinking", ()):
        smaller["thinking"] = {"type": "disabled"}
    return smaller


REASONING = frozenset({"thinking", "output_config", "reasoning_effort", "reasoning"})
"""The fields that turn reasoning on."""
