"""After a process was killed during a turn, the session opens, shows what was interrupted, and continues."""

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace
from support.providers import MODELS
from support.sessions import PAIRS, Providers, asks, check, entries, run, texts, weather
from support.victim import Victims, victims
from support.waiting import until_settled

import segue
from segue import Interruption, Session
from segue.agent.owner import LEASE, Owner, is_alive
from segue.session import CallStarted, MessageAdded, Store, TurnBegun, TurnEnded, open_store
from segue.testing import Fault, Reply, StandIn
from segue.types import AssistantMessage, TextContent, ToolCall, ToolResultMessage, UserMessage

SOAK = bool(os.environ.get("SEGUE_SOAK"))
KILLS = {"sqlite": 500 if SOAK else 25, "postgresql": 100 if SOAK else 8}
SESSIONS = 5
"""Kills per session. A longer history takes longer to check."""


class Endless(StandIn):
    """Asks for tools in every turn and then answers, slowly and forever."""

    def next_answer(self, body: dict[str, Any]) -> Reply | Fault:
        if isinstance(self.conversation(body).messages[-1], ToolResultMessage):
            return Reply([TextContent("Mild. " * 10)], pause=0.001)
        return Reply(asks("Paris", "Rome", "Oslo").content, pause=0.001)


@pytest.fixture(scope="module")
def endless() -> Iterator[Providers]:
    with Providers(Endless) as started:
        yield started


@pytest.fixture(scope="module")
def prey() -> Iterator[Victims]:
    with victims() as ready:
        yield ready


@pytest.fixture(params=KILLS)
def where(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, int]:
    kills = KILLS[request.param]
    if request.param == "sqlite":
        return str(tmp_path / "sessions.db"), kills
    address: str = request.getfixturevalue("postgres").fresh()
    return address, kills


def expected(session: Session) -> tuple[list[str], list[str]] | None:
    """The interrupted calls in the log, computed in another way than by the session."""
    log = entries(session)
    begun = max((at for at, entry in enumerate(log) if isinstance(entry, TurnBegun)), default=None)
    if begun is None or any(isinstance(entry, TurnEnded) for entry in log[begun:]):
        return None
    asked: list[str] = []
    for entry in log[begun:]:
        message = entry.message if isinstance(entry, MessageAdded) else None
        if isinstance(message, AssistantMessage):
            asked += [call.id for call in message.tool_calls]
        elif isinstance(message, ToolResultMessage):
            asked.remove(message.tool_call_id)
    started = {entry.call for entry in log[begun:] if isinstance(entry, CallStarted)}
    return [call for call in asked if call not in started], [call for call in asked if call in started]


def calls_of(found: Interruption | None) -> tuple[list[str], list[str]] | None:
    return None if found is None else ([c.id for c in found.not_started], [c.id for c in found.unknown])


def test_a_killed_process_loses_no_acknowledged_entry(
    endless: Providers, prey: Victims, where: tuple[str, int]
) -> None:
    address, kills = where
    chance = Random(915)
    standins = {protocol: (each.url, each.key) for protocol, each in endless.standins.items()}
    interrupted = unknown = 0
    with open_store(address) as store:
        for kill in range(20 * kills):
            if kill >= kills and unknown:  # at least one kill must happen while a call runs
                break
            if kill % SESSIONS == 0:
                session = endless.session(segue.RoundRobin(MODELS.values()), store)
            lines = prey.killed(
                after=chance.randrange(50),
                pause=chance.random() / 100,
                where=address,
                session_id=session.id,
                standins=standins,
                seed=kill,
            )
            until_settled(address)
            session = endless.reopened(session, segue.RoundRobin(MODELS.values()))
            assert session.log.head >= max([line["head"] for line in lines], default=0), (
                "an acknowledged entry is missing"
            )
            found = session.interrupted
            assert calls_of(found) == expected(session)
            interrupted += found is not None
            unknown += bool(found and found.unknown)
            run(goes_on(endless, session, found))
    assert not endless.objections()
    assert interrupted > kills // 2 and unknown > 0, "most of them were killed during a turn"


async def goes_on(endless: Providers, session: Session, found: Interruption | None) -> None:
    """The next request is accepted and states what is unknown, and a late real result replaces the placeholder."""
    answer = await session.ask("What happened?", {"weather": weather})
    assert answer.stop_reason == "stop", answer.error_message
    check(session)
    calls = [*found.not_started, *found.unknown] if found else []
    shown = texts(endless.sent(answer.protocol).messages)
    assert sum("interrupted" in text for text in shown) >= len(calls)
    for call in found.unknown if found else []:
        late = ToolResultMessage(call.id, call.name, [TextContent(f"late but real: {call.id}")])
        await session.add_result(late)
        assert f"late but real: {call.id}" in texts(rendered(session, MODELS["bedrock-converse"]))


def rendered(session: Session, model: segue.Model) -> list[segue.Message]:
    context = segue.Context(messages=[*session.messages, UserMessage("So?")], tools=session.tools)
    return list(segue.ingest(segue.encode(context, model).body, model.protocol).messages)


# -- the same without a crash: a log as a crash leaves it --


