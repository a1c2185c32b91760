"""A turn: ask a model, run the calls of its answer, and repeat until an answer has no calls.

Every step is in the log before its event is emitted. Cancelling the task of a turn ends it: what had arrived is stored,
calls without a result get one, and the turn is closed in the log.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ..errors import ConflictError
from ..session import CallStarted, TurnBegun, TurnEnded
from ..tools.call_texts import CANCELLED, CANCELLED_RUNNING, NOT_RUN
from ..types import AssistantMessage, ToolCall, ToolResultMessage, UserMessage
from .calls import Runner, failed_result
from .events import CallResult, CallStart, Emit, How, Steered, TurnEnd, TurnStart
from .meter import Meter
from .owner import pulse
from .recovery import NOT_STARTED, UNKNOWN, closing_results
from .request_loop import RequestLoop
from .turn_journal import Steering, TurnJournal

if TYPE_CHECKING:
    from .session import Session

REPEAT = f"{NOT_RUN} Make the call again."
CUT = "the answer reached its limit of length"
NO_RESULT = "the tool runner returned no result for this call"


async def run_turn(
    session: "Session",
    message: UserMessage,
    runner: Runner,
    emit: Emit,
    meter: Meter | None = None,
    steering: Steering = list,
) -> TurnEnd:
    """Run one turn in the caller's task, whose cancellation ends the turn and is not raised.

    ``meter`` counts what it uses and ends it at a limit. ``steering`` returns messages queued for its next request.
    """
    log = session.log
    with log.exclusive("a turn"):
        await log.recover()
        turn = Turn(session, message, runner, emit, meter or Meter(), steering)
        with pulse(log.renew, log.store.blocks):
            return await turn.run()


class Turn:
    """A turn of a session while it runs."""

    def __init__(
        self,
        session: "Session",
        message: UserMessage,
        runner: Runner,
        emit: Emit,
        meter: Meter,
        steering: Steering,
    ) -> None:
        self.log = session.log
        self.message = message
        self.runner = runner
        self.emit = emit
        self.meter = meter
        self.steering = steering
        self.journal = TurnJournal(session, emit, meter, steering)
        self.loop = RequestLoop(session.router, self.journal)  # switching during the turn applies to the next one
        self.waiting: set[str] = set()
        """The calls of the batch that have no result in the log yet."""
        model = self.loop.model
        self.begun = self.log.entry(TurnBegun, model=model.ref, protocol=model.protocol, owner=self.log.owner.name)

    async def run(self) -> TurnEnd:
        """Run the turn and return its last event, which is not emitted here."""
        try:
            await self._begin()
            while True:
                end = await self._step()
                if end is not None:
                    return end
        except asyncio.CancelledError:
            return TurnEnd("cancelled", await self._interrupt("cancelled", "", CANCELLED, CANCELLED_RUNNING))
        except ConflictError:
            raise  # another process writes the log now
        except Exception as error:
            await self._interrupt("failed", str(error) or type(error).__name__, NOT_STARTED, UNKNOWN)
            raise

    async def _begin(self) -> None:
        queued = self.steering()  # queued before the turn, so these come before the message of the turn
        await self.log.append(self.begun, *map(self.log.message, [*queued, self.message]))
        self.emit(TurnStart(self.loop.model.ref, self.message))
        for message in queued:
            self.emit(Steered(message))

    async def _step(self) -> TurnEnd | None:
        """Make one request and run the calls of its answer. Return the end of the turn if this was the last step."""
        self.journal.begin_request()
        answer, reason = await self.loop.answer()
        if reason is not None:
            return await self._end(TurnEnd("failed", answer, reason))
        if answer.stop_reason == "toolUse":
            over = self.meter.over()
            if over is None:
                await self._run_calls(answer)
                over = self.meter.over()
            if over is not None:
                left = [failed_result(call, NOT_RUN.format(over)) for call, _ in self.log.state.unanswered()]
                return await self._end(TurnEnd("limit", answer, over), left)
            return None
        if any(each.type == "paused" for each in answer.diagnostics) and self.meter.over() is None:
            return None  # the same history continues the answer
        steered = [] if self.meter.over() else self.steering()
        if not steered:
            return await self._end(TurnEnd("done", answer), _results_of_last(answer))
        await self.journal.write(_results_of_last(answer), steered)
        return None

    # -- calls -------------------------------------------------------------------------------------------------------

    async def _run_calls(self, message: AssistantMessage) -> None:
        """Run the calls of an answer. Each result is written as soon as it is ready."""
        runnable = message.runnable_calls
        self.waiting = {call.id for call in runnable}
        broken = [call for call in message.tool_calls if call.id not in self.waiting]
        await self.journal.write([failed_result(call, _why_broken(message, call)) for call in broken])
        if runnable:
            await self.runner.run(runnable, self, self.emit)
        await self.journal.write([failed_result(call, NO_RESULT) for call in runnable if call.id in self.waiting])

    async def started(self, call: ToolCall) -> None:
        """Record that a call is about to run: from now on its outcome is unknown until it has a result."""
        await self.log.append(self.log.entry(CallStarted, call=call.id))
        self.emit(CallStart(call))

    async def finished(self, result: ToolResultMessage) -> None:
        """Record the result of a call. A second one has no effect."""
        if result.tool_call_id in self.waiting:
            self.waiting.remove(result.tool_call_id)
            await self.journal.write([result])

    # -- the end -----------------------------------------------------------------------------------------------------

    async def _end(self, end: TurnEnd, results: Sequence[ToolResultMessage] = ()) -> TurnEnd:
        ended = self.log.entry(TurnEnded, how=end.how, reason=end.reason or None)
        with suppress(asyncio.CancelledError):  # it is written all the same
            await self.log.append(*map(self.log.message, results), ended)
        for result in results:
            self.emit(CallResult(result))
        return end

    async def _interrupt(self, how: How, reason: str, not_started: str, unknown: str) -> AssistantMessage | None:
        """Close the turn in the log: store what had arrived, and add a result to each call without one."""
        state = self.log.state
        if state.turn is None or state.turn.key != self.begun.key:
            return None  # it had not begun
        arriving, self.loop.arriving = self.loop.arriving, None
        if arriving is not None:
            self.meter.spend(arriving.usage)
        arrived = self.journal.answer_entries(self.loop.model, arriving)
        message = arrived[0].message if arrived else None
        assert message is None or isinstance(message, AssistantMessage)
        # An answer that had arrived as a whole may have calls; only its entry was missing.
        calls = [] if message is None or message.failed else message.tool_calls
        results = closing_results([(call, False) for call in calls], not_started, unknown)
        results += closing_results(state.unanswered(), not_started, unknown)
        ended = self.log.entry(TurnEnded, how=how, reason=reason or None)
        with suppress(asyncio.CancelledError):
            await self.log.append(*arrived, *map(self.log.message, results), ended)
        for result in results:
            self.emit(CallResult(result))
        return message


def _why_broken(message: AssistantMessage, call: ToolCall) -> str:
    """The text for a call that cannot be run, from the diagnostic of its block."""
    at = next(at for at, block in enumerate(message.content) if isinstance(block, ToolCall) and block.id == call.id)
    found = [each.message for each in message.diagnostics if each.details and each.details.get("block") == at]
    return REPEAT.format(found[0] if found and found[0] else "it cannot be read")


def _results_of_last(message: AssistantMessage) -> list[ToolResultMessage]:
    """Results for the calls of an answer that ends a turn: none of them is run."""
    why = CUT if message.stop_reason == "length" else f"the answer ended with {message.stop_reason}"
    return [failed_result(call, REPEAT.format(why)) for call in message.tool_calls]
