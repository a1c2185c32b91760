"""One request from body to answer: read, recall, bind, route, ask, write, remember."""

import asyncio
import logging
from contextlib import nullcontext
from typing import Any

from ..agent import RequestLoop
from ..client import Poster
from ..errors import (
    FormatError,
    InvalidRequestError,
    ModelError,
    NetworkError,
    ProjectionError,
    ProviderError,
    SegueError,
    SessionError,
    SettingError,
)
from ..projection import PRESETS
from ..render import write_error
from ..router import Failover, Router, Situation
from ..types import AssistantMessage, Model, Origin
from ..types.codec import UNREADABLE
from .binding import bound_answer
from .clients import RESPONSES
from .config import Config
from .conversation import Conversations, Reading, conversation_key, session_of
from .counting import counted
from .database import within
from .envelope import Sealer
from .forward import forwarded_headers
from .incoming import Incoming
from .journal import Ask, Cut, Lossy, Settings, Unread
from .keys import Keys, reserve
from .output import send_whole
from .recall import Place, Recall
from .report import RequestReport
from .responses import StoredResponses
from .routes import Route, Routes, Target
from .store import Store
from .traces import seen

logger = logging.getLogger("segue.gateway")
REMEMBER = 30.0
"""Seconds that the last event of an answer waits for the store."""
STRICT = "strict"
GONE = 499
"""The status of a request whose client does not get its answer, as in nginx."""


