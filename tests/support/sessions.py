"""Sessions in tests: every provider as a stand-in, and checks for logs."""

import asyncio
import atexit
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack
from itertools import permutations
from typing import Any, TypeVar

import segue
from segue import Connection, Patience, Retries, Settings
from segue.agent import Session
from segue.agent.state import State, rebuilt
from segue.session import AnyEntry, MessageAdded, Store
from segue.testing import Reply, StandIn
from segue.tools import Journal
from segue.types import (
    AssistantMessage,
    Context,
    Message,
    Model,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from support.providers import MODELS, OPTIONS, WEATHER
from support.waiting import HANGS

T = TypeVar("T")

PAIRS = list(permutations(MODELS, 2))
QUICK = Patience(retries=Retries(first_wait=0.001, longest_wait=0.002), rest=HANGS)
CITIES = ["Paris", "Rome", "Oslo", "Bern", "Wien"]


class Providers:
    """The stand-ins, by protocol."""

    def __init__(self, kind: type[StandIn] = StandIn) -> None:
        self.standins = {
            protocol: kind(model.provider, protocol=protocol, account=protocol) for protocol, model in MODELS.items()
        }
        self._stack = ExitStack()

    def __enter__(self) -> "Providers":
        for standin in self.standins.values():
            self._stack.enter_context(standin)
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

    def __getitem__(self, protocol: str) -> StandIn:
        return self.standins[protocol]

    def connection(self, model: Model) -> Connection:
        standin = self.standins[model.protocol]
        retries = Retries(first_wait=0.001, longest_wait=0.002)
        return Connection(base_url=standin.url, api_key=standin.key, retries=retries)

    def session(self, model: Any, store: Store, **settings: Any) -> Session:
        settings = {"tools": [WEATHER], "options": OPTIONS, "connection": self.connection} | settings
        return Session.create(model, store=store, system_prompt="Be brief.", **with_settings(settings))

    def reopened(self, session: Session, model: Any = None) -> Session:
        return Session.open(
            session.id,
            model or session.router,
            store=session.store,
            tools=session.tools,
            connection=session.targets.connection,
            settings=session.settings,
        )

    def objections(self) -> list[str]:
        """Requests that were refused because they broke a rule, without scripted faults."""
        found = []
        for standin in self.standins.values():
            on_demand = {fault.text for fault in standin.voice.faults.values()}
            found += [f"{standin.protocol}: {each.text}" for each in standin.refused if each.text not in on_demand]
        return found

    def clear(self) -> None:
        for standin in self.standins.values():
            standin.requests.clear()
            standin.refused.clear()
            standin._script.clear()

    def answer(self, protocol: str, asked: str, *answers: Any) -> None:
        """Answer the conversation that contains ``asked``; not a cancelled request that is read late."""
        script = iter(answers)

        def step(context: Context) -> Any:
            return next(script, "That is all.") if asked in text_of(context) else "Too late."

        self.standins[protocol].say(*[step] * 100)

    def sent(self, protocol: str, at: int = -1) -> Context:
        """The conversation in a request."""
        standin = self.standins[protocol]
        return standin.conversation(standin.requests[at])


def with_settings(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments of an agent or a session; those that are fields of ``Settings`` are collected in one."""
    fields = {name: value for name, value in arguments.items() if name in Settings.__struct_fields__}
    others = {name: value for name, value in arguments.items() if name not in fields}
    return others | {"settings": Settings(**fields)}


LOOP = asyncio.Runner()
"""One event loop for all tests of a process: a new one would load the certificates of the machine again."""
atexit.register(LOOP.close)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end, and check that no task is left."""

    async def watched() -> T:
        async with asyncio.timeout(HANGS):
            result = await main
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left
        return result

    return LOOP.run(watched())


def asks(*cities: str, ids: Sequence[str] = ()) -> Reply:
    """An answer with thinking and calls."""
    calls = [ToolCall(ids[at] if ids else "", "weather", {"city": city}) for at, city in enumerate(cities)]
    return Reply([ThinkingContent("I should look."), *calls])


def weather(city: str, **_: Any) -> str:
    return f"18 C in {city}"


class InOrder:
    """Runs calls so that they finish in this order. Calls that are not in it never finish."""

    def __init__(self, *order: int, finished: Callable[[], None] = lambda: None) -> None:
        self.order, self.finished = order, finished

    async def run(self, calls: Sequence[ToolCall], journal: Journal, emit: Any) -> None:
        for call in calls:
            await journal.started(call)
        for at in self.order:
            call = calls[at]
            result = ToolResultMessage(call.id, call.name, [TextContent(weather(**call.arguments))])
            await journal.finished(result)
        if len(self.order) < len(calls):
            self.finished()
            await asyncio.sleep(HANGS)


def entries(session: Session) -> list[AnyEntry]:
    return [stored.entry for stored in session.store.read(session.id)]


def logged_messages(session: Session) -> list[Message]:
    """Every message in the log, also those that a summary replaces."""
    return [entry.message for entry in entries(session) if isinstance(entry, MessageAdded)]


def texts(messages: Sequence[Message]) -> list[str]:
    """The texts of results, in order."""
    return [
        "".join(block.text for block in message.content if isinstance(block, TextContent))
        for message in messages
        if isinstance(message, ToolResultMessage)
    ]


def text_of(context: Context) -> str:
    """All texts of a conversation."""
    return "\n".join(
        block.text for message in context.messages for block in message.content if isinstance(block, TextContent)
    )


def fields(state: State) -> dict[str, Any]:
    return vars(state)


def check(session: Session) -> None:
    """Check what must be true after every turn: it is closed in the log, the state follows from the log, each call of
    an answer that did not fail has a result, and the next request is valid for every protocol."""
    log = entries(session)
    assert fields(rebuilt(log)) == fields(session.log.state)
    assert session.log.state.turn is None and session.interrupted is None
    messages = logged_messages(session)
    answers = [message for message in messages if isinstance(message, AssistantMessage)]
    ids = [call.id for message in answers for call in message.tool_calls]
    assert len(ids) == len(set(ids)) and all(ids), "ids are canonical"
    results = Counter(message.tool_call_id for message in messages if isinstance(message, ToolResultMessage))
    for message in answers:
        if not message.failed:
            assert all(results[call.id] >= 1 for call in message.tool_calls), "each call has a result"
    lints_clean(session)


def lints_clean(session: Session, text: str = "And now?") -> None:
    """Check that the next request breaks no rule of any protocol."""
    asked = session.context
    context = Context(
        system_prompt=asked.system_prompt, messages=[*asked.messages, UserMessage(text)], tools=asked.tools
    )
    for protocol, model in MODELS.items():
        request = segue.encode(context, model, OPTIONS)
        findings = [each for each in segue.lint(request.body, protocol, model) if each.severity == "error"]
        assert not findings, (protocol, findings)


def nothing_is_lost(session: Session) -> None:
    """Check that every real result of the history is in the request of every protocol."""
    context = Context(messages=[*session.messages, UserMessage("And now?")], tools=session.tools)
    real = [
        text
        for message in session.messages
        if isinstance(message, ToolResultMessage) and not message.synthetic
        for text in texts([message])
    ]
    for protocol, model in MODELS.items():
        body = segue.encode(context, model, OPTIONS).body
        sent = segue.ingest(body, protocol)
        shown = "\n".join(texts(sent.messages)) + text_of(sent)
        assert not [text for text in real if text not in shown], protocol
