"""Tokens and money, in the same categories on both sides, so that cost is a per-category multiply."""

from msgspec import Struct, field
from msgspec.structs import force_setattr

from .value import Value


class UsageCost(Value, frozen=True):
    """What an answer cost, in dollars."""

    input: float = field(default_factory=float)
    output: float = field(default_factory=float)
    cache_read: float = field(default_factory=float)
    cache_write: float = field(default_factory=float)
    total: float = field(default_factory=float)

    def _validate(self) -> None:
        for name in self.__struct_fields__:  # 0 and 0.0 are one amount, and are written alike
            if type(getattr(self, name)) is int:
                force_setattr(self, name, float(getattr(self, name)))

    def _may_hide_nan(self) -> bool:
        amounts = self.input + self.output + self.cache_read + self.cache_write + self.total
        return amounts - amounts != 0.0


class Usage(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Tokens of an answer. ``input`` excludes what was read from or written to a cache, for every provider.

    ``cost`` is ``None`` where a price is not known. (A default factory, unlike a default, is always written.)
    """

    input: int = field(default_factory=int)
    output: int = field(default_factory=int)
    cache_read: int = field(default_factory=int)
    cache_write: int = field(default_factory=int)
    total_tokens: int = field(default_factory=int)
    cost: UsageCost | None = None


class ModelCost(Struct, frozen=True, rename="camel"):
    """Prices in dollars per million tokens; ``None`` where a price is not known."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None

    def of(self, usage: Usage) -> UsageCost | None:
        """What ``usage`` costs, or ``None`` when a category was used whose price is not known."""
        amounts: list[float] = []
        for tokens, price in (
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
        ):
            if price is None and tokens:
                return None
            amounts.append(tokens * (price or 0.0) / 1_000_000)
        spent, made, read, written = amounts
        return UsageCost(spent, made, read, written, total=sum(amounts))
