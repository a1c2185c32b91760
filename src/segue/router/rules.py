"""What to do about each kind of failure, as a table. ``router.py`` takes the first step that is possible.

Another member helps if this one is the cause: its load, its limits, its account, its model, its window. It does not
help if the request is wrong, and it must not be used to get around a refusal.
"""

from typing import Literal

from msgspec import Struct

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

Step = Literal["again", "other", "larger", "compact"]
Rest = Literal["rest", "long_rest"] | None


class Rule(Struct, frozen=True):
    """The steps to try, in order, before giving up. ``rest`` is the field of ``Patience`` with the time of the rest."""

    steps: tuple[Step, ...]
    rest: Rest
    why: str


RULES: dict[type[ProviderError], Rule] = {
    RateLimitError: Rule(("again", "other"), "rest", "it asks for a wait"),
    OverloadedError: Rule(("again", "other"), "rest", "it has no capacity now"),
    ServerError: Rule(("again", "other"), "rest", "the provider failed"),
    NetworkError: Rule(("again", "other"), "rest", "it cannot be reached"),
    QuotaError: Rule(("other",), "long_rest", "the account has no credit left"),
    AuthenticationError: Rule(("other",), "long_rest", "the key is not accepted"),
    ModelNotFoundError: Rule(("other",), "long_rest", "the provider does not have this model"),
    ContextOverflowError: Rule(("larger", "compact"), None, "the conversation does not fit into the window"),
    InvalidRequestError: Rule((), None, "the request is wrong"),
    RefusedError: Rule((), None, "a refusal is an answer, not a failure to get around"),
    ProviderError: Rule((), None, "it is not known whether another try would help"),
}


def rule_of(error: ProviderError) -> Rule:
    """The row of the error's class, or of the nearest class above it."""
    return next(RULES[kind] for kind in type(error).__mro__ if kind in RULES)
