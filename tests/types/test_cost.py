"""The cost of an answer: the step of the prompt's length, the lifetime of a cache, and the service tier."""

import pytest
from hypothesis import given, strategies as st

from segue.types import ModelCost, Prices, PriceStep, Usage, UsageCost

# GPT-5.4 (developers.openai.com, pricing, 2026-10): flex is half the price, priority twice, and not above 272,000.
GPT = ModelCost(
    input=2.5,
    output=15,
    cache_read=0.25,
    steps=(PriceStep(above=272_000, input=5, output=22.5, cache_read=0.5),),
    tiers={
        "flex": Prices(
            input=1.25, output=7.5, cache_read=0.13, steps=(PriceStep(above=272_000, input=2.5, output=11.25),)
        ),
        "priority": Prices(input=5, output=30, cache_read=0.5, steps=(PriceStep(above=272_000),)),
    },
)
SONNET = ModelCost(input=3, output=15, cache_read=0.3, cache_write=3.75, cache_write_long=6)


@pytest.mark.parametrize(
    ("usage", "total"),
    [
        (Usage(input=272_000, output=1_000), 0.695),
        (Usage(input=272_001, output=1_000), 1.382505),
        (Usage(input=400_000, output=1_000), 2.0225),
        (Usage(input=100_000, cache_read=300_000), 0.65),
        (Usage(input=100_000, output=1_000, service_tier="default"), 0.265),
        (Usage(input=100_000, output=1_000, service_tier="flex"), 0.1325),
        (Usage(input=400_000, output=1_000, service_tier="flex"), 1.01125),
        (Usage(input=100_000, output=1_000, service_tier="priority"), 0.53),
    ],
)
def test_all_tokens_have_the_prices_of_the_step_and_tier(usage: Usage, total: float) -> None:
    cost = GPT.of(usage)
    assert cost is not None
    assert cost.total == pytest.approx(total)


@pytest.mark.parametrize(
    "usage",
    [
        Usage(input=400_000, service_tier="priority"),
        Usage(input=1, service_tier="scale"),
        Usage(input=1, cache_write=1),
        Usage(input=400_000, cache_read=1, service_tier="flex"),
    ],
)
def test_the_cost_of_something_without_a_known_price_is_unknown(usage: Usage) -> None:
    assert GPT.of(usage) is None


def test_a_cache_that_lives_for_an_hour_costs_more_to_write() -> None:
    assert SONNET.of(Usage(cache_write=1_000_000)) == UsageCost(cache_write=3.75, total=3.75)
    assert SONNET.of(Usage(cache_write=1_000_000, cache_write_long=1_000_000)) == UsageCost(cache_write=6.0, total=6.0)
    mixed = SONNET.of(Usage(cache_write=1_000_000, cache_write_long=400_000))
    assert mixed is not None
    assert mixed.cache_write == pytest.approx(4.65)
    unpriced = ModelCost(input=3, output=15, cache_write=3.75)
    assert unpriced.of(Usage(cache_write=10, cache_write_long=1)) is None


PRICE = st.floats(0.01, 100)


@st.composite
def rising(draw: st.DrawFn) -> ModelCost:
    """Prices whose steps do not fall, as the catalog accepts them."""
    rates = {name: draw(PRICE) for name in ("input", "output", "cache_read", "cache_write", "cache_write_long")}
    steps: list[PriceStep] = []
    for above in sorted(draw(st.sets(st.integers(1, 1_000_000), max_size=3))):
        last = {name: getattr(steps[-1], name) for name in rates} if steps else rates
        steps.append(PriceStep(above=above, **{name: price * draw(st.floats(1, 5)) for name, price in last.items()}))
    return ModelCost(**rates, steps=tuple(steps))


@given(rising(), st.integers(0, 100), st.integers(0, 20_000), st.integers(0, 20_000), st.integers(0, 10_000))
def test_a_larger_prompt_with_the_same_cached_share_never_costs_less(
    prices: ModelCost, cached: int, small: int, more: int, output: int
) -> None:
    def cost(hundreds: int) -> float:
        read = hundreds * cached
        found = prices.of(Usage(input=hundreds * 100 - read, cache_read=read, output=output))
        assert found is not None
        return found.total

    assert cost(small) <= cost(small + more) * (1 + 1e-9)
