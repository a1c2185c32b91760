"""An answer as it grows: decoders write to it, and consumers see it as ``event.partial``.

A decoder opens blocks (``drafts.py``), adds deltas, and reports how the answer ended. This module does the rest for all
protocols: ids, usage, diagnostics, and the finished message.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec.structs import replace

from ...dialects import ID_SHAPES, fresh_id
from ...projection import with_upstream
from ...types import (
    AssistantContent,
    AssistantMessage,
    Diagnostic,
    Message,
    Model,
    StopReason,
    ToolCall,
    ToolKey,
    Usage,
)
from ...types.events import Done, Error, Event, Failure as Failure, Start
from ...types.secret import NO_SECRETS, Secrets
from ...types.text import scrub, scrub_json
from .arguments import Reading
from .drafts import CallDraft, Draft, ProviderDraft, TextDraft, ThinkingDraft

StopWords = Mapping[str, StopReason]
"""The stop reason for each word of a provider. An unknown word means `stop`, with a diagnostic."""

CUT = "the stream ended before the answer was complete"

_READINGS: dict[Reading, str] = {
    "repaired": "the arguments were not JSON and have been repaired",
    "truncated": "the arguments break off and have been completed: the call must not run",
    "unreadable": "the arguments cannot be read: the call must not run",
}
_COUNTS = ("input", "output", "cache_read", "cache_write", "total_tokens", "cache_write_long")


class SentRequest(Protocol):
    """The parts of a request that its answer needs."""

    @property
    def names(self) -> Mapping[str, ToolKey]:
        """The stored tool for each rendered name, where they differ."""

    @property
    def messages(self) -> Sequence[Message]:
        """The rendered messages."""

    def prefix_digest(self) -> str:
        """A digest of everything that was sent."""


class Answer:
    """The answer of ``model`` to a request, at ``now`` (Unix ms).

    ``secrets`` are removed from everything that the provider sends besides the content. With ``digests`` the message
    has the digest of what was sent.
    """

    def __init__(
        self,
        model: Model,
        request: SentRequest | None = None,
        now: int = 0,
        secrets: Secrets = NO_SECRETS,
        digests: bool = True,
    ) -> None:
        self.model = model
        self.secrets = secrets
        self.names: Mapping[str, ToolKey] = {} if request is None else request.names
        self.events: list[Event] = []
        self.blocks: list[Draft] = []
        self._item_ids: list[str | None] = []  # of the blocks of a finished answer
        self._usage: Usage | None = None
        self.response_id: str | None = None
        self.response_model: str | None = None
        self.upstream: str | None = None  # behind a router
        self._service_tier: str | None = None
        self.finished: AssistantMessage | None = None
        self.failure: Failure | None = None
        self._request = request
        self._digests = digests
        self._now = now
        self._diagnostics: list[Diagnostic] = []
        self._left_out: set[str] = set()
        self._begun = False
        self._calls = 0
        self._calls_before: int | None = None  # calls in the conversation; counted when first needed

    # -- for decoders -----------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Emit ``start``, on the first call only."""
        if not self._begun:
            self._begun = True
            self.events.append(Start(self))

    def text(self, signature: str | None = None) -> TextDraft:
        """Open a text block."""
        self.begin()
        return TextDraft(self, signature)

    def thinking(self, signature: str | None = None, redacted: bool = False) -> ThinkingDraft:
        """Open a thinking block; with ``redacted``, the signature is its encrypted payload."""
        self.begin()
        return ThinkingDraft(self, signature, redacted)

    def call(self, call_id: str | None = None, name: str | None = None, signature: str | None = None) -> CallDraft:
        """Open a call."""
        self.begin()
        draft = CallDraft(self, signature, call_id or "", name or "", self._calls)
        self._calls += 1
        return draft

    def provider(self, kind: str, raw: Any, text: str = "") -> ProviderDraft:
        """Open a block that only the provider can read back. ``raw`` is JSON as Python values."""
        self.begin()
        return ProviderDraft(self, kind, raw, text)

    @property
    def usage(self) -> Usage | None:
        """The tokens so far, without their cost; ``None`` if the provider has not reported any."""
        return self._usage

    @usage.setter
    def usage(self, usage: Usage) -> None:
        counts = {name: int(getattr(usage, name)) for name in _COUNTS}
        if max(counts.values()) >= 2**53:
            raise ValueError("more tokens than can be counted")
        self._usage = replace(usage, **counts)

    def served(self, tier: object) -> None:
        """Record the provider's word for how the request was processed, if it reports one; it decides the prices."""
        if isinstance(tier, str) and tier:
            self._service_tier = self._shown(tier.lower())

    def note(self, kind: str, message: str, details: dict[str, Any] | None = None) -> None:
        """Add a diagnostic for a problem that did no harm."""
        details = None if details is None else scrub_json(details)
        self._diagnostics.append(Diagnostic(kind, self._now, scrub(self.secrets.shown(message)), details))

    def left_out(self, what: str) -> None:
        """Add a diagnostic for content that a message cannot hold, one for each kind."""
        if what not in self._left_out:
            self._left_out.add(what)
            self.note("content-left-out", f"a message cannot hold {what}")

    def finish(self, word: str | None, words: StopWords, why: str = "") -> None:
        """Complete the answer. ``word`` is the provider's stop reason; ``why`` is its explanation, if any."""
        if self.finished is not None:
            return
        stop = words.get(str(word)) if word is not None else "stop"
        if stop is None:
            self.note("unknown-stop-reason", f"unknown stop reason: {word}")
            stop = "stop"
        if stop == "error":
            self.failure = "refused"
            self._end(stop, f"{word}: {why}" if why else word)
            return
        for block in self.blocks:
            block.end()
        calls = [block for block in self.blocks if type(block) is CallDraft]
        if stop in ("stop", "toolUse"):
            stop = "toolUse" if calls else "stop"
        self._end(stop, None)

    def fail(self, why: str) -> None:
        """End the answer because the provider reported a failure. Blocks so far are kept."""
        self.failure = self.failure or "provider"
        self._end("error", why)

    def break_off(self, why: str = CUT) -> None:
        """End the answer because the stream broke. Blocks so far are kept."""
        self.failure = self.failure or "broken"
        self._end("error", why)

    def abort(self, why: str) -> None:
        """End the answer because the caller stopped reading. Blocks so far are kept."""
        self._end("aborted", why)

    # -- for consumers -----------------------------------------------------------------------------------------------

    @property
    def content(self) -> list[AssistantContent]:
        """The blocks so far."""
        return [block.block() for block in self.blocks] if self.finished is None else self.finished.content

    def item_id(self, index: int) -> str | None:
        """The provider's id of a block, if it has sent one before the end of the block."""
        return self.blocks[index].item_id if self.finished is None else self._item_ids[index]

    def message(self) -> AssistantMessage:
        """The answer as a message. Until it is finished, the message is an aborted one."""
        return self._message("aborted", "not finished") if self.finished is None else self.finished

    # -- internal ----------------------------------------------------------------------------------------------------

    def fresh_id(self, call: CallDraft) -> str:
        """An id for a call without one, derived from position and content, in the form of the model's dialect."""
        before = call.ordinal
        sent: Sequence[Message] = [] if self._request is None else self._request.messages
        form = self.model.dialect.id_form
        if ID_SHAPES[form].counted:  # counted over the whole conversation
            if self._calls_before is None:
                self._calls_before = sum(type(block) is ToolCall for message in sent for block in message.content)
            return ID_SHAPES[form].counted_id(call.name, self._calls_before + before)
        return fresh_id(scrub(f"{len(sent)}:{before}:{call.name}:{call.so_far}"), form)

    def _end(self, stop: StopReason, why: str | None) -> None:
        if self.finished is not None:
            return
        self.begin()
        self.finished = self._message(stop, why)
        # The drafts refer to the answer, and would keep it and its request until the garbage collector runs.
        self._item_ids = [block.item_id for block in self.blocks]
        self.blocks = []
        kind = Error if self.finished.failed else Done
        self.events.append(kind(self.finished, self))

    def _message(self, stop: StopReason, why: str | None) -> AssistantMessage:
        usage = replace(self.usage or Usage(), service_tier=self._service_tier)
        cost = None if self.usage is None else self.model.cost.of(usage)
        digest = self._request.prefix_digest() if self._request is not None and self._digests else None
        return replace(
            AssistantMessage.start(self.model, self._now),
            content=self.content,
            usage=replace(usage, cost=cost),
            stop_reason=stop,
            endpoint=with_upstream(self.model.endpoint, self._shown(self.upstream)),
            response_id=self._shown(self.response_id),
            response_model=self._shown(self.response_model),
            error_message=self._shown(why),
            diagnostics=[*self._diagnostics, *self._about_calls()],
            prefix_digest=digest,
        )

    def _shown(self, value: Any) -> str | None:
        """A text of the provider that is not content, without secrets."""
        return scrub(self.secrets.shown(str(value))) if value else None

    def _about_calls(self) -> list[Diagnostic]:
        found: list[Diagnostic] = []
        for block in self.blocks:
            if type(block) is not CallDraft:
                continue
            reading = "truncated" if block.open else block.reading
            if reading != "strict":
                details = {"block": block.index, "arguments": block.so_far}
                found.append(Diagnostic(f"arguments-{reading}", self._now, _READINGS[reading], details))
            if not block.name:
                found.append(
                    Diagnostic("call-without-name", self._now, "the call does not name a tool", {"block": block.index})
                )
        return found
