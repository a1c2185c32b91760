"""Sub-agents: an agent as a tool, with its own session and model. It ends with its caller, who pays for it."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace
from support.providers import MODELS
from support.sessions import (
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
from support.waiting import HANGS, until_async

import segue
from segue import Agent, RunLimits, Session
from segue.agent.subagent import BESIDE, HANDED_ON, YOURS, _name
from segue.session import SQLiteStore, Store, TurnEnded
from segue.session.rows import check_name
from segue.testing import Fault, Reply
from segue.tools import Allow, AllowAlways, ApprovalRequest, Deny, Tool, ToolLimits, tool
from segue.types import ToolCall, ToolResultMessage, UserMessage

CHIEF, SCOUT = "anthropic-messages", "mistral-chat"
PATIENT = ToolLimits(grace=HANGS)
"""Long enough on a busy machine: a tool that stops when it is cancelled is not abandoned."""


@tool(name="weather")
def weather_tool(city: str) -> str:
    """Current weather."""
    return weather(city)


def sends(*tasks: str, name: str = "scout") -> Reply:
    """An answer of the chief that calls sub-agents."""
    return Reply([ToolCall(f"toolu_{at}", name, {"task": task}) for at, task in enumerate(tasks, 1)])


def scout_of(providers: Providers, protocol: str = SCOUT, **settings: Any) -> Agent:
    settings = {"tools": [weather_tool], "tool_limits": PATIENT} | settings
    return Agent(MODELS[protocol], connection=providers.connection, **with_settings(settings))


def chief_of(providers: Providers, store: Store, *tools: Tool, **settings: Any) -> Agent:
    settings = {"model": MODELS[CHIEF], "tool_limits": PATIENT} | settings
    return Agent(tools=tools, store=store, connection=providers.connection, **with_settings(settings))


def sub_session(chief: Agent, call: str = "toolu_1") -> Session:
    """The session of a call, as it is in the store."""
    return Session.open(f"{chief.session.id}~{call}", store=chief.session.store)


def test_a_sub_agent_has_its_own_session_and_its_last_text_is_the_result(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        async with scout_of(providers, system_prompt="You scout.") as scout:
            async with chief_of(providers, store, scout.as_tool("scout", "Looks at things")) as chief:
                providers[CHIEF].say(sends("Weather in Paris?"), "It is mild.")
                providers[SCOUT].say(asks("Paris"), "18 degrees.")
                outcome = await chief.run("How is it there?")
                assert outcome.text == "It is mild." and texts(chief.session.messages) == ["18 degrees."]
                check(chief.session)
                own = sub_session(chief)
                assert [type(message).__name__ for message in own.messages] == [
                    "UserMessage",
                    "AssistantMessage",
                    "ToolResultMessage",
                    "AssistantMessage",
                ]
                assert own.info.parent == chief.session.id and own.info.title == "scout"
                assert own.targets.likely(own.log.state.last).protocol == SCOUT
                asked = providers.sent(SCOUT)
                assert asked.system_prompt == "You scout." and "How is it there?" not in text_of(asked)
                check(own)
                assert (outcome.steps, outcome.usage.total_tokens) == (2, 4 * 30), "its usage counts for the caller"
                used = segue.session_usage(store, chief.session.id)
            assert used.total_tokens == outcome.usage.total_tokens and used.cost is not None
            assert outcome.cost == pytest.approx(used.cost.total)
            assert scout.session.messages == [], "the session of the agent itself is not used"

    run(talk())
    assert not providers.objections()


@pytest.mark.parametrize("protocol", MODELS)
@pytest.mark.parametrize("elsewhere", [False, True], ids=["the caller's store", "its own store"])
def test_a_sub_agent_with_history_sees_the_conversation(
    providers: Providers, store: Store, tmp_path: Path, protocol: str, elsewhere: bool
) -> None:
    """The history is rendered for its own model, and open calls have results that explain them."""

    async def talk() -> None:
        where = str(tmp_path / "scout.db") if elsewhere else None
        async with scout_of(providers, protocol, store=where) as scout:
            sub = scout.as_tool("scout", "Looks at things", history=True)
            async with chief_of(providers, store, sub, weather_tool, system_prompt="Lead.") as chief:
                providers[CHIEF].say(asks("Rome"), "Warm.")
                await chief.run("Weather in Rome?")
                both = [*sends("And in Paris?").content, ToolCall("toolu_9", "weather", {"city": "Oslo"})]
                last = Reply([*asks().content, *both])
                providers.clear()
                if protocol == CHIEF:
                    providers[CHIEF].say(last, "18 degrees.", "Mild.")
                else:
                    providers[CHIEF].say(last, "Mild.")
                    providers[protocol].say("18 degrees.")
                assert (await chief.run("And elsewhere?")).text == "Mild."
                check(chief.session)
                asked = providers.sent(protocol, 1 if protocol == CHIEF else 0)
                assert "Weather in Rome?" in text_of(asked) and "And in Paris?" in text_of(asked)
                assert asked.system_prompt == "Lead."
                results = texts(asked.messages)
                assert results[0] == weather("Rome") and results[1] == YOURS and results[2] in (BESIDE, weather("Oslo"))
                name = f"{chief.session.id}~toolu_1"
                own = Session.open(name, store=scout.session.store if elsewhere else store)
                assert own.info.parent == chief.session.id and own.info.parent_entry
                ended = [entry.how for entry in entries(own) if isinstance(entry, TurnEnded)]
                assert ended == ["done", HANDED_ON, "done"]
                check(own)
                if not elsewhere:
                    used = segue.session_usage(store, chief.session.id)
                    assert used.total_tokens == 5 * 30, "the history is paid for once"

    run(talk())
    assert not providers.objections()


def test_several_sub_agents_run_in_parallel(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        meeting = asyncio.Barrier(3)

        async def meet() -> str:
            """Wait for the others."""
            async with asyncio.timeout(HANGS):
                await meeting.wait()
            return "met"

        async with (
            scout_of(providers, tools=[tool(meet)]) as scout,
            chief_of(providers, store, scout.as_tool("scout", "")) as chief,
        ):
            providers[CHIEF].say(sends("a", "b", "c"), "Well.")
            providers[SCOUT].say(*[Reply([ToolCall("", "meet", {})])] * 3)
            assert (await chief.run("Go.")).text == "Well."
            for at in (1, 2, 3):
                assert texts(sub_session(chief, f"toolu_{at}").messages) == ["met"]
            check(chief.session)

    run(talk())


def test_cancelling_the_caller_cancels_its_sub_agents(providers: Providers, store: Store) -> None:
    """And their sub-agents. Every turn is closed in its log, and nothing keeps running."""

    async def talk() -> None:
        waiting = asyncio.Event()

        async def wait() -> None:
            """Wait forever."""
            waiting.set()
            await asyncio.sleep(3600)

        async with (
            scout_of(providers, "google-generative-ai", tools=[tool(wait)]) as last,
            scout_of(providers, tools=[last.as_tool("last", "")]) as middle,
            chief_of(providers, store, middle.as_tool("scout", "")) as chief,
        ):
            providers[CHIEF].say(sends("a"))
            providers[SCOUT].say(Reply([ToolCall("abcdefgh1", "last", {"task": "b"})]))
            providers["google-generative-ai"].say(Reply([ToolCall("call_1", "wait", {})]))
            async with chief.stream("Go.") as events:
                async with asyncio.timeout(HANGS):
                    await waiting.wait()
                events.cancel()
            assert events.outcome is not None and events.outcome.how == "cancelled"
            assert events.outcome.usage.total_tokens == 90
            names = [info.id for info in store.sessions()]
            assert len(names) == 3 and all(name.startswith(chief.session.id) for name in names)
            for name in names:
                session = Session.open(name, store=store)
                check(session)
                [result] = [each for each in session.messages if isinstance(each, ToolResultMessage)]
                assert result.synthetic and result.is_error and "not known" in texts([result])[0]
            assert (await chief.run("What happened?")).how == "done"

    run(talk())
    assert not providers.objections()


def test_a_sub_agent_closes_its_log_before_its_caller_ends_even_if_its_tools_do_not_stop(
    providers: Providers, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of the event loop jumps with each step, so the order is decided by steps, not by seconds."""

    async def talk() -> None:
        ahead, clock = 0.0, asyncio.get_running_loop().time
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: clock() + ahead)
        waiting, release = asyncio.Event(), asyncio.Event()

        async def stubborn() -> None:
            """Cannot be cancelled."""
            waiting.set()
            while not release.is_set():
                with suppress(asyncio.CancelledError):
                    await release.wait()

        limits = ToolLimits(grace=HANGS)
        async with scout_of(providers, tools=[tool(stubborn)], tool_limits=limits) as scout:
            sub = scout.as_tool("scout", "")
            async with chief_of(providers, store, sub, tool_limits=ToolLimits(grace=60)) as chief:
                providers[CHIEF].say(sends("a"))
                providers[SCOUT].say(Reply([ToolCall("", "stubborn", {})]))
                async with chief.stream("Go.") as events, asyncio.timeout(HANGS):
                    await waiting.wait()
                    events.cancel()
                    ended = asyncio.create_task(events.finished())
                    while not ended.done():
                        ahead += 0.1
                        await asyncio.sleep(0)
                assert "not known" in texts(chief.session.messages)[0], "it was not abandoned"
                check(sub_session(chief))
                assert "may still have an effect" in texts(sub_session(chief).messages)[0]
                check(chief.session)
                release.set()
                await until_async(lambda: len(asyncio.all_tasks()) == 1)

    run(talk())


