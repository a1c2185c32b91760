"""Sessions and agents for synchronous callers, from an existing history, and resumed by id."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.providers import MODELS, OPTIONS, WEATHER
from support.sessions import Providers, check, run

import segue
from segue import Agent, Session, Settings
from segue.session import Store
from segue.testing import Fault, Reply
from segue.types import AssistantMessage, TextContent, ToolCall, ToolResultMessage, UserMessage

ONE, TWO = "anthropic-messages", "openai-completions"
CALL = Reply([ToolCall("", "weather", {"city": "Paris"})])


@segue.tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"18 degrees in {city}"


# -- sync ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", MODELS)
def test_a_session_and_an_agent_answer_synchronous_callers(providers: Providers, store: Store, protocol: str) -> None:
    providers[protocol].say(CALL, "Mild.", CALL, "Mild again.")
    session = Session.create(MODELS[protocol], store=store, tools=[WEATHER], connection=providers.connection)
    assert session.ask_sync("Weather in Paris?", {"weather": weather}).text == "Mild."
    with Agent(tools=[weather], session=session) as agent:
        outcome = agent.run_sync("And now?")
    assert (outcome.how, outcome.text, outcome.steps) == ("done", "Mild again.", 2)
    assert [message.role for message in session.messages] == ["user", "assistant", "toolResult", "assistant"] * 2
    check(session)


def test_synchronous_calls_work_in_a_thread_with_a_running_event_loop(providers: Providers, store: Store) -> None:
    async def talk() -> str:
        session = Session.create(MODELS[ONE], store=store, connection=providers.connection)
        return session.ask_sync("Hello?").stop_reason

    assert asyncio.run(talk()) == "stop"


def test_a_synchronous_call_inside_an_async_tool_is_an_error_and_does_not_hang(
    providers: Providers, store: Store
) -> None:
    @segue.tool
    async def nested(city: str) -> str:
        return segue.complete_sync(
            f"Weather in {city}?", MODELS[ONE], connection=providers.connection(MODELS[ONE])
        ).text

    providers[ONE].say(Reply([ToolCall("", "nested", {"city": "Paris"})]), "Never mind.")
    with Agent(MODELS[ONE], [nested], store=store, connection=providers.connection) as agent:
        assert agent.run_sync("Weather?").text == "Never mind."
        (result,) = [message for message in agent.session.messages if isinstance(message, ToolResultMessage)]
    assert result.is_error and "use await" in result.content[0].text  # type: ignore[union-attr]


INTERRUPTED = """
import os, signal, sys, segue

signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored if the tests run in the background

@segue.tool
async def interrupt() -> str:
    import asyncio
    os.kill(os.getpid(), signal.SIGINT)  # Ctrl-C, while the main thread waits for the agent
    await asyncio.Event().wait()

connection = segue.Connection(base_url=sys.argv[1], api_key=sys.argv[2])
session = segue.Session.create("anthropic/claude-sonnet-5", store=sys.argv[3], id="s", connection=connection)
try:
    segue.Agent(tools=[interrupt], session=session).run_sync("Go.")
except KeyboardInterrupt:
    assert session.log.state.turn is None, "the turn is still open"
    print("interrupted", session.messages[-1].role)
