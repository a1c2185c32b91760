"""The origin of an answer. Signatures, encrypted reasoning and ids go back only to the origin that made them."""

from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import assert_never

from ..dialects import REASONING_FIELDS
from ..types import AssistantMessage, Model, ProviderContent, TextContent, ThinkingContent, ToolCall

UPSTREAM = "|"
"""Separates the fingerprint of an endpoint from the upstream behind it."""

STORED = "transcript:"
"""Begins the endpoint of an answer that another tool stored. It equals only itself, even if a model has no endpoint:
nothing shows which account the answer came from."""


def with_upstream(endpoint: str | None, upstream: str | None) -> str | None:
    """The endpoint of an answer that came from ``upstream``."""
    return f"{endpoint or ''}{UPSTREAM}{upstream}" if upstream else endpoint


def upstream_of(message: AssistantMessage) -> tuple[str | None, str]:
    """The model that answered and the upstream that runs it, as far as a router has reported them."""
    return message.response_model, (message.endpoint or "").partition(UPSTREAM)[2]


def _same_endpoint(message: AssistantMessage, model: Model) -> bool:
    """Whether the endpoints are equal, where both are known; the upstream is not part of it."""
    if message.endpoint == model.endpoint or message.endpoint is None:
        return True
    if model.endpoint is None:
        return not message.endpoint.startswith(STORED)
    return message.endpoint.partition(UPSTREAM)[0] in ("", model.endpoint)


def same_origin(message: AssistantMessage, model: Model) -> bool:
    """Equal provider, protocol and model id, and equal endpoint where both sides know theirs. An answer is foreign if
    the endpoint has refused its signatures."""
    return (
        message.model == model.id
        and message.provider == model.provider
        and message.protocol == model.protocol
        and (message.endpoint == model.endpoint or _same_endpoint(message, model))
        and not (model.foreign and _was_refused(message, model))
    )


def same_account(message: AssistantMessage, model: Model) -> bool:
    """Equal provider, protocol and endpoint: the same model, or another one of the same account."""
    return (
        message.provider == model.provider
        and message.protocol == model.protocol
        and _same_endpoint(message, model)
        and not (model.foreign and _was_refused(message, model))
    )


def _was_refused(message: AssistantMessage, model: Model) -> bool:
    return any(digest in model.foreign for digest in signature_digests(message))


def signature_digests(message: AssistantMessage) -> Iterator[str]:
    """The digests of the signatures in an answer, as ``Model.foreign`` has them."""
    for block in message.content:
        if type(block) is TextContent:
            signature = block.text_signature
        elif type(block) is ThinkingContent:
            signature = None if block.thinking_signature in REASONING_FIELDS else block.thinking_signature
        elif type(block) is ToolCall:
            signature = block.thought_signature
        elif type(block) is ProviderContent:
            signature = bytes(block.raw).decode()
        else:
            assert_never(block)
        if signature is not None:
            yield _digest(signature)


@lru_cache(maxsize=4096)
def _digest(signature: str) -> str:
    return blake2b(signature.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
