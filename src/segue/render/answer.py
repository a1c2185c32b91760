"""``Decoder`` and ``decode`` turn the bytes of a provider's answer into events and a message.

They do no I/O, and nothing that a provider sends makes them raise.
"""

from ..types import AssistantMessage
from ..types.codec import UNREADABLE, read_json, read_json_with_surrogates
from ..types.events import Event
from ..types.secret import NO_SECRETS, Secrets
from ..wire import MALFORMED, MAX_FRAME, Answer, BrokenStream, Failure, Frame, Framing, protocol_of
from .clock import current_time
from .request import Request


class Decoder:
    """Decodes the answer to ``request``: feed it bytes in pieces of any size, and close it when they end.

    Streams and whole answers are recognised by how they begin. ``now`` (Unix ms) is the timestamp of the message, by
    default the current time. ``secrets`` are kept out of errors and diagnostics. ``endpoint`` is the fingerprint of the
    endpoint that answers, by default that of the request's model. With ``digests=False`` the message does not get the
    digest of what was sent, for callers that do not store it.
    """

    def __init__(
        self,
        request: Request,
        now: int | None = None,
        secrets: Secrets = NO_SECRETS,
        endpoint: str | None = None,
        digests: bool = True,
    ) -> None:
        model = request.model if endpoint is None else request.model.replace(endpoint=endpoint)
        protocol = protocol_of(model.protocol)
        self._answer = Answer(model, request, current_time() if now is None else now, secrets, digests)
        self._reader = protocol.reader(self._answer)
        self._framing: Framing | None = protocol.framing()
        self._whole = bytearray()
        self._begun = False

    @property
    def message(self) -> AssistantMessage | None:
        """The finished message, once ``done`` or ``error`` was emitted."""
        return self._answer.finished

    @property
    def failure(self) -> Failure | None:
        """Why the answer failed: ``refused``, ``provider`` or ``broken``."""
        return self._answer.failure

    @property
    def partial(self) -> Answer:
        """The answer so far, as on every event."""
        return self._answer

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that ``data`` completes. Bytes after the last event are ignored."""
        if self._answer.finished is None and data:
            try:
                self._feed(data)
            except BrokenStream as error:
                self._answer.break_off(f"the provider's answer cannot be read: {error}")
        return self._new_events()

    def close(self) -> list[Event]:
        """End the answer and return the last events. If it is not complete, the last one is ``error``."""
        if self._answer.finished is None:
            try:
                self._close()
            except BrokenStream as error:
                self._answer.break_off(f"the provider's answer cannot be read: {error}")
        return self._new_events()

    def fail(self, why: str) -> list[Event]:
        """End the answer because of a failure outside it, such as a broken connection. Return the ``error`` event."""
        self._answer.break_off(why)
        return self._new_events()

    def abort(self, why: str = "aborted by the caller") -> list[Event]:
        """End the answer because the caller cancelled it. Return the ``error`` event with ``aborted``."""
        self._answer.abort(why)
        return self._new_events()

    def _feed(self, data: bytes) -> None:
        if not self._begun:
            start = data.lstrip()
            if not start:
                return
            self._begun = True
            if start[:1] in (b"{", b"["):
                self._framing = None
        if self._framing is not None:
            self._read(self._framing.feed(data))
        else:
            self._whole += data
            if len(self._whole) > MAX_FRAME:
                raise BrokenStream(f"an answer of more than {MAX_FRAME:,} bytes")

    def _close(self) -> None:
        if self._framing is not None:
            # The last event may lack its empty line. If it is not valid JSON, the stream was cut off there.
            self._read([frame for frame in self._framing.close() if frame[1] == b"[DONE]" or _is_json(frame[1])])
            self._end(marked=False)
        else:
            self._read_whole(bytes(self._whole))

    def _read(self, frames: list[Frame]) -> None:
        event, answer = self._reader.event, self._answer
        for name, data in frames:
            if answer.finished is not None:
                return
            if data == b"[DONE]":
                self._end(marked=True)
                continue
            if not data:
                continue
            try:
                event(name, read_json_with_surrogates(data))
            except (*UNREADABLE, *MALFORMED) as error:
                self._misread(name, data, error)

    def _end(self, marked: bool) -> None:
        try:
            self._reader.end(marked)
        except MALFORMED as error:
            self._misread(b"", b"[DONE]" if marked else b"", error)

    def _read_whole(self, data: bytes) -> None:
        try:
            body = read_json_with_surrogates(data)
            if isinstance(body, dict):
                self._reader.whole(body)
            else:  # without alt=sse, Gemini streams an array of events
                for item in body:
                    if self._answer.finished is None:  # nothing is emitted after an error
                        self._reader.event(b"", item)
                self._reader.end(marked=False)
        except (*UNREADABLE, *MALFORMED) as error:
            self._misread(b"", data, error)
        self._answer.break_off("the answer is not complete")

    def _misread(self, name: bytes, data: bytes, error: Exception) -> None:
        event, shown = name.decode("utf-8", "replace"), self._answer.secrets.shown(data.decode("utf-8", "replace"), 200)
        self._answer.break_off(f"the provider sent an invalid event ({type(error).__name__}): {event} {shown}")

    def _new_events(self) -> list[Event]:
        events = self._answer.events[:]
        self._answer.events.clear()
        return events


def _is_json(data: bytes) -> bool:
    try:
        read_json(data)
    except UNREADABLE:
        return False
    return True


def decode(data: bytes, request: Request, now: int | None = None) -> AssistantMessage:
    """Decode ``data``, a whole answer to ``request``. A failed answer is also a message, with its error.

    ``now`` (Unix ms) is the timestamp of the message, by default the current time.
    """
    decoder = Decoder(request, now)
    decoder.feed(data)
    decoder.close()
    assert decoder.message is not None
    return decoder.message
