"""The blocks of an answer as they grow: text and pieces in, events and finished blocks out."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

from ...types import (
    AssistantContent,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolKey,
    ToolKind,
)
from ...types.codec import json_text
from ...types.events import (
    Event,
    ProviderEnd,
    ProviderStart,
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
from ...types.text import REPLACEMENT, scrub
from .arguments import Reading, read_arguments, read_so_far

_HIGH = ("\ud800", "\udbff")  # range of the first half of a surrogate pair


class Growing(Protocol):
    """The parts of an answer that its blocks use."""

    events: list[Event]
    blocks: "list[Draft]"
    names: Mapping[str, ToolKey]

    def note(self, kind: str, message: str, details: dict[str, Any] | None = None) -> None:
        """Add a diagnostic."""

    def fresh_id(self, call: "CallDraft") -> str:
        """An id for a call without one."""
        raise NotImplementedError


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
        "length",
        "open",
        "signed",
    )

    def __init__(self, answer: Growing, signature: str | None) -> None:
        self._answer = answer
        self._chunks: list[str] = []
        self.length = 0  # of the text so far
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
        if not delta:
            return
        if type(delta) is not str:
            raise TypeError(f"expected text, not {type(delta).__name__}")
        if (self._half or not delta.isascii()) and not (delta := self._whole(delta)):
            return
        self._chunks.append(delta)
        self.length += len(delta)
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
            self.length = len(text)
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

    def __init__(self, answer: Growing, signature: str | None, redacted: bool) -> None:
        self.redacted = redacted
        super().__init__(answer, signature)

    def _build(self) -> ThinkingContent:
        return ThinkingContent(self.so_far, self.signature, self.redacted)


class CallDraft(Draft):
    """A call as it grows. Decoders may set ``id``, ``name``, ``kind`` and ``namespace`` late; ``ordinal`` is its number
    among the calls. Of a free-text call, the deltas are its text."""

    __slots__ = ("id", "kind", "name", "namespace", "ordinal", "reading")
    _start, _delta, _end = ToolCallStart, ToolCallDelta, ToolCallEnd

    def __init__(self, answer: Growing, signature: str | None, call_id: str, name: str, ordinal: int) -> None:
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

    def __init__(self, answer: Growing, kind: str, raw: Any, text: str) -> None:
        self.kind = kind
        self.raw = raw
        self.text = text
        super().__init__(answer, None)

    def set(self, raw: Any, text: str) -> None:
        """Replace the block and its text."""
        self.raw, self.text, self._block = raw, text, None

    def _build(self) -> ProviderContent:
        return ProviderContent(json_text(self.raw), scrub(str(self.kind)), scrub(self.text))


def _text(value: str) -> str:
    if type(value) is not str:
        raise TypeError(f"expected text, not {type(value).__name__}")
    return scrub(value)
