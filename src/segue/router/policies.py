"""The routing policies: which members each prefers. Failures are handled the same way by all (``rules.py``)."""

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
    """The next model each turn. It follows from the number of the turn, so it is the same after reopening."""

    def rank(self, situation: Situation) -> Sequence[Model]:
        first = situation.turn % len(self.members)
        return self.members[first:] + self.members[:first]


class Failover(Router):
    """The first model as long as it answers, then the next one, and the conversation stays there.

    With ``sticky=False`` it returns to the first model after its rest, which loses the cache twice.
    """

    def __init__(self, models: Iterable[Model | str], *, sticky: bool = True, patience: Patience | None = None) -> None:
        super().__init__(models, patience=patience)
        self.sticky = sticky

    def rank(self, situation: Situation) -> Sequence[Model]:
        home = self.home(situation) if self.sticky else None
        return self.members if home is None else (home, *self.members)


class Weighted(Router):
    """A model for each turn, drawn by weight, from the seed, the number of the turn and the name of the conversation.

    ``models`` are names with their weights, or pairs of a model and its weight. A member with weight 0 is only used if
    others fail. If the drawn member rests, the home of the conversation is preferred. With ``sticky`` the home is
    always preferred, so that only the first turn is drawn.
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
            raise ValueError(f"weights must be numbers from 0, and not all 0: {self.weights}")
        self.seed, self.sticky = seed, sticky

    def rank(self, situation: Situation) -> Sequence[Model]:
        def arrival(place: int) -> float:
            # In a race of exponential arrival times each member is first in proportion to its rate, and the same holds
            # for the second place among the others. So one draw per member ranks all.
            chance = luck(self.seed, situation.conversation, situation.turn, place)
            return -log(chance) / self.weights[place] if self.weights[place] else inf

        drawn = [self.members[place] for place in sorted(range(len(self.members)), key=arrival)]
        home = self.home(situation)
        if home is None:
            return drawn
        return [home, *drawn] if self.sticky else [drawn[0], home, *drawn]
