"""Laws of every router, with several conversations that share it, and failures and answers in any order over time.

The machine keeps its own book of who is sick, for how many times in a row and until when; it does not look into the
router.
"""

from typing import Any

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from support.routers import LARGE, A, B, C, error

import segue
from segue.errors import ProviderError
from segue.router import Compact, Decision, GiveUp, Next, Retry, Situation

MEMBERS = [A, B, C, LARGE]
RESTS = {"rate-limit": 30, "overloaded": 30, "server": 30, "network": 30, "quota": 900, "authentication": 900}
HARMLESS = ["invalid-request", "refused", "overflow"]
MAKE = {
    "failover": segue.Failover,
    "returning": lambda members: segue.Failover(members, sticky=False),
    "round-robin": segue.RoundRobin,
    "weighted": lambda members: segue.Weighted([(each, place + 1) for place, each in enumerate(members)]),
}


class Talk:
    """A conversation: what a router sees of its log, and the running request."""

    def __init__(self, name: int) -> None:
        self.name = f"talk {name}"
        self.turn = 0
        self.last: segue.Model | None = None
        self.origins: dict[str, int] = {}
        self.asked: segue.Model | None = None
        self.tries: dict[str, int] = {}
        self.compacted = False

    def seen(self, now: float) -> Situation:
        return Situation(self.turn, self.last, dict(self.origins), 0, now, self.compacted, self.name)

    def request(self) -> None:
        self.tries, self.compacted = {}, False

    def end(self) -> None:
        self.turn, self.asked = self.turn + 1, None


