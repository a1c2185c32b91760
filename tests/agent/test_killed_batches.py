"""A batch of calls of different duration, killed or cancelled at any point: no reported result is lost, and no call
with a result in the log counts as unknown."""

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.providers import MODELS
from support.sessions import Providers, check, entries, run
from support.victim import ONE, OTHER, Victims, blocks, victims, waits

import segue
from segue import Agent, Session, Settings
from segue.agent.events import TurnEvent
from segue.agent.turn import run_turn
from segue.session import CallStarted, MessageAdded, SQLiteStore, Store, open_store
from segue.testing import Fault, Reply, StandIn
from segue.tools import ToolLimits
from segue.types import AssistantMessage, Context, TextContent, ToolCall, ToolResultMessage, UserMessage

POINTS = 200 if os.environ.get("SEGUE_SOAK") else 20
PARALLEL = [1, 2, 3, 8]
EVENTS = 110
"""About the number of events of a turn."""


class Batches(StandIn):
    """Asks for a batch of calls of different duration, including sub-agents, and then ends the turn."""

    def next_answer(self, body: dict[str, Any]) -> Reply | Fault:
        last = self.conversation(body).messages[-1]
        if isinstance(last, ToolResultMessage):
            return Reply([TextContent("Done.")])
        chance = Random(len(self.requests))
        times = [0.012, 0.009, 0.006, 0.003, 0.001, 0.0]
        chance.shuffle(times)
        named = [(chance.choice(["waits", "blocks"]), {"seconds": seconds}) for seconds in times]
        if last.content[0] == TextContent("All of it."):
            named = [named[0], ("worker", {"task": "A part."}), *named[1:5], ("worker", {"task": "A part."}), named[5]]
        return Reply([ToolCall("", name, arguments) for name, arguments in named])


@pytest.fixture(scope="module")
def batches() -> Iterator[Providers]:
    with Providers(Batches) as started:
        yield started


@pytest.fixture(scope="module")
def prey() -> Iterator[Victims]:
    with victims() as ready:
        yield ready


def results_of(session: Session) -> list[ToolResultMessage]:
    messages = [entry.message for entry in entries(session) if isinstance(entry, MessageAdded)]
    return [message for message in messages if isinstance(message, ToolResultMessage)]


def nothing_reported_is_lost(session: Session, reported: set[str]) -> int:
    """The number of unknown calls in a session that was opened after a crash."""
    logged = {result.tool_call_id for result in results_of(session)}
    assert reported <= logged, "a result was reported and is not in the log"
    found = session.interrupted
    unknown = {call.id for call in found.unknown} if found else set()
    started = {entry.call for entry in entries(session) if isinstance(entry, CallStarted)}
    if found is not None:
        assert unknown == started - logged, "a call whose result is in the log counts as unknown"
        assert not logged & {call.id for call in found.not_started}
    return len(unknown)


def is_in_the_order_of_the_calls(session: Session) -> None:
    """Each call has one result, in the order of the calls, and rendering does not move any."""
    asked = [call.id for call in calls_of(session)]
    answered = [message.tool_call_id for message in session.messages if isinstance(message, ToolResultMessage)]
    assert answered == asked
    context = Context(messages=[*session.messages, UserMessage("And now?")], tools=session.tools)
    for model in MODELS.values():
        changes = segue.encode(context, model).changes
        assert "result-moved" not in [change.code for change in changes]


@pytest.mark.skipif(sys.platform == "win32", reason="there is neither fork nor SIGKILL on Windows")
def test_a_killed_process_loses_no_result_that_it_reported(batches: Providers, prey: Victims, tmp_path: Path) -> None:
    """Sub-agents included; each point is a number of reported events."""
    chance = Random(17)
    standins = {protocol: (each.url, each.key) for protocol, each in batches.standins.items()}
    unknown = kept = moved = 0
    for point in range(POINTS):
        address = str(tmp_path / f"{point}.db")
        with open_store(address) as store:
            lead = batches.session(MODELS[ONE], store, tools=[])
            lines = prey.killed(
                after=chance.randrange(EVENTS),
                work="batch",
                where=address,
                session_id=lead.id,
                standins=standins,
                parallel=chance.choice(PARALLEL),
            )
            reported = {line["call"] for line in lines if line["done"]}
            for info in store.sessions():
                session = Session.open(info.id, MODELS[ONE], store=store)
                unknown += nothing_reported_is_lost(session, reported if info.id == lead.id else set())
                logged = [result.tool_call_id for result in results_of(session)]
                run(session.recover())
                check(session)
                is_in_the_order_of_the_calls(session)
                real = [each.tool_call_id for each in results_of(session) if not each.synthetic]
                assert real == logged, "the results are those of the log"
                kept += len(real)
                moved += logged != sorted(logged, key=[call.id for call in calls_of(session)].index)
    assert not batches.objections()
    assert unknown and kept and moved, "some were killed while calls ran, and some calls ended in another order"


def calls_of(session: Session) -> list[ToolCall]:
    """The calls of answers that did not fail."""
    answers = [message for message in session.messages if isinstance(message, AssistantMessage)]
    return [call for message in answers if message.stop_reason == "toolUse" for call in message.tool_calls]


def test_a_cancelled_turn_loses_no_result_that_it_reported(batches: Providers) -> None:
    """It is cancelled after some events, and again while it ends."""
    chance = Random(18)
    for _ in range(POINTS):
        with SQLiteStore(":memory:") as store:
            run(cancelled(batches, store, chance.randrange(EVENTS), chance.choice(PARALLEL), chance.random() < 0.5))
    assert not batches.objections()


async def cancelled(batches: Providers, store: Store, after: int, parallel: int, twice: bool) -> None:
    limits = ToolLimits(parallel=parallel, grace=5)
    reach = {"connection": batches.connection, "settings": Settings(tool_limits=limits), "store": store}
    worker = Agent(MODELS[OTHER], [waits, blocks], **reach)
    tools = [waits, blocks, worker.as_tool("worker", "Does parts of it.")]
    reported: set[str] = set()
    seen = 0

    def report(event: TurnEvent) -> None:
        nonlocal seen
        seen += 1
        if seen == after or (twice and seen == after + 3):
            turn.cancel()
        if event.type == "result" and not event.result.synthetic:
            reported.add(event.result.tool_call_id)
            logged = {result.tool_call_id for result in results_of(lead.session)}
            assert event.result.tool_call_id in logged, "reported before it is in the log"
        if event.type == "call_state" and event.state == "success":
            assert event.call.id in reported, "its end was reported before its result"

    async with worker, Agent(MODELS[ONE], tools, **reach) as lead:
        turn = asyncio.ensure_future(run_turn(lead.session, UserMessage("All of it."), lead.scheduler, report))
        await asyncio.wait([turn])  # it may be cancelled by its very last event
        real = {result.tool_call_id for result in results_of(lead.session) if not result.synthetic}
        assert reported == real, "what is in the log is what was reported"
        check(lead.session)
        is_in_the_order_of_the_calls(lead.session)
        again = Session.open(lead.session.id, MODELS[ONE], store=store)
        assert again.messages == lead.session.messages, "the live session equals the stored one"
