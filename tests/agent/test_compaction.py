"""Compaction in a session: the log keeps everything, the running turn is never cut, and the last model writes the
summary if it answers."""

import asyncio
from collections.abc import Callable

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
    nothing_is_lost,
    run,
    text_of,
    texts,
    weather,
)
from support.waiting import HANGS

import segue
from segue import ConflictError, Failover, Session, SessionError
from segue.agent.state import rebuilt
from segue.compaction import is_summary
from segue.session import Compacted, Store
from segue.testing import Fault, Reply, StandIn
from segue.types import Context, TextContent, ToolResultMessage, Usage, UserMessage

ONE, OTHER = "anthropic-messages", "google-generative-ai"
TOOLS = {"weather": weather}
SMALL = 2_000
MEASURED_BY_LENGTH = Usage()
"""Stand-ins report small usages for all requests. Without a usage, sizes are estimated by length."""


def small(protocol: str, window: int = SMALL) -> segue.Model:
    return replace(MODELS[protocol], context_window=window, max_tokens=500)


def plainly(text: str) -> Reply:
    return Reply([TextContent(text)], usage=MEASURED_BY_LENGTH)


def asking(*cities: str) -> Reply:
    return replace(asks(*cities), usage=MEASURED_BY_LENGTH)


def summarising(providers: Providers) -> Callable[[Context], Reply]:
    """Answers requests for a summary with a summary, and all others with a long text."""

    def answer(context: Context) -> Reply:
        if "the summary by which another model goes on" in (context.system_prompt or ""):
            return plainly("SUMMARY of what they said.")
        if isinstance(context.messages[-1], ToolResultMessage):
            return plainly("It is mild. " * 20)
        return asking("Paris")

    return answer


def listen(standin: StandIn, answer: Callable[[Context], Reply], times: int = 60) -> None:
    standin.say(*[answer] * times)


def compactions(session: Session) -> list[Compacted]:
    return [entry for entry in entries(session) if isinstance(entry, Compacted)]


@pytest.mark.parametrize("protocol", MODELS)
def test_a_long_conversation_is_compacted_automatically(providers: Providers, store: Store, protocol: str) -> None:
    async def talk() -> None:
        session = providers.session(small(protocol), store)
        listen(providers[protocol], summarising(providers))
        for turn in range(12):
            answer = await session.ask(f"Question {turn}: " + "and so on. " * 40, TOOLS)
            assert answer.stop_reason == "stop", answer.error_message
            check(session)
            nothing_is_lost(session)
        assert 2 <= len(compactions(session)) < 10
        assert is_summary(session.messages[0]) and not any(map(is_summary, session.messages[1:]))
        assert len(logged_messages(session)) == 12 * 4, "the log keeps everything"
        assert providers.reopened(session).messages == session.messages

    run(talk())
    assert not providers.objections()


