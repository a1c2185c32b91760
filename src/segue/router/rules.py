"""What to do about each kind of failure, as a table. ``router.py`` looks it up and takes the first step it can.

Another member can cure what is wrong with this one: its load, its limits, its account, its model, its window. It cannot
cure a request that is wrong in itself, and it must not be used to get around a refusal.
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
    """The steps to try, in order; when none can be taken, giving up. ``rest`` is the field of ``Patience``."""

    steps: tuple[Step, ...]
    rest: Rest
    why: str


RULES: dict[type[ProviderError], Rule] = {
    RateLimitError: Rule(("again", "other"), "rest", "the member asks for time"),
    OverloadedError: Rule(("again", "other"), "rest", "the member has no capacity"),
    ServerError: Rule(("again", "other"), "rest", "the member failed"),
    NetworkError: Rule(("again", "other"), "rest", "the member cannot be reached"),
    QuotaError: Rule(("other",), "long_rest", "the account has nothing left to spend"),
    AuthenticationError: Rule(("other",), "long_rest", "the key is not accepted"),
    ModelNotFoundError: Rule(("other",), "long_rest", "the member does not have this model"),
    ContextOverflowError: Rule(("larger", "compact"), None, "the conversation does not fit into the window"),
    InvalidRequestError: Rule((), None, "the request is at fault, and would be with any other member"),
    RefusedError: Rule((), None, "a refusal is an answer, not a failure to get around"),
    ProviderError: Rule((), None, "nobody knows what another try would do"),
}


def rule_of(error: ProviderError) -> Rule:
    """The row of the error's class, or of the nearest class above it."""
    return next(RULES[kind] for kind in type(error).__mro__ if kind in RULES)
