"""Drives the request loop for one request of a client: what is sent to which model, and what the client gets.

Nothing is sent before the first content of an answer, so that another member can still be asked. After it, another
model is never spliced in: the stream ends the way the protocol ends a failure, and the client's next try goes to
another member.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ..agent import TurnEvent
from ..client import Pieces, Posted, Reach
from ..errors import ProviderError, RefusedError
from ..healing import REPORT
from ..projection import PolicyLike
from ..render import AnswerSettings, AnswerWriter, Request, encode, write_answer
from ..router import Decision, Situation
from ..tokens import guess_context, guess_messages
from ..types import AssistantMessage, Change, Context, Model, Options, Origin, ThinkingContent, UserMessage
from ..types.events import (
    Done,
    Error,
    Event,
    Failure,
    ProviderEnd,
    ProviderStart,
    Start,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from .clients import RESPONSES, ClientProtocol
from .conversation import Reading
from .envelope import Sealer
from .forward import Forwarded, Renamer, returned_headers, with_model
from .ids import CallIds
from .incoming import Incoming
from .output import Output
from .report import RequestReport
from .routes import Target
from .upstream import Tapped

logger = logging.getLogger("segue.gateway")
LAST = (Done, Error)
CONTENT = frozenset(
    {TextDelta, TextEnd, ThinkingDelta, ThinkingEnd, ToolCallStart, ToolCallDelta, ToolCallEnd, ProviderEnd}
)
WRITTEN = (TextDelta, *(CONTENT - {TextDelta}), Start, TextStart, ThinkingStart, ProviderStart)
BILLING = "x-anthropic-billing-header:"
"""The beginning of the first block of Claude Code's system prompt, which changes at every request in some versions."""
HOSTED = "vertex"
"""Where the vendor's protocol has other fields than at the vendor itself, as the name of the model in the path."""
MARKED_CACHES = frozenset({"anthropic-messages", "bedrock-converse"})
"""Protocols in which nothing is cached unless the request marks it."""


Settings = Callable[[AssistantMessage], AnswerSettings]
"""How an answer is written for a client."""


class Cut(Exception):
    """The answer failed after its first content had been sent."""


class Unread(Exception):
    """The client does not read what is sent to it."""


class Lossy(Exception):
    """The request would lose something, and the client or the operator does not allow that."""

    def __init__(self, changes: Sequence[Change]) -> None:
        super().__init__("this request would lose something")
        self.changes = changes