def test_compaction_on_demand(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        assert await session.compact() is None, "there is nothing to summarise"
        listen(providers[ONE], summarising(providers))
        for turn in range(4):
            await session.ask(f"Question {turn}", TOOLS)
        summary = await session.compact()
        assert summary is not None and session.messages[0] == summary and "SUMMARY" in str(summary)
        assert len(session.messages) < 16 == len(logged_messages(session))
        check(session)
        await session.ask("And now?")
        assert "SUMMARY" in text_of(providers.sent(ONE))
        check(session)

    run(talk())
    assert not providers.objections()


def test_forks_before_a_compaction_see_the_full_history(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        listen(providers[ONE], summarising(providers))
        for turn in range(4):
            await session.ask(f"Question {turn}", TOOLS)
        before, head = session.messages, store.head(session.id)
        await session.compact()
        await session.ask("And now?", TOOLS)
        store.fork(session.id, head, "before", time=1)
        store.fork(session.id, store.head(session.id), "after", time=1)
        full = Session.open("before", store=store, tools=session.tools, connection=providers.connection)
        assert full.messages == before
        assert (await full.ask("Go another way.", TOOLS)).stop_reason == "stop"
        assert texts(providers.sent(ONE).messages) == [weather("Paris")] * 5
        check(full)
        short = Session.open("after", store=store, tools=session.tools, connection=providers.connection)
        assert short.messages == session.messages != before
        check(short)

    run(talk())
    assert not providers.objections()


def test_the_running_turn_is_never_cut(providers: Providers, store: Store) -> None:
    """Even if it fills the window alone: older turns are cut, and its huge result stays."""

    def long(city: str) -> str:
        return f"{city}: " + "x" * 4_000

    async def talk() -> None:
        session = providers.session(small(ONE, 3_000), store)
        providers[ONE].say(plainly("Hello. " * 50), plainly("Again. " * 50))
        await session.ask("First. " * 20)
        await session.ask("Second. " * 20)
        providers[ONE].say(asking("Paris"), asking("Rome"), plainly("SUMMARY"), plainly("Done."))
        assert (await session.ask("Third.", {"weather": long})).text == "Done."
        assert len(compactions(session)) == 1
        assert is_summary(session.messages[0])
        assert [type(message).__name__ for message in session.messages[1:]] == [
            "UserMessage",
            "AssistantMessage",
            "ToolResultMessage",
            "AssistantMessage",
            "ToolResultMessage",
            "AssistantMessage",
        ]
        assert texts(providers.sent(ONE).messages) == [long("Paris"), long("Rome")]
        check(session)

    run(talk())
    assert not providers.objections()


def test_the_last_model_writes_the_summary(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        listen(providers[ONE], summarising(providers))
        for turn in range(6):
            await session.ask(f"Question {turn}: " + "and so on. " * 120, TOOLS)
        session.switch(small(OTHER))
        providers[OTHER].say(plainly("Here I am."))
        assert (await session.ask("And now?")).text == "Here I am."
        assert [entry.model for entry in compactions(session)] == [MODELS[ONE].ref]
        assert len(providers[OTHER].requests) == 1 and "SUMMARY" in text_of(providers.sent(OTHER))
        check(session)

    run(talk())
    assert not providers.objections()


def test_the_next_model_writes_the_summary_if_the_last_one_fails(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        listen(providers[ONE], summarising(providers), 12)
        for turn in range(6):
            await session.ask(f"Question {turn}: " + "and so on. " * 120, TOOLS)
        session.switch(small(OTHER))
        providers[ONE].say(Fault("wrong-key"))
        listen(providers[OTHER], summarising(providers))
        assert (await session.ask("And now?", TOOLS)).stop_reason == "stop"
        assert {entry.model for entry in compactions(session)} == {MODELS[OTHER].ref}
        check(session)

    run(talk())
    assert not providers.objections()


def test_a_resting_member_is_not_asked_for_a_summary(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        once = replace(QUICK, retries=replace(QUICK.retries, count=0))
        session = providers.session(Failover([MODELS[ONE], small(OTHER)], patience=once), store)
        listen(providers[ONE], summarising(providers), 12)
        for turn in range(6):
            await session.ask(f"Question {turn}: " + "and so on. " * 120, TOOLS)
        asked = len(providers[ONE].requests)
        providers[ONE].say(Fault("server-error"))
        listen(providers[OTHER], summarising(providers))
        assert (await session.ask("And now?", TOOLS)).protocol == OTHER
        assert {entry.model for entry in compactions(session)} == {MODELS[OTHER].ref}
        assert len(providers[ONE].requests) == asked + 1
        check(session)

    run(talk())


def test_a_summary_is_retried_after_a_temporary_failure(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        providers[ONE].say(plainly("Hello."), plainly("Again."), Fault("overloaded"), plainly("SUMMARY"))
        await session.ask("One?")
        await session.ask("Two?")
        assert await session.compact() is not None

    run(talk())


def test_without_a_summary_the_request_is_sent_unchanged(providers: Providers, store: Store) -> None:
    """Estimates are careful, and the provider decides."""

    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        providers[ONE].say(plainly("Hello. " * 200), plainly("Again. " * 400))
        await session.ask("One?")
        await session.ask("Two?")
        session.switch(small(ONE, 1_500))
        providers[ONE].say(*[Fault("server-error")] * 3, "It did fit.")
        assert (await session.ask("Three?")).text == "It did fit."
        assert not compactions(session)
        check(session)

    run(talk())


def test_a_summary_on_demand_that_fails_is_an_error(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        providers[ONE].say(plainly("Hello."), plainly("Again."), plainly(" "))
        await session.ask("One?")
        await session.ask("Two?")
        with pytest.raises(SessionError, match=r"could not be summarised .*the summary is empty"):
            await session.compact()
        check(session)

    run(talk())


def test_no_turn_begins_while_a_compaction_runs(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        await session.ask("One?")
        await session.ask("Two?")
        refused: list[BaseException | None] = []

        def meanwhile(context: Context) -> str:
            asked = asyncio.run_coroutine_threadsafe(session.ask("Three?"), loop)
            refused.append(asked.exception(timeout=HANGS))
            return "SUMMARY"

        loop = asyncio.get_running_loop()
        providers[ONE].say(meanwhile)
        assert await session.compact() is not None
        [error] = refused
        assert isinstance(error, ConflictError) and "a compaction of session" in str(error)
        check(session)

    run(talk())


def test_a_compaction_from_another_log_changes_nothing(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(MODELS[ONE], store)
        await session.ask("One?")
        odd = Compacted(key="odd", time=1, summary=UserMessage("?"), first="no such key", model="x/y")
        assert rebuilt([*entries(session), odd]).messages == session.messages

    run(talk())
