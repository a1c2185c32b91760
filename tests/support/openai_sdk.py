"""The errors of OpenAI's SDK for the faults of a stand-in, in both of its protocols."""

import json

import openai

from segue.testing import FaultKind

STATUSES: dict[FaultKind, tuple[type[openai.APIStatusError], int, str | None]] = {
    "rate-limit": (openai.RateLimitError, 429, "rate_limit_exceeded"),
    "server-error": (openai.InternalServerError, 500, None),
    "unavailable": (openai.InternalServerError, 503, None),
    "overloaded": (openai.InternalServerError, 503, "server_is_overloaded"),
    "wrong-key": (openai.AuthenticationError, 401, "invalid_api_key"),
    "overflow": (openai.BadRequestError, 400, "context_length_exceeded"),
}
"""Faults before a stream: the error, its status and its code."""

IN_THE_STREAM: dict[FaultKind, type[Exception]] = {
    "error-event": openai.APIError,
    "cut": openai.APIConnectionError,
    "silence": openai.APITimeoutError,
    "broken-json": json.JSONDecodeError,
}
"""Faults in mid-stream."""
