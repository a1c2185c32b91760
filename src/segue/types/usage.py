"""Tokens and their cost, in the same categories, so that each category is multiplied by its price."""

from msgspec import Struct, field
from msgspec.structs import force_setattr

from .value import Value


class UsageCost(Value, frozen=True):
    """The cost of an answer, in dollars."""

    input: float = field(default_factory=float)
    output: float = field(default_factory=float)
    cache_read: float = field(default_factory=float)
    cache_write: float = field(default_factory=float)
    total: float = field(default_factory=float)

    def _validate(self) -> None:
        for name in self.__struct_fields__:  # 0 and 0.0 are the same amount and are written the same way
            if type(getattr(self, name)) is int:
                force_setattr(self, name, float(getattr(self, name)))

    def _may_hide_nan(self) -> bool:
        amounts = self.input + self.output + self.cache_read + self.cache_write + self.total
        return amounts - amounts != 0.0


class Usage(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Tokens of an answer. For every provider, ``input`` excludes tokens that were read from or written to a cache.

    ``cost`` is ``None`` if a price is not known. (Fields with a default factory are written even if they are zero.)
    """

    input: int = field(default_factory=int)
    output: int = field(default_factory=int)
    cache_read: int = field(default_factory=int)
    cache_write: int = field(default_factory=int)
    total_tokens: int = field(default_factory=int)
    cost: UsageCost | None = None


class ModelCost(Struct, frozen=True, rename="camel"):
    """Prices in dollars per million tokens; ``None`` if a price is not known."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None

    def of(self, usage: Usage) -> UsageCost | None:
        """Return the cost of ``usage``, or ``None`` if the price of a category that was used is not known."""
        amounts = []
        for tokens, price in (
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
        ):
            if price is None and tokens:
                return None
            amounts.append(tokens * (price or 0.0) / 1_000_000)
        amounts.append(sum(amounts))
        return UsageCost(*amounts)