"""


def test_a_turn_that_is_interrupted_from_the_keyboard_is_closed_before_the_caller_continues(
    restless: Providers, tmp_path: Path
) -> None:
    server = restless[ONE]
    server.say(Reply([ToolCall("", "interrupt", {})]), "Never sent.")
    command = [sys.executable, "-c", INTERRUPTED, server.url, server.key, str(tmp_path / "sessions.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["interrupted", "toolResult"], done.stderr


def test_a_failed_turn_raises_the_error_of_the_provider_and_is_stored(providers: Providers, store: Store) -> None:
    providers[ONE].say(*[Fault("wrong-key")] * 3)
    session = Session.create(MODELS[ONE], store=store, connection=providers.connection)
    with pytest.raises(segue.AuthenticationError) as failed:
        session.ask_sync("Hello?")
    assert failed.value.message.stop_reason == "error"
    with pytest.raises(segue.AuthenticationError):
        run(session.ask("Hello?"))
    assert session.ask_sync("Hello?", check=False).stop_reason == "error"
    assert session.messages == [UserMessage("Hello?")] * 3
    check(session)


# -- from a history --------------------------------------------------------------------------------------------------

HISTORY: list[Any] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Paris?"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "18 C"},
    {"role": "assistant", "content": "18 degrees."},
]


def test_a_session_continues_a_history_in_any_form(providers: Providers, store: Store) -> None:
    body = {"messages": HISTORY, "tools": [{"type": "function", "function": {"name": "weather"}}]}
    session = Session.create(MODELS[ONE], store=store, connection=providers.connection, history=body)
    assert session.context.system_prompt == "Be brief." and [each.name for each in session.tools] == ["weather"]
    assert session.messages == segue.ingest(body, now=0).messages
    providers[ONE].say("Rain.")
    assert session.ask_sync("And tomorrow?").text == "Rain."
    assert not providers.objections()
    again = Session.open(session.id, store=store)
    assert again.messages == session.messages and again.context.system_prompt == "Be brief."
    check(again)


def test_an_agent_continues_a_history(providers: Providers) -> None:
    with Agent(MODELS[TWO], [weather], history=HISTORY, connection=providers.connection) as agent:
        providers[TWO].say(CALL, "Mild.")
        assert agent.run_sync("And tomorrow?").text == "Mild."
        assert len(agent.session.messages) == 8 and not providers.objections()


def test_repeated_and_empty_ids_of_a_history_get_new_ones_with_their_results(
    providers: Providers, store: Store
) -> None:
    def step(*ids: str) -> list[Any]:
        results = [ToolResultMessage(each, "weather", f"result {at}") for at, each in enumerate(ids)]
        return [UserMessage("?"), AssistantMessage([ToolCall(each, "weather", {}) for each in ids]), *results]

    history = [*step("a", ""), *step("a", "a"), *step("b")]
    session = Session.create(MODELS[ONE], store=store, history=history, connection=providers.connection)
    calls = [call.id for message in session.messages if message.role == "assistant" for call in message.tool_calls]
    results = [message.tool_call_id for message in session.messages if message.role == "toolResult"]
    assert len({*calls}) == 5 and "" not in calls and results == calls
    assert (calls[0], calls[4]) == ("a", "b")
    assert session.ask_sync("And now?").stop_reason == "stop"
    assert not providers.objections()


# -- resumed ---------------------------------------------------------------------------------------------------------


def test_a_session_and_an_agent_are_resumed_by_the_beginning_of_an_id(providers: Providers, tmp_path: Path) -> None:
    where = str(tmp_path / "sessions.db")
    settings = Settings(options=OPTIONS)
    session = Session.create("anthropic/claude-sonnet-5", store=where, id="20261118-abc", settings=settings)
    session.configure(connection=providers.connection)
    session.ask_sync("Hello?")
    again = Session.open("20261118", store=where)
    assert again.id == session.id and again.messages == session.messages
    with Agent(tools=[weather], session="2026", store=where, connection=providers.connection) as agent:
        assert agent.session.router.members[0].ref == "anthropic/claude-sonnet-5"
        providers[ONE].say(CALL, "Mild.")
        assert agent.run_sync("Weather?").text == "Mild."
    assert [info.id for info in segue.sessions(where)] == ["20261118-abc"]
    assert len(Session.open("20261118-abc", store=where).messages) == 6


def test_mistakes_with_sessions_have_clear_errors(store: Store, tmp_path: Path, providers: Providers) -> None:
    session = Session.create(MODELS[ONE], store=store)
    with pytest.raises(TypeError, match="pass a session or a store, not both"):
        Agent(session=session, store=store)
    with pytest.raises(TypeError, match="pass a session or a history, not both"):
        Agent(session=session, history=HISTORY)
    with pytest.raises(TypeError, match="an agent without a session needs a model"):
        Agent()
    with pytest.raises(segue.SessionError, match="there is no store of sessions"):
        Agent(session="2026", store=str(tmp_path / "none.db"))
    with pytest.raises(segue.SessionError, match="there is no session 2027"):
        Agent(session="2027", store=store)
    with pytest.raises(TypeError, match="a message is a text or a UserMessage, not a list"):
        session.ask_sync([TextContent("Hi")])  # type: ignore[arg-type]
    with pytest.raises(segue.FormatError):
        Session.create(MODELS[ONE], store=store, id="bad", history={"prompt": "Hi"})
    assert [info.id for info in store.sessions()] == [session.id]  # nothing was created
