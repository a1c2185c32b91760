"""A member that keeps failing rests, and is probed by one request at a time, even with many threads."""

from concurrent.futures import ThreadPoolExecutor

from support.routers import LARGE, A, B, C, at, error

import segue
from segue.router import GiveUp, Next


def broken(*models: segue.Model) -> segue.Router:
    """A, B and C, where these members failed at time 0."""
    router = segue.Failover([A, B, C])
    for model in models:
        router.failed(model, error("server"), 3, at(0))
    return router


def test_rests_double_with_each_failed_probe_up_to_a_limit_and_end_with_an_answer() -> None:
    router, now, rests = broken(A), 0.0, []
    for _ in range(7):
        rests.append(router.resting(now)[A.ref])
        now += rests[-1]
        assert router.begin(at(now)) is A
        assert isinstance(router.failed(A, error("server"), 1, at(now)), Next)
    assert rests == [30, 60, 120, 240, 480, 480, 480]
    router.succeeded(router.begin(at(now + 480)), at(now + 481))
    assert router.resting(now + 481) == {}
    router.failed(A, error("server"), 3, at(now + 500))
    assert router.resting(now + 500) == {A.ref: 30}


def test_only_one_caller_probes_and_the_others_use_other_members() -> None:
    router = broken(A)
    assert [router.begin(at(31)) for _ in range(4)] == [A, B, B, B]
    router.succeeded(A, at(32))
    assert [router.begin(at(33)) for _ in range(3)] == [A, A, A]


def test_only_one_thread_of_many_probes() -> None:
    router = broken(A)
    with ThreadPoolExecutor(16) as pool:
        for round_ in range(50):
            now = 31.0 + round_ * 10_000
            chosen = list(pool.map(router.begin, [at(now)] * 32))
            assert sum(each is A for each in chosen) == 1
            router.failed(A, error("server"), 1, at(now))


def test_a_probe_without_a_result_expires() -> None:
    router = broken(A)
    assert router.begin(at(31)) is A
    assert router.begin(at(330)) is B
    assert router.begin(at(331)) is A


def test_requests_that_were_running_when_a_rest_began_count_once() -> None:
    router = broken(A)
    for _ in range(10):
        assert isinstance(router.failed(A, error("server"), 1, at(1)), Next)  # and none of them is a retry
    assert router.resting(1) == {A.ref: 29}


def test_a_resting_member_may_ask_for_a_longer_rest() -> None:
    router = broken(A)
    router.failed(A, error("rate-limit", retry_after=100), 1, at(1))
    assert router.resting(1) == {A.ref: 100}


def test_an_answer_to_a_request_from_before_the_rest_does_not_end_it() -> None:
    router = broken(A)
    router.succeeded(A, at(5))
    assert router.resting(5) == {A.ref: 25}


def test_a_probe_that_is_refused_for_its_content_ends_the_rest() -> None:
    router = broken(A)
    assert router.begin(at(31)) is A
    assert isinstance(router.failed(A, error("invalid-request"), 1, at(32)), GiveUp)
    assert router.resting(32) == {}


def test_if_all_rest_a_turn_goes_to_the_one_that_returns_first() -> None:
    router = broken(A)
    router.failed(B, error("server"), 3, at(5))
    router.failed(C, error("quota"), 1, at(6))
    assert [router.begin(at(7)) for _ in range(3)] == [A, B, C]  # each is probed once before any is probed twice
    assert isinstance(router.failed(A, error("server"), 1, at(8)), GiveUp)


def test_a_member_that_answers_during_its_rest_is_well_again() -> None:
    router = broken(A, B, C)
    assert router.begin(at(7)) is A
    router.succeeded(A, at(8))
    assert A.ref not in router.resting(8)


def test_a_request_that_goes_to_a_member_after_a_failure_is_its_probe() -> None:
    router = broken(B)
    decision = router.failed(A, error("server"), 3, at(31))
    assert isinstance(decision, Next) and decision.model is B
    assert router.begin(at(32)) is C


def test_a_request_that_goes_to_a_larger_member_is_its_probe() -> None:
    router = segue.Failover([LARGE, A, C])
    router.failed(LARGE, error("server"), 3, at(0))
    decision = router.failed(A, error("overflow"), 1, at(31))
    assert isinstance(decision, Next) and decision.model is LARGE
    assert router.begin(at(32)) is A


def test_a_member_that_a_request_waits_for_is_probed_by_that_request() -> None:
    router = segue.Failover([A, B])
    router.failed(B, error("server"), 3, at(0))
    waiting = router.failed(A, error("quota"), 1, at(25))
    assert isinstance(waiting, Next) and waiting.model is B and waiting.wait == 5
    late = router.failed(A, error("quota"), 1, at(26))
    assert isinstance(late, GiveUp) and f"{B.ref} is being probed" in late.reason
