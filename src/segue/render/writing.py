"""``AnswerWriter``, ``write_answer`` and ``write_error`` write answers and errors in a protocol, for servers.

They do no I/O. ``events_of`` makes the events of a finished message, for an answer that did not come as a stream.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from ..errors import ModelError, ProviderError, RefusedError
from ..types import AssistantContent, AssistantMessage, ProviderContent, TextContent, ThinkingContent, ToolCall
from ..types.codec import json_text
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
from ..types.secret import LONGEST_TEXT
from ..types.text import scrub
from ..wire import PROTOCOLS, AnswerForm, Head, StreamWriter, explanation, failure_of, input_of, json_bytes, protocol_of


class AnswerSettings(Struct, frozen=True, kw_only=True):
    """What an answer says besides its content, and how parts of it are written.

    Without a ``model`` and a ``response_id``, they are those of the answer. ``created`` (Unix seconds) is by default
    the time of the answer.
    """

    # The name of the model that the answer shows: the one that the client asked for.
    model: str | None = None
    response_id: str | None = None
    created: int | None = None
    # The request that is answered: some protocols repeat parts of it, or write what it asks for, such as usage.
    request: Mapping[str, Any] = {}
    # An estimate, for protocols that report the tokens of the prompt before the answer.
    input_tokens: int = 0
    # The opaque text for a block of an answer that came in another protocol, in the field for signatures.
    seal: Callable[[AssistantContent], str | None] = lambda block: None
    # The id to hand out for the id of a call.
    call_id: Callable[[str], str] = lambda call_id: call_id


class WrittenAnswer(Struct, frozen=True):
    """A whole answer, or an error: its status, its body, and the headers that belong to it."""

    status: int
    body: dict[str, Any]
    headers: dict[str, str]

    def json(self) -> bytes:
        """The body as bytes."""
        return json_bytes(self.body)


class AnswerWriter:
    """Writes one answer as a stream of ``protocol``: pass it the events, and send the bytes that it returns."""

    def __init__(self, protocol: str, settings: AnswerSettings | None = None) -> None:
        self._protocol = protocol
        self._form = _form(protocol)
        self._settings = settings or AnswerSettings()
        self._writer: StreamWriter | None = None

    @property
    def content_type(self) -> str:
        """The type of the stream."""
        return self._form.content_type

    def write(self, event: Event) -> bytes:
        """The bytes for one event; the last event ends the stream. Bytes may be empty."""
        if self._writer is None:
            self._writer = self._form.writer(_head(self._protocol, self._settings, event.partial.message()))
        return b"".join([self._form.frame(name, data) for name, data in self._writer.write(event)])

    def keepalive(self) -> bytes:
        """Bytes that clients of this protocol ignore, for a connection that would be idle."""
        return self._form.keepalive(None if self._writer is None else self._writer.head)


def write_answer(
    message: AssistantMessage,
    protocol: str,
    settings: AnswerSettings | None = None,
    error: ProviderError | None = None,
) -> WrittenAnswer:
    """Write ``message`` as a whole answer of ``protocol``.

    A failed message is written as an error. ``error`` is the kind of failure, which the client returns beside the
    message; a ``RefusedError`` is an answer with the protocol's stop reason for it.
    """
    form, refused = _form(protocol), isinstance(error, RefusedError)
    if message.failed and not refused:
        failed = failure_of(message, error)
        return _written_error(form, failed.kind, failed.text, error)
    head = _head(protocol, settings or AnswerSettings(), message)
    body = form.whole(head, message, explanation(message) if refused else None)
    return WrittenAnswer(200, body, {"content-type": "application/json"})


def write_error(error: ProviderError, protocol: str, status: int | None = None) -> WrittenAnswer:
    """Write a failure as an error of ``protocol``, with its status and body; ``status`` overrides the status."""
    return _written_error(_form(protocol), error.kind, error.text, error, status)


def _written_error(
    form: AnswerForm, kind: str, text: str, error: ProviderError | None, given: int | None = None
) -> WrittenAnswer:
    status, name = form.errors[kind]
    status = status if given is None else given
    text = scrub(text)[:LONGEST_TEXT]
    if kind == "overflow" and form.overflow not in text:
        text = f"{form.overflow}: {text}"
    headers = {"content-type": "application/json"}
    if error is not None and error.retry_after is not None:
        headers["retry-after"] = f"{max(1, round(error.retry_after))}"
    return WrittenAnswer(status, form.error(status, name, text), headers)


def _form(protocol: str) -> AnswerForm:
    form = protocol_of(protocol).answers
    if form is None:
        written = [name for name in PROTOCOLS if protocol_of(name).answers is not None]
        raise ModelError(f"answers of {protocol} cannot be written; the protocols are {', '.join(written)}")
    return form


def _head(protocol: str, settings: AnswerSettings, message: AssistantMessage) -> Head:
    own = message.protocol == protocol
    return Head(
        id=settings.response_id or _form(protocol).id_of(message, own),
        model=message.response_model or message.model if settings.model is None else settings.model,
        created=message.timestamp // 1000 if settings.created is None else settings.created,
        own=own,
        request=settings.request,
        input_tokens=settings.input_tokens,
        seal=settings.seal,
        call_id=settings.call_id,
    )


# -- the events of a message -----------------------------------------------------------------------------------------


class _Finished:
    """A finished answer, as the ``partial`` of its events."""

    def __init__(self, message: AssistantMessage, failure: Failure | None) -> None:
        self._message = message
        self.failure = failure

    @property
    def content(self) -> list[AssistantContent]:
        return list(self._message.content)

    def message(self) -> AssistantMessage:
        return self._message

    def item_id(self, index: int) -> str | None:
        return None  # the signatures have it


_EVENTS: dict[type[AssistantContent], tuple[Callable[..., Event], Callable[..., Event], Callable[..., Event]]] = {
    TextContent: (TextStart, TextDelta, TextEnd),
    ThinkingContent: (ThinkingStart, ThinkingDelta, ThinkingEnd),
    ToolCall: (ToolCallStart, ToolCallDelta, ToolCallEnd),
    ProviderContent: (ProviderStart, ToolCallDelta, ProviderEnd),  # it has no deltas
}


def events_of(
    message: AssistantMessage, error: ProviderError | None = None, size: int | None = None
) -> Iterator[Event]:
    """The events of a finished message, as if it were streamed: one delta per block, or several of ``size`` characters.

    ``error`` is the failure of a message that failed.
    """
    refused = isinstance(error, RefusedError)
    partial = _Finished(message, "refused" if refused else "provider" if message.failed else None)
    yield Start(partial)
    for index, block in enumerate(message.content):
        start, delta, end = _EVENTS[type(block)]
        yield start(index, partial)
        text = _text_of(block)
        for at in range(0, len(text), size or len(text) or 1):
            yield delta(index, text[at : at + size] if size else text, partial)
        yield end(index, block, partial)
    yield Error(message, partial, error) if message.failed else Done(message, partial)


def _text_of(block: AssistantContent) -> str:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, ThinkingContent):
        return block.thinking
    if isinstance(block, ProviderContent):
        return ""
    return input_of(block) if block.kind == "custom" else json_text(block.arguments)
