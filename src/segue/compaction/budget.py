"""Sizes in tokens: the window, the room for an answer, the room for a summary.

Every size here is the upper end of an estimate. A summary that comes too early loses some detail; one that comes too
late fails the turn.
"""

from msgspec import Struct

from ..errors import FormatError, ProjectionError
from ..projection import PolicyLike, project
from ..tokens import BYTES_PER_TOKEN, MARGINS, estimate, guess_context
from ..types import Context, Message, Model, Options

SAFETY_FACTOR = 1 + MARGINS["guessed"][1]
"""The factor by which a guess may be too low."""

KEEP = 0.25
"""The share of a conversation that is kept by default."""

MAX_ANSWER = 16_384
MAX_SUMMARY = 8_192
MIN_SUMMARY = 32


class RequestSettings(Struct, frozen=True):
    """The settings of the next request that change its size."""

    options: Options | None = None
    policy: PolicyLike = None
    reserve: int | None = None
    """Tokens to reserve for the answer; by default ``max_tokens`` of the options, or a part of the window."""


DEFAULTS = RequestSettings()


def needed(context: Context, model: Model, settings: RequestSettings = DEFAULTS) -> bool:
    """Whether the next request, with the room for its answer, would exceed the window of ``model``."""
    return request_tokens(context, model, settings.policy) > model.input_limit(answer_room(model, settings))


def answer_room(model: Model, settings: RequestSettings = DEFAULTS) -> int:
    """The tokens that are reserved for an answer. Providers count ``max_tokens`` as if they were all written."""
    if settings.reserve is not None:
        return settings.reserve
    if settings.options is not None and settings.options.max_tokens is not None:
        # If an answer may fill most of the window, the provider shortens it; no room is made for it.
        return min(settings.options.max_tokens, model.max_tokens, model.context_window // 2)
    return min(MAX_ANSWER, model.max_tokens, model.context_window // 4)


def summary_room(target: Model, summariser: Model) -> int:
    """The tokens that a summary may have: a small part of both windows, and no more than the summariser can write."""
    window = min(target.input_limit(), summariser.input_limit())
    return max(min(MAX_SUMMARY, window // 8, summariser.max_tokens), MIN_SUMMARY)


def request_tokens(context: Context, model: Model, policy: PolicyLike = None) -> int:
    """The upper estimate for ``context``, rendered for ``model``."""
    try:
        rendered: Context = project(context, model, policy).context
    except (ProjectionError, FormatError):
        rendered = context  # it cannot be sent; sending it raises this error again
    return estimate(context, rendered, model).high


def message_tokens(message: Message) -> float:
    """The upper estimate for one stored message."""
    return guess_context(Context(messages=[message])) * SAFETY_FACTOR


def frame_tokens(context: Context) -> float:
    """The upper estimate for the system prompt and the tools."""
    return guess_context(Context(system_prompt=context.system_prompt, messages=[], tools=context.tools)) * SAFETY_FACTOR


def bytes_in(tokens: float) -> int:
    """The number of bytes of text that certainly fit into ``tokens``."""
    return max(int(tokens / SAFETY_FACTOR * BYTES_PER_TOKEN), 0)
