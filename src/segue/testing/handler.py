"""The HTTP handler of a stand-in: it reads requests, sends answers and refusals, and produces faults."""

from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import ModelError
from ..types.text import whole_number
from .script import Fault, Reply, text_reply
from .voice import Body, Refusal, Route

if TYPE_CHECKING:
    from .standin import StandIn


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Any
    _has_begun = False

    def do_POST(self) -> None:
        standin: StandIn = self.server.standin
        self._has_begun = False
        try:
            self._respond()
        except (ConnectionError, TimeoutError):  # the client has disconnected
            raise
        except Exception as error:  # noqa: BLE001, an error of the stand-in or its script must be reported
            standin.failures.append(error)
            self.close_connection = True
            if not self._has_begun:  # a status that clients do not retry
                self._refuse(standin.voice.invalid(f"the stand-in itself failed: {type(error).__name__}: {error}"))

    def _respond(self) -> None:
        """Read a request, and answer or refuse it."""
        standin: StandIn = self.server.standin
        data = self._read()
        if data is None:
            return
        route = standin.voice.route(self.path.partition("?")[0])
        if route is None:
            self._refuse(Refusal(404, "not_found_error", f"no such path: {self.path}"))
            return
        unauthorized = standin.authenticator.refusal(self.path, self.headers, data)
        if unauthorized is not None:
            self._refuse(unauthorized)
            return
        try:
            body = msgspec.json.decode(data, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            self._refuse(standin.voice.invalid(f"could not parse the JSON body of the request: {error}"))
            return
        standin.requests.append(body)
        self._respond_to(body, route)

    def _read(self) -> bytes | None:
        """The bytes of a request, or ``None`` if they cannot be read."""
        standin: StandIn = self.server.standin
        length = self.headers.get("content-length") or "0"
        size = whole_number(length)
        if size is None:
            self.close_connection = True  # it is not known where the next request begins
            self._refuse(standin.voice.invalid(f"content-length is not a number: {length}"))
            return None
        data = self.rfile.read(size)
        if len(data) < size:  # the client has disconnected in the middle of its request
            self.close_connection = True
            return None
        return data

    def _respond_to(self, body: Body, route: Route) -> None:
        standin: StandIn = self.server.standin
        try:
            named = route.model or body.get("model")
            model = standin.model(named if isinstance(named, str) else "")
        except ModelError:
            self._refuse(standin.voice.invalid("model: Field required"))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        model = standin.voice.addressed(model, headers)
        streams = bool(body.get("stream")) if route.stream is None else route.stream
        refusal = standin.refusal_for(body, model, streams)
        if refusal is not None:
            self._refuse(refusal)
            return
        bindings = standin.bindings(body, headers, model)
        if bindings.refused is not None:
            self._refuse(standin.voice.invalid(bindings.refused))
            return
        self._answer(standin.next_answer(body), model, streams, body, bindings.transformed)

    # -- answers -----------------------------------------------------------------------------------------------------

    def _answer(
        self, scripted: Reply | Fault, model: Any, streams: bool, request: Body, transformed: list[Body] | None = None
    ) -> None:
        standin: StandIn = self.server.standin
        fault = scripted if isinstance(scripted, Fault) else None
        refusal = None if fault is None else standin.voice.faults.get(fault.kind)
        if fault is not None and refusal is not None and refusal.status != 200:
            self._refuse(refusal, fault.retry_after)
            return
        reply = scripted if isinstance(scripted, Reply) else (scripted.reply or _LONG)
        answer = standin.complete(reply, model, request, transformed)
        if not streams:
            self._send_whole(standin.voice.whole(answer), fault)
            return
        events = list(standin.voice.events(answer))
        self._begin(200, standin.voice.content_type)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if fault is not None:  # a fault in mid-stream happens after half of the events
            events = events[: max(1, len(events) // 2)]
        for event in events:
            self._send_chunk(event)
            if reply.pause and standin.closing.wait(reply.pause):
                break
        if fault is None or not self._produce(fault):
            self.wfile.write(b"0\r\n\r\n")

    def _produce(self, fault: Fault) -> bool:
        """Produce a fault in mid-stream, and return whether it ends the connection."""
        standin: StandIn = self.server.standin
        voice = standin.voice
        if fault.kind == "error-event":
            self._send_chunk(voice.error_event(voice.faults["error-event"]))
            return False
        if fault.kind == "broken-json":
            self._send_chunk(voice.broken_event)
            return False
        if fault.kind == "silence":
            self._wait_for_disconnect()
        self.close_connection = True
        return True

    def _wait_for_disconnect(self) -> None:
        """Send nothing until the client disconnects or the stand-in is stopped."""
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

    def _send_whole(self, body: Body, fault: Fault | None) -> None:
        data = msgspec.json.encode(body)
        if fault is not None and fault.kind == "silence":
            self._wait_for_disconnect()
            self.close_connection = True
            return
        self._begin(200, "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if fault is None:
            self.wfile.write(data)
        elif fault.kind == "broken-json":
            self.wfile.write(data[:-2] + b"  ")
        else:  # cut, or a fault that only a stream can have
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

    def _send_chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def handle(self) -> None:
        with suppress(ConnectionError, TimeoutError):  # a client may disconnect
            super().handle()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002, the name in the base class
        """Log nothing: a request may contain secrets."""


_LONG = text_reply("One two three four five six seven eight nine ten. " * 4)
