"""How much goes where: the window, what is left of it for an answer, what a summary may have.

Every size here is the upper end of an estimate. Too early a summary costs some detail, too late a one costs the turn.
"""

from ..errors import FormatError, ProjectionError
from ..projection import PolicyLike, project
from ..tokens import BYTES_PER_TOKEN, MARGINS, estimate, guessed
from ..types import Context, Message, Model, Options

CAREFUL = 1 + MARGINS["guessed"][1]
"""By how much a guess may be too low."""

KEEP = 0.25
"""How much of a conversation stays as it is, if nobody says."""

MOST_FOR_ANSWER = 16_384
MOST_FOR_SUMMARY = 8_192
LEAST_FOR_SUMMARY = 32


def needed(
    context: Context,
    model: Model,
    options: Options | None = None,
    *,
    reserve: int | None = None,
    policy: PolicyLike = None,
) -> bool:
    """Whether the next request would not fit the window of ``model``, with ``reserve`` tokens left for its answer."""
    return request_tokens(context, model, policy) + answer_room(model, options, reserve) > model.context_window


def answer_room(model: Model, options: Options | None = None, reserve: int | None = None) -> int:
    """The tokens that are left for an answer. Providers count what the options ask for as if it were written."""
    if reserve is not None:
        return reserve
    if options is not None and options.max_tokens is not None:
        # An answer that may fill most of the window is for the provider to shorten, not for us to make room for.
        return min(options.max_tokens, model.max_tokens, model.context_window // 2)
    return min(MOST_FOR_ANSWER, model.max_tokens, model.context_window // 4)


def summary_room(target: Model, summariser: Model) -> int:
    """The tokens that a summary may have: little of the window that it is for, and no more than can be written."""
    windows = min(target.context_window, summariser.context_window)
    return max(min(MOST_FOR_SUMMARY, windows // 8, summariser.max_tokens), LEAST_FOR_SUMMARY)


def request_tokens(context: Context, model: Model, policy: PolicyLike = None) -> int:
    """The most tokens that ``context`` may have, rendered for ``model``."""
    try:
        rendered: Context = project(context, model, policy).context
    except (ProjectionError, FormatError):
        rendered = context  # it cannot be sent; why not, is told to whoever tries
    return estimate(context, rendered, model).high


def message_tokens(message: Message) -> float:
    """The most tokens that one message may have, as it is stored."""
    return guessed(Context(messages=[message])) * CAREFUL


def frame_tokens(context: Context) -> float:
    """The most tokens that the system prompt and the tools may have."""
    return guessed(Context(system_prompt=context.system_prompt, messages=[], tools=context.tools)) * CAREFUL


def bytes_in(tokens: float) -> int:
    """How many bytes of text surely fit into so many tokens."""
    return max(int(tokens / CAREFUL * BYTES_PER_TOKEN), 0)
