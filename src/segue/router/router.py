"""What all routers have in common: members, their health, and taking the steps that the rules say.

A router may be shared by all sessions of a process and be called from any thread.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from threading import RLock

from msgspec import Struct

from ..catalog import get_model
from ..errors import ProviderError
from ..types import Model
from ..types.check import check_model
from .decisions import Compact, Decision, GiveUp, Next, Retry, Situation
from .health import Health
from .patience import Patience, luck
from .rules import Rest, Step, rule_of


class _Failure(Struct, frozen=True):
    """A failed attempt, as the steps look at it."""

    model: Model
    place: int | None  # None: whoever failed is no member
    error: ProviderError
    attempt: int
    situation: Situation
    rest: Rest

    def __str__(self) -> str:
        return f"{self.model.ref}: {self.error.kind}"


class Router(ABC):
    """Chooses the model for the next request. A policy of your own is a subclass with one method, ``rank``."""

    members: tuple[Model, ...]

    def __init__(self, models: Iterable[Model | str], *, patience: Patience | None = None) -> None:
        self.members = tuple(get_model(each) if isinstance(each, str) else each for each in models)
        if not self.members:
            raise ValueError("a router needs at least one model")
        for member in self.members:
            check_model(member)
        self.patience = patience or Patience()
        self._health = [Health() for _ in self.members]
        self._lock = RLock()  # reentrant: a policy may ask who rests

    @abstractmethod
    def rank(self, situation: Situation) -> Sequence[Model]:
        """Members, the most wanted first. Pure: the same for the same situation. Health is not its affair."""

    def begin(self, situation: Situation) -> Model:
        """The model for a new turn. Always one: a turn that somebody wants is tried, even if every member rests."""
        with self._lock:
            ranked = self._ranked(situation)
            place = self._best(ranked, situation)
            if place is None:
                place = min(ranked, key=lambda each: self._return(each, situation))
            return self._take(place, situation.now)

    def failed(self, model: Model, error: ProviderError, attempt: int, situation: Situation) -> Decision:
        """What to do now. ``attempt``: how often this model was asked in this request, from 1."""
        rule = rule_of(error)
        with self._lock:
            failure = _Failure(model, self._place(model), error, attempt, situation, rule.rest)
            if rule.rest is None and failure.place is not None:
                self._health[failure.place].answered(situation.now)  # it speaks; the request is the trouble
            obstacles = []
            for step in rule.steps:
                found = _STEPS[step](self, failure)
                if not isinstance(found, str):
                    return found
                obstacles.append(found)
        return GiveUp(f"{failure}, {rule.why}" + "".join(f"; {each}" for each in obstacles))

    def succeeded(self, model: Model, situation: Situation) -> None:
        """The model answered."""
        place = self._place(model)
        if place is not None:
            with self._lock:
                self._health[place].answered(situation.now)

    def resting(self, now: float) -> dict[str, float]:
        """The members that are not well: the seconds that each still rests, 0 for one that is due for a probe."""
        with self._lock:
            return {
                model.ref: self._health[place].rest(now)
                for place, model in enumerate(self.members)
                if not self._health[place].well
            }

    def home(self, situation: Situation) -> Model | None:
        """The member that has the conversation's signatures and cache: the last that answered, or did so most often."""
        place = None if situation.last is None else self._place(situation.last)
        if place is not None:
            return self.members[place]
        most = max(self.members, key=lambda model: situation.origins.get(model.ref, 0))
        return most if situation.origins.get(most.ref) else None

    # The steps. Each gives a decision, or says why it cannot be taken.

    def _again(self, failure: _Failure) -> Decision | str:
        patience, asked = self.patience, failure.error.retry_after or 0.0
        if failure.place is not None and not self._health[failure.place].well:
            return "a member that rests is not asked twice"
        if not failure.error.retryable:
            return "another try would not help"
        if failure.attempt > patience.retries:
            return f"tried {failure.attempt} times"
        alone = self._best(self._others(failure), failure.situation) is None
        limit = patience.longest_pause_alone if alone else patience.longest_pause
        if asked > limit:
            return f"it asks for {asked:.0f} s, and {limit:.0f} s is the longest to wait for it"
        situation = failure.situation
        chance = luck(situation.conversation, situation.turn, failure.model.ref, failure.attempt)
        wait = max(asked, patience.backoff(failure.attempt, chance))
        return Retry(wait, f"{failure}; try {failure.attempt + 1} of {patience.retries + 1} in {wait:.1f} s")

    def _other(self, failure: _Failure) -> Decision | str:
        others, situation, now = self._others(failure), failure.situation, failure.situation.now
        if not others:
            return "there is no other member"
        self._leave(failure)
        # Members that others find well and that fail here could be tried in turn for ever.
        if failure.attempt > self.patience.retries + 2:
            return f"tried {failure.attempt} times, with other members in between"
        place = self._best(others, situation)
        if place is not None:
            return Next(self._take(place, now), 0.0, f"{failure}, after {failure.attempt} of its tries")
        place = min(others, key=lambda each: self._return(each, situation))
        wait = self._health[place].rest(now)
        if not self._health[place].probed(now) and wait <= self.patience.longest_pause:
            reason = f"{failure}; every other member rests, and this one is back first, in {wait:.1f} s"
            return Next(self._take(place, now + wait), wait, reason)
        return "every other member rests: " + ", ".join(self._when(each, now) for each in others)

    def _larger(self, failure: _Failure) -> Decision | str:
        situation = failure.situation
        least = max(failure.model.context_window, situation.tokens)
        larger = [place for place in self._others(failure) if self.members[place].context_window > least]
        place = self._best(larger, situation)
        if place is None:
            return "every member with a larger window rests" if larger else "no member has a larger window"
        model = self._take(place, situation.now)
        return Next(model, 0.0, f"{failure}; {model.ref} takes {model.context_window} tokens")

    def _compact(self, failure: _Failure) -> Decision | str:
        return "it was compacted already" if failure.situation.compacted else Compact(f"{failure}")

    # Members are known by their place; the lock is held.

    def _place(self, model: Model) -> int | None:
        """The place of a model: of the very same, or of one that speaks for the same origin (a log keeps no URLs)."""
        for place, member in enumerate(self.members):
            if member is model or member == model:
                return place
        for place, member in enumerate(self.members):
            if member.ref == model.ref and member.protocol == model.protocol:
                return place
        return None

    def _ranked(self, situation: Situation) -> list[int]:
        places = []
        for model in self.rank(situation):
            place = self._place(model)
            if place is None:
                raise ValueError(f"{type(self).__name__}.rank gave {model.ref}, which is no member")
            if place not in places:
                places.append(place)
        return places or list(range(len(self.members)))

    def _others(self, failure: _Failure) -> list[int]:
        return [place for place in self._ranked(failure.situation) if place != failure.place]

    def _best(self, places: Sequence[int], situation: Situation) -> int | None:
        """The first that is there, and rather one whose window holds the request: that saves a compaction."""
        there = [place for place in places if self._health[place].available(situation.now)]
        fitting = [place for place in there if self.members[place].context_window > situation.tokens]
        return next(iter(fitting or there), None)

    def _return(self, place: int, situation: Situation) -> tuple[bool, float]:
        """By what members that are all away are compared: who is asked by nobody, whose rest ends first."""
        health = self._health[place]
        return health.probed(situation.now), health.rest(situation.now)

    def _take(self, place: int, now: float) -> Model:
        self._health[place].taken(now, self.patience.longest_probe)
        return self.members[place]

    def _leave(self, failure: _Failure) -> None:
        if failure.place is not None and failure.rest is not None:
            first: float = getattr(self.patience, failure.rest)
            self._health[failure.place].left(failure.situation.now, first, failure.error.retry_after)

    def _when(self, place: int, now: float) -> str:
        health, ref = self._health[place], self.members[place].ref
        return f"{ref} is being probed" if health.probed(now) else f"{ref} is back in {health.rest(now):.0f} s"


_STEPS: dict[Step, Callable[[Router, _Failure], Decision | str]] = {
    "again": Router._again,
    "other": Router._other,
    "larger": Router._larger,
    "compact": Router._compact,
}
