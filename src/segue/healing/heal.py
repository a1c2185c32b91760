"""Render a refused request again, with what its cures change."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..errors import SegueError
from ..projection import same_origin, signature_digests
from ..render import Request, encode_again
from ..rules import Cure, Diagnosis, Refused, Treatment, treat
from ..types import AssistantMessage, Message, Model
from .facts import Facts

REPORT = "request-healed"
"""The type of the diagnostic of an answer to a request that was sent again."""
NOT_CURED = "refusal-recognised"
"""The type of the diagnostic of a refusal that is reported and not cured."""


class Cured(Struct, frozen=True):
    """A request that was rendered again because the first one was refused."""

    request: Request
    # The model before, and what was changed.
    before: Model
    diagnosis: Diagnosis
    treatment: Treatment

    @property
    def cures(self) -> tuple[Cure, ...]:
        """The rows that match."""
        return self.diagnosis.cures

    def learn(self, facts: Facts) -> None:
        """Remember what was changed. Call it when the request has succeeded."""
        after = self.request.model
        if self.treatment.foreign == "once":
            after = after.replace(foreign=self.before.foreign)
        fields = [*self.treatment.cells, *self.treatment.limits]
        facts.learn(self.before, after, fields, ", ".join(cure.number for cure in self.cures), self.diagnosis.words)

    @property
    def values(self) -> dict[str, Any]:
        """The fields and options that were changed."""
        treatment = self.treatment
        return {**treatment.options, **treatment.once, **treatment.cells, **treatment.limits}

    def summary(self, words: str) -> str:
        """What happened, in one line; ``words`` are those of the provider."""
        done = "; ".join(dict.fromkeys(cure.title for cure in self.cures))
        return f"the provider refused the request ({words}), and it was sent again, changed: {done}"

    def details(self) -> dict[str, Any]:
        """The same as values for a diagnostic."""
        changed = {name: list(value) if isinstance(value, tuple) else value for name, value in self.values.items()}
        found = {"cures": [cure.number for cure in self.cures], "changed": changed}
        foreign = sorted(self.request.model.foreign - self.before.foreign)
        return found | ({"foreign": foreign} if foreign else {})


def heal(request: Request, refused: Refused, body: Mapping[str, Any] | None = None) -> Cured | Diagnosis | None:
    """Render ``request`` again so that the provider accepts it. A ``Diagnosis`` is a refusal that is only reported;
    ``None`` if nothing is known about it.

    ``body`` is what was sent, if it is not the body of the request. The caller compares the bytes: a request that is
    the same is not sent again.
    """
    diagnosis = treat(refused, request.model, request.body if body is None else body)
    if diagnosis is None or diagnosis.treatment is None:
        return diagnosis
    treatment = diagnosis.treatment
    model = treatment.amend(request.model)
    if treatment.foreign != "no":
        model = model.replace(foreign=model.foreign | suspects(request.messages, request.model))
    try:
        again = encode_again(request, model, replace(request.options, **treatment.options))
    except SegueError:  # there is nothing left to send
        return None
    return Cured(again, request.model, diagnosis, treatment)


def suspects(messages: Iterable[Message], model: Model) -> frozenset[str]:
    """The digests of signatures that ``model`` may have refused: of answers whose endpoint is not known, or else of all
    its answers."""
    own = [each for each in messages if isinstance(each, AssistantMessage) and same_origin(each, model)]
    unknown = frozenset(_digests(each for each in own if each.endpoint is None))
    return unknown or frozenset(_digests(own))


def _digests(answers: Iterable[AssistantMessage]) -> Iterator[str]:
    for answer in answers:
        yield from signature_digests(answer)
