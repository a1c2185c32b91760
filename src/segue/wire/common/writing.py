"""Write answers: canonical events become the stream of a protocol, and a message its whole answer.

A ``StreamWriter`` follows the events of one answer. Most protocols stream one block after the other, so it writes one
at a time: text and thinking give way to the next block, and continue in a new block if more of them arrives; what
arrives during a call waits for its end. A protocol implements how a block begins, grows and ends, and how the answer
does.
"""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, ClassVar, Literal

import msgspec
from msgspec import Struct

from ...errors import ProviderError, RefusedError
from ...types import AssistantContent, AssistantMessage, StopReason, ToolCall
from ...types.codec import json_text
from ...types.events import (
    Done,
    Error,
    Event,
    Partial,
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
from ...types.text import scrub_json
from .arguments import Mender
from .dataurl import to_builtins, to_json
from .seals import signature_of

Body = dict[str, Any]
Frame = tuple[str, Any]
"""One event of a stream before it is written: its name, or an empty string, and its data."""
BlockEvent = (
    TextStart
    | TextDelta
    | TextEnd
    | ThinkingStart
    | ThinkingDelta
    | ThinkingEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | ProviderStart
    | ProviderEnd
)
Kind = Literal["text", "thinking", "call"]
Stops = Mapping[StopReason, str]
"""The protocol's word for each stop reason."""


class Head(Struct, frozen=True, kw_only=True):
    """What an answer says besides its content."""

    id: str
    model: str
    # Unix seconds.
    created: int
    # Whether the answer came in this protocol, so that its signatures have this protocol's form.
    own: bool
    # The request that is answered: some protocols repeat parts of it, or write what it asks for.
    request: Mapping[str, Any] = {}
    # An estimate, for protocols that report the tokens of the prompt before the answer.
    input_tokens: int = 0
    # The opaque text for a block of another protocol, in the field where this protocol has its signature.
    seal: Callable[[AssistantContent], str | None] = lambda block: None
    # The id to hand out for the id of a call.
    call_id: Callable[[str], str] = lambda call_id: call_id

    def signature(self, block: AssistantContent) -> str | None:
        """The signature to write for a block."""
        return signature_of(block) if self.own else self.seal(block)

    def derived_id(self, prefix: str, number: int) -> str:
        """An id for the block with this number, in the form of the protocol."""
        return prefix + digest(f"{self.id}:{number}", 24)


class Failed(Struct, frozen=True):
    """A failure: the kind of its ``ProviderError``, and its text."""

    kind: str
    text: str


class AnswerForm(Struct, frozen=True, kw_only=True):
    """How answers are written in a protocol: the inverse of its reader."""

    # The prefix of an answer's id.
    id_prefix: str
    writer: Callable[[Head], "StreamWriter"]
    # The whole answer. A refusal has its explanation, which may be empty; otherwise it is None.
    whole: Callable[[Head, AssistantMessage, str | None], Body]
    # The bytes of a frame, and bytes that keep a connection open and that clients ignore.
    frame: Callable[[str, Any], bytes]
    keepalive: Callable[[Head | None], bytes]
    content_type: str = "text/event-stream"
    # The status and the provider's name for each kind of failure (`ProviderError.kind`), and the body of an error with
    # this status, name and text.
    errors: Mapping[str, tuple[int, str]]
    error: Callable[[int, str, str], Body]
    # The words by which clients recognise that a conversation is too long, before the text of the failure.
    overflow: str

    def id_of(self, message: AssistantMessage, own: bool) -> str:
        """The id of an answer: its own in its own protocol, otherwise one in this form that is derived from it."""
        if own and message.response_id:
            return message.response_id
        known = [message.provider, message.model, message.endpoint, message.response_id, message.timestamp]
        return self.id_prefix + digest(json_text(known), 24)


class StreamWriter:
    """Writes one answer as a stream."""

    one_at_a_time: ClassVar[bool] = True
    """Whether a block must end before the next one begins."""

    def __init__(self, head: Head) -> None:
        self.head = head
        self.frames: list[Frame] = []
        self._partial: Partial | None = None  # the answer so far
        self._open: dict[int, int] = {}  # the number of each open block, by its index in the answer
        self._known: dict[int, int] = {}  # the last number of each block that has been written, at least in part
        self.continued: set[int] = set()  # the numbers of blocks that continue an earlier one
        self.item_id: str | None = None  # the provider's id of the block that begins
        self.is_cut = False  # whether the blocks that end now are cut off, rather than giving way to another one
        self._written = 0
        self._call: int | None = None  # the call that other blocks wait for
        self._waiting: list[BlockEvent] = []
        self._menders: dict[int, Mender] = {}  # of open calls
        self._held: dict[int, list[str]] = {}  # arguments of calls whose id or name has not arrived

    def write(self, event: Event) -> list[Frame]:
        """The frames for one event."""
        if self._partial is None:
            self._partial = event.partial
            self.begin(event.partial.message())
        if isinstance(event, Done | Error):
            self._end(event)
        elif not isinstance(event, Start):
            self._block(event)
        frames, self.frames = self.frames, []
        return frames

    # -- implemented by protocols ------------------------------------------------------------------------------------

    def begin(self, message: AssistantMessage) -> None:
        """Begin the answer; ``message`` is what is known of it."""
        raise NotImplementedError

    def holds(self, block: AssistantContent) -> bool:
        """Whether the protocol has a form for a block; otherwise it is left out."""
        return True

    def open(self, number: int, block: AssistantContent) -> None:
        """Begin a block. Its text or its arguments follow; a signature may be known already."""
        raise NotImplementedError

    def add(self, number: int, kind: Kind, delta: str) -> None:
        """Add text to an open block, or JSON text to the arguments of a call."""
        raise NotImplementedError

    def close(self, number: int, block: AssistantContent | None) -> None:
        """End a block; ``None``: it gave way to another one, or was cut off (``is_cut``)."""

    def free_text(self, call: ToolCall) -> str:
        """The arguments of a free-text call: JSON, where the protocol has only functions."""
        return to_json(call.arguments).decode()

    def late(self, number: int, block: AssistantContent) -> None:
        """Use what only the end of a block has, such as a signature, if the block gave way to another one."""

    def end(self, message: AssistantMessage, refusal: str | None) -> None:
        """Complete the answer. ``refusal`` is the explanation of a refusal, if it is one."""
        raise NotImplementedError

    def fail(self, message: AssistantMessage, failed: Failed) -> None:
        """End an answer that failed."""
        raise NotImplementedError

    # -- the order of blocks -----------------------------------------------------------------------------------------

    def _block(self, event: BlockEvent) -> None:
        index = event.index
        if self._call is not None and self._call != index and self.one_at_a_time:
            self._waiting.append(event)
        elif isinstance(event, ToolCallStart):
            self._start_call(event)
        elif isinstance(event, TextDelta | ThinkingDelta | ToolCallDelta):
            self._delta(event)
        elif isinstance(event, TextEnd | ThinkingEnd | ToolCallEnd | ProviderEnd):
            self._finish(index, event.block)

    def _start_call(self, event: ToolCallStart) -> None:
        """Begin a call if its id and name are known; otherwise it is held until its end. So is a free-text call: its
        deltas are text or JSON, whatever its provider has."""
        self._call = event.index
        block = event.partial.content[event.index]
        if isinstance(block, ToolCall) and block.id and block.name and block.kind != "custom":
            self._begin_block(event.index, block)

    def _delta(self, event: TextDelta | ThinkingDelta | ToolCallDelta) -> None:
        index, delta = event.index, event.delta
        if isinstance(event, ToolCallDelta):
            self._add_arguments(index, self._menders.setdefault(index, Mender()).feed(delta))
            return
        if index not in self._open:
            self._begin_block(index, event.partial.content[index])
        if index in self._open:
            self.add(self._open[index], "text" if isinstance(event, TextDelta) else "thinking", delta)

    def _add_arguments(self, index: int, arguments: str) -> None:
        if index not in self._open:
            self._held.setdefault(index, []).append(arguments)
        elif arguments:
            self.add(self._open[index], "call", arguments)

    def _finish(self, index: int, block: AssistantContent) -> None:
        if index not in self._open:
            if index in self._known:
                self.late(self._known[index], block)
            else:
                self._begin_block(index, block)
        if isinstance(block, ToolCall):
            self._finish_arguments(index, block)
        if index in self._open:
            self.close(self._open.pop(index), block)
        if self._call == index:
            self._call = None
            self._resume()

    def _finish_arguments(self, index: int, call: ToolCall) -> None:
        """Write what is left of the arguments; a call without any has an empty object."""
        mender, held = self._menders.pop(index, None), "".join(self._held.pop(index, ()))
        if call.kind == "custom":
            self._add_arguments(index, self.free_text(call))
        elif mender is None:
            self._add_arguments(index, "{}")
        else:
            self._add_arguments(index, held + mender.close())

    def _begin_block(self, index: int, block: AssistantContent) -> None:
        if not self.holds(block):
            return
        if self.one_at_a_time:
            self._close_all()
        self._open[index] = self._written
        if index in self._known:
            self.continued.add(self._written)
        self._known[index] = self._written
        self._written += 1
        self.item_id = None if self._partial is None else self._partial.item_id(index)
        self.open(self._open[index], block)

    def _close_all(self) -> None:
        for number in self._open.values():
            self.close(number, None)
        self._open.clear()

    def _cut_all(self) -> None:
        """End the blocks whose end never arrived."""
        self.is_cut = True
        self._close_all()
        self.is_cut = False

    def _resume(self) -> None:
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            self._block(event)

    def _end(self, event: Done | Error) -> None:
        while self._waiting:  # only after an error: the call that they wait for has no end
            self._cut_all()
            self._call = None
            self._resume()
        self._cut_all()
        refusal = refusal_in(event)
        if isinstance(event, Done) or refusal is not None:
            self.end(event.message, refusal)
        else:
            self.fail(event.message, failure_of(event.message, event.error))


def refusal_in(event: Done | Error) -> str | None:
    """The explanation of a refusal, which may be empty; ``None`` if the answer is not a refusal."""
    if isinstance(event, Done):
        return None
    is_refusal = event.partial.failure == "refused" if event.error is None else isinstance(event.error, RefusedError)
    return explanation(event.message) if is_refusal else None


def explanation(message: AssistantMessage) -> str:
    """The text after the provider's stop reason, such as ``refusal: …``."""
    return (message.error_message or "").partition(": ")[2]


def failure_of(message: AssistantMessage, error: ProviderError | None) -> Failed:
    """The failure of an answer. Without an ``error``, the provider failed."""
    if error is not None:
        return Failed(error.kind, error.text)
    return Failed("server", message.error_message or "the answer was not completed")


def sse(name: str, data: Any) -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + json_line(data) + b"\n\n"


def json_line(data: Any) -> bytes:
    """JSON on one line, also for clients that split lines at every line break of Unicode, such as google-genai 3.1.0
    (``iter_lines`` of its HTTP client, 2026-11)."""
    line = json_bytes(data)
    for character, escape in _LINE_BREAKS:
        if character in line:
            line = line.replace(character, escape)
    return line


_LINE_BREAKS = [(character.encode(), f"\\u{ord(character):04x}".encode()) for character in "\x85\u2028\u2029"]


def json_bytes(data: Any) -> bytes:
    """JSON, without lone surrogates."""
    try:
        return msgspec.json.encode(data)
    except UnicodeEncodeError:
        return msgspec.json.encode(scrub_json(to_builtins(data)))


def written_arguments(streamed: str, call: ToolCall) -> str:
    """The arguments of a call as JSON text: as they were streamed, unless they had to be repaired."""
    try:
        if msgspec.json.decode(streamed) == call.arguments:
            return streamed
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    return to_json(call.arguments).decode()


def input_of(call: ToolCall) -> str:
    """The text of a free-text call."""
    text = call.arguments.get("input")
    return text if isinstance(text, str) else to_json(call.arguments).decode()


def digest(text: str, length: int) -> str:
    """``length`` hex digits that depend on ``text`` only."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=length // 2).hexdigest()


def split_usage(message: AssistantMessage) -> tuple[int, int]:
    """The tokens of the prompt, cached or not, and of the answer."""
    usage = message.usage
    return usage.input + usage.cache_read + usage.cache_write, usage.output


def stop_of(message: AssistantMessage) -> StopReason:
    """The stop reason to write. Clients run the calls of an answer that stopped for them, so an answer with a call that
    must not run has reached its limit instead."""
    if message.stop_reason == "toolUse" and len(message.runnable_calls) < len(message.tool_calls):
        return "length"
    return message.stop_reason