def left(providers: Providers, store: Store, protocol: str, owner: str = "elsewhere/1/0/x", time: int = 0) -> Session:
    """A session that was interrupted with three calls: one has its result, one was started, one was not."""
    session = providers.session(MODELS[protocol], store)
    model = MODELS[protocol]
    calls = [ToolCall(f"toolu_{at}", "weather", {"city": city}) for at, city in enumerate(("Paris", "Rome", "Oslo"))]
    answer = segue.AssistantMessage(
        content=calls, protocol=protocol, provider=model.provider, model=model.id, stop_reason="toolUse"
    )
    log: list[Any] = [
        TurnBegun(key="1", time=time, model=model.ref, protocol=protocol, owner=owner),
        MessageAdded(key="2", time=time, message=UserMessage("Weather?")),
        MessageAdded(key="3", time=time, message=answer),
        CallStarted(key="4", time=time, call="toolu_0"),
        CallStarted(key="5", time=time, call="toolu_1"),
        MessageAdded(
            key="6", time=time, message=ToolResultMessage("toolu_0", "weather", [TextContent(weather("Paris"))])
        ),
    ]
    store.append(session.id, log, after=store.head(session.id))
    return providers.reopened(session)


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=["-".join(pair) for pair in PAIRS])
def test_interrupted_calls_are_listed_and_a_late_result_replaces_the_placeholder(
    providers: Providers, store: Store, one: str, other: str
) -> None:
    async def talk() -> None:
        session = left(providers, store, one)
        found = session.interrupted
        assert calls_of(found) == (["toolu_2"], ["toolu_1"])
        session.switch(MODELS[other])
        await session.ask("And now?")
        real, unknown, not_run = texts(providers.sent(other).messages)
        assert real == weather("Paris") and "not known" in unknown and "not run" in not_run
        check(session)
        await session.add_result(ToolResultMessage("toolu_1", "weather", [TextContent(weather("Rome"))]))
        await session.ask("And now?")
        assert texts(providers.sent(other).messages)[:2] == [weather("Paris"), weather("Rome")]
        assert "not run" in texts(providers.sent(other).messages)[2]
        check(session)

    run(talk())
    assert not providers.objections()


def test_recovering_twice_has_no_further_effect(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = left(providers, store, "mistral-chat")
        assert calls_of(await session.recover()) == (["toolu_2"], ["toolu_1"])
        before = entries(session)
        assert await session.recover() is None and entries(session) == before
        assert isinstance(before[-1], TurnEnded) and before[-1].how == "recovered"
        check(session)

    run(talk())


def test_a_result_for_an_unknown_or_answered_call_is_an_error(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = left(providers, store, "mistral-chat")
        with pytest.raises(segue.SessionError, match="no call with the id 'toolu_9'"):
            await session.add_result(ToolResultMessage("toolu_9", "weather", [TextContent("18 C")]))
        with pytest.raises(segue.SessionError, match="already has its result"):
            await session.add_result(ToolResultMessage("toolu_0", "weather", [TextContent("19 C")]))

    run(talk())


def test_calls_of_a_last_answer_that_reached_its_length_limit_are_closed_after_a_crash(
    providers: Providers, store: Store
) -> None:
    """Between the answer and the end of its turn."""

    async def talk() -> None:
        session = providers.session(MODELS["mistral-chat"], store)
        providers["mistral-chat"].say(replace(asks("Paris"), stop="length"))
        await session.ask("Weather?")
        store.fork(session.id, store.head(session.id) - 2, "crashed", time=1)
        crashed = Session.open("crashed", store=store, tools=session.tools, connection=providers.connection)
        found = await crashed.recover()
        assert found is not None and [call.name for call in found.not_started] == ["weather"]
        check(crashed)

    run(talk())


def test_a_turn_on_another_machine_is_interrupted_only_after_its_lease(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        now = 1_700_000_000_000
        session = left(providers, store, "mistral-chat", time=now)
        session.log.clock = lambda: now / 1000 + 60
        assert session.interrupted is None
        with pytest.raises(segue.ConflictError, match=r"running elsewhere \(elsewhere/1/0/x\)"):
            await session.ask("Me, too.")
        session.log.clock = lambda: (now + LEASE) / 1000 + 60
        assert session.interrupted is not None
        assert (await session.ask("And now?")).stop_reason == "stop"

    run(talk())


def test_which_owners_are_alive() -> None:
    """The process must exist and be the same one, because process ids are reused."""
    owner = Owner()
    host, _, birth, _ = owner.name.split("/")
    assert not is_alive(owner.name, 0), "in this process, only an owner that runs something"
    owner.begin()
    assert is_alive(owner.name, 10 * LEASE)
    owner.end()
    assert not is_alive(owner.name, 0)
    parent = os.getppid()
    assert is_alive(f"{host}/{parent}//x", 10 * LEASE)
    assert not is_alive(f"{host}/{2**22 + 1}/{birth}/x", 0) and not is_alive(f"{host}/{2**70}/1/x", 0)
    if Path("/proc/self/stat").exists():
        assert not is_alive(f"{host}/{parent}/1{birth}/x", 0)
    assert is_alive("elsewhere/1/1/x", 0) and not is_alive("elsewhere/1/1/x", LEASE)
    assert not is_alive("", LEASE)


def test_a_zombie_process_is_not_alive() -> None:
    child = os.spawnlp(os.P_NOWAIT, "true", "true")
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    try:
        host = Owner().name.split("/")[0]
        assert not is_alive(f"{host}/{child}//x", 0)
    finally:
        os.waitpid(child, 0)
