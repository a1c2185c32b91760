"""The origin of an answer. Signatures, encrypted reasoning and ids go back only to the origin that made them."""

from ..types import AssistantMessage, Model

UPSTREAM = "|"
"""Separates the fingerprint of an endpoint from the upstream behind it."""


def with_upstream(endpoint: str | None, upstream: str | None) -> str | None:
    """The endpoint of an answer that came from ``upstream``."""
    return f"{endpoint or ''}{UPSTREAM}{upstream}" if upstream else endpoint


def upstream_of(message: AssistantMessage) -> tuple[str | None, str]:
    """The model that answered and the upstream that runs it, as far as a router has reported them."""
    return message.response_model, (message.endpoint or "").partition(UPSTREAM)[2]


def _same_endpoint(message: AssistantMessage, model: Model) -> bool:
    """Whether the endpoints are equal, where both are known; the upstream is not part of it."""
    if message.endpoint == model.endpoint or message.endpoint is None or model.endpoint is None:
        return True
    return message.endpoint.partition(UPSTREAM)[0] in ("", model.endpoint)


def same_origin(message: AssistantMessage, model: Model) -> bool:
    """Equal provider, protocol and model id, and equal endpoint where both sides know theirs."""
    return (
        message.model == model.id
        and message.provider == model.provider
        and message.protocol == model.protocol
        and (message.endpoint == model.endpoint or _same_endpoint(message, model))
    )


def same_account(message: AssistantMessage, model: Model) -> bool:
    """Equal provider, protocol and endpoint: the same model, or another one of the same account."""
    return message.provider == model.provider and message.protocol == model.protocol and _same_endpoint(message, model)
