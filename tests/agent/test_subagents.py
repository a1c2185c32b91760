"""Sub-agents: an agent as a tool. Own session, own model, the caller's bill; they end when their caller does."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace
from support.providers import MODELS
from support.sessions import Providers, asks, check, entries, run, said, texts, weather, with_settings, words
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
"""However busy the machine is, what ends when it is told to is not given up."""


@tool(name="weather")
def weather_tool(city: str) -> str:
    """Current weather."""
    return weather(city)


def sends(*tasks: str, name: str = "scout") -> Reply:
    """An answer of the chief that sends sub-agents."""
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


def test_a_sub_agent_works_in_a_session_of_its_own_and_its_last_text_is_the_result(
    providers: Providers, store: Store
) -> None:
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
                assert asked.system_prompt == "You scout." and "How is it there?" not in words(asked)
                check(own)
                assert (outcome.steps, outcome.usage.total_tokens) == (2, 4 * 30), "what it used is the caller's, too"
                used = segue.session_usage(store, chief.session.id)
            assert used.total_tokens == outcome.usage.total_tokens and used.cost is not None
            assert outcome.cost == pytest.approx(used.cost.total)
            assert scout.session.messages == [], "the agent itself has said nothing"

    run(talk())
    assert not providers.objections()


@pytest.mark.parametrize("protocol", MODELS)
@pytest.mark.parametrize("elsewhere", [False, True], ids=["the caller's store", "its own store"])
def test_a_sub_agent_may_have_read_the_conversation(
    providers: Providers, store: Store, tmp_path: Path, protocol: str, elsewhere: bool
) -> None:
    """Rendered for its own model, with open calls closed by what is true for who reads it there."""

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
                assert "Weather in Rome?" in words(asked) and "And in Paris?" in words(asked)
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
                    assert used.total_tokens == 5 * 30, "what it was given was paid for once"

    run(talk())
    assert not providers.objections()


def test_several_sub_agents_run_side_by_side(providers: Providers, store: Store) -> None:
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
    """And theirs; every log is closed, and nothing runs on."""

    async def talk() -> None:
        waiting = asyncio.Event()

        async def wait() -> None:
            """Wait for ever."""
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


def test_a_sub_agent_has_closed_its_log_when_its_caller_ends_however_stubborn_its_tools_are(
    providers: Providers, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of the loop runs ahead from step to step: who waits for whom is decided by steps, not by seconds."""

    async def talk() -> None:
        ahead, clock = 0.0, asyncio.get_running_loop().time
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: clock() + ahead)
        waiting, release = asyncio.Event(), asyncio.Event()

        async def stubborn() -> None:
            """Does not let itself be cancelled."""
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


def test_what_sub_agents_use_counts_to_the_limits_of_their_caller(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        async with scout_of(providers) as scout:
            sub = scout.as_tool("scout", "")
            async with chief_of(providers, store, sub, limits=RunLimits(tokens=100)) as chief:
                providers[CHIEF].say(sends("Weather?"), "never asked for")
                providers[SCOUT].say(*[asks("Paris")] * 9)
                outcome = await chief.run("Go.")
                assert outcome.how == "limit" and outcome.usage.total_tokens == 4 * 30
                [told] = texts(chief.session.messages)
                assert "did not finish" in told and "the run that this sub-agent works for" in told
                check(chief.session)
                check(sub_session(chief))
        assert len(providers[CHIEF].requests) == 1

    run(talk())


def test_a_sub_agent_has_limits_of_its_own(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        async with (
            scout_of(providers, limits=RunLimits(steps=2)) as scout,
            chief_of(providers, store, scout.as_tool("scout", ""), limits=RunLimits(steps=2)) as chief,
        ):
            providers[CHIEF].say(sends("Weather?"), "Well.")
            providers[SCOUT].say(*[asks("Paris")] * 9)
            outcome = await chief.run("Go.")
            assert (outcome.how, outcome.text) == ("done", "Well."), "its steps are not the caller's"
            [result] = [each for each in chief.session.messages if isinstance(each, ToolResultMessage)]
            assert result.is_error and "limit of 2 steps" in texts([result])[0]

    run(talk())


def test_sub_agents_may_not_call_each_other_for_ever(providers: Providers, store: Store) -> None:
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
def test_a_sub_agent_that_fails_is_an_error_result_and_the_run_goes_on(
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
            told = texts([result])[0]
            assert result.is_error and ("MISTRAL_API_KEY" in told if connection is None else "authentication" in told)
            check(chief.session)

    run(talk())


def test_who_can_be_asked_is_asked_for_sub_agents_too_one_question_at_a_time(
    providers: Providers, store: Store
) -> None:
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
                return by_task[words(context)] if isinstance(context.messages[-1], UserMessage) else "Seen."

            providers[SCOUT].say(*[look] * 8)
            assert (await chief.run("Go.")).text == "Well."
            assert sorted(asked) == ["Oslo", "Paris", "Rome"], "who says always is not asked for the next one"
            told = [texts(Session.open(each.id, store=store).messages)[0] for each in store.sessions() if each.parent]
            assert sum(text.startswith("18 C") for text in told) == 3 and sum("too far" in text for text in told) == 1

    run(talk())


def test_what_a_sub_agent_says_is_under_the_limits_of_its_callers_tools(
    providers: Providers, store: Store, tmp_path: Path
) -> None:
    async def talk() -> None:
        async with scout_of(providers) as scout:
            limits = ToolLimits(output=1_000, directory=str(tmp_path))
            async with chief_of(providers, store, scout.as_tool("scout", ""), tool_limits=limits) as chief:
                providers[CHIEF].say(sends("Talk."), "Well.")
                providers[SCOUT].say("blah " * 2_000)
                await chief.run("Go.")
                [told] = texts(chief.session.messages)
                assert len(told) <= 1_000 and "left out" in told

    run(talk())


def test_a_tool_that_is_a_sub_agent_works_without_an_agent_around_it(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        async with scout_of(providers) as scout:
            sub = scout.as_tool("scout", "")
            session = providers.session(MODELS[CHIEF], store, tools=[sub.definition])
            providers[CHIEF].say(sends("Weather?"), "Well.")
            providers[SCOUT].say("Mild.")
            await session.ask("Go.", {"scout": sub})
            assert texts(said(session)) == ["Mild."]

    run(talk())


@given(st.lists(st.text(max_size=90), min_size=1, max_size=6), st.text(max_size=90))
def test_the_name_of_a_calls_session_may_be_one_and_tells_calls_apart(calls: list[str], other: str) -> None:
    """However long or odd the ids are, and however deep the callers."""
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