class Ask:
    """The journal of one request.

    Nothing that it holds refers back to it, so that everything is freed as soon as the request has ended.
    """

    def __init__(
        self,
        incoming: Incoming,
        reading: Reading,
        targets: Sequence[Target],
        situation: Situation,
        report: RequestReport,
        *,
        send: Any,
        poster: Any,
        sealer: Sealer,
        policy: PolicyLike = None,
        strict: bool = False,
        forwards: Callable[[Model], dict[str, str] | None] = lambda model: None,
        remember: Callable[[AssistantMessage, Settings], Awaitable[None]],
        refuse: Callable[[frozenset[str]], Awaitable[None]],
        cut: Callable[[Model], Awaitable[None]],
    ) -> None:
        self.incoming, self.reading, self.report = incoming, reading, report
        self.output = Output(send)
        self.error: ProviderError | None = None
        self.message: AssistantMessage | None = None
        self.begun = False
        self._situation = situation
        self._targets = {id(target.model): target for target in targets}
        self._target = targets[0]
        self._poster = poster
        self._returned: Mapping[str, str] = {}  # the headers of the last answer
        self._sealer, self._policy, self._strict, self._forwards = sealer, policy, strict, forwards
        self._remember, self._refuse, self._cut = remember, refuse, cut
        self._dropped: list[Change] = []  # what was left out for the present target before rendering
        self._reset()

    @property
    def client(self) -> ClientProtocol:
        """The protocol of the client."""
        return self.incoming.client

    def _reset(self) -> None:
        """Forget what a failed attempt has left."""
        self._writer: AnswerWriter | None = None
        self._held: list[bytes] = []
        self._has_content = False
        self._done: Event | None = None
        self._raw = False
        self._renamer: Renamer | None = None
        self._ids: CallIds | None = None

    # -- for the request loop ----------------------------------------------------------------------------------------

    def situation(self) -> Situation:
        return replace(self._situation, now=time.monotonic())

    def reach(self, model: Model) -> Reach:
        self._target = self._targets.get(id(model)) or next(
            each for each in self._targets.values() if each.model == model or each.model.ref == model.ref
        )
        return self._target.reach.renewed(self)

    def request(self, model: Model) -> Request:
        """The request to ``model``; the client's own bytes, if nothing has to be changed for it."""
        context, dropped = self._context(model)
        options = self._options(model)
        known = self.reading.known
        if context.messages is known.messages:
            request = known.renderers.request(context, model, options, self._policy, known.edits)
        else:
            request = encode(context, model, options, self._policy)
        rendered = request.changes
        self.report.model = model.ref
        bound = self._situation.bound
        if bound is not None:
            self.report.turn = "bound" if Origin.of(model) == Origin.of(bound) else "rebound"
        self._raw = False
        self._dropped = [*self.incoming.body.changes, *dropped]
        forwarded = self._forward(request, model) if not rendered else None
        if forwarded is None:
            self._report_changes(request)
            return request
        self.report.lane, self.report.changes = "forwarded", []
        return forwarded

    def healed(self, request: Request) -> None:
        """The answer is to a request that was rendered, even if the client's own bytes were refused before."""
        self._reset()
        self._report_changes(request)

    def _report_changes(self, request: Request) -> None:
        self.report.lane = "rendered"
        self.report.changes = [*self.reading.changes, *self._dropped, *request.changes]
        lossy = [change for change in self.report.changes if change.lossy]
        if self._strict and lossy:
            raise Lossy(lossy)

    def _context(self, model: Model) -> tuple[Context, list[Change]]:
        """The conversation for a target, without what is meant for another one."""
        known, changes = self.reading.known, list[Change]()
        context = known.context
        prompt = context.system_prompt
        if prompt is not None and prompt.startswith(BILLING) and model.protocol != self.client.name:
            context = replace(context, system_prompt=prompt.partition("\n\n")[2] or None)
            changes.append(Change("field-dropped", detail="system[0]: a marker for Anthropic's own servers"))
        messages = without_failed_attempts(context.messages, Origin.of(model), self.client)
        if len(messages) < len(context.messages):
            context = replace(context, messages=messages)
        return context, changes

    def _options(self, model: Model) -> Options:
        """The options of a request to ``model``. Its cache is found by the key of the client or by the conversation."""
        asked = self.reading.options
        key = (asked.cache_key or self._situation.conversation) if model.dialect.has_cache_key else None
        cache = asked.cache
        if cache is None and model.protocol in MARKED_CACHES and model.protocol != self.client.name:
            cache = "short"
        return replace(asked, stream=self.incoming.streams, cache_key=key, cache=cache)

    def _forward(self, request: Request, model: Model) -> Request | None:
        """The client's own bytes, if the target speaks its protocol and made every answer that is known."""
        if model.protocol != self.client.name or request.added or self.incoming.parent or self._dropped:
            return None
        if getattr(model.dialect, "surface", None) == HOSTED or model.learnt:
            return None
        headers = self._forwards(model)
        origin = Origin.of(model)
        if headers is None or any(
            found is not None and (found.added or (found.known and Origin.of(found.message) != origin))
            for found in self.reading.known.found
        ):
            return None
        data = with_model(self.incoming.body, model.id)
        if data is None or not self.reading.known.is_accepted_by(model, self._target.quirks, self.incoming.body):
            return None
        self._raw = True
        self._renamer = Renamer(self.client, self.incoming.model, self.incoming.streams)
        return Forwarded.of(request, data, self.incoming.query, headers)

    def overflows(self, model: Model, request: Request | None) -> bool:
        return False  # the router prefers a member that fits, and the provider decides

    async def make_room(self, model: Model) -> str | None:
        return "the client decides what to leave out"

    async def before_attempt(self) -> None:
        self.report.attempts += 1

    async def failed(
        self, model: Model, message: AssistantMessage, error: ProviderError, decision: Decision
    ) -> AssistantMessage:
        self.error, self.message = error, message
        self.report.failures.append(f"{model.ref}: {error.kind}, {decision.word}")
        logger.info("%s: %s failed (%s), %s", self.report.id, model.ref, error.kind, decision.word)
        if self.begun and not isinstance(error, RefusedError):
            self.interrupted(model, message)
            await self._cut(model)
            self._fail()
            raise Cut
        if isinstance(error, RefusedError):  # an answer, with the protocol's stop reason for it
            self._finish(message, error)
            raise Cut
        self._reset()
        return message

    async def answered(self, model: Model, message: AssistantMessage) -> AssistantMessage:
        """Remember the answer before its last byte is sent, so that the client's next request finds it."""
        self.error = None
        self.report.healed = next((each.message or "" for each in message.diagnostics if each.type == REPORT), "")
        kept = message if self._raw else self._call_ids().applied(message)
        self.message, self.report.usage = kept, message.usage
        await self._remember(kept, self.settings)
        if refused := refused_signatures(message):
            await self._refuse(refused)
        self._finish(message)
        return kept

    def _finish(self, message: AssistantMessage, refused: RefusedError | None = None) -> None:
        """Send the end of an answer, or the whole answer."""
        if self.incoming.streams:
            self._begin()
            self._flush()
            if self._raw:
                assert self._renamer is not None
                self.output.push(self._renamer.close())
            elif self._done is not None:
                self.output.push(self.report.comment() if self.client.comments else b"")
                self.output.push(self._written(self._done))
            self.output.end()
        elif self._raw:
            assert self._renamer is not None
            headers = {**self._headers(), "content-type": "application/json"}
            self.output.whole(200, headers, b"".join(self._held) + self._renamer.close())
        else:
            written = write_answer(message, self.client.name, self.settings(message), refused)
            self.output.whole(written.status, {**self._headers(), **written.headers}, written.json())

    def receive(self, events: Sequence[Event]) -> None:
        """Write events of the answer. Its last one is written when the answer is remembered."""
        if isinstance(events[-1], LAST):
            self._done = events[-1]
        if self.incoming.streams:
            if not self._raw:
                self._held += [self._written(event) for event in events if isinstance(event, WRITTEN)]
            self._has_content = self._has_content or not CONTENT.isdisjoint(map(type, events))

    def emit(self, event: TurnEvent) -> None:
        """Retries and switches are in the report."""

    # -- what the client gets ----------------------------------------------------------------------------------------

    def keepalive(self) -> None:
        """Nothing was sent for a while: begin the stream, and keep the connection open."""
        if not self.output.status:
            self.output.start(200, {**self.report.headers(), "content-type": "text/event-stream"})
        self.output.push(AnswerWriter(self.client.name, self.settings(None)).keepalive())

    def refuse(self, status: int, headers: dict[str, str], body: bytes) -> None:
        """End the request with an error: as a whole answer, or in a stream that has begun."""
        if self.output.status:
            self._fail()
        else:
            self.output.whole(status, {**self.report.headers(), **headers}, body)

    def _fail(self) -> None:
        """End a stream that has begun."""
        if self.begun and not self._raw:
            self._flush()
        if self.client.breaks_off and self.begun:
            self.output.end(broken=True)
            return
        # The kind after which clients may ask again; what broke at the provider is not their concern.
        text = "the answer was not completed" if self.error is None else self.error.text
        cut = self.client.cut_error(text)
        error = cut if self.begun else self.error or cut
        message = self.message or AssistantMessage("", protocol=self.client.name, stop_reason="error")
        writer = self._writer
        first = writer is None
        if writer is None:
            writer = AnswerWriter(self.client.name, self.settings(message))
        partial = _Ended(message)
        if first and self.begun:  # the provider's own bytes have begun the answer already
            writer.write(Start(partial))
        self.output.push(writer.write(Error(message, partial, error)))
        self.output.end()

    def _begin(self) -> None:
        if not self.begun:
            self.begun = True
            self.report.first_byte = time.time()
            if not self.output.status:
                self.output.start(200, {**self._headers(), "content-type": "text/event-stream"})

    def _headers(self) -> dict[str, str]:
        returned = returned_headers(self._returned) if self._raw else {}
        return {**returned, **self.report.headers(), "cache-control": "no-cache"}

    def _flush(self) -> None:
        held, self._held = self._held, []
        self.output.push(b"".join(held))

    def _written(self, event: Event) -> bytes:
        if self._writer is None:
            self._writer = AnswerWriter(self.client.name, self.settings(event.partial.message()))
        return self._writer.write(event)

    def settings(self, message: AssistantMessage | None) -> AnswerSettings:
        """How an answer is written for this client."""
        origin = None if message is None else Origin.of(message)
        body, sealer, answer = self.incoming.body, self._sealer, self.incoming.id
        own = message.response_id if message is not None and self._raw else None
        return AnswerSettings(
            model=self.incoming.model,
            response_id=own or (f"resp_{self.incoming.id}" if self.client.name == RESPONSES else None),
            created=int(self.report.began),
            request={name: body.value(name) for name in self.client.echoed if name in body.fields},
            input_tokens=self._situation.tokens,
            seal=(lambda block: None) if origin is None else (lambda block: sealer.seal(block, origin, answer)),
            call_id=self._call_ids(),
        )  # fmt: skip

    def _call_ids(self) -> CallIds:
        if self._ids is None:
            self._ids = CallIds(self.client.call_prefix, self.reading.known.ids, self.incoming.id)
        return self._ids

    def interrupted(self, model: Model, message: AssistantMessage) -> None:
        """Count what an answer has used that was not completed: what the provider has reported, otherwise a guess."""
        usage = message.usage
        if not (message.content or usage.prompt):
            return
        sent = 0 if usage.prompt else self._situation.tokens
        output = max(usage.output, int(guess_messages([message])))
        used = replace(usage, input=usage.input + sent, output=output)
        self.report.usage = replace(used, cost=model.cost.of(used))

    # -- bytes of the provider ---------------------------------------------------------------------------------------

    async def post(self, url: str, headers: Mapping[str, str], body: Pieces, connect: float) -> Posted:
        """Send a request (``client.Poster``), and look at the pieces of its answer."""
        posted: Posted = await self._poster.post(url, headers, body, connect)
        self._returned = posted.headers
        return Tapped(posted, self._before_piece, self._on_piece)

    async def _before_piece(self) -> None:
        # The bytes of a forwarded answer contain its end, which waits until the answer is remembered.
        if self._held and self._has_content and not (self._raw and self._done is not None):
            self._begin()
            self._flush()
        try:
            await self.output.flush()
        except asyncio.CancelledError:  # a limit has ended the wait for the client, which is not the member's fault
            if self._done is None:
                raise Unread from None
            raise

    def _on_piece(self, data: bytes) -> None:
        if self._raw and self._renamer is not None:
            self._held.append(self._renamer.feed(data))


