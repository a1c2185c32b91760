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


def dollars(amount: float) -> str:
    """An amount of money as text: cents, and up to four decimals below a dollar."""
    if 0 < amount < 0.0001:
        return "less than $0.0001"
    if round(amount, 4) >= 1:
        return f"${amount:,.2f}"
    whole, _, decimals = f"{amount:.4f}".rstrip("0").partition(".")
    return f"${whole}.{decimals:0<2}"


class Usage(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Tokens of an answer. For every provider, ``input`` excludes tokens that were read from or written to a cache.

    ``cache_write_long`` are those of ``cache_write`` whose cache lives for an hour or longer, which costs more.
    ``service_tier`` is the provider's word for how the request was processed, such as ``flex``; ``None`` if it reports
    none. ``cost`` is ``None`` if a price is not known. (Fields with a default factory are written even if they are
    zero.)
    """

    input: int = field(default_factory=int)
    output: int = field(default_factory=int)
    cache_read: int = field(default_factory=int)
    cache_write: int = field(default_factory=int)
    total_tokens: int = field(default_factory=int)
    cost: UsageCost | None = None
    cache_write_long: int = 0
    service_tier: str | None = None

    @property
    def prompt(self) -> int:
        """All tokens that were sent, whether a cache had them or not."""
        return self.input + self.cache_read + self.cache_write


def _unknown() -> None:
    """The default of a price that is written even if it is not known."""


class Rates(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Prices in dollars per million tokens; ``None`` if a price is not known, which is not the same as zero."""

    input: float | None = field(default_factory=_unknown)
    output: float | None = field(default_factory=_unknown)
    cache_read: float | None = field(default_factory=_unknown)
    cache_write: float | None = field(default_factory=_unknown)
    # For a cache that lives for an hour or longer.
    cache_write_long: float | None = None

    def _of(self, usage: Usage) -> UsageCost | None:
        long = min(usage.cache_write_long, usage.cache_write)
        read = _dollars(usage.input, self.input)
        made = _dollars(usage.output, self.output)
        cached = _dollars(usage.cache_read, self.cache_read)
        short, lasting = _dollars(usage.cache_write - long, self.cache_write), _dollars(long, self.cache_write_long)
        if read is None or made is None or cached is None or short is None or lasting is None:
            return None
        written = short + lasting
        return UsageCost(read, made, cached, written, read + made + cached + written)


def _dollars(tokens: int, price: float | None) -> float | None:
    """The cost of tokens; ``None`` if they were used and their price is not known."""
    if not tokens:
        return 0.0
    return None if price is None else tokens * price / 1_000_000


class PriceStep(Rates, frozen=True, kw_only=True):
    """The prices of all tokens of a request whose prompt has more than ``above`` tokens."""

    above: int


class Prices(Rates, frozen=True, kw_only=True):
    """Prices, which may depend on the length of the prompt. ``steps`` are in rising order."""

    steps: tuple[PriceStep, ...] = ()

    def at(self, prompt: int) -> Rates:
        """The prices for a prompt of that many tokens."""
        return next((step for step in reversed(self.steps) if prompt > step.above), self)


STANDARD_TIERS = frozenset({"standard", "default", "auto", "on_demand", "unspecified", "traffic_type_unspecified"})
"""The words of providers for processing at list prices."""


class ModelCost(Prices, frozen=True, kw_only=True):
    """The prices of a model. ``tiers`` are those of other ways of processing: ``batch``, ``flex``, ``priority`` …"""

    tiers: dict[str, Prices] = {}

    def of(self, usage: Usage) -> UsageCost | None:
        """Return the cost of ``usage``, or ``None`` if the price of something that was used is not known.

        The length of the prompt decides the step, and the service tier that the answer reports decides the prices.
        """
        tier = usage.service_tier
        prices = self if tier is None or tier in STANDARD_TIERS else self.tiers.get(tier)
        return None if prices is None else prices.at(usage.prompt)._of(usage)
