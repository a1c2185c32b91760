"""Which stored message each part of a request body was made from, in both directions. Computed on demand only.

Paths are those of findings: ``messages[3].content[1]``.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from copy import copy
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..projection import PolicyLike, Report, rendered
from ..types import Context, Model, Options, ToolResultMessage
from ..wire import Outgoing, Turns, protocol_of, to_builtins
from .bodies import read_conversation


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
    following = [*rendering.messages[1:], None]
    for message, source, following_one in zip(rendering.messages, rendering.sources, following, strict=True):
        before = _sizes(turns)
        growing.messages.append(message)
        turns.extend()
        if not isinstance(following_one, ToolResultMessage):
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


def _sizes(turns: Turns[Any, Any]) -> _Sizes:
    last = to_builtins(turns.turns[-1]) if turns.turns else None
    return _Sizes(len(turns.turns), last, _items(last))


def _added(turns: Turns[Any, Any], before: _Sizes) -> Iterator[tuple[int, str]]:
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

_PLACE = re.compile(r"(\w+)\[(\d+)\](?:\.(\w+)\[(\d+)\])?")


def message_at(body: dict[str, Any], protocol: str, path: str, model: Model | str | None = None) -> int | None:
    """The index of the message that ``ingest`` reads from the part of ``body`` at ``path``; ``None`` for parts that are
    not in the history."""
    found = _PLACE.match(path)
    history = protocol_of(protocol).history
    if found is None or found[1] != history:
        return None
    turns = [*body[history][: int(found[2]) + 1]]
    if found[3] is not None and turns and isinstance(turns[-1], dict) and isinstance(turns[-1].get(found[3]), list):
        turns[-1] = {**turns[-1], found[3]: turns[-1][found[3]][: int(found[4]) + 1]}
    messages = read_conversation({**body, history: turns}, protocol, model, 0).messages
    return len(messages) - 1 if messages else None
