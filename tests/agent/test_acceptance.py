"""A conversation with tools continues with another family of models: after a switch, in turns, after failures, and
after an incomplete batch of calls. All stand-ins are strict, and none may refuse a request."""

import pytest
from support.providers import MODELS
from support.sessions import CITIES, PAIRS, QUICK, InOrder, Providers, asks, check, run, texts, weather

from segue import Failover, RoundRobin
from segue.session import Store
from segue.testing import Fault, FaultKind
from segue.types import ToolResultMessage

TOOLS = {"weather": weather}
pairs = pytest.mark.parametrize(("one", "other"), PAIRS, ids=["-".join(pair) for pair in PAIRS])


@pairs
def test_a_switch_after_a_turn_with_tools(providers: Providers, store: Store, one: str, other: str) -> None:
    """Criterion 1: the next request succeeds, with the real results in it; and so does switching back."""

    async def talk() -> None:
        session = providers.session(MODELS[one], store)
        providers[one].say(asks("Paris"), asks("Rome", "Oslo"), "Mild everywhere.")
        assert (await session.ask("Weather?", TOOLS)).text == "Mild everywhere."
        session.switch(MODELS[other])
        providers[other].say(asks("Bern"), "As in Bern.")
        answer = await session.ask("And in Bern?", TOOLS)
        assert (answer.text, answer.protocol) == ("As in Bern.", other)
        assert texts(providers.sent(other).messages) == [weather(city) for city in CITIES[:4]]
        session.switch(MODELS[one])
        assert (await session.ask("Thanks.")).stop_reason == "stop"
        assert texts(providers.sent(one).messages) == [weather(city) for city in CITIES[:4]]
        check(session)

    run(talk())
    assert not providers.objections()


@pairs
def test_round_robin_over_turns_with_tools(providers: Providers, store: Store, one: str, other: str) -> None:
    """Criterion 2: models alternate between turns and never inside one; no call is answered twice or out of order."""

    async def talk() -> None:
        session = providers.session(RoundRobin([MODELS[one], MODELS[other]], patience=QUICK), store)
        origins = []
        for turn, city in enumerate(CITIES[:4]):
            protocol = (one, other)[turn % 2]
            providers[protocol].say(asks(city), asks(city, "Genf"), f"Fine in {city}.")
            answer = await session.ask(f"And in {city}?", TOOLS)
            assert (answer.text, answer.stop_reason) == (f"Fine in {city}.", "stop")
            origins += [message.protocol for message in session.messages[-6:] if hasattr(message, "protocol")]
        assert origins == [one] * 3 + [other] * 3 + [one] * 3 + [other] * 3
        expected = [weather(name) for city in CITIES[:4] for name in (city, city, "Genf")]
        assert texts(providers.sent(other).messages) == expected
        check(session)

    run(talk())
    assert not providers.objections()


@pairs
@pytest.mark.parametrize("kind", ["server-error", "cut"])
def test_failover_in_a_turn_with_tools(
    providers: Providers, store: Store, one: str, other: str, kind: FaultKind
) -> None:
    """Criterion 3: a member fails between tool calls, before or after output began. The next member continues, and the
    conversation stays with it."""

    async def talk() -> None:
        session = providers.session(Failover([MODELS[one], MODELS[other]], patience=QUICK), store)
        providers[one].say(asks("Paris"), *[Fault(kind, asks("Nowhere", "Atlantis")) for _ in range(3)])
        providers[other].say(asks("Rome"), "Mild.")
        answer = await session.ask("Weather?", TOOLS)
        assert (answer.text, answer.protocol) == ("Mild.", other)
        assert texts(providers.sent(other).messages) == [weather("Paris"), weather("Rome")]
        assert (await session.ask("And now?")).protocol == other, "sticky"
        assert not [text for text in texts(session.messages) if "Nowhere" in text or "Atlantis" in text]
        check(session)
        session.switch(MODELS[one])
        assert (await session.ask("Back again?")).protocol == one

    run(talk())
    assert not providers.objections()


@pairs
def test_an_incomplete_fan_out_of_five_calls(providers: Providers, store: Store, one: str, other: str) -> None:
    """Criterion 4: one real result of five; the others are closed, and the next model gets all five."""

    async def talk() -> None:
        session = providers.session(MODELS[one], store)
        providers[one].say(asks("Paris"), asks(*CITIES), "never said")
        runs = 0

        class FirstThenOneOfFive:
            async def run(self, calls, journal, emit):  # type: ignore[no-untyped-def]
                nonlocal runs
                runs += 1
                runner = InOrder(0) if runs == 1 else InOrder(1, finished=turn.cancel)
                await runner.run(calls, journal, emit)

        async with session.stream("Weather?", FirstThenOneOfFive()) as turn:
            end = await turn.finished()
        assert end.how == "cancelled"
        session.switch(MODELS[other])
        assert (await session.ask("What do you know?")).protocol == other
        results = [message for message in providers.sent(other).messages if isinstance(message, ToolResultMessage)]
        assert len(results) == 6
        shown = texts(results)
        assert shown[0] == weather("Paris") and shown[2] == weather("Rome")
        assert all("cancelled" in shown[at] for at in (1, 3, 4, 5))
        check(session)

    run(talk())
    assert not providers.objections()