class Routing(RuleBasedStateMachine):
    @initialize(kind=st.sampled_from(sorted(MAKE)), size=st.integers(1, 4), talks=st.integers(1, 5))
    def start(self, kind: str, size: int, talks: int) -> None:
        self.kind, self.members = kind, MEMBERS[:size]
        self.router, self.twin = MAKE[kind](self.members), MAKE[kind](self.members)
        self.talks = [Talk(number) for number in range(talks)]
        self.now = 1000.0
        self.sick: dict[str, float] = {}  # until when it rests
        self.strikes: dict[str, int] = {}
        self.probes: dict[str, float] = {}  # since when it is being probed

    def both(self, name: str, *arguments: Any) -> Any:
        """The same input leads to the same decisions."""
        one, two = getattr(self.router, name)(*arguments), getattr(self.twin, name)(*arguments)
        assert one == two
        return one

    def choose(self, talk: Talk, model: segue.Model, but: segue.Model | None, when: float) -> None:
        """Check a choice that is made now, for a request at ``when``."""
        others = [each.ref for each in self.members if each is not but and each is not model]
        if any(each not in self.sick for each in others) and model.ref in self.sick:
            assert when >= self.sick[model.ref], "a resting member was chosen while another was well"
            assert self.now - self.probes.get(model.ref, 0) >= 300, "two probes at a time while another was well"
        if model.ref in self.sick:
            self.probes[model.ref] = when
        talk.asked = model

    def spoke(self, model: segue.Model) -> None:
        """Record an answer or a refusal: the member is well, unless the request is older than its rest."""
        if model.ref in self.probes or self.now >= self.sick.get(model.ref, 0):
            for book in (self.sick, self.strikes, self.probes):
                book.pop(model.ref, None)

    def left(self, model: segue.Model, rest: float, asked: float) -> None:
        until = self.sick.get(model.ref, 0)
        if self.now >= until or model.ref in self.probes:  # otherwise another request has reported it
            self.strikes[model.ref] = self.strikes.get(model.ref, 0) + 1
            until = self.now + rest * [1, 2, 4, 8, 16][min(self.strikes[model.ref], 5) - 1]
        self.sick[model.ref] = max(until, self.now + asked)
        self.probes.pop(model.ref, None)

    @rule(seconds=st.sampled_from([0.1, 1, 9, 31, 61, 301, 1000, 20_000]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @precondition(lambda self: any(talk.asked is None for talk in self.talks))
    @rule(data=st.data())
    def a_turn_begins(self, data: st.DataObject) -> None:
        self.begin(data.draw(st.sampled_from([each for each in self.talks if each.asked is None])))

    @rule(seconds=st.sampled_from([1, 31, 61]))
    def after_a_while_all_begin_at_once(self, seconds: float) -> None:
        self.now += seconds
        for talk in self.talks:
            if talk.asked is None:
                self.begin(talk)

    def begin(self, talk: Talk) -> None:
        model = self.both("begin", talk.seen(self.now))
        assert any(model is each for each in self.members)
        if not self.sick and self.kind == "round-robin":
            assert model is self.members[talk.turn % len(self.members)]
        if self.kind == "failover" and talk.last is not None and talk.last.ref not in self.sick:
            assert model is talk.last, "it left a member that was well"
        talk.request()
        self.choose(talk, model, None, self.now)

    @precondition(lambda self: any(talk.asked for talk in self.talks))
    @rule(data=st.data(), more=st.booleans())
    def it_answers(self, data: st.DataObject, more: bool) -> None:
        talk = data.draw(st.sampled_from([each for each in self.talks if each.asked]))
        assert talk.asked is not None
        self.both("succeeded", talk.asked, talk.seen(self.now))
        self.spoke(talk.asked)
        talk.last = talk.asked
        talk.origins[talk.asked.ref] = talk.origins.get(talk.asked.ref, 0) + 1
        talk.request()  # for the results of calls, with the same model
        if not more:
            talk.end()

    @precondition(lambda self: any(talk.asked for talk in self.talks))
    @rule(data=st.data(), kind=st.sampled_from([*RESTS, *HARMLESS]), asked=st.sampled_from([None, 0.0, 5.0, 100.0]))
    def it_fails(self, data: st.DataObject, kind: str, asked: float | None) -> None:
        talk = data.draw(st.sampled_from([each for each in self.talks if each.asked]))
        assert talk.asked is not None
        self.fail(talk, talk.asked, error(kind, retry_after=asked))

    @precondition(lambda self: any(talk.asked for talk in self.talks))
    @rule(data=st.data(), kind=st.sampled_from([*RESTS]))
    def it_fails_until_it_is_left(self, data: st.DataObject, kind: str) -> None:
        talk = data.draw(st.sampled_from([each for each in self.talks if each.asked]))
        model = talk.asked
        while talk.asked is model and model is not None:
            self.fail(talk, model, error(kind))

    @precondition(lambda self: any(talk.asked for talk in self.talks))
    @rule(data=st.data(), kind=st.sampled_from([*RESTS]))
    def a_request_fails_until_it_is_given_up(self, data: st.DataObject, kind: str) -> None:
        talk = data.draw(st.sampled_from([each for each in self.talks if each.asked]))
        steps = 0
        while talk.asked is not None:
            self.fail(talk, talk.asked, error(kind))
            steps += 1
            assert steps <= 5 * len(self.members), "a request without an answer does not end"

    def fail(self, talk: Talk, model: segue.Model, failure: ProviderError) -> None:
        talk.tries[model.ref] = talk.tries.get(model.ref, 0) + 1
        decision: Decision = self.both("failed", model, failure, talk.tries[model.ref], talk.seen(self.now))
        assert decision.reason and "\n" not in decision.reason
        self.judge(failure.kind, decision, model, talk)
        if failure.kind in HARMLESS:
            self.spoke(model)
        elif not isinstance(decision, Retry) and len(self.members) > 1:
            self.left(model, RESTS[failure.kind], failure.retry_after or 0)
        if isinstance(decision, Next):
            self.choose(talk, decision.model, model, self.now + decision.wait)
        if isinstance(decision, Compact):
            talk.compacted = True
        if isinstance(decision, GiveUp):
            talk.end()
        if isinstance(decision, Next | Retry):
            self.now += decision.wait

    def judge(self, kind: str, decision: Decision, model: segue.Model, talk: Talk) -> None:
        """Check the decision about a failure of this kind."""
        if kind in ("invalid-request", "refused"):
            assert isinstance(decision, GiveUp)
        if kind in ("quota", "authentication"):
            assert not isinstance(decision, Retry | Compact)
        if isinstance(decision, Compact):
            assert kind == "overflow" and not talk.compacted
        if isinstance(decision, Next):
            assert decision.model is not model and 0 <= decision.wait <= 10
            assert kind != "overflow" or decision.model.context_window > model.context_window
        if isinstance(decision, Retry):
            assert talk.tries[model.ref] <= 2 and 0 < decision.wait <= 60
            assert model.ref not in self.sick, "a resting member was asked twice"
        if isinstance(decision, GiveUp) and kind in RESTS and len(self.members) > 1:
            well = [each for each in self.members if each is not model and each.ref not in self.sick]
            assert not well or talk.tries[model.ref] > 4, "it gave up while another member was well"


TestRouting = Routing.TestCase
TestRouting.settings = settings(stateful_step_count=60)