class Pipeline:
    """Everything that requests share in a process."""

    def __init__(self, config: Config, routes: Routes, store: Store, keys: Keys, secret: bytes, poster: Poster) -> None:
        self.config, self.routes, self.store, self.keys = config, routes, store, keys
        self.responses = StoredResponses(store)
        self.conversations = Conversations()
        self.recall = Recall(store, config.gateway.recall)
        self._secret, self._poster = secret, poster
        self._sealers: dict[str, Sealer] = {}

    # -- preparing ---------------------------------------------------------------------------------------------------

    async def prepare(self, incoming: Incoming, report: RequestReport, send: Any = None) -> tuple[Ask, Router, Reading]:
        """Read a request, recall what is missing in it, and find out which models may answer."""
        route = self.routes.resolve(incoming.model, incoming.client.name)
        session = session_of(incoming.body, incoming.headers)
        reading = self.conversations.read(
            incoming.readable, incoming.client.name, incoming.tenant, session, int(report.began * 1000)
        )
        conversation = conversation_key(session, reading.known)
        await self._restore(reading, incoming, conversation, route)
        cuts = await self.store.cuts(incoming.tenant, conversation)
        situation, router, targets = self._choose(reading, route, conversation, cuts, report)
        self.keys.admit(incoming.key, incoming.model, situation.tokens)
        models = [target.model for target in targets]
        if send is not None:  # counting costs nothing
            await reserve(self.store, incoming.key, incoming.id, models, situation.tokens, reading.options.max_tokens)
        known, bare = reading.known, incoming.client.drops_ids
        place = Place(
            incoming.tenant, conversation, seen(known.messages[-1] if known.messages else None), known.links[-1]
        )

        async def remember(message: AssistantMessage, settings: Settings) -> None:
            kept = within(REMEMBER, self.recall.remember(place, incoming.id, message, bare))
            if incoming.client.name == RESPONSES:
                work = self.responses.keep(incoming.body, incoming.parent, incoming.tenant, message, settings(message))
                report.remembered = all(await asyncio.gather(kept, within(REMEMBER, work)))
            else:
                report.remembered = await kept
            if not report.remembered:
                logger.warning("%s: the answer could not be remembered", incoming.id)

        async def refuse(digests: frozenset[str]) -> None:
            work = self.recall.refuse(known.messages, known.links, incoming.tenant, conversation, digests, bare)
            await within(REMEMBER, work)

        async def cut(model: Model) -> None:
            await within(1.0, self.store.add_cut(incoming.tenant, conversation, member_name(model)))

        policy, strict = self._policy(incoming)
        ask = Ask(
            incoming, reading, targets, situation, report,
            send=send, poster=self._poster, sealer=self.sealer(incoming.tenant), policy=policy,
            strict=strict and send is not None,  # counting loses nothing
            forwards=lambda model: self._forwarded(incoming), remember=remember, refuse=refuse, cut=cut,
        )  # fmt: skip
        return ask, router, reading

    def sealer(self, tenant: str) -> Sealer:
        """The envelopes of a tenant."""
        if tenant not in self._sealers:
            self._sealers[tenant] = Sealer(self._secret, tenant)
        return self._sealers[tenant]

    async def _restore(self, reading: Reading, incoming: Incoming, conversation: str, route: Route) -> None:
        known = reading.known
        found = await self.recall.restore(
            known.messages, known.links, reading.start, incoming.tenant, conversation,
            self.sealer(incoming.tenant), incoming.client.drops_ids,
        )  # fmt: skip
        # A signature without an envelope is the vendor's own: that of the model that was asked for.
        asked = next((each.model for each in route.targets if each.model.protocol == incoming.client.name), None)
        for at, answer in enumerate(found, reading.start):
            if answer is not None and not answer.known and asked is not None and not answer.added:
                message = known.messages[at]
                assert isinstance(message, AssistantMessage)
                known.messages[at] = Origin.of(asked).mark(message)
        known.found += found

    def _choose(
        self, reading: Reading, route: Route, conversation: str, cuts: set[str], report: RequestReport
    ) -> tuple[Situation, Router, list[Target]]:
        """What the router may look at, and the router: a running turn stays with its model."""
        known, targets, router = reading.known, route.targets, route.router
        origins: dict[str, int] = {}
        last: AssistantMessage | None = None
        for message, found in zip(known.messages, known.found, strict=True):
            if found is not None and found.known and isinstance(message, AssistantMessage):
                ref = f"{message.provider}/{message.model}"
                origins[ref] = origins.get(ref, 0) + 1
                last = message
        bound = bound_answer(known.messages, known.found)
        if bound is not None:
            target = self._target_of(bound, route)
            if target is not None:
                report.turn = "bound"
                if target not in targets:
                    targets = [target, *targets]
                    router = Failover([each.model for each in targets], sticky=False)
                bound_model = target.model
        situation = Situation(
            turn=max(known.turn - 1, 0),
            last=None if last is None else next((t.model for t in targets if _is_of(last, t.model)), None),
            origins=origins,
            tokens=guessed(reading),
            conversation=conversation,
            bound=bound_model if report.turn else None,
            avoided=tuple(each.model for each in targets if member_name(each.model) in cuts),
        )
        return situation, router, targets

    def _target_of(self, answer: AssistantMessage, route: Route) -> Target | None:
        """The target that made an answer, even if the route does not have it any more."""
        ref = f"{answer.provider}/{answer.model}"
        found = route.find(answer.endpoint, ref, answer.protocol)
        if found is not None:
            return found
        try:
            other = self.routes.resolve(ref, answer.protocol)
        except (SegueError, ValueError):
            return None
        return other.find(answer.endpoint, ref, answer.protocol)

    def _policy(self, incoming: Incoming) -> tuple[str | None, bool]:
        """The policy of this request. The client cannot weaken the operator's ``strict``."""
        asked = incoming.headers.get("x-segue-policy")
        strict = self.config.gateway.strict or asked == STRICT
        if asked is None or asked == STRICT:
            return self.config.gateway.policy, strict
        if asked not in PRESETS:
            names = ", ".join([*PRESETS, STRICT])
            raise InvalidRequestError(f"x-segue-policy: there is no policy {asked!r}; they are {names}")
        return asked, strict

    def _forwarded(self, incoming: Incoming) -> dict[str, str]:
        return forwarded_headers(incoming.headers, self.config.gateway.forward_credentials)

    # -- counting ----------------------------------------------------------------------------------------------------

    async def count(self, incoming: Incoming) -> tuple[int, bool]:
        """The tokens of a request, and whether the provider has counted them."""
        report = RequestReport(incoming.id, incoming.client.name, incoming.model, incoming.key.name)
        try:
            ask, router, reading = await self.prepare(incoming, report)
            model = router.begin(ask.situation())
            found = ask.reach(model)
            request = ask.request(found.model)
            tokens = await counted(request, found, self._poster)
        except (SegueError, *UNREADABLE) as error:
            raise as_provider_error(error) from None
        self.conversations.put(reading)
        return (round(request.guessed()), False) if tokens is None else (tokens, True)

    # -- asking ------------------------------------------------------------------------------------------------------

    async def answer(self, incoming: Incoming, report: RequestReport, send: Any, gone: Any) -> AssistantMessage | None:
        """Answer a request. ``gone`` waits until the client has disconnected. Return the answer, if there is one."""
        try:
            ask, router, reading = await self.prepare(incoming, report, send)
        except (SegueError, *UNREADABLE) as error:
            await self._send_error(send, incoming.client.name, error, report)
            return None
        work = asyncio.create_task(self._work(ask, router, reading))
        watch = asyncio.create_task(gone())
        watch.add_done_callback(lambda _: work.cancel())
        seconds = self.config.gateway.keepalive
        try:
            with ask.output.kept_alive(seconds, ask.keepalive) if incoming.streams else nullcontext():
                await work
        except asyncio.CancelledError:
            report.status, report.error = GONE, "the client has disconnected"
            if not watch.done():
                raise
            return None
        finally:
            watch.cancel()
            work.cancel()
        report.status = report.status or ask.output.status
        return ask.message if ask.error is None else None

    async def _work(self, ask: Ask, router: Router, reading: Reading) -> None:
        """Ask the members; any failure ends in an answer of the client's protocol."""
        protocol = ask.client.name
        loop: RequestLoop | None = None
        try:
            loop = RequestLoop(router, ask)
            await loop.answer()
            error: Exception | None = ask.error
        except Cut:
            error = None
            ask.report.error = "cut"
        except Unread:
            ask.report.status, ask.report.error = GONE, "the client has not read its answer"
            return
        except Lossy as found:
            self._refuse_losses(ask, found)
            error = None
        except (SegueError, *UNREADABLE) as found:
            error = found
        except Exception:
            logger.exception("%s: internal error", ask.report.id)
            error = NetworkError("the gateway failed; its log has the reason")
        finally:
            self.conversations.put(reading)
            if loop is not None and loop.arriving is not None:
                ask.interrupted(loop.model, loop.arriving)
        if error is not None:
            ask.error = as_provider_error(error)
            ask.report.error = ask.error.kind
            written = write_error(ask.error, protocol)
            ask.refuse(written.status, written.headers, written.json())
        ask.output.end(ask.output.broken)
        await ask.output.flush()

    def _refuse_losses(self, ask: Ask, found: Lossy) -> None:
        losses = "; ".join(dict.fromkeys(f"{each.code}: {each.detail}" for each in found.changes))[:2000]
        ask.error = InvalidRequestError(f"this request would lose something, which is refused here ({losses})")
        ask.report.error = "strict"
        written = write_error(ask.error, ask.client.name, 422)
        ask.refuse(422, written.headers, written.json())

    async def _send_error(self, send: Any, protocol: str, error: Exception, report: RequestReport) -> None:
        failure = as_provider_error(error)
        written = write_error(failure, protocol)
        report.status, report.error = written.status, failure.kind
        await send_whole(send, written.status, {**report.headers(), **written.headers}, written.json())


def as_provider_error(error: Exception) -> ProviderError:
    """A failure as one that all protocols have."""
    if isinstance(error, ProviderError):
        return error
    if isinstance(error, SettingError | SessionError):
        return NetworkError(error.for_shell())
    if isinstance(error, FormatError | ProjectionError | ModelError):
        return InvalidRequestError(error.for_shell())
    return InvalidRequestError(f"the body cannot be read: {error}")


def member_name(model: Model) -> str:
    """The name of a member in the store, which distinguishes accounts."""
    return f"{model.ref} {model.protocol} {model.endpoint or ''}"


def _is_of(answer: AssistantMessage, model: Model) -> bool:
    return Origin.of(answer) == Origin.of(model)


def guessed(reading: Reading) -> int:
    """About how many tokens the request has."""
    from .journal import guessed_tokens

    return guessed_tokens(reading.known.context)
