"""Plan a compaction: where to cut, and in how many parts the older messages are summarised."""

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import assert_never

from msgspec.structs import replace

from ..types import AssistantMessage, Context, Model, ToolResultMessage, UserMessage
from .budget import (
    DEFAULTS,
    KEEP,
    RequestSettings,
    answer_room,
    bytes_in,
    frame_tokens,
    message_tokens,
    request_tokens,
    summary_room,
)
from .cut_points import CutPoints
from .request import part_room
from .transcript import Transcript
from .values import Plan, compacted, summary_message


def plan(
    context: Context,
    target: Model,
    summariser: Model,
    *,
    keep: float = KEEP,
    running_from: int | None = None,
    settings: RequestSettings = DEFAULTS,
) -> Plan | None:
    """Plan a compaction of ``context`` for the window of ``target``; ``None`` if nothing can be cut.

    ``keep``: how much is kept unchanged, as a share (a float) of the conversation, or of the window if that is smaller,
    or as a number of tokens (an int). ``running_from`` is the index of the first message of the running turn, which is
    always kept, even if it is more than ``keep``. ``settings`` are those of the next request to ``target``.
    """
    points = CutPoints(context.messages, running_from)
    cuts = points.cuts()
    if not cuts:
        return None
    window = target.input_limit(answer_room(target, settings))
    room = summary_room(target, summariser)

    def fits(cut: int) -> bool:
        return request_tokens(_with_longest_summary(context, cut, room), target, settings.policy) <= window

    cut, is_enough = _choose(cuts, _preferred(context, points, cuts, target, keep), fits)
    chosen = Plan(cut, ((0, cut),), room, is_enough)
    return replace(chosen, parts=_parts(points, cut, part_room(summariser, chosen)))


def _with_longest_summary(context: Context, cut: int, room: int) -> Context:
    """The conversation after a cut, with the longest summary that would be accepted."""
    messages = compacted(context.messages, cut, summary_message("x" * bytes_in(room)))
    return Context(system_prompt=context.system_prompt, messages=messages, tools=context.tools)


def _preferred(context: Context, points: CutPoints, cuts: list[int], target: Model, keep: float) -> int:
    """The earliest turn from which at most ``keep`` is left; a position inside the last turn if that is larger."""
    tokens = [message_tokens(message) for message in context.messages]
    wanted = keep * min(sum(tokens) + frame_tokens(context), target.input_limit()) if isinstance(keep, float) else keep
    if wanted < 0 or (isinstance(keep, float) and keep > 1):
        raise ValueError(f"keep is a share between 0.0 and 1.0 or a number of tokens, not {keep!r}")
    left = [*accumulate(reversed(tokens), initial=0.0)][::-1]
    small = [cut for cut in cuts if left[cut] <= wanted and cut < len(tokens)]
    turns = [cut for cut in small if points.is_before_turn(cut)]
    return (turns or small or cuts[-1:])[0]


def _choose(cuts: list[int], preferred: int, fits: Callable[[int], bool]) -> tuple[int, bool]:
    """The preferred cut, or the first after it after which the rest fits, or the last. Also returns whether it fits."""
    if fits(preferred):
        return preferred, True
    if not fits(cuts[-1]):
        return cuts[-1], False
    low, high = cuts.index(preferred), len(cuts) - 1  # the cut at `high` fits, those up to `low` do not
    while high - low > 1:
        middle = (low + high) // 2
        if fits(cuts[middle]):
            high = middle
        else:
            low = middle
    return cuts[high], True


def _parts(points: CutPoints, cut: int, budget: int) -> tuple[tuple[int, int], ...]:
    """Parts that fit ``budget`` bytes and end between whole interactions where possible. A single interaction that does
    not fit is a part by itself; the request for its summary cuts it in the middle."""
    transcript = Transcript(points.messages)

    def size(at: int) -> int:
        # A text that no request can hold is cut anyway, so other messages may share its part.
        sizes = [piece.size() for piece in transcript.pieces(at, at + 1)]
        return sum(each if each <= budget else budget // 2 for each in sizes)

    before = [*accumulate(map(size, range(cut)), initial=0)]
    ends = [at for at in range(1, cut) if points.is_before_message(at)] + [cut]
    parts: list[tuple[int, int]] = []
    start = 0
    while start < cut:
        first = bisect_right(ends, start)
        reachable = ends[first : bisect_right(ends, before[start] + budget, key=before.__getitem__)]
        reachable = reachable or [ends[first]]
        whole = [at for at in reachable if points.is_between_interactions(at)]
        end = (whole or reachable)[-1]
        parts.append((start, end))
        start = end
    return tuple(parts)


def obstacle(
    context: Context,
    target: Model,
    summariser: Model,
    *,
    running_from: int | None = None,
    settings: RequestSettings = DEFAULTS,
) -> str | None:
    """Explain in one line why no summary can make ``context`` fit the window of ``target``; ``None`` if one can."""
    cuts = CutPoints(context.messages, running_from).cuts()
    start = cuts[-1] if cuts else 0
    least = _with_longest_summary(context, start, summary_room(target, summariser)) if cuts else context
    tokens, answer = request_tokens(least, target, settings.policy), answer_room(target, settings)
    if tokens <= target.input_limit(answer):
        return None
    return (
        f"{target.ref} has a window of {target.context_window:,} tokens, {answer:,} of them for the answer"
        f"{_input_only(target)}, and what cannot be summarised has up to {tokens:,}. The largest piece is "
        f"{_largest(context, start)}: choose a model with a larger window, or make that piece smaller"
    )


def _input_only(target: Model) -> str:
    limit = target.max_input_tokens
    return f", accepts at most {limit:,} tokens of input" if limit and limit < target.context_window else ""


def _largest(context: Context, start: int) -> str:
    """The largest of the messages from ``start`` on, or of the system prompt with the tools."""
    pieces = [(frame_tokens(context), "the system prompt with the tools")]
    for index, message in enumerate(context.messages[start:], start):
        match message:
            case ToolResultMessage():
                what = f"the result of {message.tool_name!r} in messages[{index}]"
            case AssistantMessage():
                what = f"the answer in messages[{index}]"
            case UserMessage():
                what = f"the user's message in messages[{index}]"
            case _:
                assert_never(message)
        pieces.append((message_tokens(message), what))
    tokens, what = max(pieces)
    return f"{what}, with up to {tokens:,.0f}"
