"""Which member each policy chooses. The choice follows from the log."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace
from support.routers import LARGE, A, B, C, at, error

import segue
from segue.router import Next, Situation

MEMBERS = [A, B, C]


def test_members_can_be_names_or_models() -> None:
    router = segue.Failover(["openai/gpt-5", A])
    assert [each.ref for each in router.members] == ["openai/gpt-5", A.ref]
    assert segue.Fixed("mistral/mistral-large-latest").members[0].ref == "mistral/mistral-large-latest"


@pytest.mark.parametrize("make", [segue.Failover, segue.RoundRobin, segue.Weighted])
def test_a_router_without_members_is_an_error(make: type) -> None:
    with pytest.raises(ValueError, match="at least one model"):
        make([])


@given(st.integers(0, 10_000), st.floats(0, 1e6), st.integers(0, 90_000))
def test_round_robin_depends_only_on_the_number_of_the_turn(turn: int, now: float, tokens: int) -> None:
    situation = at(now, turn, tokens=tokens, last=C, origins={C.ref: 9})
    assert segue.RoundRobin(MEMBERS).begin(situation) is MEMBERS[turn % 3]


def test_round_robin_skips_a_resting_member_and_returns_to_it() -> None:
    router = segue.RoundRobin(MEMBERS)
    router.failed(A, error("server"), 3, at(0))
    assert [router.begin(at(1, turn)) for turn in range(4)] == [B, B, C, B]
    assert [router.begin(at(30, turn)) for turn in range(3)] == [A, B, C]


def test_failover_begins_with_the_first_member_and_stays_with_the_new_one() -> None:
    router = segue.Failover(MEMBERS)
    assert router.begin(at(0)) is A
    decision = router.failed(A, error("overloaded"), 3, at(1))
    assert isinstance(decision, Next) and decision.model is B
    router.succeeded(B, at(2))
    assert router.begin(at(1000, 1, last=B, origins={B.ref: 1})) is B
    assert router.begin(at(1000, 0)) is A  # another conversation


def test_failover_stays_after_reopening_in_another_process() -> None:
    last = replace(B, base_url="http://127.0.0.1:1")  # a log contains the origin, not its URL
    assert segue.Failover(MEMBERS).begin(at(0, 7, last=last)) is B


def test_failover_that_is_not_sticky_returns_after_the_rest() -> None:
    router = segue.Failover(MEMBERS, sticky=False)
    router.failed(A, error("overloaded"), 3, at(0))
    assert router.begin(at(29, 1, last=B)) is B
    assert router.begin(at(30, 2, last=B)) is A
    decision = router.failed(A, error("overloaded"), 1, at(31, 2, last=B))
    assert isinstance(decision, Next) and decision.model is B  # a probe is not repeated
    assert router.resting(31) == {A.ref: 60}


def test_failover_prefers_the_origin_of_the_history_if_the_last_model_is_not_a_member() -> None:
    situation = at(0, 5, last=LARGE, origins={LARGE.ref: 1, C.ref: 3, B.ref: 1})
    assert segue.Failover(MEMBERS).begin(situation) is C
    assert segue.Failover(MEMBERS).begin(at(0, 5, last=LARGE)) is A


def test_an_available_member_whose_window_holds_the_request_is_preferred() -> None:
    assert segue.Failover([C, LARGE]).begin(at(0, tokens=150_000)) is LARGE
    assert segue.RoundRobin([C, LARGE]).begin(at(0, tokens=150_000)) is LARGE
    assert segue.Failover([C, A]).begin(at(0, tokens=5_000_000)) is C


@pytest.mark.parametrize(("weights", "shares"), [((3, 1), (0.75, 0.25)), ((1, 1), (0.5, 0.5)), ((1, 0), (1, 0))])
def test_weighted_gives_each_member_its_share_of_the_turns(weights: Sequence[float], shares: Sequence[float]) -> None:
    router = segue.Weighted([(A, weights[0]), (B, weights[1])])
    drawn = Counter(router.begin(Situation(turn=turn)).ref for turn in range(4000))
    assert [drawn[each.ref] / 4000 for each in (A, B)] == pytest.approx(shares, abs=0.03)


@given(st.integers(0, 1000), st.integers(), st.text(max_size=5))
def test_weighted_draws_the_same_member_for_the_same_turn(turn: int, seed: int, conversation: str) -> None:
    situation = Situation(turn=turn, conversation=conversation)
    one, two = (segue.Weighted([(A, 2), (B, 1), (C, 1)], seed=seed).begin(situation) for _ in range(2))
    assert one is two


def test_weighted_depends_on_the_seed_and_the_conversation() -> None:
    def turns(seed: int, conversation: str) -> list[str]:
        router = segue.Weighted([(A, 1), (B, 1)], seed=seed)
        return [router.begin(Situation(turn=turn, conversation=conversation)).ref for turn in range(64)]

    assert len({tuple(turns(seed, name)) for seed in range(4) for name in ("one", "two")}) == 8


def test_a_resting_member_does_not_change_the_draws_of_others() -> None:
    before, after = (segue.Weighted([(A, 1), (B, 1), (C, 1)]) for _ in range(2))
    after.failed(A, error("quota"), 1, at(0))
    for turn in range(200):
        drawn, now = before.begin(at(1, turn)), after.begin(at(1, turn))
        assert now is drawn or drawn is A


def test_weighted_replaces_a_resting_member_by_the_home_of_the_conversation() -> None:
    router = segue.Weighted([(A, 1000), (B, 1), (C, 0)])
    router.failed(A, error("quota"), 1, at(0))
    drawn = {router.begin(at(1, turn, last=C, origins={C.ref: 1})).ref for turn in range(20)}
    assert drawn == {C.ref}


def test_weighted_and_sticky_draws_only_the_first_turn() -> None:
    router = segue.Weighted([(A, 1), (B, 1)], sticky=True)
    assert {router.begin(at(0, turn, last=B)).ref for turn in range(20)} == {B.ref}
    assert {router.begin(at(0, turn)).ref for turn in range(20)} == {A.ref, B.ref}


@pytest.mark.parametrize("weights", [(0, 0), (1, -1), (1, float("nan")), (1, float("inf"))])
def test_invalid_weights_are_an_error(weights: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        segue.Weighted({A.ref: weights[0], "openai/gpt-5": weights[1]})


def test_a_policy_is_one_method() -> None:
    class Cheapest(segue.Router):
        def rank(self, situation: Situation) -> Sequence[segue.Model]:
            return sorted(self.members, key=lambda model: model.cost.output)

    router = Cheapest(MEMBERS)
    first, second, _ = sorted(MEMBERS, key=lambda model: model.cost.output)
    assert router.begin(at(0)) is first
    decision = router.failed(first, error("quota"), 1, at(0))
    assert isinstance(decision, Next) and decision.model is second


def test_a_policy_that_returns_another_model_is_an_error() -> None:
    class Odd(segue.Router):
        def rank(self, situation: Situation) -> Sequence[segue.Model]:
            return [LARGE]

    with pytest.raises(ValueError, match=r"Odd\.rank returned .*, which is not a member"):
        Odd(MEMBERS).begin(at(0))


def test_without_a_preference_the_members_keep_their_order() -> None:
    class Silent(segue.Router):
        def rank(self, situation: Situation) -> Sequence[segue.Model]:
            return ()

    assert Silent(MEMBERS).begin(at(0)) is A
