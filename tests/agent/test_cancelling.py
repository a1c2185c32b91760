"""A turn that is cancelled at any point is closed in the log. What had arrived is kept, and the session continues."""

import asyncio
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from support.providers import MODELS
from support.sessions import Providers, asks, check, entries, logged_messages, nothing_is_lost, run, texts, weather
from support.waiting import HANGS

import segue
from segue.session import SQLiteStore, Store, TurnEnded
from segue.testing import Fault, Reply
from segue.types import AssistantMessage, TextContent, ToolResultMessage

ONE, OTHER = "anthropic-messages", "google-generative-ai"
LONG = Reply([TextContent("All happy families are alike. " * 10)], pause=0.002)


async def slow(city: str) -> str:
    await asyncio.sleep(0.002)
    return weather(city)


def script(providers: Providers, protocol: str) -> None:
    providers[protocol].say(asks("Paris"), asks("Rome", "Oslo", "Bern"), LONG)


WAYS = ["cancel", "cancel twice", "leave", "task", "scope"]


async def cancelled(session: segue.Session, after: int, way: str, yields: int) -> None:
    """Cancel a turn after some events and some steps of the event loop, in one of several ways."""
    async with session.stream("Weather?", {"weather": slow}) as turn:
        for _ in range(after):
            if (await anext(turn, None)) is None:
                return
        for _ in range(yields):
            await asyncio.sleep(0)
        if way == "leave":
            return
        if way == "task":
            waiting = asyncio.ensure_future(turn.finished())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
            return
        if way == "scope":
            with anyio.move_on_after(0.001):
                await turn.finished()
            return
        turn.cancel()
        if way == "cancel twice":
            await asyncio.sleep(0)
            turn.cancel()
        end = await turn.finished()
        assert end.how in ("cancelled", "done") and turn.end is end


@pytest.mark.parametrize("protocol", MODELS)
@settings(  # six protocols share the examples
    max_examples=max(12, settings.default.max_examples // 12),
    suppress_health_check=list(HealthCheck),
)
@given(after=st.integers(0, 60), way=st.sampled_from(WAYS), yields=st.integers(0, 4), file=st.booleans())
def test_a_turn_cancelled_anywhere_leaves_a_closed_log(
    restless: Providers, tmp_path_factory: Any, protocol: str, after: int, way: str, yields: int, file: bool
) -> None:
    restless.clear()
    other = ONE if protocol == OTHER else OTHER

    async def talk(store: Store) -> None:
        session = restless.session(MODELS[protocol], store)
        script(restless, protocol)
        await cancelled(session, after, way, yields)
        real = [
            message
            for message in logged_messages(session)
            if isinstance(message, ToolResultMessage) and not message.synthetic
        ]
        check(session)
        nothing_is_lost(session)
        ids = [message.tool_call_id for message in logged_messages(session) if isinstance(message, ToolResultMessage)]
        assert len(ids) == len(set(ids)), "one result for each call"
        log = [entry for entry in entries(session) if isinstance(entry, TurnEnded)]
        assert len(log) == len({type(entry) for entry in log}) <= 1
        restless.clear()
        session.switch(MODELS[other])
        assert (await session.ask("And now?")).stop_reason == "stop"
        sent = texts(restless.sent(other).messages)
        assert not [message for message in real if texts([message])[0] not in sent]

    place = str(tmp_path_factory.mktemp("cancelled") / "s.db") if file else ":memory:"
    with SQLiteStore(place) as store:
        run(talk(store))
    assert not restless.objections()


def test_a_turn_cancelled_before_it_begins_leaves_nothing(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        before = len(entries(session))
        early = session.stream("Hello?")
        early.cancel()
        assert (await early.finished()).how == "cancelled" and early.message is None
        async with session.stream("Hello?") as turn:
            turn.cancel()
            assert [event.type async for event in turn] == ["turn_end"]
        assert len(entries(session)) == before
        assert (await session.ask("Hello?")).stop_reason == "stop"

    run(talk())


def test_a_partial_answer_is_stored_as_aborted_and_its_calls_never_run(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        providers[ONE].say(Fault("silence", Reply([*LONG.content, *asks("Paris").content])))
        async with session.stream("Weather?", {"weather": lambda city: pytest.fail("it ran")}) as turn:
            async for event in turn:
                if event.type == "text_delta":
                    turn.cancel()
        assert turn.end is not None and turn.end.how == "cancelled"
        assert isinstance(turn.message, AssistantMessage) and turn.message.stop_reason == "aborted"
        assert turn.message.text and turn.message in session.messages
        check(session)

    run(talk())


def test_the_wait_before_a_retry_can_be_cancelled(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        long = 100 * HANGS
        router = segue.Fixed(MODELS[ONE], patience=segue.Patience(retries=segue.Retries(longest_retry_after=long)))
        session = providers.session(router, store)
        providers[ONE].say(Fault("rate-limit", retry_after=long))
        async with asyncio.timeout(HANGS):
            async with session.stream("Hello?") as turn:
                async for event in turn:
                    if isinstance(event, segue.events.Retried):
                        assert event.wait == long
                        turn.cancel()
        assert turn.end is not None and turn.end.how == "cancelled"
        check(session)

    run(talk())


def test_the_end_of_the_event_loop_closes_the_log(providers: Providers, tmp_path: Any) -> None:
    """The program ends while a turn runs."""
    with SQLiteStore(tmp_path / "s.db") as store:
        session = providers.session(MODELS[ONE], store)
        script(providers, ONE)

        async def forgets() -> segue.TurnStream:
            turn = session.stream("Weather?", {"weather": slow})
            async for event in turn:
                if isinstance(event, segue.events.CallStart):
                    break
            return turn

        asyncio.run(forgets())
        check(session)
