"""The loop that asks a model: choose a member, make room, send, and decide what a failure means.

It knows nothing of sessions. What it sends comes from a ``RequestJournal``, and what happens is recorded there.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol, assert_never

from msgspec.structs import replace

from ..client import Reach, Retries, send
from ..errors import ContextOverflowError, FormatError, ProjectionError, ProviderError
from ..render import Request
from ..router import Compact, Decision, GiveUp, Next, Retry, Router, Situation
from ..telemetry import RequestSpan, Switched, request_span
from ..types import AssistantMessage, Model
from ..types.events import Event
from .events import Retried, Switch, TurnEvent

NO_RETRIES = Retries(count=0)


class RequestJournal(Protocol):
    """What a request loop sends, and where it records what happens."""

    def situation(self) -> Situation:
        """What the router may look at."""

    def reach(self, model: Model) -> Reach:
        """How ``model`` is reached, without retries (``NO_RETRIES``): the router decides about them."""

    def request(self, model: Model) -> Request:
        """The next request to ``model``."""

    def overflows(self, model: Model, request: Request | None) -> bool:
        """Whether the request may not fit the window of ``model``; ``None`` is one that cannot be rendered."""

    async def make_room(self, model: Model) -> str | None:
        """Shorten the conversation for the window of ``model``. Return the reason if that is not possible."""

    async def before_attempt(self) -> None:
        """Called before each attempt. Messages that have been queued may be added here."""

    async def failed(
        self, model: Model, message: AssistantMessage, error: ProviderError, decision: Decision
    ) -> AssistantMessage:
        """Record a failed attempt, and return the part of the answer that had arrived, as it is recorded."""

    async def answered(self, model: Model, message: AssistantMessage) -> AssistantMessage:
        """Record an answer, and return it as it is recorded."""

    def healed(self, request: Request) -> None:
        """Record that the request was refused, and that this one was sent in its place."""

    def receive(self, events: Sequence[Event]) -> None:
        """Report events of the answer, as they arrive together."""

    def emit(self, event: TurnEvent) -> None:
        """Report a retry or a switch."""


class RequestLoop:
    """Asks the members of a router until one answers or the router gives up.

    The first member is chosen when the loop is made. Later requests go to the member that answered last.
    """

    def __init__(self, router: Router, journal: RequestJournal) -> None:
        self.router = router
        self.journal = journal
        self.arriving: AssistantMessage | None = None
        """The part of an answer that has arrived and is not recorded yet, after a cancellation."""
        self._has_room = False  # whether this request was made shorter already
        self._span: RequestSpan | None = None  # of the request to the present member, with all its attempts
        self._failed: Model | None = None  # the member before it, if that failed
        self._reason = ""  # why the present member was chosen, if it was not the first choice
        self.model: Model = router.begin(self._situation())

    async def answer(self) -> tuple[AssistantMessage, str | None]:
        """The answer to the next request, as it is recorded; and why the loop gave up, if it did."""
        try:
            return await self._answer()
        finally:
            self._end_span(self.arriving)  # if it was cancelled, or something was raised

    async def _answer(self) -> tuple[AssistantMessage, str | None]:
        tries: Counter[str] = Counter()
        self._has_room = False
        while True:
            await self.journal.before_attempt()
            message, error = await self._send(first=not tries[self.model.ref])
            tries[self.model.ref] += 1
            if error is None:
                self._end_span(message)
                self.arriving, self._failed, self._reason = None, None, ""
                message = await self.journal.answered(self.model, message)
                self.router.succeeded(self.model, self._situation())
                return message, None
            decision = self.router.failed(self.model, error, tries[self.model.ref], self._situation())
            self.arriving = None
            if not isinstance(decision, Retry):
                self._end_span(message, error)
                overflowed = isinstance(error, ContextOverflowError)
                self._failed, self._reason = self.model, "overflow" if overflowed else "failover"
            message = await self.journal.failed(self.model, message, error, decision)
            if isinstance(decision, GiveUp):
                return message, f"{decision.reason}: {error.text}"
            obstacle = await self._follow(decision)
            if obstacle is not None:
                return message, f"{decision.reason}: {error.text}; {obstacle}"

    async def _send(self, first: bool) -> tuple[AssistantMessage, ProviderError | None]:
        """Send the conversation once. ``first``: this member was not asked before in this request."""
        found = self.journal.reach(self.model)
        request = await self._request(found.model, first)
        stream = send(request, found)
        self._span = self._span or self._new_span(found)
        stream.share(self._span)
        async with stream:
            try:
                while events := await stream.arrived():
                    if stream.request is not request:
                        request = stream.request
                        self.journal.healed(request)
                    self.journal.receive(events)
            finally:
                self.arriving = stream.message
        assert stream.message is not None
        return stream.message, stream.error

    async def _request(self, model: Model, first: bool) -> Request:
        """The request to ``model``, after a summary if it may not fit the window.

        If there can be no summary, the request is sent unchanged: the estimate is careful, and the provider decides.
        """
        request: Request | None = None
        with suppress(ProjectionError, FormatError):  # it may be possible to render it after a summary
            request = self.journal.request(model)
        if first and not self._has_room and self.journal.overflows(model, request) and await self._make_room() is None:
            request = None
        return self.journal.request(model) if request is None else request

    async def _make_room(self) -> str | None:
        obstacle = await self.journal.make_room(self.model)
        self._has_room = self._has_room or obstacle is None
        return obstacle

    async def _follow(self, decision: Compact | Next | Retry) -> str | None:
        """Do what the router decided about a failure. Return the reason if that is not possible."""
        if isinstance(decision, Compact):
            return await self._make_room()
        if isinstance(decision, Next):
            self.model = decision.model
            self.journal.emit(Switch(self.model.ref, decision.reason))
        elif isinstance(decision, Retry):
            self.journal.emit(Retried(self.model.ref, decision.reason, decision.wait))
        else:
            assert_never(decision)
        await asyncio.sleep(decision.wait)
        return None

    def _new_span(self, found: Reach) -> RequestSpan | None:
        """The span of a request to a member: how it was chosen, and whether the conversation was made shorter."""
        span = request_span(found.model, found.base_url)
        if span is None:
            return None
        situation = self._situation()
        span.belongs_to(situation.conversation, type(self.router).__name__.lower())
        before = self._failed or situation.last
        if before is not None and before.ref != found.model.ref:
            reason = self._reason or ("user" if len(self.router.members) == 1 else "router")
            span.switched(Switched(before.ref, found.model.ref, reason))
        if self._has_room:
            span.compacted()
        return span

    def _end_span(self, message: AssistantMessage | None, error: ProviderError | None = None) -> None:
        span, self._span = self._span, None
        if span is not None:
            span.end(message, error)

    def _situation(self) -> Situation:
        return replace(self.journal.situation(), compacted=self._has_room)
