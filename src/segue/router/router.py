"""``Router``: members, their health, and the steps after a failure. All routers share this.

A router may be shared by all sessions of a process and be called from any thread.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from threading import RLock

from msgspec import Struct

from ..catalog import as_model
from ..errors import ProviderError
from ..types import Model
from .decisions import Compact, Decision, GiveUp, Next, Retry, Situation
from .health import Health
from .patience import Patience, luck
from .rules import Rest, Step, rule_of


class _Failure(Struct, frozen=True):
    """A failed attempt, as the steps see it."""

    model: Model
    place: int | None  # None: the model is not a member
    error: ProviderError
    attempt: int
    situation: Situation
    rest: Rest

    def __str__(self) -> str:
        return f"{self.model.ref}: {self.error.kind}"


class Router(ABC):
    """Chooses the model for the next request. To write your own policy, subclass it and implement ``rank``."""

    members: tuple[Model, ...]

    def __init__(self, models: Iterable[Model | str], *, patience: Patience | None = None) -> None:
        if isinstance(models, Model | str):
            raise TypeError("a router needs a list of models; pass one model without a router")
        self.members = tuple(map(as_model, models))
        if not self.members:
            raise ValueError("a router needs at least one model")
        self.patience = patience or Patience()
        self._health = [Health() for _ in self.members]
        self._lock = RLock()  # reentrant: a policy may call `resting`

    @abstractmethod
    def rank(self, situation: Situation) -> Sequence[Model]:
        """Sort the members by preference, the best first. Must be deterministic; ignore health."""

    def begin(self, situation: Situation) -> Model:
        """Choose the model for a new turn. If every member rests, it is the one that returns first."""
        with self._lock:
            ranked = self._ranked(situation)
            bound = None if situation.bound is None else self._place(situation.bound)
            if bound is not None:
                ranked = [bound, *(place for place in ranked if place != bound)]
            place = self._best(ranked, situation)
            if place is None:
                place = min(ranked, key=lambda each: self._return_order(each, situation))
            return self._choose(place, situation.now)

    def failed(self, model: Model, error: ProviderError, attempt: int, situation: Situation) -> Decision:
        """Decide what to do after a failure. ``attempt``: how often this model was asked in this request, from 1."""
        rule = rule_of(error)
        with self._lock:
            failure = _Failure(model, self._place(model), error, attempt, situation, rule.rest)
            if rule.rest is None and failure.place is not None:
                self._health[failure.place].answered(situation.now)  # it is well; the request is the problem
            obstacles = []
            for step in rule.steps:
                found = _STEPS[step](self, failure)
                if not isinstance(found, str):
                    return found
                obstacles.append(found)
        return GiveUp("; ".join([f"{failure}, {rule.why}", *filter(None, obstacles)]))

    def succeeded(self, model: Model, situation: Situation) -> None:
        """Record that the model answered."""
        place = self._place(model)
        if place is not None:
            with self._lock:
                self._health[place].answered(situation.now)

    def resting(self, now: float) -> dict[str, float]:
        """The members that are not well, and the seconds that each still rests; 0 if it is due for a probe."""
        with self._lock:
            return {
                model.ref: self._health[place].rest(now)
                for place, model in enumerate(self.members)
                if not self._health[place].well
            }

    def home(self, situation: Situation) -> Model | None:
        """The member with the signatures and cache of the conversation: its last one, or the one with most answers."""
        place = None if situation.last is None else self._place(situation.last)
        if place is not None:
            return self.members[place]
        most = max(self.members, key=lambda model: situation.origins.get(model.ref, 0))
        return most if situation.origins.get(most.ref) else None

    # The steps. Each returns a decision, or the reason why it is not possible; with a single model, the reason that
    # there is no other is left out: its user did not ask for routing.

    def _again(self, failure: _Failure) -> Decision | str:
        patience, asked = self.patience, failure.error.retry_after or 0.0
        if failure.place is not None and not self._health[failure.place].well:
            return "it rests after a failure, and is not asked twice"
        if not failure.error.retryable:
            return "another try would not help"
        if failure.attempt > patience.retries.count:
            return f"tried {failure.attempt} times"
        alone = self._best(self._others(failure), failure.situation) is None
        limit = patience.retries.longest_retry_after if alone else patience.longest_pause
        if asked > limit:
            return f"it asks for {asked:.0f} s, and {limit:.0f} s is the longest to wait for it"
        situation = failure.situation
        chance = luck(situation.conversation, situation.turn, failure.model.ref, failure.attempt)
        wait = max(asked, patience.retries.backoff(failure.attempt, chance))
        return Retry(wait, f"{failure}; try {failure.attempt + 1} of {patience.retries.count + 1} in {wait:.1f} s")

    def _other(self, failure: _Failure) -> Decision | str:
        others, situation, now = self._others(failure), failure.situation, failure.situation.now
        if not others:
            return "" if len(self.members) == 1 else "there is no other member"
        self._leave(failure)
        # Members that are well for other requests but fail this one could be tried in turn forever.
        if failure.attempt > self.patience.retries.count + 2:
            return f"tried {failure.attempt} times, with other members in between"
        place = self._best(others, situation)
        if place is not None:
            return Next(self._choose(place, now), 0.0, f"{failure}, after {failure.attempt} tries")
        place = min(others, key=lambda each: self._return_order(each, situation))
        wait = self._health[place].rest(now)
        if not self._health[place].probed(now) and wait <= self.patience.longest_pause:
            reason = f"{failure}; every other member rests, and this one returns first, in {wait:.1f} s"
            return Next(self._choose(place, now + wait), wait, reason)
        return "every other member rests: " + ", ".join(self._when(each, now) for each in others)

    def _larger(self, failure: _Failure) -> Decision | str:
        situation = failure.situation
        least = max(failure.model.input_limit(), situation.tokens)
        larger = [place for place in self._others(failure) if self.members[place].input_limit() > least]
        place = self._best(larger, situation)
        if len(self.members) == 1:
            return ""
        if place is None:
            return "every member with a larger window rests" if larger else "no member has a larger window"
        model = self._choose(place, situation.now)
        return Next(model, 0.0, f"{failure}; {model.ref} accepts {model.input_limit()} tokens")

    def _compact(self, failure: _Failure) -> Decision | str:
        return "it was already compacted" if failure.situation.compacted else Compact(f"{failure}")

    # Members are identified by their place. The caller holds the lock.

    def _place(self, model: Model) -> int | None:
        """The place of this model, or of one with the same name and protocol (a log has no URLs)."""
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
                raise ValueError(f"{type(self).__name__}.rank returned {model.ref}, which is not a member")
            if place not in places:
                places.append(place)
        return places or list(range(len(self.members)))

    def _others(self, failure: _Failure) -> list[int]:
        return [place for place in self._ranked(failure.situation) if place != failure.place]

    def _best(self, places: Sequence[int], situation: Situation) -> int | None:
        """The first that is available, preferably one whose window holds the request, which saves a compaction."""
        available = [place for place in places if self._health[place].available(situation.now)]
        available = [place for place in available if self.members[place] not in situation.avoided] or available
        fitting = [place for place in available if self.members[place].input_limit() > situation.tokens]
        return next(iter(fitting or available), None)

    def _return_order(self, place: int, situation: Situation) -> tuple[bool, float]:
        """Sort key for members that all rest: those without a probe first, then those whose rest ends first."""
        health = self._health[place]
        return health.probed(situation.now), health.rest(situation.now)

    def _choose(self, place: int, now: float) -> Model:
        self._health[place].choose(now, self.patience.longest_probe)
        return self.members[place]

    def _leave(self, failure: _Failure) -> None:
        if failure.place is not None and failure.rest is not None:
            first: float = getattr(self.patience, failure.rest)
            self._health[failure.place].leave(failure.situation.now, first, failure.error.retry_after)

    def _when(self, place: int, now: float) -> str:
        health, ref = self._health[place], self.members[place].ref
        return f"{ref} is being probed" if health.probed(now) else f"{ref} returns in {health.rest(now):.0f} s"


_STEPS: dict[Step, Callable[[Router, _Failure], Decision | str]] = {
    "again": Router._again,
    "other": Router._other,
    "larger": Router._larger,
    "compact": Router._compact,
}
