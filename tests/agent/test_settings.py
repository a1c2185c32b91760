"""Settings of sessions and agents: one record, which is replaced as a whole."""

from typing import Any

import pytest
from support.providers import MODELS
from support.sessions import Providers, asks, entries, run, texts

from segue import Agent, Options, RunLimits, Session, Settings, ToolLimits
from segue.session import Store
from segue.tools import tool

ONE = "anthropic-messages"


def report(city: str) -> str:
    """The weather in a city."""
    return f"18 C in {city}"


@pytest.mark.parametrize("name", ["options", "limits", "tool_limits"])
def test_a_field_of_the_wrong_type_is_an_error(name: str) -> None:
    with pytest.raises(TypeError, match=rf"Settings\.{name} must be a segue\.\w+, not a dict"):
        Settings(**{name: {}})


@pytest.mark.parametrize("make", [Agent, Session.create])
def test_settings_must_be_a_record(make: Any, store: Store) -> None:
    with pytest.raises(TypeError, match=r"settings must be a segue\.Settings, not a dict"):
        make(MODELS[ONE], store=store, settings={"options": Options()})
    assert store.sessions() == []


def test_an_agent_uses_the_settings_of_its_session_unless_others_are_passed(providers: Providers, store: Store) -> None:
    own = Settings(limits=RunLimits(steps=1), tool_limits=ToolLimits(parallel=1))
    session = Session.create(MODELS[ONE], store=store, connection=providers.connection, settings=own)

    async def talk() -> None:
        providers[ONE].say(asks("Paris"))
        async with Agent(None, [tool(report, name="weather")], session) as agent:
            assert agent.scheduler.limits is own.tool_limits
            assert (await agent.run("Weather?")).how == "limit"
        assert "limit of 1 step" in texts(session.messages)[0]
        other = Settings(options=Options(max_tokens=1234))
        async with Agent(None, [], session, settings=other) as agent:
            assert session.settings is other
            assert (await agent.run("And now?")).how == "done"
        assert providers[ONE].requests[-1]["max_tokens"] == 1234

    run(talk())


def test_a_session_can_be_configured_between_requests(providers: Providers, store: Store) -> None:
    session = providers.session(MODELS[ONE], store)
    session.configure(settings=Settings(clock=lambda: 1.8e9))
    session.prompt("Be long.")
    assert entries(session)[-1].time == 1_800_000_000_000
    session.configure(connection=lambda model: providers.connection(model))
    assert run(session.ask("Hello?")).stop_reason == "stop"