def test_the_usage_of_sub_agents_counts_towards_the_limits_of_their_caller(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        async with scout_of(providers) as scout:
            sub = scout.as_tool("scout", "")
            async with chief_of(providers, store, sub, limits=RunLimits(tokens=100)) as chief:
                providers[CHIEF].say(sends("Weather?"), "never asked for")
                providers[SCOUT].say(*[asks("Paris")] * 9)
                outcome = await chief.run("Go.")
                assert outcome.how == "limit" and outcome.usage.total_tokens == 4 * 30
                [found] = texts(chief.session.messages)
                assert "did not finish" in found and "the run that this sub-agent works for" in found
                check(chief.session)
                check(sub_session(chief))
        assert len(providers[CHIEF].requests) == 1

    run(talk())


def test_a_sub_agent_has_its_own_limits(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        async with (
            scout_of(providers, limits=RunLimits(steps=2)) as scout,
            chief_of(providers, store, scout.as_tool("scout", ""), limits=RunLimits(steps=2)) as chief,
        ):
            providers[CHIEF].say(sends("Weather?"), "Well.")
            providers[SCOUT].say(*[asks("Paris")] * 9)
            outcome = await chief.run("Go.")
            assert (outcome.how, outcome.text) == ("done", "Well."), "its steps do not count for the caller"
            [result] = [each for each in chief.session.messages if isinstance(each, ToolResultMessage)]
            assert result.is_error and "limit of 2 steps" in texts([result])[0]

    run(talk())


def test_the_depth_of_sub_agents_is_limited(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        async with scout_of(providers) as scout:
            sub = scout.as_tool("scout", "")
            scout.scheduler.tools["scout"] = sub  # it may call itself
            async with chief_of(providers, store, sub, limits=RunLimits(depth=3)) as chief:
                providers[CHIEF].say(sends("0"), "Well.")

                def deeper(context: segue.Context) -> Any:
                    asked = isinstance(context.messages[-1], UserMessage)
                    return Reply([ToolCall("", "scout", {"task": "deeper"})]) if asked else "Enough."

                providers[SCOUT].say(*[deeper] * 20)
                assert (await chief.run("Go.")).text == "Well."
                assert len(store.sessions()) == 1 + 3
                deepest = max(store.sessions(), key=lambda info: info.id.count("~"))
                assert "any deeper" in texts(Session.open(deepest.id, store=store).messages)[0]

    run(talk())
    assert not providers.objections()


@pytest.mark.parametrize("fault", ["wrong-key", "no key"])
def test_a_failed_sub_agent_is_an_error_result_and_the_run_continues(
    providers: Providers, store: Store, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)

    async def talk() -> None:
        connection = None if fault == "no key" else providers.connection
        async with (
            Agent(MODELS[SCOUT], connection=connection) as scout,
            chief_of(providers, store, scout.as_tool("scout", "")) as chief,
        ):
            providers[CHIEF].say(sends("Weather?"), "Never mind.")
            providers[SCOUT].say(Fault("wrong-key"))
            assert (await chief.run("Go.")).text == "Never mind."
            [result] = [each for each in chief.session.messages if isinstance(each, ToolResultMessage)]
            found = texts([result])[0]
            assert result.is_error and ("MISTRAL_API_KEY" in found if connection is None else "authentication" in found)
            check(chief.session)

    run(talk())


def test_sub_agents_use_the_approval_of_their_caller_one_question_at_a_time(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        asked: list[str] = []
        open_questions = 0

        async def approve(question: ApprovalRequest) -> Any:
            nonlocal open_questions
            open_questions += 1
            assert open_questions == 1
            await asyncio.sleep(0.01)
            open_questions -= 1
            asked.append(question.call.arguments["city"])
            return {"Paris": Allow(), "Rome": Deny("too far"), "Oslo": AllowAlways()}[asked[-1]]

        guarded = replace(weather_tool, approval=True)
        async with (
            scout_of(providers, tools=[guarded]) as scout,
            chief_of(providers, store, scout.as_tool("scout", ""), approve=approve) as chief,
        ):
            providers[CHIEF].say(sends("Paris", "Rome"), sends("Oslo"), sends("Bern"), "Well.")
            by_task = {city: asks(city) for city in ("Paris", "Rome", "Oslo", "Bern")}

            def look(context: segue.Context) -> Any:
                return by_task[text_of(context)] if isinstance(context.messages[-1], UserMessage) else "Seen."

            providers[SCOUT].say(*[look] * 8)
            assert (await chief.run("Go.")).text == "Well."
            assert sorted(asked) == ["Oslo", "Paris", "Rome"], "after ``always`` there is no further question"
            found = [texts(Session.open(each.id, store=store).messages)[0] for each in store.sessions() if each.parent]
            assert sum(text.startswith("18 C") for text in found) == 3 and sum("too far" in text for text in found) == 1

    run(talk())


def test_the_result_of_a_sub_agent_has_the_output_limit_of_its_callers_tools(
    providers: Providers, store: Store, tmp_path: Path
) -> None:
    async def talk() -> None:
        async with scout_of(providers) as scout:
            limits = ToolLimits(output=1_000, directory=str(tmp_path))
            async with chief_of(providers, store, scout.as_tool("scout", ""), tool_limits=limits) as chief:
                providers[CHIEF].say(sends("Talk."), "Well.")
                providers[SCOUT].say("blah " * 2_000)
                await chief.run("Go.")
                [found] = texts(chief.session.messages)
                assert len(found) <= 1_000 and "left out" in found

    run(talk())


def test_a_sub_agent_can_be_a_tool_of_a_plain_session(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        async with scout_of(providers) as scout:
            sub = scout.as_tool("scout", "")
            session = providers.session(MODELS[CHIEF], store, tools=[sub.definition])
            providers[CHIEF].say(sends("Weather?"), "Well.")
            providers[SCOUT].say("Mild.")
            await session.ask("Go.", {"scout": sub})
            assert texts(logged_messages(session)) == ["Mild."]

    run(talk())


@given(st.lists(st.text(max_size=90), min_size=1, max_size=6), st.text(max_size=90))
def test_the_name_of_a_calls_session_is_valid_and_unique(calls: list[str], other: str) -> None:
    """For ids of any length and content, and callers at any depth."""
    name = "20260101-000000-abcdef"
    for call in calls:
        parent, name = name, _name(name, call)
        assert check_name(name) == name and name != parent
        assert other == call or _name(parent, other) != name


def test_a_store_in_a_file_keeps_the_sessions_of_sub_agents(providers: Providers, tmp_path: Path) -> None:
    async def talk() -> None:
        with SQLiteStore(tmp_path / "s.db") as store:
            async with (
                scout_of(providers) as scout,
                chief_of(providers, store, scout.as_tool("scout", "", history=True)) as chief,
            ):
                providers[CHIEF].say(sends("a", "b", "c"), "Well.")
                assert (await chief.run("Go.")).how == "done"
                assert len(store.sessions()) == 4
                for info in store.sessions():
                    check(Session.open(info.id, store=store))

    run(talk())
    assert not providers.objections()
