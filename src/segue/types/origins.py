"""The origin of an answer as a value, and the interface of what knows origins, such as a ledger."""

from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from .messages import AssistantMessage
from .model import Model


class Origin(Struct, frozen=True, omit_defaults=True):
    """Where an answer came from: provider, protocol, the requested model, and the fingerprint of the endpoint."""

    provider: str
    protocol: str
    model: str
    endpoint: str | None = None

    @classmethod
    def of(cls, maker: Model | AssistantMessage) -> "Origin":
        """The origin of the answers of a model, or of an answer."""
        model = maker.id if isinstance(maker, Model) else maker.model
        return cls(maker.provider, maker.protocol, model, maker.endpoint)

    def mark(self, message: AssistantMessage) -> AssistantMessage:
        """The same answer, with this origin."""
        return replace(
            message, provider=self.provider, protocol=self.protocol, model=self.model, endpoint=self.endpoint
        )


class Origins(Protocol):
    """Knows who made the answers in a request body, which does not name their makers."""

    def origin_of(self, message: AssistantMessage) -> Origin | None:
        """The origin of an answer as a body contains it, or ``None`` if it is not known."""
