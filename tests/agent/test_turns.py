"""Turns keep their model, log each step, have one result for each call, and run one at a time."""

import asyncio
import gc
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from support.providers import MODELS, REFS, WEATHER
from support.sessions import (
    CITIES,
    QUICK,
    InOrder,
    Providers,
    asks,
    check,
    entries,
    logged_messages,
    run,
    texts,
    weather,
)
from support.waiting import HANGS, until_async

import segue
from segue import ConflictError, Failover, RoundRobin, Session, SessionError
from segue.session import CallStarted, MessageAdded, ModelChosen, SQLiteStore, Store, TurnBegun, TurnEnded
from segue.testing import Fault, Reply
from segue.tools import Journal
from segue.types import AssistantMessage, TextContent, ToolCall, ToolResultMessage, UserMessage

ONE, OTHER = "anthropic-messages", "mistral-chat"
TOOLS = {"weather": weather}


def answers(session: Session) -> list[AssistantMessage]:
    return [message for message in session.messages if isinstance(message, AssistantMessage)]


def test_every_step_of_a_turn_is_in_the_log(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        providers[ONE].say(asks("Paris", "Rome"), "Mild.")
        emitted = [event.type async for event in session.stream("Weather?", TOOLS)]
        assert emitted[0] == "turn_start" and emitted[-1] == "turn_end" and emitted.count("done") == 2
        assert [kind for kind in emitted if kind in ("call_start", "result")] == ["call_start"] * 2 + ["result"] * 2
        steps = ["ModelChosen", "SystemPromptSet", "TurnBegun", "MessageAdded", "MessageAdded"]
        steps += ["CallStarted"] * 2 + ["MessageAdded"] * 2 + ["MessageAdded", "TurnEnded"]
        assert [type(entry).__name__ for entry in entries(session)] == steps
        check(session)

    run(talk())


def test_a_step_is_in_the_log_before_its_event(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        providers[ONE].say(asks("Paris"), "Mild.")
        async for event in session.stream("Weather?", TOOLS):
            log = entries(session)
            if isinstance(event, segue.events.TurnStart):
                assert isinstance(log[-1], MessageAdded) and log[-1].message == event.message
            elif isinstance(event, segue.events.CallStart):
                assert any(isinstance(entry, CallStarted) and entry.call == event.call.id for entry in log)
            elif isinstance(event, segue.events.CallResult):
                assert event.result in logged_messages(session)
            elif isinstance(event, segue.events.TurnEnd):
                assert isinstance(log[-1], TurnEnded) and event.message in logged_messages(session)

    run(talk())


def test_a_switch_during_a_turn_applies_to_the_next_one(providers: Providers, store: Store) -> None:
    """Even if the running turn fails, it does not use the model that was chosen in the meantime."""

    async def talk() -> None:
        session = providers.session(segue.Fixed(MODELS[ONE], patience=QUICK), store)
        providers[ONE].say(asks("Paris"), Fault("server-error"), "Mild.")
        async for event in session.stream("Weather?", TOOLS):
            if isinstance(event, segue.events.CallStart):
                session.switch(MODELS[OTHER])
        assert [message.protocol for message in answers(session)] == [ONE, ONE]
        assert (await session.ask("And now?")).protocol == OTHER
        check(session)

    run(talk())
    assert len(providers[OTHER].requests) == 1


def test_a_switch_while_an_entry_is_written_does_not_conflict(providers: Providers, tmp_path: Any) -> None:
    async def talk() -> None:
        with SQLiteStore(tmp_path / "s.db") as store:
            session = providers.session(MODELS[ONE], store)
            providers[ONE].say(*[asks("Paris")] * 5, "Mild.")
            turn = session.stream("Weather?", TOOLS)
            async with turn:
                while turn.end is None:
                    session.switch(MODELS[OTHER])
                    await asyncio.sleep(0)
                    if len(entries(session)) > 200:
                        await turn.finished()
            assert turn.end.how == "done"
            check(session)

    run(talk())


def test_a_switch_between_turns_applies_immediately_and_after_reopening(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        await session.ask("Hello.")
        session.switch(MODELS[OTHER])
        again = Session.open(session.id, store=store, connection=providers.connection)
        assert (await again.ask("Who are you?")).protocol == OTHER
        assert [type(entry) for entry in entries(session)].count(ModelChosen) == 2

    run(talk())


def test_opening_without_a_model_continues_with_the_last_one(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        both = [MODELS[ONE], MODELS[OTHER]]
        session = providers.session(Failover(both, patience=QUICK), store)
        with pytest.raises(SessionError, match="pass one"):
            Session.open(session.id, store=store)
        providers[ONE].say(Fault("wrong-key"))
        assert (await session.ask("Hello.")).protocol == OTHER
        [went_on] = Session.open(session.id, store=store).router.members
        assert went_on.protocol == OTHER

    run(talk())


def test_round_robin_continues_after_reopening(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        both = [MODELS[ONE], MODELS[OTHER]]
        session = providers.session(RoundRobin(both), store)
        asked = []
        for turn in range(4):
            session = providers.reopened(session, RoundRobin(both))
            asked.append((await session.ask(f"Turn {turn}")).protocol)
        assert asked == [ONE, OTHER, ONE, OTHER]

    run(talk())


# -- calls ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", MODELS)
def test_repeated_and_missing_ids_become_canonical(providers: Providers, store: Store, protocol: str) -> None:
    """In the form of their origin, the same for the same answers, and valid for every protocol."""

    def spoken() -> Session:
        session = providers.session(MODELS[protocol], store)

        async def talk() -> None:
            providers[protocol].say(asks("Paris", "Rome", ids=["abcdefgh1", "abcdefgh1"]), "Mild.")
            await session.ask("Weather?", TOOLS)
            providers[protocol].say(asks("Oslo", "Bern", ids=["abcdefgh1", ""]), "Mild.")
            await session.ask("And there?", TOOLS)

        run(talk())
        check(session)
        return session

    first, second = (
        [call.id for message in answers(session) for call in message.tool_calls] for session in (spoken(), spoken())
    )
    assert len(set(first)) == 4
    if protocol not in ("google-generative-ai", "openai-responses"):  # their stand-ins create new ids
        assert first[:3] == second[:3]
    assert not providers.objections()


def test_results_are_ordered_by_their_calls_and_written_as_they_finish(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        providers[ONE].say(asks(*CITIES), "Mild.")
        await session.ask("Weather?", InOrder(3, 0, 4, 2, 1))
        expected = [weather(city) for city in CITIES]
        assert texts(session.messages) == expected == texts(providers.sent(ONE).messages)
        assert texts(logged_messages(session)) == [expected[at] for at in (3, 0, 4, 2, 1)]
        check(session)
        assert providers.reopened(session).messages == session.messages

    run(talk())


def test_results_that_are_ready_when_the_turn_is_cancelled_are_kept(providers: Providers, store: Store) -> None:
    """Even if results of earlier calls are missing."""

    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        providers[ONE].say(asks(*CITIES[:3]))
        async with session.stream("Weather?", InOrder(2, finished=lambda: turn.cancel())) as turn:
            end = await turn.finished()
        assert end.how == "cancelled"
        assert [message.synthetic for message in session.messages if isinstance(message, ToolResultMessage)] == [
            True,
            True,
            False,
        ]
        check(session)

    run(talk())


@pytest.mark.parametrize("cities", [("Paris", "Rome"), ("Rome", "Paris"), ("Rome", "Paris", "Oslo", "Rome")])
def test_a_call_that_cannot_be_parsed_is_not_run_and_its_result_says_so(
    providers: Providers, store: Store, monkeypatch: pytest.MonkeyPatch, cities: tuple[str, ...]
) -> None:
    """Arguments that are cut off, although the provider reports a complete answer."""
    standin = providers["openai-completions"]
    whole = standin.voice.events

    def torn(spoken: Any) -> Iterator[bytes]:
        return (event for event in whole(spoken) if rb'"arguments":"e\"}"' not in event)

    async def talk() -> None:
        session = providers.session(MODELS["openai-completions"], store)
        standin.say(Reply([ToolCall("", "weather", {"city": city}) for city in cities]))
        ran: list[str] = []

        def watched(city: str) -> str:
            ran.append(city)
            return weather(city)

        await session.ask("Weather?", {"weather": watched})
        assert sorted(ran) == sorted(city for city in cities if city != "Rome")
        for city, text in zip(cities, texts(session.messages), strict=True):
            assert text.startswith("This call was not run" if city == "Rome" else weather(city))
        assert sorted(texts(logged_messages(session))) == sorted(texts(session.messages))
        check(session)

    monkeypatch.setattr(standin, "voice", replace(standin.voice, events=torn))
    run(talk())


@pytest.mark.parametrize("protocol", MODELS)
def test_calls_of_an_answer_that_reached_its_length_limit_never_run(
    providers: Providers, store: Store, protocol: str
) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[protocol], store)
        providers[protocol].say(Reply([TextContent("Let me"), ToolCall("", "weather", {"city": "Paris"})], "length"))
        answer = await session.ask("Weather?", {"weather": lambda city: pytest.fail("it ran")})
        assert answer.stop_reason == "length" and not [e for e in entries(session) if isinstance(e, CallStarted)]
        assert ["not run" in text for text in texts(session.messages)] == [True]
        await session.ask("Go on.")
        check(session)

    run(talk())
    assert not providers.objections()


def test_tools_may_be_sync_async_or_missing_and_may_fail_in_any_way(providers: Providers, store: Store) -> None:
    async def slow(city: str) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"city": city}

    async def gives_up(city: str) -> None:
        raise asyncio.CancelledError("of my own")

    def fails(city: str) -> None:
        raise ValueError("no such city")

    tools = {
        "sync": weather,
        "async": slow,
        "awaitable": lambda city: slow(city),
        "message": lambda city: ToolResultMessage("?", "?", [TextContent("as a message")], is_error=True),
        "fails": fails,
        "gives_up": gives_up,
        "unwritable": lambda city: object(),
    }
    names = [*tools, "unknown"]

    async def talk() -> None:
        defined = [segue.ToolDefinition(name, "", WEATHER.parameters) for name in names]
        session = providers.session(MODELS[ONE], store, tools=defined)
        providers[ONE].say(Reply([ToolCall("", name, {"city": "Rome"}) for name in names]), "Done.")
        assert (await session.ask("All of them.", tools)).text == "Done."
        found = dict(zip(names, texts(session.messages), strict=True))
        assert found["sync"] == weather("Rome") and found["async"] == found["awaitable"] == '{"city":"Rome"}'
        assert found["message"] == "as a message" and found["fails"] == "ValueError: no such city"
        assert "cancelled" in found["gives_up"] and found["unwritable"].startswith("<object object")
        assert "there is no tool called unknown" in found["unknown"]
        wrong = [m.tool_name for m in session.messages if isinstance(m, ToolResultMessage) and m.is_error]
        assert wrong == ["message", "fails", "gives_up", "unknown"]
        check(session)

    run(talk())


class Odd:
    """A runner that forgets a call, answers one twice, answers one that does not exist, or raises."""

    def __init__(self, breaks: bool = False) -> None:
        self.breaks = breaks

    async def run(self, calls: Sequence[ToolCall], journal: Journal, emit: Any) -> None:
        await journal.started(calls[1])
        if self.breaks:
            raise RuntimeError("the scheduler broke")
        for name in (calls[1].id, "nobody", calls[1].id):
            await journal.finished(ToolResultMessage(name, "weather", [TextContent("18 C")]))


def test_a_call_that_the_runner_forgets_still_gets_a_result(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        providers[ONE].say(asks("Paris", "Rome"), "Well.")
        assert (await session.ask("Weather?", Odd())).text == "Well."
        first, second = texts(session.messages)
        assert "returned no result" in first and second == "18 C"
        check(session)

    run(talk())


def test_an_error_in_the_callers_code_is_raised_and_closes_the_log(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        providers[ONE].say(asks("Paris", "Rome"))
        with pytest.raises(RuntimeError, match="the scheduler broke"):
            await session.ask("Weather?", Odd(breaks=True))
        assert ["not known" in text for text in texts(session.messages)] == [False, True]
        check(session)
        assert (await session.ask("Go on.")).stop_reason == "stop"

    run(talk())


def test_a_missing_key_is_raised_and_closes_the_log(
    providers: Providers, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def talk() -> None:
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
        session = providers.session(MODELS[ONE], store, connection=None)
        with pytest.raises(segue.SettingError, match="ANTHROPIC_API_KEY"):
            await session.ask("Hello?")
        [ended] = [entry for entry in entries(session) if isinstance(entry, TurnEnded)]
        assert ended.how == "failed" and "ANTHROPIC_API_KEY" in (ended.reason or "")
        check(session)

    run(talk())


# -- one at a time ----------------------------------------------------------------------------------------------------


def test_a_second_turn_while_one_runs_is_a_conflict(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        providers[ONE].say(asks("Paris"))
        release = asyncio.Event()

        async def waits(city: str) -> str:
            await release.wait()
            return weather(city)

        async with session.stream("Weather?", {"weather": waits}) as turn:
            async for event in turn:
                if isinstance(event, segue.events.CallStart):
                    break
            assert session.interrupted is None
            for act in (session.ask("Me, too."), session.compact(), session.recover()):
                with pytest.raises(ConflictError, match=r"a turn of session .* is running; wait for it, or cancel it"):
                    await act
            other = providers.reopened(session)
            assert other.interrupted is None, "it is running, not interrupted"
            with pytest.raises(ConflictError, match="running elsewhere"):
                await other.ask("Me, too.")
            with pytest.raises(ConflictError, match="running elsewhere"):
                other.switch(MODELS[OTHER])
            release.set()
            assert (await turn.finished()).how == "done"
        check(session)
        assert (await other.ask("And now?")).stop_reason == "stop"
        assert (await session.ask("And again?")).stop_reason == "stop", "it reads the entries that the other has added"
        check(session)

    run(talk())


def test_only_one_of_two_simultaneous_turns_begins(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        one = providers.session(MODELS[ONE], store)
        both = [one, providers.reopened(one)]
        done = await asyncio.gather(*[session.ask("Hello.") for session in both], return_exceptions=True)
        assert sorted(type(each).__name__ for each in done) == ["AssistantMessage", "ConflictError"]
        one.log.reload()
        check(one)
        log = [entry for entry in entries(one) if isinstance(entry, TurnBegun | TurnEnded)]
        assert [type(entry) for entry in log] == [TurnBegun, TurnEnded]

    run(talk())


def test_a_turn_that_another_process_has_closed_ends_in_a_conflict(providers: Providers, store: Store) -> None:
    """``recover(force=True)`` is for a process that hangs. If it continues later, it must not write."""

    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        providers[ONE].say(asks("Paris"))
        other: Session | None = None

        async def taken(city: str) -> str:
            nonlocal other
            other = providers.reopened(session)
            found = await other.recover(force=True)
            assert found is not None and [call.name for call in found.unknown] == ["weather"]
            return weather(city)

        with pytest.raises(ConflictError, match="this writer has seen"):
            await session.ask("Weather?", {"weather": taken})
        assert other is not None
        check(other)
        assert (await session.ask("And now?")).stop_reason == "stop"
        check(session)

    run(talk())


def test_errors_are_raised_even_if_the_events_are_not_read(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        store.delete(session.id)
        with pytest.raises(SessionError, match="there is no session"):
            async with session.stream("Hello.") as turn:
                await until_async(lambda: turn._ended)
        with pytest.raises(SessionError, match="there is no session"):
            await session.ask("Hello.")

    run(talk())


def test_a_turn_continues_without_a_consumer(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        providers[ONE].say(asks("Paris"), "Mild.")
        async for event in session.stream("Weather?", TOOLS):
            assert event.type == "turn_start"
            break
        async with asyncio.timeout(HANGS):
            while session.log.state.turn is not None:
                gc.collect()
                await asyncio.sleep(0.005)
        assert answers(session)[-1].text == "Mild."
        check(session)

    run(talk())


def test_user_messages_may_have_several_blocks(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(REFS[ONE], store)
        message = UserMessage([TextContent("one"), TextContent("two")])
        await session.ask(message)
        assert session.messages[0] == message

    run(talk())
