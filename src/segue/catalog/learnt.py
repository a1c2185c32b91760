"""Facts that were learnt from refused requests: what they are, and the file that keeps them.

The file has the form of ``families.toml``, with one fact in each family, and is written by ``healing``. A fact is about
one model at one endpoint, and expires. Facts that are not understood, because they are of another version or damaged,
are ignored; ``segue learn`` shows them.
"""

import os
import time
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from ..dialects import DIALECTS
from ..errors import SettingError
from ..types import LIMITS, Model
from .check import may_be_null

Mode = Literal["off", "use", "on"]
"""Whether the file is neither read nor written, only read, or both."""
MODES: tuple[Mode, ...] = get_args(Mode)
MODE_VARIABLE = "SEGUE_LEARN"
FILE_VARIABLE = "SEGUE_LEARNT"


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a model that a provider has corrected.

    ``field`` is a cell of the dialect, or ``input`` or ``max_tokens`` of the model. ``words`` are those of the provider
    as the row of the cure has them, without any content of a request. Times are UTC, as text that sorts.
    """

    provider: str
    model: str
    protocol: str
    endpoint: str
    field: str
    value: Any
    cure: str
    words: str
    version: str
    first: str
    last: str
    count: int
    expires: str

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """What the fact is about."""
        return self.provider, self.model.lower(), self.protocol, self.endpoint, self.field

    def is_about(self, model: Model) -> bool:
        """Whether the fact is about this model at its endpoint."""
        return self.key[:4] == (model.provider, model.id.lower(), model.protocol, model.base_url)


def as_time(seconds: float) -> str:
    """A Unix time as text that sorts."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def learn_mode(default: Mode = "use") -> Mode:
    """The mode that ``$SEGUE_LEARN`` sets."""
    named = os.environ.get(MODE_VARIABLE)
    for mode in MODES:
        if named == mode:
            return mode
    if named:
        raise SettingError(f"{MODE_VARIABLE} is {named!r}; it must be off, use or on")
    return default


def learnt_file() -> str:
    """The path of the file: ``$SEGUE_LEARNT``, or ``segue/learnt.toml`` in the user's directory for state."""
    named = os.environ.get(FILE_VARIABLE)
    if named:
        return named
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(state, "segue", "learnt.toml")


class FactFile(msgspec.Struct, frozen=True):
    """What a file contains: facts, signatures that an endpoint has refused (with their expiry), and what is wrong."""

    facts: tuple[Fact, ...] = ()
    signatures: dict[str, dict[str, str]] = {}
    faults: tuple[str, ...] = ()


def read_facts(path: str) -> FactFile:
    """Read the file at ``path``; a missing file has no facts. It is read again only if it has changed."""
    try:
        stat = os.stat(path)
    except OSError:
        return FactFile()
    return _read(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=8)
def _read(path: str, changed: int, size: int) -> FactFile:
    import tomllib

    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        return FactFile(faults=(f"it cannot be read: {error}",))
    facts: list[Fact] = []
    faults: list[str] = []
    families = document.get("families", [])
    for at, table in enumerate(families if isinstance(families, list) else []):
        try:
            facts.append(_fact(table))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            faults.append(f"families[{at}] is not a fact of this version: {error}")
    try:
        signatures = msgspec.convert(document.get("signatures", {}), dict[str, dict[str, str]])
    except msgspec.ValidationError as error:
        signatures = {}
        faults.append(f"signatures: {error}")
    return FactFile(tuple(facts), signatures, tuple(faults))


def _fact(table: Mapping[str, Any]) -> Fact:
    provider, _, model = table["models"][0].partition("/")
    learnt = dict(table["learnt"])
    protocol = table["protocol"]
    fields = {**table.get("dialect", {}), **{name: table[name] for name in LIMITS & set(table)}}
    if len(fields) != 1:
        raise ValueError(f"it has {len(fields)} fields, not one")
    [(field, value)] = fields.items()
    values = learnt | {"provider": provider, "model": learnt.get("model", model), "protocol": protocol}
    return msgspec.convert(
        values | {"field": field, "value": checked(protocol, field, value), "words": table["why"]}, Fact
    )


def checked(protocol: str, field: str, value: Any) -> Any:
    """``value`` in the type of the field. Raises ``ValueError`` if the field does not exist or the value is wrong."""
    record: type[msgspec.Struct] = Model if field in LIMITS else DIALECTS[protocol]
    types = {entry.name: entry.type for entry in msgspec.structs.fields(record)}
    if field not in types:
        raise ValueError(f"{protocol} has no field {field}")
    return msgspec.convert(None if value == "" and may_be_null(record, field) else value, types[field])


def amended_by(model: Model, facts: Iterable[Fact], fixed: frozenset[str], now: float | None = None) -> Model:
    """The model with the facts about it that have not expired at ``now`` (Unix time). Fields in ``fixed`` were set by
    the user and stay."""
    values: dict[str, Any] = {}
    present = as_time(time.time() if now is None else now)
    for fact in facts:
        if fact.is_about(model) and fact.expires > present and fact.field not in fixed:
            values[fact.field] = fact.value
    if not values:
        return model
    return model.amended(values).replace(learnt=tuple(sorted({*model.learnt, *values})))