class _Ended:
    """An answer that has failed, as the ``partial`` of its last event."""

    failure: Failure | None = "broken"

    def __init__(self, message: AssistantMessage) -> None:
        self._message = message
        self.content = list(message.content)

    def message(self) -> AssistantMessage:
        return self._message

    def item_id(self, index: int) -> str | None:
        return None


def refused_signatures(message: AssistantMessage) -> frozenset[str]:
    """The digests of signatures without which a refused request was sent again, and answered with ``message``."""
    healed = (each.details or {} for each in message.diagnostics if each.type == REPORT)
    return frozenset(digest for details in healed for digest in details.get("foreign", ()))


def without_failed_attempts(messages: list[Any], origin: Origin, client: ClientProtocol) -> list[Any]:
    """The messages without what failed attempts have left after the last typed message: answers of thinking alone.

    Claude Code sends them back as messages, Codex as items, which are kept for the model that made them (measured
    2026-11). The same list, if there are none.
    """
    last = next((at for at in range(len(messages) - 1, -1, -1) if _is_typed(messages[at])), -1)
    kept = [
        message
        for at, message in enumerate(messages)
        if at <= last or not _is_thinking_alone(message) or (client.keeps_attempts and Origin.of(message) == origin)
    ]
    return messages if len(kept) == len(messages) else kept


def _is_typed(message: Any) -> bool:
    return isinstance(message, UserMessage) and not message.injected


def _is_thinking_alone(message: Any) -> bool:
    return (
        isinstance(message, AssistantMessage)
        and bool(message.content)
        and all(isinstance(block, ThinkingContent) for block in message.content)
    )


def guessed_tokens(context: Context) -> int:
    """A guess of the tokens of a conversation."""
    return int(guess_context(context))


async def shielded(work: Awaitable[Any]) -> Any:
    """Wait for work that must run to its end, even if the request is cancelled."""
    return await asyncio.shield(asyncio.ensure_future(work))
