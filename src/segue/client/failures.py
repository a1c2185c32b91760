"""The error class of a failure, from the HTTP status and the text of the provider, as tables."""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from ..errors import (
    AuthenticationError,
    ContextOverflowError,
    InvalidRequestError,
    ModelNotFoundError,
    NetworkError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RefusedError,
    ServerError,
)
from ..rules import is_overflow_text
from ..types import AssistantMessage
from ..types.secret import LONGEST_TEXT
from .missing import IS_GONE, IS_NAMED

KINDS: dict[str, type[ProviderError]] = {
    kind.kind: kind
    for kind in (
        RateLimitError,
        QuotaError,
        OverloadedError,
        ServerError,
        NetworkError,
        AuthenticationError,
        ModelNotFoundError,
        InvalidRequestError,
        ContextOverflowError,
        RefusedError,
    )
}

STATUSES: dict[int, type[ProviderError]] = {
    401: AuthenticationError,
    402: QuotaError,
    403: AuthenticationError,
    404: ModelNotFoundError,
    408: NetworkError,
    410: ModelNotFoundError,
    413: InvalidRequestError,
    424: ServerError,  # Bedrock: the model failed
    429: RateLimitError,
    500: ServerError,
    502: ServerError,
    503: OverloadedError,
    504: ServerError,
    529: OverloadedError,  # Anthropic
}
"""Other statuses from 500 on are ``ServerError``, others from 400 on ``InvalidRequestError``. Statuses below 400 are
redirects or invalid, so they are ``NetworkError``."""

# Phrases that are more exact than the status, or come in a stream that began with 200. The first match is used.
# OpenAI: `insufficient_quota` with 429; Anthropic: "Your credit balance is too low" with 400; DeepSeek: "Insufficient
# Balance". Error types: anthropic 2.8.0 `types/shared/*_error.py`, google.rpc.Code, Bedrock's exceptions (2026-11).
PHRASES: tuple[tuple[type[ProviderError], str], ...] = (
    (QuotaError, r"insufficient[_ ](quota|balance|credit)|credit balance|billing_(hard|not)|exceeded your current"),
    (OverloadedError, r"overloaded|service ?unavailable|\bUNAVAILABLE\b|at capacity|capacity exceeded|high demand"),
    (RateLimitError, r"rate[_ ]?limit|too many requests|throttl|RESOURCE_EXHAUSTED|tokens per minute"),
    (AuthenticationError, r"authentication|permission|unauthori[sz]ed|api[_ ]key|accessdenied|UNAUTHENTICATED"),
    (RefusedError, r"content_?filter|responsibleai|content management policy"),
    (ServerError, r"api_error|server_?error|internal ?(server|error)|\bINTERNAL\b|modelstreamerror|time(d )?out"),
    (InvalidRequestError, r"invalid_?request|validationexception|INVALID_ARGUMENT|not_found"),
)
_PHRASES = [(re.compile(pattern, re.IGNORECASE), kind) for kind, pattern in PHRASES]

REQUEST_IDS = (
    "request-id",
    "x-request-id",
    "x-amzn-requestid",
    "apim-request-id",
    "x-goog-request-id",
    "mistral-correlation-id",
    "cf-ray",
)


def kind_of(text: str, status: int | None, provider: str = "") -> type[ProviderError]:
    """The error class of a failure that the provider reported. Only the beginning of a long text is searched."""
    text = text[:LONGEST_TEXT]
    if status is not None and status < 400:
        return NetworkError
    if is_overflow_text(text, provider):
        return ContextOverflowError
    if status in (401, 403, 503, 529):
        return STATUSES[status]
    if status in _MAY_BE_GONE:
        if IS_NAMED.search(text):
            return InvalidRequestError
        if IS_GONE.search(text):
            return ModelNotFoundError
    for pattern, kind in _PHRASES:
        if pattern.search(text) and (status is None or kind in _OVERRIDES.get(status, ())):
            return kind
    if status is None:
        return ServerError
    return STATUSES.get(status) or (ServerError if status >= 500 else InvalidRequestError)


_MAY_BE_GONE = (None, 400, 404, 410, 422)
"""The statuses with which providers report an unknown model; ``None`` is a stream that began with 200."""


# The classes that a phrase may choose for a status. A 500, for example, is never a bad request, whatever its text.
_OVERRIDES: dict[int, tuple[type[ProviderError], ...]] = {
    400: (QuotaError, OverloadedError, RateLimitError, AuthenticationError, RefusedError),
    413: (RateLimitError,),  # Groq: "tokens per minute"
    422: (QuotaError, RefusedError),
    429: (QuotaError, OverloadedError),
    500: (OverloadedError, RateLimitError),
}


# Stop reasons that are failures of the model or the provider and not refusals (Gemini, Bedrock, Z.ai, DeepSeek,
# OpenRouter, Mistral; 2026-11). A retry may help.
_FAILED_STOPS = re.compile(
    r"^(malformed|unexpected_tool_call|too_many_tool_calls|network_error|insufficient_system|error|other)", re.I
)


def kind_of_stop(text: str) -> type[ProviderError]:
    """The error class of an answer whose stop reason is a failure."""
    return ServerError if _FAILED_STOPS.match(text) else RefusedError


def request_id(headers: Mapping[str, str]) -> str | None:
    return next((headers[name] for name in REQUEST_IDS if headers.get(name)), None)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The wait in seconds that the provider asks for: ``retry-after-ms``, seconds, or a date."""
    if milliseconds := _number(headers.get("retry-after-ms")):
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None or (seconds := _number(value)) is not None:
        return None if value is None else seconds
    try:
        wait = parsedate_to_datetime(value).timestamp() - now
    except (ValueError, TypeError, IndexError, ArithmeticError, OSError):  # not a valid date
        return None
    return max(0.0, wait) if wait < LONGEST_WAIT else None


LONGEST_WAIT = 1e9
"""Longer waits, in seconds, are ignored."""


def _number(text: str | None) -> float | None:
    try:
        found = float(text) if text is not None else -1.0
    except ValueError:
        return None
    return found if 0 <= found < LONGEST_WAIT else None


def error_of(message: AssistantMessage) -> ProviderError | None:
    """The error of a failed answer, from the message that the client returned or that was stored."""
    for each in message.diagnostics:
        if each.type == "provider-error" and each.details:
            kind = KINDS.get(str(each.details.get("kind")), ProviderError)
            return kind(
                message.error_message or "",
                provider=message.provider,
                model=message.model,
                status=each.details.get("status"),
                request_id=each.details.get("requestId"),
                retryable=each.details.get("retryable"),
                retry_after=each.details.get("retryAfter"),
                message=message,
            )
    return None
