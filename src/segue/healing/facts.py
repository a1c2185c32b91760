"""What was learnt from refused requests, in memory and, if the caller wants that, in a file.

A fact is learnt only after the changed request has succeeded. It expires after 30 days without a refusal: providers
change their rules, and the first request without it shows whether it still holds.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from msgspec.structs import replace

from ..catalog import Catalog, Fact, FactFile, amended_by, as_time, learn_mode, learnt_file, read_facts
from ..types import LIMITS, Model
from .file import locked, write_facts

LIFETIME = 30 * 24 * 3600.0
"""Seconds until a fact expires."""
MOST_SIGNATURES = 2_000
"""Digests of refused signatures that are kept for each target; the oldest are forgotten first."""

logger = logging.getLogger("segue.healing")


class Facts:
    """Facts about targets. They may be shared between threads.

    ``path`` is a file that keeps them, which several processes may use; without it they are kept in memory. With
    ``writes=False`` the file is only read. ``clock`` returns the present Unix time.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        writes: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = None if path is None else os.fspath(path)
        self._writes = writes
        self._clock = clock
        self._lock = threading.Lock()
        self._own = FactFile()
        self._foreign: dict[str, frozenset[str]] = {}

    # -- using -------------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Fact]:
        return iter(self._known().facts)

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with the file."""
        return self._known().faults

    def amend(self, model: Model) -> Model:
        """The model, with the address at which it is reached, as it is known by now."""
        known = self._known()
        if known.facts:
            model = amended_by(model, known.facts, Catalog.default().user_fields(model), self._clock())
        digests = known.signatures.get(_target(model))
        if digests:
            present = as_time(self._clock())
            foreign = frozenset(digest for digest, expires in digests.items() if expires > present)
            # The same object for the same content, because renderers compare models.
            model = model.replace(foreign=self._foreign.setdefault("\n".join(sorted(foreign)), foreign))
        return model

    # -- learning ----------------------------------------------------------------------------------------------------

    def learn(self, before: Model, after: Model, fields: Iterable[str], cure: str, words: str) -> list[Fact]:
        """Remember the ``fields`` in which ``after`` differs from ``before``, and signatures that are foreign. Call it
        when the request for ``after`` has succeeded.

        ``cure`` has the numbers of the rows, and ``words`` those of the provider, without content.
        """
        changed = [name for name in fields if _get(before, name) != _get(after, name)]
        new = [self._fact(before, name, _get(after, name), cure, words) for name in changed]
        self._change(lambda known: _merged(known, new, _target(before), after.foreign - before.foreign, self._clock()))
        return new

    def forget(self, name: str | None = None) -> list[Fact]:
        """Remove what was learnt about a model (``provider/model``), by default everything. Return the facts that were
        removed."""
        wanted = None if name is None else name.lower()
        gone = [fact for fact in self if wanted in (None, _ref(fact))]

        def change(known: FactFile) -> FactFile:
            facts = tuple(fact for fact in known.facts if wanted not in (None, _ref(fact)))
            others = known.signatures.items() if wanted is not None else ()
            return FactFile(facts, {each: kept for each, kept in others if each.partition(" ")[0].lower() != wanted})

        self._change(change)
        if self.path is not None and self._writes:
            self._own = change(self._own)
        return gone

    def _fact(self, model: Model, field: str, value: Any, cure: str, words: str) -> Fact:
        now = self._clock()
        return Fact(
            provider=model.provider,
            model=model.id,
            protocol=model.protocol,
            endpoint=model.base_url,
            field=field,
            value=value,
            cure=cure,
            words=words,
            version=_version(),
            first=as_time(now),
            last=as_time(now),
            count=1,
            expires=as_time(now + LIFETIME),
        )

    # -- keeping -----------------------------------------------------------------------------------------------------

    def _known(self) -> FactFile:
        own = self._own
        if self.path is None:
            return own
        file = read_facts(self.path)
        if not own.facts and not own.signatures:
            return file
        facts = {fact.key: fact for fact in (*file.facts, *own.facts)}
        return FactFile(tuple(facts.values()), _joined(file.signatures, own.signatures), file.faults)

    def _change(self, change: Callable[[FactFile], FactFile]) -> None:
        """Change what is kept. If the file cannot be written, the change is kept in memory."""
        with self._lock:
            if self.path is not None and self._writes:
                try:
                    with locked(self.path):
                        write_facts(self.path, change(read_facts(self.path)))
                    return
                except OSError as error:
                    logger.warning("what was learnt cannot be written to %s: %s", self.path, error)
            self._own = change(self._own)


def _merged(known: FactFile, new: list[Fact], target: str, foreign: Iterable[str], now: float) -> FactFile:
    """``known`` with new facts and signatures, without those that have expired."""
    present, expires = as_time(now), as_time(now + LIFETIME)
    facts = {fact.key: fact for fact in known.facts}
    for fact in new:
        old = facts.get(fact.key)
        facts[fact.key] = fact if old is None else replace(fact, first=old.first, count=old.count + 1)
    signatures = _joined(known.signatures, {target: dict.fromkeys(foreign, expires)})
    kept = {
        name: {digest: when for digest, when in each.items() if when > present} for name, each in signatures.items()
    }
    return FactFile(
        tuple(fact for fact in facts.values() if fact.expires > present),
        {name: dict([*each.items()][-MOST_SIGNATURES:]) for name, each in kept.items() if each},
        known.faults,
    )


def _joined(
    first: Mapping[str, Mapping[str, str]], second: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    return {name: {**first.get(name, {}), **second.get(name, {})} for name in {**first, **second}}


def _target(model: Model) -> str:
    return f"{model.provider}/{model.id} {model.protocol} {model.base_url}"


def _ref(fact: Fact) -> str:
    return f"{fact.provider}/{fact.model}".lower()


@cache
def _version() -> str:
    from importlib import metadata  # slow to import, and rarely needed

    return metadata.version("segue")


def _get(model: Model, name: str) -> Any:
    return getattr(model if name in LIMITS else model.dialect, name, None)


# -- the default -----------------------------------------------------------------------------------------------------

_persists = False


def persist_by_default() -> None:
    """Let this process keep what it learns in the user's file, unless ``$SEGUE_LEARN`` sets something else. The command
    line does."""
    global _persists
    _persists = True


def default_facts() -> Facts:
    """The facts of this process, for connections that have none of their own."""
    mode = learn_mode("on" if _persists else "use")
    return _shared(None if mode == "off" else learnt_file(), mode == "on")


@cache
def _shared(path: str | None, writes: bool) -> Facts:
    return Facts(path, writes=writes)
