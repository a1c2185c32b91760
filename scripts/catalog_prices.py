"""Prices as the sources have them, in one form: rates, steps by the length of the prompt, and tiers of processing.

All are dollars per million tokens. ``choose`` combines the prices that several sources have for one model.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

MILLION = 1_000_000
RATES = ("input", "output", "cache_read", "cache_write", "cache_write_long")
MAX_RATES = {"input": 200.0, "output": 1000.0, "cache_read": 200.0, "cache_write": 250.0, "cache_write_long": 400.0}
"""A higher price is probably in the wrong unit and is left out."""

Rates = Mapping[str, float]


@dataclass(frozen=True)
class Prices:
    """The prices of one model in one source. ``steps`` has rates by the length that a prompt must exceed."""

    rates: Rates = field(default_factory=dict)
    steps: Mapping[int, Rates] = field(default_factory=dict)
    tiers: Mapping[str, "Prices"] = field(default_factory=dict)

    @property
    def pair(self) -> tuple[float | None, float | None]:
        """The two prices by which sources are compared."""
        return self.rates.get("input"), self.rates.get("output")


# -- litellm: one key for each rate, step and tier ---------------------------------------------------------------------

_LITELLM = re.compile(
    r"(input_cost_per_token|output_cost_per_token|cache_read_input_token_cost|cache_creation_input_token_cost)"
    r"(_above_1hr)?(?:_above_(\d+)k_tokens)?(?:_(batches|flex|priority))?"
)
_NAMES = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "cache_read_input_token_cost": "cache_read",
    "cache_creation_input_token_cost": "cache_write",
}
_TIERS = {None: "", "batches": "batch", "flex": "flex", "priority": "priority"}


def from_litellm(entry: Mapping[str, Any]) -> Prices:
    """Read the prices of an entry of litellm's file, which are per token."""
    found: dict[str, dict[int, dict[str, float]]] = {}
    for key, value in entry.items():
        match = _LITELLM.fullmatch(key)
        if match is not None and isinstance(value, int | float):
            name, long, above, tier = match.groups()
            steps = found.setdefault(_TIERS[tier], {})
            steps.setdefault(int(above or 0) * 1000, {})[_NAMES[name] + ("_long" if long else "")] = per_million(value)
    for part in entry.get("tiered_pricing") or []:
        rates = {_NAMES[key]: per_million(value) for key, value in part.items() if key in _NAMES}
        found.setdefault("", {}).setdefault(int(part["range"][0]), {}).update(_thinking(part, rates))
    main = _as_prices(found.pop("", {}))
    tiers = {name: _as_prices(steps) for name, steps in sorted(found.items())}
    return replace(main, rates=_thinking(entry, dict(main.rates)), tiers=tiers)


def _thinking(entry: Mapping[str, Any], rates: dict[str, float]) -> dict[str, float]:
    """Rates with the price of output that a thinking model has, if that is higher."""
    thinking = entry.get("output_cost_per_reasoning_token")
    if isinstance(thinking, int | float) and "output" in rates:
        rates["output"] = max(rates["output"], per_million(thinking))
    return rates


def _as_prices(steps: Mapping[int, Rates]) -> Prices:
    return Prices(steps.get(0, {}), {above: rates for above, rates in sorted(steps.items()) if above})


def per_million(price: float) -> float:
    """A price per token as a price per million."""
    return float(Decimal(str(price)) * MILLION)


# -- models.dev and genai-prices ---------------------------------------------------------------------------------------


def from_models_dev(cost: Mapping[str, Any]) -> Prices:
    """Read the ``cost`` of models.dev, whose ``tiers`` are steps."""
    steps = {
        part["tier"]["size"]: _known(part)
        for part in cost.get("tiers") or []
        if part.get("tier", {}).get("type") == "context"
    }
    if not steps and cost.get("context_over_200k"):
        steps = {200_000: _known(cost["context_over_200k"])}
    return Prices(_known(cost), steps)


def _known(rates: Mapping[str, Any]) -> Rates:
    return {name: float(rates[name]) for name in RATES if isinstance(rates.get(name), int | float)}


_GENAI = {
    "input_mtok": "input",
    "output_mtok": "output",
    "cache_read_mtok": "cache_read",
    "cache_write_mtok": "cache_write",
    "cache_write_1h_mtok": "cache_write_long",
}


def from_genai(prices: Mapping[str, Any]) -> Prices:
    """Read prices of genai-prices: a number, or a number with steps, for each rate."""
    rates: dict[str, float] = {}
    steps: dict[int, dict[str, float]] = {}
    for theirs, ours in _GENAI.items():
        price = prices.get(theirs)
        if isinstance(price, Mapping):
            for step in price.get("tiers") or []:
                steps.setdefault(int(step["start"]), {})[ours] = float(step["price"])
            price = price.get("base")
        if price is not None:
            rates[ours] = float(price)
    return Prices(rates, dict(sorted(steps.items())))


# -- choosing ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Chosen:
    """The prices of a row, the source of the main ones, and whether the sources leave a doubt."""

    prices: Prices
    source: str
    doubtful: bool


def choose(found: Mapping[str, Prices], current: Iterable[str]) -> Chosen | None:
    """Combine the prices of several sources, which are in the order of their rank.

    The sources that are kept up to date decide. If they differ, a third one that agrees with one of them does, and
    otherwise the higher price, which is then doubtful. What the chosen source lacks comes from sources
    that agree with it.
    """
    stated = {name: prices for name, prices in found.items() if None not in prices.pair}
    newest = {name: prices for name, prices in stated.items() if name in current} or stated
    if not newest:
        return None
    supported = {name: sum(prices.pair == other.pair for other in stated.values()) for name, prices in newest.items()}
    differ = len({prices.pair for prices in newest.values()}) > 1
    most = max(supported.values())
    doubtful = differ and most == 1
    best = max(newest, key=lambda name: sum(newest[name].pair)) if doubtful else _first(supported, most)  # type: ignore[arg-type]
    agreeing = [stated[best], *(prices for prices in stated.values() if prices.pair == stated[best].pair)]
    rates: dict[str, float] = {}
    for prices in reversed(agreeing):
        rates |= prices.rates
    steps = next((prices.steps for prices in agreeing if prices.steps), {})
    tiers = next((prices.tiers for prices in agreeing if prices.tiers), {})
    return Chosen(Prices(rates, steps, tiers), best, doubtful)


def _first(supported: Mapping[str, int], most: int) -> str:
    return next(name for name, count in supported.items() if count == most)


def as_row(prices: Prices, window: int | None = None) -> dict[str, Any]:
    """The prices in the form of a row. A step has what it changes and what stays; no price falls with the length.

    Steps that no prompt of the model reaches are left out.
    """
    row: dict[str, Any] = {name: _plain(prices.rates[name]) for name in RATES if name in prices.rates}
    before, steps = dict(prices.rates), []
    for above, changed in prices.steps.items():
        if window is not None and above >= window:
            continue
        rates = {name: before[name] for name in ("input", "output") if name in before} | dict(changed)
        rates = {name: max(value, before.get(name, value)) for name, value in rates.items()}
        if rates != {name: before.get(name) for name in rates}:
            steps.append({"above": above} | {name: _plain(rates[name]) for name in RATES if name in rates})
            before = rates
    if steps:
        row["steps"] = steps
    tiers = {name: as_row(tier, window) for name, tier in prices.tiers.items()}
    return row | ({"tiers": tiers} if tiers else {})


def _plain(number: float) -> float | int:
    """Write 3.0 as 3, to make the file readable."""
    return int(number) if number == int(number) else number
