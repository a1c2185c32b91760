"""The decision for each kind of failure: the table, and every step with its limits."""

import pytest
from msgspec.structs import replace
from support.routers import LARGE, A, B, C, at, error

import segue
from segue.errors import ProviderError
from segue.router import Compact, GiveUp, Next, Patience, Retry, Situation
from segue.router.rules import RULES, rule_of

CURABLE = ["rate-limit", "overloaded", "server", "network"]
OF_THE_ACCOUNT = ["quota", "authentication", "model-not-found"]


def test_every_kind_of_error_has_a_row_and_every_row_is_a_kind() -> None:
    assert set(RULES) == {ProviderError, *ProviderError.__subclasses__()}


def test_an_unlisted_kind_of_error_has_the_rule_of_its_base_class() -> None:
    class Throttled(segue.RateLimitError):
        pass

    assert rule_of(Throttled("slow down")) is RULES[segue.RateLimitError]


@pytest.mark.parametrize("kind", CURABLE)
def test_the_same_member_is_retried_with_growing_waits_then_the_next_is_asked(kind: str) -> None:
    router = segue.Failover([A, B])
    first = router.failed(A, error(kind), 1, at(0))
    second = router.failed(A, error(kind), 2, at(1))
    assert isinstance(first, Retry) and isinstance(second, Retry)
    assert 0.25 <= first.wait <= 0.5 and 0.5 <= second.wait <= 1.0
    third = router.failed(A, error(kind), 3, at(2))
    assert isinstance(third, Next) and third.model is B and third.wait == 0


@pytest.mark.parametrize("kind", OF_THE_ACCOUNT)
def test_a_member_without_credit_key_or_model_is_left_immediately_and_has_a_long_rest(kind: str) -> None:
    router = segue.Failover([A, B])
    decision = router.failed(A, error(kind, retryable=True), 1, at(0))
    assert isinstance(decision, Next) and decision.model is B
    assert router.resting(0) == {A.ref: 900}


@pytest.mark.parametrize("kind", ["invalid-request", "refused"])
@pytest.mark.parametrize("make", [segue.Failover, segue.RoundRobin])
def test_an_invalid_request_and_a_refusal_are_not_sent_to_another_member(kind: str, make: type) -> None:
    router = make([A, B])
    decision = router.failed(A, error(kind), 1, at(0))
    assert isinstance(decision, GiveUp) and kind in decision.reason and "\n" not in decision.reason
    assert router.resting(0) == {} and router.begin(at(1)) is A


def test_after_a_failure_without_retry_the_next_member_is_asked() -> None:
    decision = segue.Failover([A, B]).failed(A, error("server", retryable=False), 1, at(0))
    assert isinstance(decision, Next) and decision.model is B


def test_a_single_member_is_retried_and_never_rests() -> None:
    router = segue.Fixed(A)
    for turn in range(3):
        assert [router.failed(A, error("overloaded"), n, at(turn)).word for n in (1, 2, 3)] == [
            "retry",
            "retry",
            "give-up",
        ]
        assert router.begin(at(turn)) is A
    assert router.resting(3) == {}


@pytest.mark.parametrize(("asked", "word"), [(0.0, "retry"), (10.0, "retry"), (10.1, "next"), (3600.0, "next")])
def test_a_short_retry_after_is_respected(asked: float, word: str) -> None:
    router = segue.Failover([A, B])
    decision = router.failed(A, error("rate-limit", retry_after=asked), 1, at(0))
    assert decision.word == word
    if isinstance(decision, Retry):
        assert decision.wait >= asked
    else:
        assert router.resting(0)[A.ref] == max(30, asked)


@pytest.mark.parametrize(("asked", "word"), [(60.0, "retry"), (61.0, "give-up")])
def test_a_single_member_may_ask_for_a_longer_wait_up_to_a_limit(asked: float, word: str) -> None:
    decision = segue.Fixed(A).failed(A, error("rate-limit", retry_after=asked), 1, at(0))
    assert decision.word == word and (word == "retry" or "61 s" in decision.reason)


def test_a_provider_cannot_make_a_member_rest_for_more_than_a_day() -> None:
    router = segue.Failover([A, B])
    router.failed(A, error("rate-limit", retry_after=9e8), 1, at(0))
    assert router.resting(0) == {A.ref: 86_400}


def test_an_overflow_leads_to_a_larger_window_then_to_compaction_then_to_giving_up() -> None:
    router = segue.Failover([A, LARGE])
    larger = router.failed(A, error("overflow"), 1, at(0, tokens=150_000))
    assert isinstance(larger, Next) and larger.model is LARGE
    assert isinstance(router.failed(LARGE, error("overflow"), 1, at(1)), Compact)
    end = router.failed(LARGE, error("overflow"), 2, at(2, compacted=True))
    assert isinstance(end, GiveUp)
    assert "no member has a larger window" in end.reason and "already compacted" in end.reason
    assert router.resting(2) == {}


