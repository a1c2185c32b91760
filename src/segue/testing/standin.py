"""Strict stand-ins for providers: HTTP servers on loopback that refuse what the provider refuses, with its texts.

A request is checked with the lint rules of its protocol and of the model that it names; signatures must have been
issued by this stand-in. Valid requests are answered from a script, streamed or whole, in the provider's own format.
"""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import ThreadingHTTPServer
from socket import SHUT_RDWR
from types import TracebackType
from typing import Any

from ..catalog import Catalog, get_provider
from ..errors import FormatError, ModelError
from ..render import ingest, lint_request
from ..types import Context, Model, ToolCall
from .handler import Handler
from .keys import Authenticator
from .script import Fault, Reply, Script, as_reply, checked_script
from .signatures import Signer
from .voice import Answer, Bindings, Body, Refusal, Voice
from .voices import voice_of


class StandIn:
    """A provider on loopback; use it in a ``with`` statement, or call ``start()`` and ``stop()``.

    ``provider`` is a provider of the catalog, whose dialects it uses; ``protocol`` chooses among the provider's
    protocols. ``script`` has the answers in their order; after the last one, or without a script, every request is
    answered with a short text. Signatures are valid for one ``account``. ``requests`` has the bodies of all requests,
    including refused ones, and ``refused`` has the refusals. ``secret`` is the AWS secret that belongs to ``key``: with
    it, signatures of requests to Bedrock are verified, which requires botocore. ``refuses`` is a quirk that the catalog
    does not know: a function that gets the body of a request and returns a ``Refusal``, the text of one, or ``None``.

    An invalid script raises a ``TypeError`` or a ``ValueError`` here. An error during a request, such as in a function
    of the script, is raised by ``stop()``, and so at the end of the ``with`` statement.
    """

    def __init__(
        self,
        provider: str = "anthropic",
        *,
        protocol: str | None = None,
        script: Script = (),
        key: str | None = "standin-key",
        account: str = "",
        port: int = 0,
        secret: str | None = None,
        refuses: Callable[[Body], Refusal | str | None] | None = None,
    ) -> None:
        _check_texts(provider=provider, protocol=protocol, key=key, account=account, secret=secret)
        self._port = _checked_port(port)
        row = get_provider(provider)
        self.provider = row.id
        self.protocol = protocol or row.protocols[0]
        if self.protocol not in row.protocols:
            raise ModelError(f"{row.name} does not speak {self.protocol}; it speaks {', '.join(row.protocols)}")
        self.key = key
        self._refuses = refuses
        self.requests: list[Body] = []
        self.refused: list[Refusal] = []
        self.closing = threading.Event()
        self.voice: Voice = voice_of(self.protocol, self.provider)
        self._signer = Signer(f"{self.provider}:{self.protocol}:{account}")
        self.authenticator = Authenticator(row.auth or self.voice.auth, key, secret, self.voice.faults["wrong-key"])
        self.failures: list[Exception] = []
        """Errors of the stand-in itself."""
        self._script: deque[Any] = deque(checked_script(script))
        self._lock = threading.Lock()
        self._count = 0
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    # -- starting and stopping ---------------------------------------------------------------------------------------

    def start(self) -> "StandIn":
        """Listen on loopback."""
        self._server = _Server(("127.0.0.1", self._port), Handler, self)
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.02},
            name=f"stand-in {self.provider}",
            daemon=True,
        )
        self._thread.start()
        return self

    def stop(self) -> None:
        """Close every connection and the port, and raise the first error of a request, if there was one."""
        self._close()
        if self.failures:
            raise self.failures[0]

    def _close(self) -> None:
        self.closing.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.close_connections()
            self._server.server_close()

    def __enter__(self) -> "StandIn":
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.stop()
            return
        self._close()
        for failure in self.failures:
            error.add_note(f"the stand-in failed, too: {type(failure).__name__}: {failure}")

    @property
    def url(self) -> str:
        """The address of the server; the base URL for a client of this provider."""
        assert self._server is not None, "the stand-in has not been started"
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def say(self, *answers: Any) -> None:
        """Add answers to the script."""
        checked = checked_script(answers)
        with self._lock:
            self._script.extend(checked)

    # -- used by the handler ------------------------------------------------------------------------------------------

    def model(self, name: str) -> Model:
        """The model that a request names, with its dialect."""
        # Not `get_model`, which warns about a model without a row: the client's side has already warned.
        return Catalog.default().resolve(f"{self.provider}/{name}", self.protocol)

    def refusal_for(self, body: Body, model: Model, streams: bool = False) -> Refusal | None:
        """The provider's refusal of this request, or ``None`` if it is valid."""
        quirk = None if self._refuses is None else self._refuses(body)
        if quirk is not None:
            return self.voice.invalid(quirk) if isinstance(quirk, str) else quirk
        try:
            findings = [finding for finding in lint_request(body, self.protocol, model) if finding.severity == "error"]
        except FormatError as error:
            return self.voice.invalid(str(error))
        if findings:
            first = findings[0]
            return self.voice.invalid(f"{first.path}: {first.answers or first.message}")
        try:
            self.conversation(body)
        except FormatError as error:  # no rule covers it, but it does not have the shape of a request
            return self.voice.invalid(str(error))
        text = self.voice.whole_only(body, model) if streams else None
        text = text or next(iter(self.voice.forged(body, self._signer, model)), None)
        return None if text is None else self.voice.invalid(text)

    def next_answer(self, body: Body) -> Reply | Fault:
        """The next answer of the script."""
        with self._lock:
            answer: Any = self._script.popleft() if self._script else f"Answer {len(self.requests)}."
        if not callable(answer):
            return as_reply(answer, "an answer")
        return as_reply(_called(answer, self.conversation(body)), "the result of a function of the script")

    def conversation(self, body: Body) -> Context:
        """The conversation in a request."""
        return ingest(body, self.protocol, now=0)

    def bindings(self, body: Body, headers: Mapping[str, str], model: Model) -> Bindings:
        """How the provider treats blocks in this request that are bound to something else."""
        return self.voice.bindings(body, headers, self._signer, model)

    def complete(
        self, reply: Reply, model: Model, request: Body | None = None, transformed: list[Body] | None = None
    ) -> Answer:
        """The answer for a reply, with everything that the provider adds."""
        with self._lock:
            self._count += 1
            bound = self.voice.bind(reply.content, request or {}, self._signer, model)
            content = self.voice.complete(bound, self._signer, model)
            calls = any(isinstance(block, ToolCall) for block in content)
            stop = reply.stop or ("toolUse" if calls else "stop")
            name = f"{self.provider}-{self._count}"
            return Answer(name, model, content, stop, reply.usage, request=request or {}, transformed=transformed)


def _called(answer: Callable[[Context], Any], context: Context) -> Any:
    try:
        return answer(context)
    except OSError as error:  # from the function, not from the connection
        raise RuntimeError(f"a function of the script failed: {error}") from error


def _checked_port(port: Any) -> int:
    if isinstance(port, bool) or not isinstance(port, int):
        raise TypeError(f"a port must be a number, not {type(port).__name__}")
    if not 0 <= port <= 65535:
        raise ValueError(f"a port must be a number from 0 to 65535, not {port}")
    return port


def _check_texts(provider: Any, **texts: Any) -> None:
    for name, text in {"provider": provider, **texts}.items():
        if not isinstance(text, str) and (text is not None or name in ("provider", "account")):
            raise TypeError(f"{name} must be a str, not {type(text).__name__}")
        if text == "" and name in ("key", "secret"):
            raise ValueError(f"{name} must not be empty; None accepts every request")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def __init__(self, address: tuple[str, int], handler: type[Handler], standin: StandIn) -> None:
        self.standin = standin
        self.connections: set[Any] = set()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.connections.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """Close connections that clients keep alive, so that no stopped server answers on one of them."""
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(SHUT_RDWR)
