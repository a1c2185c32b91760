"""The target of a request: a model, its address, and its dialect."""

from typing import Any, Literal

from msgspec import field
from msgspec.structs import replace

from ..dialects import Dialect
from .secret import Guarded
from .usage import ModelCost

Modality = Literal["text", "image"]


class Model(Guarded, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A model as the catalog describes it."""

    id: str
    name: str
    provider: str
    protocol: str
    base_url: str
    input: tuple[Modality, ...] = field(default_factory=lambda: ("text",))
    reasoning: bool = field(default_factory=bool)
    context_window: int
    max_tokens: int
    cost: ModelCost = field(default_factory=ModelCost)
    headers: dict[str, str] = {}
    # The fingerprint that answers get (AssistantMessage.endpoint), if the client or the caller knows it.
    endpoint: str | None = None
    dialect: Dialect
    # False for a model without a row in the catalog: its limits and dialect are careful guesses, its prices unknown.
    known: bool = True

    @property
    def ref(self) -> str:
        """The name by which ``get_model`` finds it: ``provider/model``."""
        return f"{self.provider}/{self.id}"

    def replace(self, **changes: Any) -> "Model":
        """A copy with these fields changed: ``model.replace(base_url="http://localhost:8000")``."""
        return replace(self, **changes)
