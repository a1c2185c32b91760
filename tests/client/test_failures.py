"""The error class of a failure, from status and text; the wait before a retry; and errors of stored messages."""

import re
from importlib import import_module
from typing import Any

import pytest

import segue
from segue import errors
from segue.client import failures
from segue.client.failures import KINDS, STATUSES, kind_of, retry_after
from segue.client.missing import GONE, NAMED
from segue.rules import CURES, overflow
from segue.rules.cure_readers import EXTRA, UNKNOWN_NAME
from segue.rules.overflow import LOOKALIKES, OVERFLOW, Phrase
from segue.types.secret import LONGEST_TEXT

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
    (404, "404 page not found", segue.ModelNotFoundError),
    (410, "Gone", segue.ModelNotFoundError),
    (404, "Error code: 404 Message: File not found.", segue.ModelNotFoundError),
    (404, "Container with id 'cntr_0123456789' not found.", segue.InvalidRequestError),
    (404, "NOT_FOUND: CachedContent cachedContents/0123456789 does not exist", segue.InvalidRequestError),
    (400, "The model called a tool that does not exist", segue.InvalidRequestError),
    (404, "No endpoints found that support tool use. Try disabling the tools.", segue.InvalidRequestError),
    (404, "No endpoints found for some/model:free.", segue.ModelNotFoundError),
    (400, "messages.1.content: the file was not found", segue.InvalidRequestError),
    (400, "model_decommissioned: The model `x` has been decommissioned", segue.ModelNotFoundError),
    (500, "model_not_found: no", segue.ServerError),
    (None, "not_found_error: model: claude-0", segue.ModelNotFoundError),
    (302, "Found", segue.NetworkError),
    (199, "prompt is too long", segue.NetworkError),
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
def test_the_error_class_follows_from_status_and_text(
    status: int | None, text: str, kind: type[segue.ProviderError]
) -> None:
    assert kind_of(text, status) is kind


def test_every_error_class_is_in_the_tables() -> None:
    tree = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, segue.ProviderError)}
    assert set(KINDS.values()) == tree - {segue.ProviderError}
    assert set(STATUSES.values()) <= tree


@pytest.mark.parametrize("row", GONE, ids=lambda row: row.who)
@pytest.mark.parametrize("status", [None, 400, 404, 410, 422])
def test_each_providers_text_for_a_missing_model(row: Phrase, status: int | None) -> None:
    assert re.search(row.pattern, row.example, re.IGNORECASE) and row.source and row.seen
    assert kind_of(row.example, status) is segue.ModelNotFoundError
    assert kind_of(f"invalid_request_error: {row.example}", status) is segue.ModelNotFoundError


@pytest.mark.parametrize("row", NAMED, ids=lambda row: row.who)
@pytest.mark.parametrize("status", [None, 400, 404, 410, 422])
def test_each_providers_text_for_something_else_that_is_missing(row: Phrase, status: int | None) -> None:
    assert re.search(row.pattern, row.example, re.IGNORECASE) and row.source and row.seen
    assert kind_of(row.example, status) is segue.InvalidRequestError


# -- cost ----------------------------------------------------------------------------------------------------------

ALL_ROWS = [*OVERFLOW, *LOOKALIKES, *GONE, *NAMED]
parser: Any = import_module("re._parser")
PATTERNS = [row.pattern for row in ALL_ROWS] + [pattern for _, pattern in failures.PHRASES]


class Counted:
    """A pattern that counts the characters that it searches."""

    def __init__(self, pattern: "re.Pattern[str]", searched: list[int]) -> None:
        self.pattern, self.searched = pattern, searched

    def search(self, text: str) -> "re.Match[str] | None":
        self.searched.append(len(text))
        return self.pattern.search(text)


@pytest.mark.parametrize("unit", ["x", "model ", "prompt is ", "\\", "1,", "input token count ", "\n", "é"])
@pytest.mark.parametrize("status", [None, 400, 404, 500])
def test_only_the_beginning_of_a_long_text_is_searched(
    unit: str, status: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many characters are searched for 16 MB as for 16 KB."""
    searched: list[int] = []

    def counted(pattern: "re.Pattern[str]") -> Any:
        return Counted(pattern, searched)

    monkeypatch.setattr(failures, "_PHRASES", [(counted(pattern), kind) for pattern, kind in failures._PHRASES])
    monkeypatch.setattr(failures, "IS_GONE", counted(failures.IS_GONE))
    monkeypatch.setattr(failures, "IS_NAMED", counted(failures.IS_NAMED))
    compiled = [counted(pattern) for pattern in overflow._compiled()]
    monkeypatch.setattr(overflow, "_compiled", lambda: compiled)
    sums = []
    for size in (LONGEST_TEXT, 1024 * LONGEST_TEXT):
        searched.clear()
        kind_of((unit * size)[:size], status)
        sums.append(sum(searched))
    assert sums[0] == sums[1] <= LONGEST_TEXT * (len(failures.PHRASES) + 4)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern[:40])
def test_no_pattern_has_nested_repeats(pattern: str) -> None:
    """An unbounded repeat inside another one takes exponential time on some texts."""

    def check(tree: Any, inside: bool) -> None:
        for operation, argument in tree:
            if operation in (parser.MAX_REPEAT, parser.MIN_REPEAT):
                unbounded = argument[1] is parser.MAXREPEAT
                assert not (unbounded and inside), pattern
                check(argument[2], inside or unbounded)
            elif operation is parser.SUBPATTERN:
                check(argument[-1], inside)
            elif operation is parser.BRANCH:
                for branch in argument[1]:
                    check(branch, inside)
            elif operation in (parser.ASSERT, parser.ASSERT_NOT):
                check(argument[1], inside)

    check(parser.parse(pattern), False)


CURED = [cure.words for cure in CURES] + [EXTRA, UNKNOWN_NAME]


@pytest.mark.parametrize("pattern", [*PATTERNS, *CURED], ids=lambda pattern: pattern[:40])
def test_no_pattern_begins_with_an_open_repeat(pattern: str) -> None:
    """Something comes before the first unbounded repeat that does not match inside it: otherwise a text that the repeat
    matches is read again from each of its characters."""

    def is_open(tree: Any) -> bool:
        for operation, argument in tree:
            if operation in (parser.MAX_REPEAT, parser.MIN_REPEAT, parser.POSSESSIVE_REPEAT):
                if argument[1] is parser.MAXREPEAT or is_open(argument[2]):
                    return True
            elif operation is parser.SUBPATTERN:
                if is_open(argument[-1]):
                    return True
            elif operation is parser.BRANCH:
                return any(map(is_open, argument[1]))
            elif operation is not parser.IN:
                return False  # a character, a place or a look around
        return False

    assert not is_open(parser.parse(pattern)), pattern


def test_the_check_finds_an_open_repeat() -> None:
    for pattern in (r"\w+:", r"x?[a-z]*", r"(a|\d+b)", r"[a-z][\w.]*x"):
        with pytest.raises(AssertionError):
            test_no_pattern_begins_with_an_open_repeat(pattern)


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
def test_retry_after_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=60.0) == seconds
