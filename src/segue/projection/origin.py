"""Whose an answer is. Signatures, encrypted reasoning and ids go back only to the origin that made them."""

from ..types import AssistantMessage, Model


def same_origin(message: AssistantMessage, model: Model) -> bool:
    """Equal provider, protocol and model id, and equal endpoint where both sides know theirs."""
    return (
        message.model == model.id
        and message.provider == model.provider
        and message.protocol == model.protocol
        and (message.endpoint == model.endpoint or message.endpoint is None or model.endpoint is None)
    )


def same_account(message: AssistantMessage, model: Model) -> bool:
    """All of same origin but the model id: another model of the same account."""
    return (
        message.provider == model.provider
        and message.protocol == model.protocol
        and (message.endpoint == model.endpoint or message.endpoint is None or model.endpoint is None)
    )
