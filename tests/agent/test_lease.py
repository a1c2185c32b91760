"""A turn on another machine has a lease, which its owner renews while it runs. The test moves the clock."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.providers import MODELS
from support.sessions import Providers, asks, check, entries, run, texts

import segue
from segue import ConflictError, Session, Settings
from segue.agent import owner as owners
from segue.agent.owner import LEASE, RENEWAL, Owner
from segue.session import SQLiteStore, Store, TurnBegun, TurnEnded, TurnRenewed

PROTOCOL = "mistral-chat"


class Machine(Owner):
    """An owner on a machine with this name."""

    def __init__(self, host: str) -> None:
        super().__init__()
        self.host = host

    @property
    def name(self) -> str:
        return f"{self.host}/1/1/{self._word}"


class Clock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.ms = 1_700_000_000_000

    def __call__(self) -> float:
        return self.ms / 1000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(owners, "PULSE", 0.001)  # so that only the clock decides when to renew
    return Clock()


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return ":memory:" if request.param == "memory" else str(tmp_path / "s.db")


def on(machine: str, session: Session, clock: Clock) -> Session:
    """Open the session on another machine."""
    opened = Session.open(
        session.id,
        MODELS[PROTOCOL],
        store=session.store,
        tools=session.tools,
        connection=session.targets.connection,
        settings=Settings(clock=clock),
    )
    opened.log.owner = Machine(machine)
    return opened


def renewals(session: Session) -> int:
    return sum(isinstance(entry, TurnRenewed) for entry in entries(session))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.001)


class Hanging:
    """A call that runs until the test ends it."""

    def __init__(self) -> None:
        self.begun, self.release = asyncio.Event(), asyncio.Event()

    async def weather(self, city: str, **_: Any) -> str:
        self.begun.set()
        await self.release.wait()
        return f"18 C in {city}"


async def begun(providers: Providers, store: Store, clock: Clock) -> tuple[Session, Session, Hanging, Any]:
    """A turn that runs a long call on one machine, and the same session on another machine."""
    made = providers.session(MODELS[PROTOCOL], store, clock=clock)
    one, other = on("one", made, clock), on("other", made, clock)
    providers[PROTOCOL].say(asks("Paris"), "Mild.")
    call = Hanging()
    turn = asyncio.create_task(one.ask("Weather?", {"weather": call.weather}))
    await call.begun.wait()
    return one, other, call, turn


def test_a_lease_is_renewed_as_long_as_the_turn_runs(providers: Providers, place: str, clock: Clock) -> None:
    """However long a call takes, no other process may close the turn. Renewals are written only when they are due."""

    async def talk(store: Store) -> None:
        one, other, call, turn = await begun(providers, store, clock)
        for round_ in range(3 * LEASE // RENEWAL):
            assert renewals(one) == round_
            clock.ms += RENEWAL
            await until(lambda: renewals(one) > round_)  # noqa: B023, within the round
            other.log.reload()
            assert other.interrupted is None
            with pytest.raises(ConflictError, match="running elsewhere"):
                await other.ask("Me, too.")
        call.release.set()
        assert (await turn).text == "Mild." and texts(one.messages) == ["18 C in Paris"]
        clock.ms += 2 * LEASE
        count = len(entries(one))
        one.log.renew()
        assert len(entries(one)) == count, "a turn that has ended is not renewed"
        assert (await other.ask("And now?")).stop_reason == "stop"
        check(other)

    with SQLiteStore(place) as store:
        run(talk(store))
    assert not providers.objections()


def test_another_process_takes_the_turn_when_its_lease_has_expired(
    providers: Providers, place: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first machine sleeps. When it wakes up, another machine has written to the log, and it writes nothing."""

    async def talk(store: Store) -> None:
        one, other, call, turn = await begun(providers, store, clock)
        monkeypatch.setattr(one.log, "time", lambda: 0)  # its clock stops, so it does not renew
        last = entries(one)[-1].time
        clock.ms = last + LEASE - 1
        with pytest.raises(ConflictError, match="running elsewhere"):
            await other.ask("Me, too.")
        clock.ms = last + LEASE
        other.log.reload()
        assert other.interrupted is not None and [each.name for each in other.interrupted.unknown] == ["weather"]
        assert (await other.ask("And now?")).stop_reason == "stop"
        count = len(entries(other))
        monkeypatch.undo()
        one.log.renew()
        call.release.set()
        with pytest.raises(ConflictError):
            await turn
        assert len(entries(other)) == count and renewals(other) == 0
        kinds = [type(entry) for entry in entries(other)]
        assert kinds.count(TurnBegun) == kinds.count(TurnEnded) == 2
        check(other)

    with SQLiteStore(place) as store:
        run(talk(store))
    assert not providers.objections()


def test_a_lease_that_cannot_be_renewed_does_not_disturb_the_turn(
    providers: Providers, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store fails for a while, and the turn still ends normally."""

    async def talk(store: Store) -> None:
        _, _, call, turn = await begun(providers, store, clock)
        failed = asyncio.Event()

        def fails(*arguments: Any, **named: Any) -> int:
            failed.set()
            raise segue.SessionError("no connection")

        with monkeypatch.context() as patch:
            patch.setattr(store, "append", fails)
            clock.ms += RENEWAL
            await failed.wait()
        call.release.set()
        assert (await turn).text == "Mild."

    with SQLiteStore(":memory:") as store:
        run(talk(store))
