"""Repair the body of a request, heal it if it is refused, and follow the signatures in its answer. No I/O.

``Repairer.begin`` returns a ``Passage`` for each request that is recognised. A transport sends its ``body``, reports a
refusal (``refused`` returns another body, at most once) and the bytes of an answer (``answered``).
"""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Literal, TypedDict

import msgspec
from msgspec import Raw, Struct

from ..healing import Cured, Facts, default_facts, heal
from ..projection import Policy
from ..render import Decoder, Ledger, Request, unread_fields
from ..rules import Refused
from ..types import Change, Model
from ..types.codec import UNREADABLE, read_json
from ..types.secret import Secrets
from ..wire import error_text, protocol_of
from .conversations import PROMPTS, TOOL_FIELDS, Body, Conversations, read_body
from .options import with_facts, without_reasoning
from .target import ROUTES, Addresses, model_at

logger = logging.getLogger("segue.transport")
Trust = Literal["same", "drop"]
UNCOUNTED = frozenset({"option-dropped", "name-kept"})
"""Changes that are not made here: options are carried over, and declared tools are not renamed."""
TOOLS = frozenset({"schema-adapted", "tool-duplicate", "tools-stubbed"})
"""Changes of the tools."""
PLACEHOLDERS = Change(
    "filler-inserted", None, None, "placeholders for signatures or reasoning that the target requires"
)


class Repaired(Struct, frozen=True, kw_only=True):
    """What was changed in a request: ``changes`` as ``encode`` reports them, and why it was sent again, if it was."""

    provider: str
    model: str
    protocol: str
    changes: list[Change]
    healed: str | None = None

    def summary(self) -> str:
        """The same in a few lines."""
        lines = [f"{self.provider}/{self.model}: {each.code}: {each.detail}" for each in self.changes]
        return "\n".join([*lines, *([self.healed] if self.healed else [])])


OnChanges = Callable[[Repaired], object]


class Repairs(TypedDict, total=False):
    """How requests are repaired."""

    # Override what host and path say.
    provider: str | None
    protocol: str | None
    # How conversations are rendered.
    policy: Policy | None
    # Whether a refused request is changed and sent once more.
    heal: bool
    # Signatures in answers that did not pass here: keep them (and drop them if they are refused), or drop them.
    trust: Trust
    # Who made the answers that passed; may be shared between clients.
    ledger: Ledger | None
    # What is learnt from refusals.
    facts: Facts | None
    # Called for every request that was changed.
    on_changes: OnChanges | None


@contextmanager
def _spared(what: str) -> Iterator[None]:
    """Log an error and go on. This is an edge: a mistake here must not break a request or an answer that is fine."""
    try:
        yield
    except Exception:
        logger.exception("%s", what)


class Repairer:
    """Repairs requests of any provider. It may be shared between threads."""

    def __init__(
        self,
        *,
        provider: str | None = None,
        protocol: str | None = None,
        policy: Policy | None = None,
        heal: bool = True,
        trust: Trust = "same",
        ledger: Ledger | None = None,
        facts: Facts | None = None,
        on_changes: OnChanges | None = None,
    ) -> None:
        if trust not in ("same", "drop"):
            raise ValueError(f"trust must be 'same' or 'drop', not {trust!r}")
        self.heals = heal
        self.ledger = Ledger() if ledger is None else ledger
        self._facts = facts
        self._on_changes = on_changes
        self._addresses = Addresses(provider, protocol)
        kept = msgspec.structs.replace(policy or Policy(), declared_names="kept")
        self._conversations = Conversations(self.ledger, trusts=trust == "same", policy=kept)
        self._lock = threading.Lock()
        for name in (name for route in ROUTES for name in route.protocols):
            protocol_of(name)  # loaded now, not in the first request

    @property
    def facts(self) -> Facts:
        """What is learnt from refusals."""
        return self._facts or default_facts()

    def begin(self, url: str, headers: Mapping[str, str], body: bytes) -> "Passage | None":
        """The passage of a request; ``None`` if it is not one that segue knows."""
        address = self._addresses.find(url)
        split = None if address is None else read_body(body)
        if address is None or split is None:
            return None
        model = model_at(address, None if address.model is not None else split.value("model"), headers)
        return None if model is None else self.passage(split, model, headers)

    def passage(self, body: Body, model: Model, headers: Mapping[str, str] = MappingProxyType({})) -> "Passage | None":
        """The passage of a body to a model."""
        with _spared("the request is sent unchanged, because of an internal error"):
            amended = self.facts.amend(model)
            with self._lock:
                request = self._conversations.request(body, amended)
            return None if request is None else Passage(self, body, request, headers)
        return None

    @property
    def reports(self) -> bool:
        """Whether a report has a reader: the callback or the log."""
        return self._on_changes is not None or logger.isEnabledFor(logging.INFO)

    def report(self, repaired: Repaired) -> None:
        """Report what was changed."""
        logger.info("%s", repaired.summary())
        if self._on_changes is not None:
            with _spared("on_changes has raised an error"):
                self._on_changes(repaired)


