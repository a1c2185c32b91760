"""One connection of a stand-in: HTTP in, the stand-in's word out. Faults happen here."""

from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import ModelError
from .script import Fault, Reply, said
from .voice import Body, Refusal

if TYPE_CHECKING:
    from .standin import StandIn


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Any
    _has_begun = False

    def do_POST(self) -> None:
        standin: StandIn = self.server.standin
        self._has_begun = False
        try:
            self._respond()
        except (ConnectionError, TimeoutError):  # the client has gone
            raise
        except Exception as error:  # noqa: BLE001, a fault of the stand-in or its script, which must be seen
            standin.failures.append(error)
            self.close_connection = True
            if not self._has_begun:  # a status that no client tries again
                self._refuse(standin.voice.invalid(f"the stand-in itself failed: {type(error).__name__}: {error}"))

    def _respond(self) -> None:
        standin: StandIn = self.server.standin
        length = self.headers.get("content-length") or "0"
        if not (length.isascii() and length.isdigit()):
            self.close_connection = True  # where the next request begins is not known
            self._refuse(standin.voice.invalid(f"content-length is not a number: {length}"))
            return
        size = int(length)
        data = self.rfile.read(size)
        if len(data) < size:  # the client is gone, in the middle of its request: there is nobody to answer
            self.close_connection = True
            return
        route = standin.voice.route(self.path.partition("?")[0])
        if route is None:
            self._refuse(Refusal(404, "not_found_error", f"no such path: {self.path}"))
            return
        unproven = standin.proof.refusal(self.path, self.headers, data)
        if unproven is not None:
            self._refuse(unproven)
            return
        try:
            body = msgspec.json.decode(data, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            self._refuse(standin.voice.invalid(f"could not parse the JSON body of the request: {error}"))
            return
        standin.requests.append(body)
        try:
            named = route.model or body.get("model")
            model = standin.model(named if isinstance(named, str) else "")
        except ModelError:
            self._refuse(standin.voice.invalid("model: Field required"))
            return
        streams = bool(body.get("stream")) if route.stream is None else route.stream
        objection = standin.objection(body, model, streams)
        if objection is not None:
            self._refuse(objection)
            return
        bindings = standin.bindings(body, {name.lower(): value for name, value in self.headers.items()}, model)
        if bindings.refused is not None:
            self._refuse(standin.voice.invalid(bindings.refused))
            return
        self._answer(standin.next_answer(body), model, streams, body, bindings.transformed)

    # -- answers -----------------------------------------------------------------------------------------------------

    def _answer(
        self, answer: Reply | Fault, model: Any, streams: bool, asked: Body, transformed: list[Body] | None = None
    ) -> None:
        standin: StandIn = self.server.standin
        fault = answer if isinstance(answer, Fault) else None
        refusal = None if fault is None else standin.voice.faults.get(fault.kind)
        if fault is not None and refusal is not None and refusal.status != 200:
            self._refuse(refusal, fault.retry_after)
            return
        reply = answer if isinstance(answer, Reply) else (answer.reply or _LONG)
        spoken = standin.spoken(reply, model, asked, transformed)
        if not streams:
            self._whole(standin.voice.whole(spoken), fault)
            return
        events = list(standin.voice.events(spoken))
        self._begin(200, standin.voice.content_type)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events if fault is None else self._until(events, fault):
            self._chunk(event)
            if reply.pause and standin.closing.wait(reply.pause):
                break
        if fault is None or not self._spoil(fault):
            self.wfile.write(b"0\r\n\r\n")

    @staticmethod
    def _until(events: list[bytes], fault: Fault) -> Iterator[bytes]:
        """Half of the events: a fault in mid-stream comes after something has arrived."""
        yield from events[: max(1, len(events) // 2)]

    def _spoil(self, fault: Fault) -> bool:
        """The fault itself; whether the connection is gone after it."""
        standin: StandIn = self.server.standin
        voice = standin.voice
        if fault.kind == "error-event":
            self._chunk(voice.error_event(voice.faults["error-event"]))
            return False
        if fault.kind == "broken-json":
            self._chunk(voice.broken_event)
            return False
        if fault.kind == "silence":
            self._wait_for_the_end()
        self.close_connection = True
        return True

    def _wait_for_the_end(self) -> None:
        """Say nothing until the client goes away or the stand-in is stopped."""
        self.connection.settimeout(0.05)
        standin: StandIn = self.server.standin
        while not standin.closing.is_set():
            try:
                if not self.connection.recv(1):
                    return
            except TimeoutError:
                continue
            except OSError:
                return

    def _whole(self, body: Body, fault: Fault | None) -> None:
        data = msgspec.json.encode(body)
        if fault is not None and fault.kind == "silence":
            self._wait_for_the_end()
            self.close_connection = True
            return
        self._begin(200, "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if fault is None:
            self.wfile.write(data)
        elif fault.kind == "broken-json":
            self.wfile.write(data[:-2] + b"  ")
        else:  # cut, or an error that can only come in a stream
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True

    # -- HTTP --------------------------------------------------------------------------------------------------------

    def _begin(self, status: int, content_type: str) -> None:
        standin: StandIn = self.server.standin
        self._has_begun = True
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header(standin.voice.request_id, f"req_{len(standin.requests)}")

    def _refuse(self, refusal: Refusal, retry_after: float | None = None) -> None:
        standin: StandIn = self.server.standin
        standin.refused.append(refusal)
        data = msgspec.json.encode(standin.voice.error(refusal))
        self._begin(refusal.status, "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in standin.voice.error_headers(refusal).items():
            self.send_header(name, value)
        if retry_after is not None:
            self.send_header("retry-after", f"{retry_after:g}")
        self.end_headers()
        self.wfile.write(data)

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def handle(self) -> None:
        with suppress(ConnectionError, TimeoutError):  # a client may go away
            super().handle()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002, the base class calls it so
        """Nothing is logged: a request may hold what nobody should read."""


_LONG = said("One two three four five six seven eight nine ten. " * 4)
