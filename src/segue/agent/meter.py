"""What a run has used, and whether it may go on: steps, tokens and money, those of sub-agents included."""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from ..errors import SettingError
from ..session import AnyEntry, Compacted, MessageAdded, Store
from ..types import AssistantMessage, Usage, UsageCost

MARK = "~"
"""What stands between the name of a session and that of a sub-agent's session below it."""


class RunLimits(Struct, frozen=True):
    """How far one run may go. ``None`` is without a limit; an answer that has begun is always heard to its end."""

    steps: int | None = None
    """Answers of the model, each with its calls; those of sub-agents are their own."""
    tokens: int | None = None
    """Of all requests and answers, as the providers count them; sub-agents and summaries included."""
    cost: float | None = None
    """Dollars, for the same. Where a price is not known, the run ends as soon as it would spend more."""
    depth: int = 5
    """How deep sub-agents may call sub-agents."""

    def __post_init__(self) -> None:
        for name, least in (("steps", 1), ("tokens", 1), ("depth", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise SettingError(f"the limit {name} must be at least {least}, not {value}")
        if self.cost is not None and not self.cost > 0:
            raise SettingError(f"the limit cost must be more than 0 dollars, not {self.cost}")


class Meter:
    """Counts what a run uses; a sub-agent's counts to the run that called it, too."""

    def __init__(self, limits: RunLimits | None = None, parent: "Meter | None" = None) -> None:
        self.limits = limits or RunLimits()
        self.parent = parent
        self.usage = FREE
        self.steps = 0

    def step(self) -> None:
        """An answer is asked for."""
        self.steps += 1

    def spend(self, usage: Usage) -> None:
        """What an answer has used, good or failed."""
        self.usage = added(self.usage, usage)
        if self.parent is not None:
            self.parent.spend(usage)

    def over(self) -> str | None:
        """Why nothing more may be asked for; ``None`` if something may."""
        reached = self._reached(self.limits.steps)
        meter, whose = self.parent, "the run"
        while reached is None and meter is not None:
            reached, meter, whose = meter._reached(None), meter.parent, "the run that this sub-agent works for"
        return reached and f"{whose} has {reached}"

    def _reached(self, steps: int | None) -> str | None:
        """Which limit is reached, of those that are this run's own and, but for its steps, of all below it."""
        cost, most = cost_of(self.usage), self.limits.cost
        if cost is None and most is not None:
            return f"a limit of ${most:g}, and the price of an answer is not known"
        for used, limit, words in (
            (self.steps, steps, "{:,} step{}"),
            (self.usage.total_tokens, self.limits.tokens, "{:,} token{}"),
            (cost or 0.0, most, "${:g}"),
        ):
            if limit is not None and used >= limit:
                return f"reached its limit of {words.format(limit, '' if limit == 1 else 's')}"
        return None


FREE = Usage(cost=UsageCost())


def cost_of(usage: Usage) -> float | None:
    """Dollars; ``None`` where a price was not known."""
    return None if usage.cost is None else usage.cost.total


def added(one: Usage, other: Usage) -> Usage:
    """Both together. What used nothing costs nothing, whatever its price."""
    used = {name: getattr(one, name) + getattr(other, name) for name in _TOKENS}
    cost = _cost(one), _cost(other)
    total = _total(one) + _total(other)
    if cost[0] is None or cost[1] is None:
        return Usage(**used, total_tokens=total)
    amounts = [getattr(cost[0], name) + getattr(cost[1], name) for name in UsageCost.__struct_fields__]
    return Usage(**used, total_tokens=total, cost=UsageCost(*amounts))


_TOKENS = ("input", "output", "cache_read", "cache_write")


def _total(usage: Usage) -> int:
    """Some providers name no total, or leave something out of it."""
    return max(usage.total_tokens, usage.input + usage.output + usage.cache_read + usage.cache_write)


def _cost(usage: Usage) -> UsageCost | None:
    return usage.cost if usage.cost is not None or _total(usage) else UsageCost()


def session_usage(store: Store, session: str) -> Usage:
    """What a stored session has used so far, with its summaries and the sub-agents that its store knows."""
    used = FREE
    for each in [session, *_below(store, session)]:
        # What a session was forked with was paid for elsewhere; what this one was forked with belongs to it.
        begin = 0 if each == session else store.info(each).parent_entry or 0
        for entry in (stored.entry for stored in store.read(each, begin)):
            for usage in _used(entry):
                used = added(used, usage)
    return used


def _below(store: Store, session: str) -> list[str]:
    return [info.id for info in store.sessions() if info.id.startswith(session + MARK)]


def _used(entry: AnyEntry) -> Iterator[Usage]:
    if isinstance(entry, MessageAdded) and isinstance(entry.message, AssistantMessage):
        yield entry.message.usage
    elif isinstance(entry, Compacted) and "usage" in entry.details:
        yield msgspec.convert(entry.details["usage"], Usage)
