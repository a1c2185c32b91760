"""An answer as it grows: decoders write to it, and consumers see it as ``event.partial``.

A decoder opens blocks, adds deltas, and reports how the answer ended. This module does the rest for all protocols:
events, ids, the stored names of tools, the arguments of calls, and the finished message.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from msgspec.structs import replace

from ...dialects import ID_SHAPES, fresh_id
from ...projection import with_upstream
from ...types import (
    AssistantContent,
    AssistantMessage,
    Diagnostic,
    Message,
    Model,
    ProviderContent,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolKey,
    ToolKind,
    Usage,
)
from ...types.codec import json_text
from ...types.events import (
    Done,
    Error,
    Event,
    Failure as Failure,
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
from ...types.secret import NO_SECRETS, Secrets
from ...types.text import REPLACEMENT, scrub, scrub_json
from .arguments import Reading, read_arguments, read_so_far

StopWords = Mapping[str, StopReason]
"""The stop reason for each word of a provider. An unknown word means `stop`, with a diagnostic."""


def _text(value: str) -> str:
    if type(value) is not str:
        raise TypeError(f"expected text, not {type(value).__name__}")
    return scrub(value)


CUT = "the stream ended before the answer was complete"
_HIGH = ("\ud800", "\udbff")  # range of the first half of a surrogate pair


class Draft:
    """A block as it grows. Anything but text is refused immediately, so a block can always be built.

    Servers that slice strings by UTF-16 units may send the halves of a character in two deltas. A half at the end of a
    delta is held back until the other half arrives; deltas and blocks contain whole characters only.
    """

    _start: ClassVar[Callable[..., Event]]
    _delta: ClassVar[Callable[..., Event]]
    _end: ClassVar[Callable[..., Event]]

    __slots__ = (
        "_answer",
        "_block",
        "_chunks",
        "_emit",
        "_half",
        "_halved",
        "_join",
        "index",
        "item_id",
        "open",
        "signed",
    )

    def __init__(self, answer: "Answer", signature: str | None) -> None:
        self._answer = answer
        self._chunks: list[str] = []
        self._block: AssistantContent | None = None
        self._emit = answer.events.append
        self._half = ""  # the first half of a character
        self._halved = False  # whether a half was replaced
        self.signed: list[str] = []  # the pieces of the signature
        self._join: Callable[[list[str]], str] = "".join
        self.sign(signature)
        self.open = True
        self.index = len(answer.blocks)
        self.item_id: str | None = None
        answer.blocks.append(self)
        self._emit(self._start(self.index, answer))

    def add(self, delta: str) -> None:
        """Add text to the block, or JSON text to the arguments of a call."""
        if delta:
            if type(delta) is not str:
                raise TypeError(f"expected text, not {type(delta).__name__}")
            if self._half or not delta.isascii():
                delta = self._whole(delta)
            if delta:
                self._chunks.append(delta)
                self._block = None
                self._emit(self._delta(self.index, delta, self._answer))

    def _whole(self, delta: str) -> str:
        """The whole characters of the held half and ``delta``; a half at the end is held back."""
        if not self._half and scrub(delta) is delta:
            return delta
        text, self._half = self._half + delta, ""
        if _HIGH[0] <= text[-1] <= _HIGH[1]:
            text, self._half = text[:-1], text[-1]
        return self._scrubbed(text)

    def _scrubbed(self, text: str) -> str:
        clean = scrub(text)
        if clean is not text and clean.count(REPLACEMENT) > text.count(REPLACEMENT) and not self._halved:
            self._halved = True
            why = "half of a character arrived without the other half and was replaced"
            self._answer.note("half-character", why, {"block": self.index})
        return clean

    def pop_half(self) -> str:
        """Return the held half and forget it, for a block that continues this one."""
        half, self._half = self._half, ""
        return half

    def complete(self, text: str, differs: tuple[str, str]) -> None:
        """Set the whole text of the block, as the provider sends it at the end. It overrides the deltas.

        If it only continues the deltas, the rest becomes one more delta. If it differs from them, only the end event
        has it, and the diagnostic ``differs`` is added.
        """
        self._half = ""
        text, so_far = self._scrubbed(text), self.so_far
        if text.startswith(so_far):
            self.add(text[len(so_far) :])
        else:
            self._chunks[:] = [text]
            self._block = None
            self._answer.note(*differs, {"block": self.index})

    @property
    def signature(self) -> str | None:
        """The signature so far."""
        if len(self.signed) > 1:
            self.signed[:] = [self._join(self.signed)]
        return self.signed[0] if self.signed else None

    def sign(self, signature: str | None) -> None:
        """Set the signature."""
        if signature:
            self.signed[:] = [_text(signature)]
            self._block = None

    def sign_more(self, piece: str, join: Callable[[list[str]], str] = "".join) -> None:
        """Add a piece of the signature; ``join`` joins the pieces when the signature is read."""
        if piece:
            self.signed.append(_text(piece))
            self._join = join
            self._block = None

    @property
    def so_far(self) -> str:
        """The text so far."""
        if len(self._chunks) > 1:
            self._chunks[:] = ["".join(self._chunks)]
        return self._chunks[0] if self._chunks else ""

    @property
    def has_text(self) -> bool:
        """Whether there is any text so far."""
        return bool(self._chunks)

    def end(self) -> None:
        """End the block."""
        if self.open:
            if self._half:  # the other half never arrived
                self.add(self._scrubbed(self.pop_half()))
            self._block = None
            self.open = False
            self._emit(self._end(self.index, self.block(), self._answer))

    def block(self) -> AssistantContent:
        """The canonical block so far."""
        if self._block is None:
            self._block = self._build()
        return self._block

    def _build(self) -> AssistantContent:
        raise NotImplementedError


class TextDraft(Draft):
    __slots__ = ()
    _start, _delta, _end = TextStart, TextDelta, TextEnd

    def _build(self) -> TextContent:
        return TextContent(self.so_far, self.signature)


class ThinkingDraft(Draft):
    __slots__ = ("redacted",)
    _start, _delta, _end = ThinkingStart, ThinkingDelta, ThinkingEnd

    def __init__(self, answer: "Answer", signature: str | None, redacted: bool) -> None:
        self.redacted = redacted
        super().__init__(answer, signature)

    def _build(self) -> ThinkingContent:
        return ThinkingContent(self.so_far, self.signature, self.redacted)


class CallDraft(Draft):
    """A call as it grows. Decoders may set ``id``, ``name``, ``kind`` and ``namespace`` late; ``ordinal`` is its number
    among the calls. Of a free-text call, the deltas are its text."""

    __slots__ = ("id", "kind", "name", "namespace", "ordinal", "reading")
    _start, _delta, _end = ToolCallStart, ToolCallDelta, ToolCallEnd

    def __init__(self, answer: "Answer", signature: str | None, call_id: str, name: str, ordinal: int) -> None:
        self.id = call_id
        self.name = name
        self.kind: ToolKind | None = None
        self.namespace: str | None = None
        self.ordinal = ordinal
        self.reading: Reading = "strict"
        super().__init__(answer, signature)

    def whole(self, arguments: Any) -> None:
        """Add all arguments, as an object or as JSON text."""
        if arguments is not None:
            self.add(arguments if isinstance(arguments, str) else json_text(arguments))

    def end(self) -> None:
        if self.open and not self.id:
            self.id = self._answer.fresh_id(self)
        super().end()

    def _build(self) -> ToolCall:
        call_id, name = scrub(str(self.id)), scrub(str(self.name))
        kind, namespace = self.kind, self.namespace and scrub(self.namespace)
        if known := self._answer.names.get(name):
            name, kind, namespace = known.name, known.kind or kind, known.namespace or namespace
        if self.open:
            return ToolCall(call_id, name, self._so_far(), self.signature, kind, namespace)
        arguments = self._arguments()
        return ToolCall(call_id, name, arguments, self.signature, kind, namespace)

    def _so_far(self) -> dict[str, Any]:
        return {"input": self.so_far} if self.kind == "custom" else read_so_far(self.so_far)

    def _arguments(self) -> dict[str, Any]:
        if self.kind == "custom":
            return {"input": self.so_far}
        arguments, self.reading = read_arguments(self.so_far)
        return arguments


class ProviderDraft(Draft):
    """A block that only its provider can read back. It has no deltas: ``raw`` is set whole. ``text`` is what a person
    would read of it."""

    __slots__ = ("kind", "raw", "text")
    _start, _end = ProviderStart, ProviderEnd

    def __init__(self, answer: "Answer", kind: str, raw: Any, text: str) -> None:
        self.kind = kind
        self.raw = raw
        self.text = text
        super().__init__(answer, None)

    def set(self, raw: Any, text: str) -> None:
        """Replace the block and its text."""
        self.raw, self.text, self._block = raw, text, None

    def _build(self) -> ProviderContent:
        return ProviderContent(json_text(self.raw), scrub(str(self.kind)), scrub(self.text))


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
        return [block.block() for block in self.blocks]

    def item_id(self, index: int) -> str | None:
        """The provider's id of a block, if it has sent one before the end of the block."""
        return self.blocks[index].item_id

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
