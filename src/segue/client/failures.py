"""What kind of failure it was: from the status, where there is one, and from the provider's words, as rows."""

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
"""Any other status of 500 and above is a ``ServerError``, any other of 400 and above an ``InvalidRequestError``. What
is below is a redirect, or nothing that an answer may have: a ``NetworkError``, because it is no answer."""

# Words that say more than the status, or stand alone in a stream that began with 200. The first row that fits counts.
# OpenAI: `insufficient_quota` with 429; Anthropic: "Your credit balance is too low" with 400; DeepSeek: "Insufficient
# Balance". Error types: anthropic 2.8.0 `types/shared/*_error.py`, google.rpc.Code, Bedrock's exceptions (2026-11).
WORDS: tuple[tuple[type[ProviderError], str], ...] = (
    (QuotaError, r"insufficient[_ ](quota|balance|credit)|credit balance|billing_(hard|not)|exceeded your current"),
    (OverloadedError, r"overloaded|service ?unavailable|\bUNAVAILABLE\b|at capacity|capacity exceeded|high demand"),
    (RateLimitError, r"rate[_ ]?limit|too many requests|throttl|RESOURCE_EXHAUSTED|tokens per minute"),
    (AuthenticationError, r"authentication|permission|unauthori[sz]ed|api[_ ]key|accessdenied|UNAUTHENTICATED"),
    (RefusedError, r"content_?filter|responsibleai|content management policy"),
    (ServerError, r"api_error|server_?error|internal ?(server|error)|\bINTERNAL\b|modelstreamerror|time(d )?out"),
    (InvalidRequestError, r"invalid_?request|validationexception|INVALID_ARGUMENT|not_found"),
)
_WORDS = [(re.compile(pattern, re.IGNORECASE), kind) for kind, pattern in WORDS]

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
    """The kind of a failure that the provider told. Only the beginning of a long text is looked at."""
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
    for pattern, kind in _WORDS:
        if pattern.search(text) and (status is None or kind in _SAID_OVER.get(status, ())):
            return kind
    if status is None:
        return ServerError
    return STATUSES.get(status) or (ServerError if status >= 500 else InvalidRequestError)


_MAY_BE_GONE = (None, 400, 404, 410, 422)
"""With these a provider may say that it does not have a model; None: in a stream that began with 200."""


# What words may say against a status; a server's 500 is not a refused request, whatever its text.
_SAID_OVER: dict[int, tuple[type[ProviderError], ...]] = {
    400: (QuotaError, OverloadedError, RateLimitError, AuthenticationError, RefusedError),
    413: (RateLimitError,),  # Groq: "tokens per minute"
    422: (QuotaError, RefusedError),
    429: (QuotaError, OverloadedError),
    500: (OverloadedError, RateLimitError),
}


# Words with which an answer ends that are no refusal: the model stumbled, or the provider did (Gemini, Bedrock, Z.ai,
# DeepSeek, OpenRouter, Mistral; 2026-11). Another try may help.
_STUMBLES = re.compile(
    r"^(malformed|unexpected_tool_call|too_many_tool_calls|network_error|insufficient_system|error|other)", re.I
)


def kind_of_ending(text: str) -> type[ProviderError]:
    """The kind of an answer that ended with a word for failure."""
    return ServerError if _STUMBLES.match(text) else RefusedError


def request_id(headers: Mapping[str, str]) -> str | None:
    return next((headers[name] for name in REQUEST_IDS if headers.get(name)), None)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The seconds that the provider asks to wait: ``retry-after-ms``, seconds, or a date."""
    if milliseconds := _number(headers.get("retry-after-ms")):
        return milliseconds / 1000
    said = headers.get("retry-after")
    if said is None or (seconds := _number(said)) is not None:
        return None if said is None else seconds
    try:
        asked = parsedate_to_datetime(said).timestamp() - now
    except (ValueError, TypeError, IndexError, ArithmeticError, OSError):  # dates of no calendar
        return None
    return max(0.0, asked) if asked < LONGEST_WAIT else None


LONGEST_WAIT = 1e9
"""Seconds. A longer time is ignored."""


def _number(text: str | None) -> float | None:
    try:
        found = float(text) if text is not None else -1.0
    except ValueError:
        return None
    return found if 0 <= found < LONGEST_WAIT else None


def error_of(message: AssistantMessage) -> ProviderError | None:
    """The failure that a stored answer of the client tells of, with its kind."""
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
            )
    return None
