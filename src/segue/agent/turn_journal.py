"""Records the requests of a turn in the log of its session."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..client import Reach, reach
from ..errors import ConflictError, ProviderError, SessionError
from ..render import Request
from ..router import Decision, Situation
from ..session import AnyEntry, AttemptFailed, MessageAdded
from ..types import AssistantMessage, Diagnostic, Message, Model, ToolResultMessage, UserMessage
from ..types.events import Event
from .compact import compact, too_long
from .events import CallResult, Compaction, Emit, Steered
from .identity import with_identity
from .meter import Meter
from .request_loop import NO_RETRIES

if TYPE_CHECKING:
    from .session import Session

Steering = Callable[[], list[UserMessage]]
"""Returns the messages that were queued for the next request, and empties the queue."""


class TurnJournal:
    """The journal of a turn. Each entry is written before its event is emitted."""

    def __init__(self, session: "Session", emit: Emit, meter: Meter, steering: Steering) -> None:
        self.session = session
        self.log = session.log
        self.emit = emit
        self.meter = meter
        self.steering = steering
        self._attempts: list[AttemptFailed] = []

    def begin_request(self) -> None:
        """Count a request, and forget the failed attempts of the one before."""
        self._attempts = []
        self.meter.step()

    # -- for the request loop ----------------------------------------------------------------------------------------

    def situation(self) -> Situation:
        state = self.log.state
        return Situation(
            turn=state.turns - (state.turn is not None),
            last=self.session.targets.find(state.last),
            origins=state.origins,
            tokens=int(self.session.requests.estimate()),
            now=time.monotonic(),
            conversation=self.session.id,
        )

    def healed(self, request: Request) -> None:
        pass  # the answer says it, in a diagnostic

    def receive(self, events: Sequence[Event]) -> None:
        for event in events:
            self.emit(event)

    def reach(self, model: Model) -> Reach:
        return reach(model, replace(self.session.targets.connection_to(model), retries=NO_RETRIES))

    def request(self, model: Model) -> Request:
        return self.session.requests.request(model)

    def overflows(self, model: Model, request: Request | None) -> bool:
        return self.session.requests.overflows(model, request)

    async def make_room(self, model: Model) -> str | None:
        """Replace older turns by a summary. Return the reason if that is not possible."""
        before = len(self.log.state.messages)
        try:
            summary = await compact(self.session, model, self.meter)
        except ConflictError:
            raise
        except SessionError as error:
            return str(error)
        if summary is None:
            return too_long(self.session, model)
        self.emit(Compaction(summary, before - len(self.log.state.messages) + 1))
        return None

    async def before_attempt(self) -> None:
        """Add the messages that were queued."""
        await self.write([], self.steering())

    async def failed(
        self, model: Model, message: AssistantMessage, error: ProviderError, decision: Decision
    ) -> AssistantMessage:
        """Record a failed attempt. What had arrived is stored as failed: its calls never run."""
        entry = self.log.entry(
            AttemptFailed,
            model=model.ref,
            protocol=model.protocol,
            kind=error.kind,
            text=error.text,
            then=decision.word,
            status=error.status,
            request_id=error.request_id,
        )
        self._attempts.append(entry)
        return await self._store(model, message, entry)

    async def answered(self, model: Model, message: AssistantMessage) -> AssistantMessage:
        return await self._store(model, message)

    async def _store(self, model: Model, message: AssistantMessage, *before: AnyEntry) -> AssistantMessage:
        self.meter.spend(message.usage)
        stored = self.answer_entries(model, message, self._attempts)
        await self.log.append(*before, *stored)
        recorded = stored[0].message if stored else message
        assert isinstance(recorded, AssistantMessage)
        return recorded

    # -- entries -----------------------------------------------------------------------------------------------------

    def answer_entries(
        self, model: Model, message: AssistantMessage | None, attempts: Sequence[AttemptFailed] = ()
    ) -> list[MessageAdded]:
        """The entry of an answer, with the attempts before it; empty for a failed answer without content."""
        if message is None or (not message.content and message.failed):
            return []
        if attempts:
            message = replace(message, diagnostics=[*message.diagnostics, *map(_diagnostic, attempts)])
        keys = tuple([each.key for each in attempts])
        return [self.log.message(with_identity(message, model, self.log.state), keys)]

    async def write(self, results: Sequence[ToolResultMessage], steered: Sequence[UserMessage] = ()) -> None:
        """Write results and queued messages, then emit their events."""
        if results or steered:
            messages: list[Message] = [*results, *steered]
            await self.log.append(*map(self.log.message, messages))
        for result in results:
            self.emit(CallResult(result))
        for message in steered:
            self.emit(Steered(message))


def _diagnostic(attempt: AttemptFailed) -> Diagnostic:
    """A failed attempt, as a note on the answer that came after it."""
    details = {"model": attempt.model, "kind": attempt.kind, "then": attempt.then}
    return Diagnostic("attempt-failed", attempt.time, attempt.text, details)