@pytest.mark.parametrize("others", [[], [B], [C]])
def test_an_overflow_without_a_larger_window_is_compacted_once(others: list[segue.Model]) -> None:
    router = segue.Failover([A, *others])
    assert isinstance(router.failed(A, error("overflow"), 1, at(0)), Compact)
    assert isinstance(router.failed(A, error("overflow"), 2, at(0, compacted=True)), GiveUp)


def test_a_larger_window_is_one_that_accepts_more_input() -> None:
    wide = replace(A, context_window=1_050_000, max_input_tokens=272_000)
    narrow = replace(B, context_window=400_000, max_input_tokens=None)
    decision = segue.Failover([wide, narrow]).failed(wide, error("overflow"), 1, at(0, tokens=300_000))
    assert isinstance(decision, Next) and decision.model is narrow
    assert isinstance(segue.Failover([narrow, wide]).failed(narrow, error("overflow"), 1, at(0)), Compact)


def test_a_larger_window_that_is_still_too_small_does_not_help() -> None:
    decision = segue.Failover([A, LARGE]).failed(A, error("overflow"), 1, at(0, tokens=2_000_000))
    assert isinstance(decision, Compact)


def test_a_resting_member_with_a_larger_window_is_not_asked() -> None:
    router = segue.Failover([A, LARGE])
    router.failed(LARGE, error("quota"), 1, at(0))
    assert isinstance(router.failed(A, error("overflow"), 1, at(1)), Compact)


def test_the_model_that_failed_need_not_be_a_member() -> None:
    router = segue.Failover([A, B])
    assert isinstance(router.failed(C, error("server"), 1, at(0)), Retry)
    decision = router.failed(C, error("server"), 3, at(0))
    assert isinstance(decision, Next) and decision.model is A
    assert router.resting(0) == {}
    router.succeeded(C, at(1))


def test_a_model_with_another_url_is_still_the_member() -> None:
    router = segue.Failover([A, B])
    router.failed(replace(A, base_url="http://127.0.0.1:1", endpoint="e"), error("quota"), 1, at(0))
    assert A.ref in router.resting(0)


def test_two_accounts_of_one_model_are_two_members() -> None:
    other = replace(A, base_url="https://example.org")
    router = segue.Failover([A, other])
    decision = router.failed(A, error("authentication"), 1, at(0))
    assert isinstance(decision, Next) and decision.model is other
    assert isinstance(router.failed(other, error("server"), 1, at(0)), Retry)


def test_if_all_rest_the_request_waits_for_one_that_returns_soon() -> None:
    router = segue.Failover([A, B, C])
    router.failed(C, error("quota"), 1, at(0))
    router.failed(B, error("server"), 3, at(0))
    decision = router.failed(A, error("server"), 3, at(25))
    assert isinstance(decision, Next) and decision.model is B and decision.wait == 5


def test_if_all_rest_for_long_the_reason_states_when_they_return() -> None:
    router = segue.Failover([A, B, C])
    router.failed(C, error("quota"), 1, at(0))
    router.failed(B, error("server"), 3, at(0))
    decision = router.failed(A, error("server"), 3, at(10))
    assert isinstance(decision, GiveUp)
    assert f"{B.ref} returns in 20 s" in decision.reason and f"{C.ref} returns in 890 s" in decision.reason


def test_members_that_are_well_for_others_are_not_tried_forever() -> None:
    """Two members answer all other requests and fail one. That request ends."""
    router = segue.Failover([A, B])
    model, tries, situation = A, {A.ref: 0, B.ref: 0}, at(0)
    for _ in range(20):
        tries[model.ref] += 1
        decision = router.failed(model, error("server"), tries[model.ref], situation)
        for each in (A, B):  # other requests, long after every rest
            router.succeeded(each, at(10_000))
        if isinstance(decision, GiveUp):
            break
        model = decision.model if isinstance(decision, Next) else model
    assert isinstance(decision, GiveUp) and max(tries.values()) <= 5


def test_patience_is_a_setting() -> None:
    router = segue.Failover([A, B], patience=Patience(retries=segue.Retries(count=0), rest=5))
    assert isinstance(router.failed(A, error("server"), 1, at(0)), Next)
    assert router.resting(1) == {A.ref: 4}


def test_every_decision_has_a_word_for_the_log() -> None:
    words = {kind.word for kind in (Retry, Next, Compact, GiveUp)}
    assert words == {"retry", "next", "compact", "give-up"}


def test_conversations_that_share_a_router_retry_at_different_times() -> None:
    router = segue.Fixed(A)
    waits = {router.failed(A, error("server"), 1, Situation(turn=0, conversation=f"c{number}")) for number in range(50)}
    assert len(waits) == 50
