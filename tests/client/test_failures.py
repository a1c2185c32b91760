"""The kind of a failure, from status and words; how long to wait; and the way through storage."""

import pytest

import segue
from segue import errors
from segue.client.failures import KINDS, STATUSES, kind_of, retry_after

CASES = [
    (429, "rate_limit_error: This request would exceed your organization's rate limit", segue.RateLimitError),
    (429, "insufficient_quota: You exceeded your current quota, please check your plan", segue.QuotaError),
    (400, "invalid_request_error: Your credit balance is too low to access the API", segue.QuotaError),
    (
        429,
        "Rate limit reached on tokens per minute. Upgrade at https://console.groq.com/settings/billing",
        segue.RateLimitError,
    ),
    (402, "Insufficient Balance", segue.QuotaError),
    (401, "invalid x-api-key", segue.AuthenticationError),
    (403, "AccessDeniedException: You don't have access to the model", segue.AuthenticationError),
    (400, "INVALID_ARGUMENT: API key not valid. Please pass a valid API key.", segue.AuthenticationError),
    (400, "prompt is too long: 213462 tokens > 200000 maximum", segue.ContextOverflowError),
    (400, "content_filter: The response was filtered due to the prompt", segue.RefusedError),
    (400, "messages.1: tool_use ids were found without tool_result blocks", segue.InvalidRequestError),
    (404, "not_found_error: model: claude-0", segue.ModelNotFoundError),
    (413, "Request too large for model: limit 6000 tokens per minute", segue.RateLimitError),
    (500, "api_error: Internal server error", segue.ServerError),
    (500, "invalid_request somewhere inside", segue.ServerError),
    (502, "Bad Gateway", segue.ServerError),
    (503, "The model is overloaded. Please try again later.", segue.OverloadedError),
    (529, "Overloaded", segue.OverloadedError),
    (429, "service_tier_capacity_exceeded: Service tier capacity exceeded for this model.", segue.OverloadedError),
    (599, "?", segue.ServerError),
    (418, "?", segue.InvalidRequestError),
    (None, "overloaded_error: Overloaded", segue.OverloadedError),
    (None, "throttlingException: Too many tokens, please wait before trying again.", segue.RateLimitError),
    (None, "validationException: The model returned the following errors", segue.InvalidRequestError),
    (None, "something went wrong", segue.ServerError),
    (None, "Your input exceeds the context window of this model.", segue.ContextOverflowError),
]


@pytest.mark.parametrize(("status", "text", "kind"), CASES)
def test_status_and_words_say_the_kind(status: int | None, text: str, kind: type[segue.ProviderError]) -> None:
    assert kind_of(text, status) is kind


def test_every_kind_of_failure_is_in_the_tables() -> None:
    tree = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, segue.ProviderError)}
    assert set(KINDS.values()) == tree - {segue.ProviderError}
    assert set(STATUSES.values()) <= tree


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 40.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=60.0) == seconds
