"""The target of a request: a model, its address, and its dialect."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import field
from msgspec.structs import replace

from ..dialects import Dialect
from .secret import Guarded
from .usage import ModelCost

Modality = Literal["text", "image", "document", "audio", "video"]
"""A kind of input that a model accepts."""

LIMITS = frozenset({"input", "max_tokens"})
"""Fields of a model, not of its dialect, that a refused request may correct."""
ADDED_CELLS = frozenset({"refused_fields", "refused_keywords"})
"""Cells to which a correction adds entries; others are replaced."""


class Model(Guarded, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A model as the catalog describes it."""

    id: str
    name: str
    provider: str
    protocol: str
    base_url: str
    input: tuple[Modality, ...] = field(default_factory=lambda: ("text",))
    reasoning: bool = field(default_factory=bool)
    # All tokens of a request and its answer, and those of the answer alone.
    context_window: int
    max_tokens: int
    # The tokens of a request alone, where the provider limits them, too.
    max_input_tokens: int | None = None
    cost: ModelCost = field(default_factory=ModelCost)
    headers: dict[str, str] = {}
    # The fingerprint that answers get (AssistantMessage.endpoint), if the client or the caller knows it.
    endpoint: str | None = None
    dialect: Dialect
    # Fields that were learnt from a refused request, not from a row (docs/healing.md).
    learnt: tuple[str, ...] = ()
    # Digests of signatures that this endpoint has refused: the answers that have them count as foreign.
    foreign: frozenset[str] = frozenset()
    # False for a model without a row in the catalog: its limits and dialect are careful guesses, its prices unknown.
    known: bool = True
    # Whether it can call tools.
    tools: bool = True
    # The last day on which the provider serves it, as YYYY-MM-DD, if one is announced.
    retires: str | None = None
    # The fields above that no source states: careful assumptions.
    unverified: tuple[str, ...] = ()

    @property
    def ref(self) -> str:
        """The name by which ``get_model`` finds it: ``provider/model``."""
        return f"{self.provider}/{self.id}"

    def input_limit(self, answer: int = 0) -> int:
        """How many tokens may be sent if ``answer`` tokens are kept free for the answer."""
        return min(self.context_window - answer, self.max_input_tokens or self.context_window)

    def replace(self, **changes: Any) -> "Model":
        """A copy with these fields changed: ``model.replace(base_url="http://localhost:8000")``."""
        return replace(self, **changes)

    def amended(self, values: Mapping[str, Any]) -> "Model":
        """A copy with these cells of its dialect, or limits of its own. Names that it does not have are ignored."""
        limits = {name: value for name, value in values.items() if name in LIMITS}
        cells = {name: value for name, value in values.items() if name in self.dialect.__struct_fields__}
        for name in ADDED_CELLS & cells.keys():
            cells[name] = tuple(dict.fromkeys((*getattr(self.dialect, name), *cells[name])))
        if "max_tokens" in limits:
            limits["max_tokens"] = min(limits["max_tokens"], self.max_tokens)
        return replace(self, dialect=replace(self.dialect, **cells), **limits)
