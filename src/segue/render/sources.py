"""Which stored message each part of a request body was made from, in both directions. Computed on demand only.

Paths are those of findings: ``messages[3].content[1]``.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from copy import copy
from itertools import pairwise
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..errors import FormatError
from ..projection import PolicyLike, Report, rendered
from ..types import Context, Model, Options, ToolResultMessage
from ..wire import Outgoing, Turns, protocol_of, to_builtins
from .bodies import Body, opened, read_conversation


class Sources(Struct, frozen=True):
    """The stored messages behind the parts of a request body."""

    # By the path of a turn, or of an item of a list in one: the indexes of the messages that it was made from.
    parts: dict[str, tuple[int, ...]]

    def messages(self, path: str) -> tuple[int, ...]:
        """The messages behind the part at ``path``, or behind the smallest known part around it. Empty for the system
        prompt, the tools, the options, and what no message caused."""
        while path:
            if path in self.parts:
                return self.parts[path]
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return ()


def trace(context: Context, count: int, policy: PolicyLike, model: Model, options: Options) -> Sources:
    """Render the conversation again, message by message, and record what each message adds to the turns."""
    if len(context.messages) > count:  # the conversation has grown since
        context = replace(context, messages=context.messages[:count])
    rendering = rendered(context, model, policy)
    protocol = protocol_of(model.protocol)
    growing = copy(rendering)
    growing.messages = []
    out: Outgoing[Any] = Outgoing(growing, model, protocol.dialect, options, Report())
    turns = protocol.turns(out)
    made: dict[tuple[int, str], list[int]] = defaultdict(list)
    pairs = pairwise((*rendering.messages, None))
    for (message, following), source in zip(pairs, rendering.sources, strict=True):
        assert message is not None
        before = _sizes(turns)
        growing.messages.append(message)
        turns.extend()
        if not isinstance(following, ToolResultMessage):
            turns.release()
        for part in _added(turns, before):
            if source not in made[part]:
                made[part].append(source)
    first = len(turns.closed(out).head)
    history = protocol.history
    return Sources({f"{history}[{first + turn}]{part}": tuple(found) for (turn, part), found in made.items()})


class _Sizes(Struct, frozen=True):
    """The number of turns, and of the last one its value and the number of items in each of its lists."""

    turns: int
    last: Any
    items: dict[str, int]


def _sizes(turns: Turns[Any]) -> _Sizes:
    last = to_builtins(turns.turns[-1]) if turns.turns else None
    return _Sizes(len(turns.turns), last, _items(last))


def _added(turns: Turns[Any], before: _Sizes) -> Iterator[tuple[int, str]]:
    """The parts that were added since: turns, and items of their lists."""
    for at in range(max(before.turns - 1, 0), len(turns.turns)):
        turn, known = to_builtins(turns.turns[at]), before.items if at < before.turns else {}
        if at >= before.turns or turn != before.last:
            yield at, ""
        for name, count in _items(turn).items():
            for item in range(known.get(name, 0), count):
                yield at, f".{name}[{item}]"


def _items(turn: Any) -> dict[str, int]:
    fields = turn.items() if isinstance(turn, dict) else ()
    return {name: len(value) for name, value in fields if isinstance(value, list)}


# -- bodies of others -------------------------------------------------------------------------------------------------

MOST_TRIES = 24
"""Places at which a list is divided before its parts count as inseparable."""
Count = Callable[[list[Any]], int | None]
"""How many messages are read from some turns, or from some items of a turn; ``None`` if they cannot be read."""


def body_sources(body: Body, protocol: str | None = None, model: Model | str | None = None) -> Sources:
    """The messages that ``ingest`` reads from each part of a request body. The protocol is recognised if it is not
    passed.

    Readers do not report positions, so the history is divided until the parts cannot be read apart: calls and text that
    become one answer. This takes a few readings of the whole history, however many parts there are.
    """
    document, name = opened(body, protocol)
    history = protocol_of(name).history if name else ""
    turns = document.get(history) if document else None
    if document is None or name is None or not isinstance(turns, list):
        return Sources({})
    read, spoken = {**document}, name

    def count(some: list[Any]) -> int | None:
        read[history] = some
        try:
            return len(read_conversation(read, spoken, model, 0).messages)
        except FormatError:
            return None

    return Sources({f"{history}{part}": tuple(found) for part, found in _places(turns, count) if found})


def _places(turns: list[Any], count: Count) -> Iterator[tuple[str, range]]:
    """The path of each turn, and of the items of a turn that was read as several messages, with the messages."""
    for at, found in enumerate(_divide(turns, count, 0, count(turns) or 0)):
        turn = turns[at]
        yield f"[{at}]", found
        if len(found) < 2 or not isinstance(turn, dict):
            continue
        for name, items in turn.items():
            if isinstance(items, list) and len(items) > 1:

                def count_items(some: list[Any], turn: dict[str, Any] = turn, name: str = name) -> int | None:
                    return count([{**turn, name: some}])

                inside = _divide(items, count_items, found.start, len(found))
                yield from ((f"[{at}].{name}[{number}]", part) for number, part in enumerate(inside))


def _divide(items: list[Any], count: Count, first: int, total: int) -> Iterator[range]:
    """The messages behind each item of a list from which ``total`` messages were read, beginning with ``first``."""
    middle = len(items) // 2
    tries = sorted(range(1, len(items)), key=lambda at: abs(at - middle))[:MOST_TRIES] if total else []
    for at in tries:
        left, right = count(items[:at]), count(items[at:])
        if left is not None and right is not None and left + right == total:
            yield from _divide(items[:at], count, first, left)
            yield from _divide(items[at:], count, first + left, right)
            return
    ends = [count(items[:at]) for at in range(1, len(items))] if 1 < len(items) <= MOST_TRIES else [None]
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        yield from [range(first, first + total)] * len(items)
        return
    for before, end in zip([0, *known], [*known, total], strict=True):
        yield range(first + min(before, max(end - 1, 0)), first + end)
