"""Counts the steps, tokens and cost of a run, with those of its sub-agents, and compares them with its limits."""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from ..errors import SettingError
from ..session import SEPARATOR, AnyEntry, Compacted, MessageAdded, Store
from ..types import AssistantMessage, Usage, UsageCost


class RunLimits(Struct, frozen=True):
    """The limits of one run; ``None`` means no limit. An answer that has begun is always read to its end."""

    steps: int | None = None
    """Answers of the model, each with its calls. Sub-agents have their own limit."""
    tokens: int | None = None
    """Tokens of all requests and answers, as the providers count them, with those of sub-agents and summaries."""
    cost: float | None = None
    """Dollars for the same tokens. If a price is not known, the run ends after the first answer."""
    depth: int = 5
    """How many levels deep sub-agents may call sub-agents."""

    def __post_init__(self) -> None:
        for name, least in (("steps", 1), ("tokens", 1), ("depth", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise SettingError(f"the limit {name} must be at least {least}, not {value}")
        if self.cost is not None and not self.cost > 0:
            raise SettingError(f"the limit cost must be more than 0 dollars, not {self.cost}")


class Meter:
    """Counts the usage of a run. The usage of a sub-agent is also counted by the run that called it."""

    def __init__(self, limits: RunLimits | None = None, parent: "Meter | None" = None) -> None:
        self.limits = limits or RunLimits()
        self.parent = parent
        self.usage = FREE
        self.steps = 0

    def step(self) -> None:
        """Count a request."""
        self.steps += 1

    def spend(self, usage: Usage) -> None:
        """Add the usage of an answer, even of a failed one."""
        self.usage = add_usage(self.usage, usage)
        if self.parent is not None:
            self.parent.spend(usage)

    def over(self) -> str | None:
        """The limit that is reached, as a sentence; ``None`` if another request is allowed."""
        reached = self._reached(self.limits.steps)
        meter, whose = self.parent, "the run"
        while reached is None and meter is not None:
            reached, meter, whose = meter._reached(None), meter.parent, "the run that this sub-agent works for"
        return reached and f"{whose} has {reached}"

    def _reached(self, steps: int | None) -> str | None:
        """The limit of this meter that is reached. ``steps`` is ``None`` for a run above: steps are not shared."""
        cost, most = cost_of(self.usage), self.limits.cost
        if cost is None and most is not None:
            return f"a limit of ${most:g}, and the price of an answer is not known"
        for used, limit, text in (
            (self.steps, steps, "{:,} step{}"),
            (self.usage.total_tokens, self.limits.tokens, "{:,} token{}"),
            (cost or 0.0, most, "${:g}"),
        ):
            if limit is not None and used >= limit:
                return f"reached its limit of {text.format(limit, '' if limit == 1 else 's')}"
        return None


FREE = Usage(cost=UsageCost())


def cost_of(usage: Usage) -> float | None:
    """Dollars; ``None`` if a price is not known."""
    return None if usage.cost is None else usage.cost.total


def add_usage(one: Usage, other: Usage) -> Usage:
    """The sum of two usages. Zero tokens cost nothing, even if their price is not known."""
    used = {name: getattr(one, name) + getattr(other, name) for name in _TOKENS}
    cost = _cost(one), _cost(other)
    total = _total(one) + _total(other)
    if cost[0] is None or cost[1] is None:
        return Usage(**used, total_tokens=total)
    amounts = [getattr(cost[0], name) + getattr(cost[1], name) for name in UsageCost.__struct_fields__]
    return Usage(**used, total_tokens=total, cost=UsageCost(*amounts))


_TOKENS = ("input", "output", "cache_read", "cache_write", "cache_write_long")


def _total(usage: Usage) -> int:
    """The total; some providers leave it out, or leave something out of it."""
    return max(usage.total_tokens, usage.input + usage.output + usage.cache_read + usage.cache_write)


def _cost(usage: Usage) -> UsageCost | None:
    return usage.cost if usage.cost is not None or _total(usage) else UsageCost()


def session_usage(store: Store, session: str) -> Usage:
    """The usage of a stored session, with its summaries and its sub-agents in the same store."""
    used = FREE
    for each in [session, *_below(store, session)]:
        # Entries that a sub-agent was forked with are counted in the session that they came from.
        begin = 0 if each == session else store.info(each).parent_entry or 0
        for entry in (stored.entry for stored in store.read(each, begin)):
            for usage in _used(entry):
                used = add_usage(used, usage)
    return used


def _below(store: Store, session: str) -> list[str]:
    return [info.id for info in store.sessions() if info.id.startswith(session + SEPARATOR)]


def _used(entry: AnyEntry) -> Iterator[Usage]:
    if isinstance(entry, MessageAdded) and isinstance(entry.message, AssistantMessage):
        yield entry.message.usage
    elif isinstance(entry, Compacted) and "usage" in entry.details:
        yield msgspec.convert(entry.details["usage"], Usage)
