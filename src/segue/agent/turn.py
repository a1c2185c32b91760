"""One turn: from the user's message to the final answer. Every step is in the log before it is told.

The turn is a coroutine that tells events as it goes; ``stream.py`` runs it in a task of its own and hands the events
out. It is the journal of whoever runs its calls: results are written here, and nowhere else. However it ends, by an
answer, a failure, a limit, a cancellation or an error of somebody's code, the log is closed.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..client import reach, send
from ..errors import ConflictError, ProviderError, SessionError
from ..router import Compact, Decision, GiveUp, Next, Retry, Situation
from ..session.entries import AnyEntry, CallStarted, Failed, MessageAdded, TurnBegun, TurnEnded
from ..tools.words import CANCELLED, CANCELLED_RUNNING, NOT_RUN
from ..types import AssistantMessage, Diagnostic, Message, Model, ToolCall, ToolResultMessage, UserMessage
from .calls import Runner, failed_result
from .compact import compact, too_long
from .events import CallResult, CallStart, Compaction, Retried, Steered, Switch, TurnEnd, TurnEvent, TurnStart
from .identity import with_identity
from .meter import Meter
from .recovery import NOT_STARTED, UNKNOWN, closing_results

if TYPE_CHECKING:
    from .session import Session

ONCE_MORE = f"{NOT_RUN} Make the call again."
CUT = "the answer reached its limit of length"
NO_RESULT = "whatever runs the tools gave no result for this call"


Steering = Callable[[], list[UserMessage]]
"""Takes the messages that were queued for the next request of the turn."""


class Turn:
    """A turn of a session, while it runs."""

    def __init__(
        self,
        session: "Session",
        said: UserMessage,
        runner: Runner,
        emit: Callable[[TurnEvent], None],
        meter: Meter,
        steering: Steering,
    ) -> None:
        self.session = session
        self.said = said
        self.runner = runner
        self.emit = emit
        self.meter = meter
        self.steering = steering
        self.router = session.router  # a switch during the turn is for the next one
        self.compacted = False
        """Whether this request was compacted already."""
        self.arriving: AssistantMessage | None = None
        """What has arrived of an answer that is not in the log yet."""
        self.waiting: set[str] = set()
        """The calls of the batch that run and have no result in the log yet."""
        self.model: Model = self.router.begin(self._situation())
        self.begun = session.entry(
            TurnBegun, model=self.model.ref, protocol=self.model.protocol, owner=session.owner.name
        )

    async def run(self) -> TurnEnd:
        """Run the turn; the last event, which is not told, is returned."""
        try:
            await self._begin()
            while True:
                end = await self._step()
                if end is not None:
                    return end
        except asyncio.CancelledError:
            return TurnEnd("cancelled", await self._broken_off("cancelled", "", CANCELLED, CANCELLED_RUNNING))
        except ConflictError:
            raise  # the log is somebody else's now
        except Exception as error:
            await self._broken_off("failed", str(error) or type(error).__name__, NOT_STARTED, UNKNOWN)
            raise

    async def _begin(self) -> None:
        queued = self.steering()  # before the turn: it stands before the message of the turn
        await self.session.append(self.begun, *map(self.session.said, [*queued, self.said]))
        self.emit(TurnStart(self.model.ref, self.said))
        for message in queued:
            self.emit(Steered(message))

    async def _step(self) -> TurnEnd | None:
        """One request, and the calls of its answer; how the turn ended, if it did."""
        answer, reason = await self._answer()
        if reason is not None:
            return await self._ended(TurnEnd("failed", answer, reason))
        if answer.stop_reason == "toolUse":
            over = self.meter.over()
            if over is None:
                await self._run_calls(answer)
                over = self.meter.over()
            if over is not None:
                left = [failed_result(call, NOT_RUN.format(over)) for call, _ in self.session.state.unanswered()]
                return await self._ended(TurnEnd("limit", answer, over), left)
            return None
        steered = [] if self.meter.over() else self.steering()
        if not steered:
            return await self._ended(TurnEnd("done", answer), _none_run(answer))
        await self._write(_none_run(answer), steered)  # it would have ended here
        return None

    # -- answers -----------------------------------------------------------------------------------------------------

    async def _answer(self) -> tuple[AssistantMessage, str | None]:
        """The answer to the next request, as it is in the log; and why it was given up, if it was."""
        attempts: list[Failed] = []
        tries: Counter[str] = Counter()
        self.compacted = False
        self.meter.step()
        while True:
            await self._write([], self.steering())
            await self._make_room(first=not tries[self.model.ref])
            message, error = await self._request()
            tries[self.model.ref] += 1
            if error is None:
                [stored] = await self._store(message, attempts)
                self.router.succeeded(self.model, self._situation())
                return stored, None
            decision = self.router.failed(self.model, error, tries[self.model.ref], self._situation())
            message = await self._failed(message, error, decision, attempts)
            if isinstance(decision, GiveUp):
                return message, f"{decision.reason}: {error.text}"
            obstacle = await self._follow(decision)
            if obstacle is not None:
                return message, f"{decision.reason}: {error.text}; {obstacle}"

    async def _request(self) -> tuple[AssistantMessage, ProviderError | None]:
        """Send the conversation once; the events of the answer are told as they come."""
        session = self.session
        connection = session.connection(self.model, retries=False)
        reached = reach(self.model, connection)
        options = replace(session.options, stream=True)
        answer = send(session.render(session.current, reached.model, options, session.policy), reached)
        async with answer:
            try:
                async for event in answer:
                    self.emit(event)
            finally:
                self.arriving = answer.message
        assert answer.message is not None
        return answer.message, answer.error

    async def _store(
        self, message: AssistantMessage, attempts: Sequence[Failed], *before: AnyEntry
    ) -> list[AssistantMessage]:
        """Write an answer with the attempts before it, if there is anything in it or it is a good one."""
        self.meter.spend(message.usage)
        self.arriving = None  # what is given to `append` is written, even if this task is cancelled meanwhile
        said = self._said(message, attempts)
        await self.session.append(*before, *said)
        return [each.message for each in said if isinstance(each.message, AssistantMessage)]

    def _said(self, message: AssistantMessage | None, attempts: Sequence[Failed] = ()) -> list[MessageAdded]:
        """The entry of an answer, which tells of the attempts before it."""
        if message is None or (not message.content and message.failed):
            return []
        if attempts:
            message = replace(message, diagnostics=[*message.diagnostics, *map(_told_of, attempts)])
        keys = tuple([each.key for each in attempts])
        return [self.session.said(with_identity(message, self.model, self.session.state), keys)]

    async def _failed(
        self, message: AssistantMessage, error: ProviderError, decision: Decision, attempts: list[Failed]
    ) -> AssistantMessage:
        """Write down a failed attempt. What had arrived is stored as failed: its calls never run, and the next attempt
        starts clean."""
        entry: Failed = self.session.entry(
            Failed,
            model=self.model.ref,
            protocol=self.model.protocol,
            kind=error.kind,
            text=error.text,
            then=decision.word,
            status=error.status,
            request_id=error.request_id,
        )
        attempts.append(entry)
        stored = await self._store(message, attempts, entry)
        return stored[0] if stored else message

    async def _follow(self, decision: Decision) -> str | None:
        """Do what the router decided about a failure; or say why it cannot be done."""
        if isinstance(decision, Compact):
            return await self._compact()
        assert not isinstance(decision, GiveUp)
        if isinstance(decision, Next):
            self.model = decision.model
            self.emit(Switch(self.model.ref, decision.reason))
        elif isinstance(decision, Retry):
            self.emit(Retried(self.model.ref, decision.reason, decision.wait))
        await asyncio.sleep(decision.wait)
        return None

    async def _make_room(self, first: bool) -> None:
        """A summary before the first request to a model whose window the conversation may not fit. If none can be made
        the request is sent as it is: the estimate is a careful one, and the provider has the last word."""
        if first and not self.compacted and self.session.overflows(self.model):
            await self._compact()

    async def _compact(self) -> str | None:
        """Make the history shorter; or say why that is not possible."""
        session, before = self.session, len(self.session.state.messages)
        try:
            summary = await compact(session, self.model, self.meter)
        except ConflictError:
            raise
        except SessionError as error:
            return str(error)
        if summary is None:
            return too_long(session, self.model)
        self.compacted = True
        self.emit(Compaction(summary, before - len(session.state.messages) + 1))
        return None

    # -- calls -------------------------------------------------------------------------------------------------------

    async def _run_calls(self, message: AssistantMessage) -> None:
        """Run the calls of an answer: one result for each, in the log as soon as it is there."""
        runnable = message.runnable_calls
        self.waiting = {call.id for call in runnable}
        unfit = [call for call in message.tool_calls if call.id not in self.waiting]
        await self._write([failed_result(call, _unfit(message, call)) for call in unfit])
        if runnable:
            await self.runner.run(runnable, self, self.emit)
        await self._write([failed_result(call, NO_RESULT) for call in runnable if call.id in self.waiting])

    async def started(self, call: ToolCall) -> None:
        """A call is about to run: from now on its outcome counts as unknown."""
        await self.session.append(self.session.entry(CallStarted, call=call.id))
        self.emit(CallStart(call))

    async def finished(self, result: ToolResultMessage) -> None:
        """A call has its result. A second one has no effect."""
        if result.tool_call_id in self.waiting:
            self.waiting.remove(result.tool_call_id)
            await self._write([result])

    async def _write(self, results: Sequence[ToolResultMessage], steered: Sequence[UserMessage] = ()) -> None:
        if results or steered:
            messages: list[Message] = [*results, *steered]
            await self.session.append(*map(self.session.said, messages))
        for result in results:
            self.emit(CallResult(result))
        for message in steered:
            self.emit(Steered(message))

    # -- the end -----------------------------------------------------------------------------------------------------

    async def _ended(self, end: TurnEnd, results: Sequence[ToolResultMessage] = ()) -> TurnEnd:
        ended = self.session.entry(TurnEnded, how=end.how, reason=end.reason or None)
        with suppress(asyncio.CancelledError):  # too late: it is written
            await self.session.append(*[self.session.said(result) for result in results], ended)
        for result in results:
            self.emit(CallResult(result))
        return end

    async def _broken_off(self, how: str, reason: str, not_started: str, unknown: str) -> AssistantMessage | None:
        """Close the log: what had arrived is stored, and calls without a result get one that says so."""
        session = self.session
        if session.state.turn is None or session.state.turn.key != self.begun.key:
            return None  # it had not begun
        if self.arriving is not None:
            self.meter.spend(self.arriving.usage)
        arrived, self.arriving = self._said(self.arriving), None
        results: list[ToolResultMessage] = []
        if arrived and isinstance(arrived[0].message, AssistantMessage):
            answer = arrived[0].message
            # It had all arrived, and only its entry was missing.
            calls = [] if answer.failed else answer.tool_calls
            results = closing_results([(call, False) for call in calls], not_started, unknown)
        results += closing_results(session.state.unanswered(), not_started, unknown)
        ended = session.entry(TurnEnded, how=how, reason=reason or None)
        with suppress(asyncio.CancelledError):
            await session.append(*arrived, *[session.said(result) for result in results], ended)
        for result in results:
            self.emit(CallResult(result))
        message = arrived[0].message if arrived else None
        return message if isinstance(message, AssistantMessage) else None

    def _situation(self) -> Situation:
        state = self.session.state
        return Situation(
            turn=state.turns - (state.turn is not None),
            last=self.session.last_model(),
            origins=state.origins,
            tokens=self.session.estimate(),
            now=self.session.now(),
            compacted=self.compacted,
            conversation=self.session.id,
        )


def _told_of(attempt: Failed) -> Diagnostic:
    """An attempt that failed, on the answer that came after it."""
    details = {"model": attempt.model, "kind": attempt.kind, "then": attempt.then}
    return Diagnostic("attempt-failed", attempt.time, attempt.text, details)


def _unfit(message: AssistantMessage, call: ToolCall) -> str:
    """What is told of a call that must not run."""
    at = next(at for at, block in enumerate(message.content) if isinstance(block, ToolCall) and block.id == call.id)
    words = [each.message for each in message.diagnostics if each.details and each.details.get("block") == at]
    return ONCE_MORE.format(words[0] if words and words[0] else "it cannot be read")


def _none_run(message: AssistantMessage) -> list[ToolResultMessage]:
    """What is told of the calls of a last answer, none of which may run."""
    why = CUT if message.stop_reason == "length" else f"the answer ended with {message.stop_reason}"
    return [failed_result(call, ONCE_MORE.format(why)) for call in message.tool_calls]
