"""The policies: whom each would rather have. What they do about failures is the same for all (``rules.py``)."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite, log

from ..types import Model
from .decisions import Situation
from .patience import Patience, luck
from .router import Router


class Fixed(Router):
    """Always the same model."""

    def __init__(self, model: Model | str, *, patience: Patience | None = None) -> None:
        super().__init__([model], patience=patience)

    def rank(self, situation: Situation) -> Sequence[Model]:
        return self.members


class RoundRobin(Router):
    """Each turn the next model. Whose turn it is follows from the turn's number, so it survives reopening."""

    def rank(self, situation: Situation) -> Sequence[Model]:
        first = situation.turn % len(self.members)
        return self.members[first:] + self.members[:first]


class Failover(Router):
    """The first model, while it answers; then the next, and the conversation stays there.

    With ``sticky=False`` it goes back to the first as soon as that one's rest is over, and loses its cache twice.
    """

    def __init__(self, models: Iterable[Model | str], *, sticky: bool = True, patience: Patience | None = None) -> None:
        super().__init__(models, patience=patience)
        self.sticky = sticky

    def rank(self, situation: Situation) -> Sequence[Model]:
        home = self.home(situation) if self.sticky else None
        return self.members if home is None else (home, *self.members)


class Weighted(Router):
    """Each turn a model drawn by weight, from the seed, the turn's number and the conversation's name.

    ``models`` are names with their weights, or pairs of a model and its weight. A weight of 0 is for a member that only
    stands in for others. When the one that was drawn rests, the conversation's home is preferred to the luck of the
    draw; with ``sticky`` it always is, and only the first turn is drawn.
    """

    def __init__(
        self,
        models: Mapping[str, float] | Iterable[tuple[Model | str, float]],
        *,
        seed: int | str = 0,
        sticky: bool = False,
        patience: Patience | None = None,
    ) -> None:
        pairs = list(models.items() if isinstance(models, Mapping) else models)
        super().__init__((model for model, _ in pairs), patience=patience)
        self.weights = tuple(weight for _, weight in pairs)
        if not all(isfinite(weight) and weight >= 0 for weight in self.weights) or not any(self.weights):
            raise ValueError(f"weights are numbers from 0, and not all 0: {self.weights}")
        self.seed, self.sticky = seed, sticky

    def rank(self, situation: Situation) -> Sequence[Model]:
        def arrival(place: int) -> float:
            # The first of several random arrivals is each one's in proportion to its rate, and so is the second among
            # those that are left: one draw ranks all.
            chance = luck(self.seed, situation.conversation, situation.turn, place)
            return -log(chance) / self.weights[place] if self.weights[place] else inf

        drawn = [self.members[place] for place in sorted(range(len(self.members)), key=arrival)]
        home = self.home(situation)
        if home is None:
            return drawn
        return [home, *drawn] if self.sticky else [drawn[0], home, *drawn]