class Passage:
    """One request on its way: the body to send, and what to do with its answer."""

    def __init__(self, repairer: Repairer, original: Body, request: Request, headers: Mapping[str, str]) -> None:
        self._repairer = repairer
        self._headers = headers
        self._original = original
        self._request = request
        self._cured: Cured | None = None
        written = _written(original, request, frozenset(request.model.learnt))
        self.body = written.data
        """The body to send; the same object as the original if nothing had to be changed."""
        if written.changes:
            self._report(written)

    def refused(self, status: int, data: bytes) -> bytes | None:
        """The body to send once more after a refusal, if it can be cured."""
        with _spared("the refusal is passed on, because of an internal error"):
            return self._healed(status, data) if self._repairer.heals and self._cured is None else None
        return None

    def _healed(self, status: int, data: bytes) -> bytes | None:
        try:
            error: Any = read_json(data)
        except UNREADABLE:
            error = data.decode("utf-8", "replace")
        text = error if isinstance(error, str) else error_text(error[0] if isinstance(error, list) and error else error)
        secrets = Secrets()
        secrets.add_headers(self._headers)  # some providers repeat them in their errors
        found = heal(self._request, Refused.read(status, error, text, secrets), msgspec.json.decode(self.body))
        if not isinstance(found, Cured):
            if found is not None:
                logger.info("%s: %s", self._request.model.ref, "; ".join(cure.title for cure in found.cures))
            return None
        fields = frozenset({*found.request.model.learnt, *found.treatment.cells, *found.treatment.limits})
        off = found.treatment.options.get("reasoning") == "off" or _loop_lost_thinking(found)
        written = _written(self._original, found.request, fields, off=off)
        if written.data == self.body:
            return None
        self._cured, self._request, self.body = found, found.request, written.data
        self._report(written, found.summary(secrets.shown(text)))
        return self.body

    def answered(self, data: bytes) -> None:
        """Read a complete answer: learn from it, and remember who made its signatures."""
        with _spared("the answer is not remembered, because of an internal error"):
            decoder = Decoder(self._request, digests=False)
            decoder.feed(data)
            decoder.close()
            message = decoder.message
            if message is None or message.failed:
                return
            self._repairer.ledger.remember(message)
            if self._cured is not None:
                self._cured.learn(self._repairer.facts)

    def _report(self, written: "_Written", healed: str | None = None) -> None:
        if not self._repairer.reports:
            return
        model = self._request.model
        replaced = {name: self._original.value(name) for name in written.replaced if name in self._original.fields}
        changes = [*written.changes, *unread_fields(replaced, model.protocol)]
        self._repairer.report(
            Repaired(provider=model.provider, model=model.id, protocol=model.protocol, changes=changes, healed=healed)
        )


class _Written(Struct, frozen=True):
    """A body to send, the changes in it, and the fields of the user's body that segue has written again."""

    data: bytes
    changes: list[Change]
    replaced: tuple[str, ...] = ()


def _written(original: Body, request: Request, fields: frozenset[str], *, off: bool = False) -> _Written:
    """The body to send. ``fields`` were learnt; ``off``: reasoning is turned off."""
    rendered = [each for each in request.changes if each.code != "option-dropped"]
    made = [each for each in rendered if each.code not in UNCOUNTED]
    changes = [*original.changes, *rendered]
    if request.added:
        made.append(PLACEHOLDERS)
        changes.append(PLACEHOLDERS)
    rewrites = bool(made) or request.model.dialect.exact_form
    if not rewrites and not fields and not off:
        return _Written(original.data, changes)
    taken = _conversation(request, made) if rewrites else {}
    data = msgspec.json.encode({**original.fields, **taken})
    if fields or off or not made:  # options may have to be changed, or nothing at all
        body, new = msgspec.json.decode(original.data), with_facts(msgspec.json.decode(data), request.model, fields)
        if off:
            new = without_reasoning(new, request.model)
        if new == body:
            return _Written(original.data, changes)
        data = msgspec.json.encode(new)
    return _Written(data, changes, tuple(taken))


def _conversation(request: Request, changes: list[Change]) -> dict[str, Raw]:
    """The parts of the rendered body that replace those of the user's: the messages, and the frame where it changed."""
    names = {protocol_of(request.model.protocol).history}
    if any(each.message is None and each.code in ("text-sanitized", "empty-dropped") for each in changes):
        names |= PROMPTS
    if any(each.code in TOOLS for each in changes):
        names |= {*TOOL_FIELDS, "tool_choice"}
    return request.fields(*sorted(names))


def _loop_lost_thinking(cured: Cured) -> bool:
    """Whether the running tool loop has lost the thinking that it began with, so that row 2 would be the next refusal.
    Only Claude has this rule."""
    if cured.treatment.foreign == "no":
        return False
    turns = cured.request.body[protocol_of(cured.request.model.protocol).history]
    if not any(block.get("type") == "tool_result" for block in _blocks(turns[-1])):
        return False
    answers = [turn for turn in turns if turn.get("role") == "assistant" and _blocks(turn)]
    return bool(answers) and _blocks(answers[-1])[0].get("type") not in ("thinking", "redacted_thinking")


def _blocks(turn: dict[str, Any]) -> list[dict[str, Any]]:
    content = turn.get("content")
    return content if isinstance(content, list) else []
