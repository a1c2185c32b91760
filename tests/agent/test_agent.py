"""Agents: runs, steering, follow-ups and limits. Queued messages are never lost."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from support.providers import MODELS
from support.sessions import (
    QUICK,
    Providers,
    asks,
    check,
    entries,
    logged_messages,
    run,
    text_of,
    texts,
    weather,
    with_settings,
)
from support.waiting import HANGS, held_after

import segue
from segue import Agent, Outcome, RunLimits, Session
from segue.session import CallStarted, Compacted, ModelChosen, SQLiteStore, Store, TurnBegun, TurnEnded
from segue.testing import Fault, Reply
from segue.tools import CallState, Tool, tool
from segue.types import ModelCost, ProviderContent, TextContent, ToolCall, ToolResultMessage, Usage, UserMessage

ONE, OTHER = "anthropic-messages", "mistral-chat"


def agent_of(providers: Providers, store: Store | None = None, **settings: Any) -> Agent:
    settings = {"model": MODELS[ONE], "tools": [weather_tool], "store": store} | settings
    return Agent(connection=providers.connection, **with_settings(settings))


@tool(name="weather")
def weather_tool(city: str) -> str:
    """Current weather."""
    return weather(city)


def users(messages: list[segue.Message]) -> list[str]:
    return [
        "".join(block.text for block in message.content if isinstance(block, TextContent))
        for message in messages
        if isinstance(message, UserMessage)
    ]


def kinds(session: Session, *kinds: type) -> list[str]:
    return [type(entry).__name__ for entry in entries(session) if isinstance(entry, kinds)]


def test_a_paused_answer_is_continued_by_sending_the_same_history_without_a_filler(
    providers: Providers, store: Store
) -> None:
    asked = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "weather"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    search = {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}

    async def talk() -> None:
        async with agent_of(providers, store, tools=[], options=segue.Options(extra=search)) as agent:
            providers[ONE].say(
                Reply([TextContent("I search."), ProviderContent(asked, "server_tool_use", "web_search: weather")]),
                Reply([ProviderContent(found, "web_search_tool_result"), TextContent("Mild.")]),
                "You are welcome.",
            )
            outcome = await agent.run("Weather?")
            assert (outcome.how, outcome.text, outcome.steps) == ("done", "Mild.", 2)
            second = providers[ONE].requests[1]["messages"]
            assert [turn["role"] for turn in second] == ["user", "assistant"]
            assert second[1]["content"] == [{"type": "text", "text": "I search."}, asked]
            await agent.run("Thanks.")
            third = providers[ONE].requests[2]["messages"]
            assert [block["type"] for block in third[1]["content"]] == [
                *("text", "server_tool_use", "web_search_tool_result", "text")
            ]
            assert providers[ONE].refused == []

    run(talk())


def test_a_run_ends_with_the_last_answer(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        async with agent_of(providers, store, system_prompt="Be brief.") as agent:
            providers[ONE].say(asks("Paris", "Rome"), "Mild.")
            outcome = await agent.run("Weather?")
            assert (outcome.how, outcome.text, outcome.reason, outcome.steps) == ("done", "Mild.", "", 2)
            assert outcome.usage.total_tokens == 60
            assert outcome.cost == pytest.approx((40 * 3 + 20 * 15) / 1_000_000)
            assert texts(agent.session.messages) == [weather("Paris"), weather("Rome")]
            assert providers.sent(ONE).system_prompt == "Be brief."
            assert [each.name for each in providers.sent(ONE).tools] == ["weather"]
            check(agent.session)
            assert (await agent.run("Thanks.")).steps == 1, "each run has its own count"

    run(talk())
    assert not providers.objections()


def test_a_run_emits_an_event_for_everything_that_happens(providers: Providers) -> None:
    async def talk() -> None:
        async with agent_of(providers, model=segue.Failover([MODELS[ONE], MODELS[OTHER]])) as agent:
            providers[ONE].say(asks("Paris"), Fault("wrong-key"))
            async with agent.stream("Weather?") as events:
                emitted = [event async for event in events]
            assert events.outcome is not None and events.outcome.how == "done"
            assert emitted[0].type == "turn_start" and emitted[-1].type == "turn_end"
            seen = {event.type for event in emitted}
            assert seen >= {
                "thinking_delta",
                "toolcall_end",
                "call_start",
                "call_state",
                "result",
                "switch",
                "text_delta",
            }
            states = [event.state for event in emitted if isinstance(event, CallState)]
            assert states == ["validating", "scheduled", "executing", "success"]

    run(talk())


def test_without_a_store_nothing_is_written_to_disk(
    providers: Providers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_DATA_HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("SEGUE_SESSIONS", str(tmp_path / "sessions.db"))

    async def talk() -> None:
        async with agent_of(providers) as agent:
            providers[ONE].say(asks("Paris"), "Mild.")
            await agent.run("Weather?")
            check(agent.session)

    run(talk())
    assert list(tmp_path.iterdir()) == []


# -- an existing session --------------------------------------------------------------------------------------------


def test_a_session_that_is_passed_keeps_what_it_has(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        before = len(entries(session))
        async with Agent(None, [weather_tool], session) as agent:
            assert len(entries(session)) == before, "nothing is new, so nothing is written"
            assert (await agent.run("Hello.")).message.protocol == ONE  # type: ignore[union-attr]
        async with Agent(MODELS[ONE], [weather_tool], session):
            assert kinds(session, ModelChosen) == ["ModelChosen"], "the same model is not a switch"
        async with Agent(MODELS[OTHER], [], session, system_prompt="Be long.") as agent:
            assert (await agent.run("Hello.")).message.protocol == OTHER  # type: ignore[union-attr]
        assert providers.sent(OTHER).system_prompt == "Be long." and providers.sent(OTHER).tools == []
        check(session)
        again = providers.reopened(session)
        assert again.context.system_prompt == "Be long."

    run(talk())


def test_an_agent_needs_a_model_or_a_session_and_only_one_store(providers: Providers, store: Store) -> None:
    with pytest.raises(TypeError, match="needs a model"):
        Agent()
    with pytest.raises(TypeError, match="has its own store"):
        Agent(None, [], providers.session(MODELS[ONE], store), store=store)


def test_a_store_that_the_agent_opened_is_closed_with_it(providers: Providers, tmp_path: Path) -> None:
    async def talk() -> str:
        async with agent_of(providers, store=str(tmp_path / "s.db")) as agent:  # type: ignore[arg-type]
            await agent.run("Hello.")
        with pytest.raises(segue.SessionError, match="closed"):
            entries(agent.session)
        return agent.session.id

    name = run(talk())
    with SQLiteStore(tmp_path / "s.db") as store:
        assert users(Session.open(name, store=store).messages) == ["Hello."]


def test_an_agent_can_be_used_in_several_event_loops_one_after_the_other(providers: Providers) -> None:
    agent = agent_of(providers)
    for _ in range(2):
        providers[ONE].say(asks("Paris", "Rome"), "Mild.")
        assert asyncio.run(agent.run("Weather?")).how == "done"
    check(agent.session)
    asyncio.run(agent.aclose())


def test_a_switch_during_a_run_applies_to_the_next_turn(providers: Providers) -> None:
    async def talk() -> None:
        async with agent_of(providers) as agent:
            providers[ONE].say(asks("Paris"), "Mild.")
            agent.follow_up("And now?")
            async for event in agent.stream("Weather?"):
                if isinstance(event, segue.events.CallStart):
                    agent.switch(MODELS[OTHER])
            begun = [entry.protocol for entry in entries(agent.session) if isinstance(entry, TurnBegun)]
            assert begun == [ONE, OTHER]
            check(agent.session)

    run(talk())


def test_only_one_run_at_a_time(providers: Providers) -> None:
    async def talk() -> None:
        async with agent_of(providers) as agent:
            async with agent.stream("Hello.") as first:
                await anext(first)
                with pytest.raises(segue.ConflictError, match="steer it, or wait for it"):
                    await agent.run("Me, too.")
                assert (await first.finished()).how == "done"
            assert (await agent.run("Now?")).how == "done"

    run(talk())


# -- steering and follow-ups ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", MODELS)
def test_steering_is_delivered_with_the_next_request_of_the_turn(providers: Providers, protocol: str) -> None:
    """After the results of the calls that were running, and in the same turn."""

    async def talk() -> None:
        async with agent_of(providers, model=MODELS[protocol]) as agent:
            providers[protocol].say(asks("Paris", "Rome"), "Mild.")
            seen = []
            async for event in agent.stream("Weather?"):
                if isinstance(event, segue.events.CallStart):
                    agent.steer(f"In Kelvin, please ({event.call.arguments['city']}).")
                seen.append(event.type)
            assert seen.count("steered") == 2 and seen.index("steered") > seen.index("result")
            assert [type(message).__name__ for message in agent.session.messages] == (
                ["UserMessage", "AssistantMessage"]
                + ["ToolResultMessage"] * 2
                + ["UserMessage"] * 2
                + ["AssistantMessage"]
            )
            assert kinds(agent.session, TurnBegun, TurnEnded) == ["TurnBegun", "TurnEnded"]
            assert "In Kelvin, please (Rome)." in "".join(users(providers.sent(protocol).messages))
            assert agent.queued == []
            check(agent.session)

    run(talk())
    assert not providers.objections()


def test_steering_queued_while_a_request_fails_is_in_the_next_attempt(providers: Providers) -> None:
    async def talk() -> None:
        async with agent_of(providers, model=segue.Fixed(MODELS[ONE], patience=QUICK)) as agent:
            providers[ONE].say(Fault("cut", asks("Paris", "Rome")), "Mild.")
            async for event in agent.stream("Weather?"):
                if isinstance(event, segue.events.Retried):
                    agent.steer("In Kelvin, please.")
            assert text_of(providers.sent(ONE)).split("\n") == ["Weather?", "In Kelvin, please."]
            check(agent.session)

    run(talk())
    assert not providers.objections()


def test_a_turn_that_was_about_to_end_continues_with_steering(
    providers: Providers, monkeypatch: pytest.MonkeyPatch
) -> None:
    steered = held_after(b"Mild", monkeypatch)

    async def talk() -> None:
        async with agent_of(providers) as agent:
            providers[ONE].say("Mild. " * 20, "In Kelvin: 291.")
            async with agent.stream("Weather?") as events:
                async for event in events:
                    if event.type == "text_delta" and not steered.is_set():
                        agent.steer("In Kelvin, please.")
                        steered.set()
            assert events.outcome is not None and events.outcome.text == "In Kelvin: 291."
            assert users(agent.session.messages) == ["Weather?", "In Kelvin, please."]
            assert kinds(agent.session, TurnBegun) == ["TurnBegun"]
            check(agent.session)

    run(talk())


class AtTheEnd(SQLiteStore):
    """Do something while the end of the first turn is written."""

    happens: Callable[[], None] | None = None

    def append(self, session: str, entries: Any, *, after: int) -> int:
        if self.happens is not None and any(isinstance(entry, TurnEnded) for entry in entries):
            self.happens()
            self.happens = None
        return super().append(session, entries, after=after)


def test_steering_too_late_for_its_turn_starts_another_turn_of_the_run(providers: Providers) -> None:
    async def talk() -> None:
        with AtTheEnd(":memory:") as store:
            async with agent_of(providers, store) as agent:
                store.happens = lambda: agent.steer("In Kelvin, please.")
                agent.follow_up("And tomorrow?")
                assert (await agent.run("Weather?")).how == "done"
                assert users(agent.session.messages) == ["Weather?", "In Kelvin, please.", "And tomorrow?"]
                assert kinds(agent.session, TurnBegun) == ["TurnBegun"] * 3
                check(agent.session)

    run(talk())


def test_a_cancellation_too_late_for_its_turn_ends_the_run(providers: Providers) -> None:
    async def talk() -> None:
        with AtTheEnd(":memory:") as store:
            async with agent_of(providers, store) as agent:
                agent.follow_up("And then?")
                async with agent.stream("Hello.") as events:
                    store.happens = events.cancel
                    outcome = await events.finished()
                assert outcome.how == "cancelled" and outcome.message is not None
                ended = [entry.how for entry in entries(agent.session) if isinstance(entry, TurnEnded)]
                assert ended == ["done"] and users(list(agent.queued)) == ["And then?"]
                check(agent.session)

    run(talk())


def test_each_follow_up_is_another_turn_of_the_same_run(providers: Providers) -> None:
    async def talk() -> None:
        async with agent_of(providers) as agent:
            providers[ONE].say(asks("Paris"), "Mild.", "As I said.", "Good night.")
            agent.follow_up("Are you sure?")
            agent.follow_up(UserMessage("Good night."))
            outcome = await agent.run("Weather?")
            assert (outcome.text, outcome.steps) == ("Good night.", 4)
            assert users(agent.session.messages) == ["Weather?", "Are you sure?", "Good night."]
            assert kinds(agent.session, TurnBegun, TurnEnded) == ["TurnBegun", "TurnEnded"] * 3
            check(agent.session)

    run(talk())


@pytest.mark.parametrize("how", ["cancelled", "failed"])
def test_undelivered_messages_stay_queued_until_the_queue_is_cleared(providers: Providers, how: str) -> None:
    async def talk() -> None:
        async with agent_of(
            providers, model=segue.Fixed(MODELS[ONE], patience=segue.Patience(retries=segue.Retries(count=0)))
        ) as agent:
            providers[ONE].say(Fault("server-error") if how == "failed" else Fault("silence", asks("Paris")))
            async with agent.stream("Weather?") as events:
                async for event in events:
                    if isinstance(event, segue.events.TurnStart):
                        agent.steer("In Kelvin.")
                        agent.follow_up("And tomorrow?")
                    elif event.type == "start" and how == "cancelled":
                        events.cancel()
            assert events.outcome is not None and events.outcome.how == how
            assert users(list(agent.queued)) == ["In Kelvin.", "And tomorrow?"]
            assert (await agent.run("Go on.")).how == "done"
            assert users(agent.session.messages) == ["Weather?", "In Kelvin.", "Go on.", "And tomorrow?"]
            agent.steer("Never mind.")
            assert users(list(agent.clear_queue())) == ["Never mind."] and agent.queued == []
            check(agent.session)

    run(talk())


def test_an_invalid_message_is_refused_and_not_queued(providers: Providers) -> None:
    wrong: Any = 3
    agent = Agent(MODELS[ONE], connection=providers.connection)
    for say in (agent.steer, agent.follow_up, agent.stream):
        with pytest.raises(TypeError, match="not a int"):
            say(wrong)
    assert agent.queued == [] and agent.session.messages == []
    asyncio.run(agent.aclose())


def test_a_run_cancelled_before_it_begins_writes_nothing(providers: Providers) -> None:
    async def talk() -> None:
        async with agent_of(providers) as agent:
            events = agent.stream("Hello.")
            events.cancel()
            assert [event.type async for event in events] == ["turn_end"]
            assert events.outcome == Outcome("cancelled") and agent.session.messages == []
            assert (await agent.run("Hello.")).how == "done"

    run(talk())


def test_cancelling_the_caller_closes_the_log_first(providers: Providers) -> None:
    async def talk() -> None:
        begun = asyncio.Event()

        async def waits(city: str) -> str:
            begun.set()
            await asyncio.sleep(10 * HANGS)
            return city

        async with agent_of(providers, tools=[tool(waits, name="weather")]) as agent:
            providers[ONE].say(asks("Paris"))
            caller = asyncio.create_task(agent.run("Weather?"))
            await begun.wait()
            caller.cancel()
            with pytest.raises(asyncio.CancelledError):
                await caller
            check(agent.session)
            assert (await agent.run("Go on.")).how == "done"

    run(talk())
    assert not providers.objections()


def test_a_missing_key_is_raised_and_messages_stay_queued(
    providers: Providers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    async def talk() -> None:
        async with Agent(MODELS[ONE]) as agent:
            agent.follow_up("And?")
            with pytest.raises(segue.SettingError, match="ANTHROPIC_API_KEY"):
                await agent.run("Hello.")
            assert users(list(agent.queued)) == ["And?"]

    run(talk())


# -- limits -----------------------------------------------------------------------------------------------------------

LIMITS = {
    "steps": (RunLimits(steps=2), "2 steps"),
    "tokens": (RunLimits(tokens=45), "45 tokens"),
    "cost": (RunLimits(cost=0.0003), "$0.0003"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_run_that_reaches_a_limit_runs_no_more_calls_and_can_continue(providers: Providers, name: str) -> None:
    """The calls of the last answer get results that say why, and the next run starts counting at zero."""
    limits, text = LIMITS[name]

    async def talk() -> None:
        async with agent_of(providers, limits=limits) as agent:
            providers[ONE].say(*[asks("Paris", "Rome")] * 5)
            outcome = await agent.run("Weather?")
            assert (outcome.how, outcome.steps) == ("limit", 2)
            assert outcome.reason == f"the run has reached its limit of {text}"
            assert outcome.message is not None and outcome.message.stop_reason == "toolUse"
            assert texts(agent.session.messages)[2:] == [f"This call was not run: {outcome.reason}."] * 2
            assert len(kinds(agent.session, CallStarted)) == 2
            [ended] = [entry for entry in entries(agent.session) if isinstance(entry, TurnEnded)]
            assert (ended.how, ended.reason) == ("limit", outcome.reason)
            check(agent.session)
            providers.clear()
            assert (await agent.run("Go on.")).how == "done"

    run(talk())
    assert not providers.objections()


def test_an_answer_without_calls_ends_the_run_as_done_at_any_limit(
    providers: Providers, monkeypatch: pytest.MonkeyPatch
) -> None:
    steered = held_after(b"Long", monkeypatch)

    async def talk() -> None:
        async with agent_of(providers, limits=RunLimits(steps=1, tokens=1, cost=1e-9)) as agent:
            assert (await agent.run("Hello.")).how == "done"
            agent.follow_up("And?")
            outcome = await agent.run("Hello.")
            assert outcome.how == "limit" and users(list(agent.queued)) == ["And?"]
            agent.clear_queue()
            providers[ONE].say("Long. " * 10, "never said")
            async with agent.stream("Hello.") as events:
                async for event in events:
                    if event.type == "start":
                        agent.steer("And?")
                        steered.set()
            assert events.outcome is not None and (events.outcome.how, events.outcome.steps) == ("limit", 1)
            assert users(list(agent.queued)) == ["And?"], "a message that needs another request is not delivered"
            check(agent.session)

    run(talk())


def test_a_cost_limit_ends_the_run_if_a_price_is_not_known(providers: Providers) -> None:
    async def talk() -> None:
        model = replace(MODELS[ONE], cost=ModelCost())
        async with agent_of(providers, model=model, limits=RunLimits(cost=100)) as agent:
            providers[ONE].say(*[asks("Paris")] * 3)
            outcome = await agent.run("Weather?")
            assert (outcome.how, outcome.steps, outcome.cost) == ("limit", 1, None)
            assert outcome.reason == "the run has a limit of $100, and the price of an answer is not known"

    run(talk())


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"tokens": -1}, {"cost": 0}, {"cost": float("nan")}, {"depth": -1}])
def test_a_limit_that_allows_nothing_is_an_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(segue.SettingError, match=f"the limit {next(iter(wrong))} must be"):
        RunLimits(**wrong)


def test_the_usage_of_summaries_is_counted_and_logged(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        small = replace(MODELS[ONE], context_window=2_500, max_tokens=500)
        session = providers.session(small, store)
        nothing = Usage()
        providers[ONE].say(Reply([TextContent("All happy families. " * 400)], usage=nothing))
        async with Agent(None, [], session) as agent:
            await agent.run("Tell me a story. " * 50)
            providers[ONE].say(
                Reply([TextContent("They talked.")], usage=Usage(input=1000, output=10, total_tokens=1010)),
                Reply([TextContent("Yes.")], usage=Usage(input=5, output=1, total_tokens=6)),
            )
            outcome = await agent.run("Go on. " * 100)
            assert outcome.usage.total_tokens == 1016
            [compacted] = [entry for entry in entries(session) if isinstance(entry, Compacted)]
            assert compacted.details["usage"]["totalTokens"] == 1010
            assert segue.session_usage(store, session.id).total_tokens == 1016

    run(talk())


def test_the_usage_of_failed_attempts_and_cancelled_answers_is_counted(providers: Providers) -> None:
    async def talk() -> None:
        async with agent_of(providers) as agent:
            providers[ONE].say(Fault("silence", Reply([TextContent("Mild. " * 50)])))
            async with agent.stream("Weather?") as events:
                async for event in events:
                    if event.type == "text_delta":
                        events.cancel()
            assert events.outcome is not None and events.outcome.how == "cancelled"
            [answer] = [
                message for message in logged_messages(agent.session) if isinstance(message, segue.AssistantMessage)
            ]
            assert events.outcome.usage.input == answer.usage.input > 0

    run(talk())


# -- what tools give --------------------------------------------------------------------------------------------------


def test_functions_passed_to_a_session_run_like_tools_of_an_agent(providers: Providers, store: Store) -> None:
    """The same calls, as plain functions and as tools, lead to the same messages."""

    async def fails(city: str) -> None:
        raise ValueError("no such city")

    functions = {"weather": weather, "fails": fails}
    definitions = [segue.ToolDefinition(name, "", weather_tool.definition.parameters) for name in functions]
    script = Reply(
        [ToolCall(f"toolu_{at}", name, {"city": "Rome"}) for at, name in enumerate(["weather", "fails", "no"])]
    )

    async def talk() -> None:
        session = providers.session(MODELS[ONE], store, tools=definitions)
        providers[ONE].say(script, "Done.")
        await session.ask("All.", functions)
        tools = [Tool(each, functions[each.name]) for each in definitions]
        async with agent_of(providers, store, tools=tools) as agent:
            providers[ONE].say(script, "Done.")
            await agent.run("All.")
            assert texts(agent.session.messages) == texts(session.messages)
            results = [message for message in session.messages if isinstance(message, ToolResultMessage)]
            assert [message.is_error for message in results] == [False, True, True]

    run(talk())
