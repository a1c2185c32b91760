"""The list of models, in the format of the caller."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..catalog import Catalog, ModelRow
from .clients import ANTHROPIC, CHAT, GEMINI

Body = dict[str, Any]
ANCIENT = "1970-01-01T00:00:00Z"


def _anthropic(name: str, row: ModelRow | None) -> Body:
    return {"type": "model", "id": name, "display_name": row.name or name if row else name, "created_at": ANCIENT}


def _openai(name: str, row: ModelRow | None) -> Body:
    return {"id": name, "object": "model", "created": 0, "owned_by": row.provider if row else "segue"}


def _gemini(name: str, row: ModelRow | None) -> Body:
    found: Body = {
        "name": f"models/{name}",
        "displayName": row.name or name if row else name,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    }
    if row is not None and row.context_window:
        found["inputTokenLimit"] = row.context_window
    if row is not None and row.max_tokens:
        found["outputTokenLimit"] = row.max_tokens
    return found


def _anthropic_list(models: list[Body]) -> Body:
    first, last = (models[0]["id"], models[-1]["id"]) if models else (None, None)
    return {"data": models, "has_more": False, "first_id": first, "last_id": last}


FORMATS: Mapping[str, tuple[Callable[[str, ModelRow | None], Body], Callable[[list[Body]], Body]]] = {
    ANTHROPIC: (_anthropic, _anthropic_list),
    CHAT: (_openai, lambda models: {"object": "list", "data": models}),
    GEMINI: (_gemini, lambda models: {"models": models}),
}
"""One model, and the list, in each format."""


def format_for(headers: Mapping[str, str]) -> str:
    """The format of the caller: Anthropic's clients send its version, Google's its key."""
    if "anthropic-version" in headers:
        return ANTHROPIC
    return GEMINI if "x-goog-api-key" in headers or "x-goog-api-client" in headers else CHAT


def listed(names: Sequence[str], form: str) -> Body:
    """The list of models."""
    write, together = FORMATS[form]
    return together([write(name, _row(name)) for name in names])


def one(name: str, form: str) -> Body:
    """One model."""
    return FORMATS[form][0](name, _row(name))


def _row(name: str) -> ModelRow | None:
    return Catalog.default().row(name)
