"""The request loop without a session: its journal is a list in memory."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from support.providers import MODELS
from support.sessions import QUICK, Providers, run

import segue
from segue import Context, Failover, Fixed, Options, Request, Router
from segue.agent.events import TurnEvent
from segue.agent.request_loop import NO_RETRIES, RequestJournal, RequestLoop
from segue.agent.requests import Renderers
from segue.client import Reach, reach
from segue.errors import ProviderError
from segue.router import Decision, Situation
from segue.session import Store
from segue.testing import Fault
from segue.types import AssistantMessage, Message, Model, UserMessage
from segue.types.events import Event

ONE, OTHER = "anthropic-messages", "mistral-chat"


class Notebook:
    """A journal without a log. ``notes`` has what happened, in order."""

    def __init__(self, providers: Providers, *texts: str, full: bool = False) -> None:
        self.connections = providers.connection
        self.messages: list[Message] = [UserMessage(text) for text in texts]
        self.full = full
        self.notes: list[str] = []

    def situation(self) -> Situation:
        return Situation(turn=0)

    def reach(self, model: Model) -> Reach:
        return reach(model, replace(self.connections(model), retries=NO_RETRIES))

    def request(self, model: Model) -> Request:
        self.notes.append(f"render for {model.provider}")
        return segue.encode(Context(messages=self.messages), model, Options(stream=True))

    def overflows(self, model: Model, request: Request | None) -> bool:
        return self.full

    async def make_room(self, model: Model) -> str | None:
        self.notes.append("make room")
        if len(self.messages) == 1:
            return "one message cannot be made shorter"
        self.messages = self.messages[-1:]
        return None

    async def before_attempt(self) -> None:
        self.notes.append("attempt")

    async def failed(
        self, model: Model, message: AssistantMessage, error: ProviderError, decision: Decision
    ) -> AssistantMessage:
        self.notes.append(f"{error.kind}: {decision.word}")
        return message

    async def answered(self, model: Model, message: AssistantMessage) -> AssistantMessage:
        self.notes.append("answer")
        self.messages.append(message)
        return message

    def healed(self, request: segue.Request) -> None:
        self.notes.append("healed")

    def receive(self, events: Sequence[Event]) -> None:
        for event in events:
            self.emit(event)

    def emit(self, event: TurnEvent) -> None:
        if event.type in ("text_delta", "retry", "switch"):
            self.notes.append(event.type)


def answers(router: Router, journal: RequestJournal, count: int = 1) -> Sequence[tuple[str, str | None]]:
    async def ask() -> list[tuple[str, str | None]]:
        loop = RequestLoop(router, journal)
        found = [await loop.answer() for _ in range(count)]
        return [(message.text, reason) for message, reason in found]

    return run(ask())


def failover() -> Failover:
    return Failover([MODELS[ONE], MODELS[OTHER]], patience=QUICK)


def test_it_retries_then_switches_and_stays_with_the_member_that_answered(providers: Providers) -> None:
    """Each attempt renders its request once, and the events of an answer come before it is recorded."""
    providers[ONE].say(*[Fault("overloaded")] * 3)
    providers[OTHER].say("Here.", "Still here.")
    notebook = Notebook(providers, "Hello?")
    assert answers(failover(), notebook, 2) == [("Here.", None), ("Still here.", None)]
    one, other = (f"render for {MODELS[each].provider}" for each in (ONE, OTHER))
    deltas = [note for note in notebook.notes if note == "text_delta"]
    assert deltas
    assert [note for note in notebook.notes if note != "text_delta"] == [
        *["attempt", one, "overloaded: retry", "retry"] * 2,
        *["attempt", one, "overloaded: next", "switch"],
        *["attempt", other, "answer"] * 2,
    ]
    assert notebook.notes[-1] == "answer" and notebook.notes[-2] == "text_delta"


def test_it_makes_room_before_a_request_that_may_not_fit(providers: Providers) -> None:
    providers[ONE].say("Fine.")
    notebook = Notebook(providers, "A long story.", "And now?", full=True)
    assert answers(failover(), notebook) == [("Fine.", None)]
    render = f"render for {MODELS[ONE].provider}"
    assert [note for note in notebook.notes if note != "text_delta"] == [
        "attempt",
        render,
        "make room",
        render,
        "answer",
    ]
    [sent] = providers.sent(ONE).messages
    assert sent == UserMessage("And now?")


def test_a_request_that_cannot_be_made_shorter_is_sent_as_it_was_rendered(providers: Providers) -> None:
    providers[ONE].say("Fine.")
    notebook = Notebook(providers, "And now?", full=True)
    assert answers(failover(), notebook) == [("Fine.", None)]
    assert [note for note in notebook.notes if note.startswith("render")] == [f"render for {MODELS[ONE].provider}"]


@pytest.mark.parametrize("still", [False, True], ids=["then it fits", "it still does not fit"])
def test_a_reported_overflow_makes_room_once(providers: Providers, still: bool) -> None:
    providers[ONE].say(Fault("overflow"), Fault("overflow") if still else "Fine.")
    notebook = Notebook(providers, "A long story.", "And now?")
    [(text, reason)] = answers(Fixed(MODELS[ONE], patience=QUICK), notebook)
    assert notebook.notes.count("make room") == 1
    if still:
        assert reason is not None and "already compacted" in reason
        assert notebook.notes[-1] == "overflow: give-up"
    else:
        assert (text, reason) == ("Fine.", None)


def test_a_session_renders_each_request_once(
    providers: Providers, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    render, rendered = Renderers.request, list[str]()

    def counted(self: Renderers, context: Context, model: Model, *rest: object) -> Request:
        rendered.append(model.provider)
        return render(self, context, model, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Renderers, "request", counted)
    providers[ONE].say("One.", "Two.")
    session = providers.session(MODELS[ONE], store)
    for _ in range(2):
        run(session.ask("Hello?"))
    assert rendered == [MODELS[ONE].provider] * 2
