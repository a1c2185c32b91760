"""The errors of OpenAI's two protocols: the statuses and codes of platform.openai.com, "Error codes" (2026-11)."""

import re
from collections.abc import Mapping
from typing import Any

ERRORS: dict[str, tuple[int, str]] = {
    "provider": (500, "server_error"),
    "rate-limit": (429, "rate_limit_exceeded"),
    "quota": (429, "insufficient_quota"),
    "overloaded": (503, "server_is_overloaded"),
    "server": (500, "server_error"),
    "network": (502, "server_error"),
    "authentication": (401, "invalid_api_key"),
    "model-not-found": (404, "model_not_found"),
    "invalid-request": (400, "invalid_request_error"),
    "overflow": (400, "context_length_exceeded"),
    "refused": (400, "content_filter"),
}
"""The status and the code or type for each kind of failure."""

TYPES = {
    "invalid_api_key": "invalid_request_error",
    "context_length_exceeded": "invalid_request_error",
    "content_filter": "invalid_request_error",
    "model_not_found": "invalid_request_error",
    "insufficient_quota": "insufficient_quota",
    "rate_limit_exceeded": "tokens",
    "server_is_overloaded": "service_unavailable_error",
    "previous_response_not_found": "invalid_request_error",
    "invalid_encrypted_content": "invalid_request_error",
}
"""The type of an error by its code."""

_path_of = re.compile(r"([a-z_]+(?:\[\d+\])?(?:\.[a-z_]+(?:\[\d+\])?)*): ").match


def openai_error(
    kind: str, text: str, types: Mapping[str, str] = TYPES, code: str | None = None, param: str | None = None
) -> dict[str, Any]:
    """The body of an error. A kind that is not in ``types`` is a type, and its code is null. Without a ``param``, the
    path at the beginning of the text is the parameter that it concerns."""
    path = _path_of(text)
    return {
        "error": {
            "message": text,
            "type": types.get(kind, kind),
            "param": param or (path[1] if path is not None else None),
            "code": code or (kind if kind in types else None),
        }
    }
