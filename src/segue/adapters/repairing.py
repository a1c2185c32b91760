"""What all adapters share: the model that a framework is about to ask, repairing its messages, and the report."""

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from ..catalog import Catalog
from ..errors import ModelError
from ..projection import PolicyLike
from ..render import project
from ..transcripts.building import Conversation
from ..transcripts.originals import Originals
from ..transcripts.origins import PROVIDERS
from ..types import Change, Context, Model, ToolDefinition

logger = logging.getLogger("segue.adapters")
OnChanges = Callable[[Sequence[Change]], object]


class Reader(Protocol):
    def __call__(self, items: Iterable[Any], *, endpoint: str | None = None) -> Conversation: ...


Writer = Callable[[Context, Originals | None], list[Any]]


class Repairer(Struct, frozen=True):
    """Repairs serialised messages of one framework for the model that they are sent to."""

    read: Reader
    write: Writer
    policy: PolicyLike = None
    on_changes: OnChanges | None = None

    def repaired(self, items: Sequence[Any], model: Model, tools: Iterable[ToolDefinition] = ()) -> "Repaired | None":
        """The messages for ``model``, or ``None`` if they need no change. ``tools`` are those of the request."""
        conversation = self.read(items, endpoint="")  # of whichever endpoint the framework is connected to
        declared = [*tools]
        projection = project(replace(conversation.context, tools=declared), model, self.policy)
        if not projection.changes:
            return None
        report(model, projection.changes, self.on_changes)
        return Repaired(
            self.write(projection.context, conversation.originals), projection.context.tools[len(declared) :]
        )


class Repaired(Struct, frozen=True):
    """Serialised messages; unchanged ones are the same objects."""

    items: list[Any]
    stubs: list[ToolDefinition]
    """Tools that the history uses and the request does not declare, for targets that require it."""


def report(model: Model, changes: Sequence[Change], on_changes: OnChanges | None) -> None:
    """Log what was changed for a model, and pass it on."""
    if changes:
        lost, codes = sum(change.lossy for change in changes), sorted({change.code for change in changes})
        counts = f"{lost} lost, {len(changes) - lost} adapted"
        logger.info("for %s/%s: %s (%s)", model.provider, model.id, counts, ", ".join(codes))
        if on_changes is not None:
            on_changes(changes)


def target(provider: str | None, model: str | None, protocol: str | None = None) -> Model | None:
    """The model for the names that a framework has; ``None`` if segue does not know the provider."""
    name, spoken = PROVIDERS.get((provider or "").lower(), (provider or "", ""))
    try:
        return Catalog.default().resolve(f"{name}/{model}", protocol or spoken or None)
    except ModelError:
        logger.debug("%s/%s is not known; its requests are sent as they are", provider, model)
        return None


class ByIdentity:
    """Turns objects into serialised ones, and unchanged serialised ones back into the same objects."""

    def __init__(self, objects: Sequence[Any], dump: Callable[[Any], Any]) -> None:
        self.items = [dump(each) for each in objects]
        self._objects = {id(item): each for item, each in zip(self.items, objects, strict=True)}

    def objects(self, items: Sequence[Any], load: Callable[[Any], Any]) -> list[Any]:
        return [self._objects[id(item)] if id(item) in self._objects else load(item) for item in items]
