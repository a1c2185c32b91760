"""Transports for the HTTP clients of SDKs: httpx2, and httpx for older SDKs.

A transport sends a request through another one. Answers pass through untouched: a copy of their bytes is read when they
are complete.
"""

from collections.abc import AsyncIterator, Iterator
from functools import cache
from importlib import import_module
from typing import Any
from urllib.request import getproxies

from ..environment import make_http
from ..errors import SettingError
from .repair import Passage, Repairer

LARGEST = 64 * 1024 * 1024
"""Bytes of an answer that are copied. Of a larger one, nothing is read."""
OWN = "segue"
"""The extension of requests that segue's own client sends."""


class Copy:
    """The bytes of an answer, copied as they pass."""

    def __init__(self, passage: Passage, response: Any, http: Any) -> None:
        self._passage, self._http = passage, http
        self._encoding = response.headers.get("content-encoding")
        self._pieces: list[bytes] = []
        self._size = 0

    def add(self, data: bytes) -> None:
        """Copy a piece."""
        self._size += len(data)
        if self._size <= LARGEST:
            self._pieces.append(data)

    def end(self) -> None:
        """Read the answer. It may be called again: some SDKs stop reading at the last event, and close the stream."""
        if self._size > LARGEST or not self._pieces:
            return
        data = b"".join(self._pieces)
        self._pieces.clear()
        if self._encoding:
            headers = {"content-encoding": self._encoding}
            try:
                data = self._http.Response(200, headers=headers, content=data).content
            except self._http.DecodingError:
                return
        self._passage.answered(data)


class Exchange:
    """Sends requests through another transport: repaired, and once more if they are refused and can be cured."""

    def __init__(self, repairer: Repairer, http: Any) -> None:
        self.repairer, self.http = repairer, http

    def send(self, request: Any, inner: Any) -> Any:
        """Send ``request`` with ``inner``, a function that sends requests, and return the response."""
        passage = self._begin(request, request.read()) if _is_candidate(request) else None
        if passage is None:
            return inner(request)
        response = inner(_with_body(self.http, request, passage.body))
        if response.status_code >= 400 and self.repairer.heals:
            data = response.read()
            again = passage.refused(response.status_code, data)
            if again is None:
                return response
            response.close()
            response = inner(_with_body(self.http, request, again))
        if response.status_code < 300:
            response.stream = _sync_stream(self.http)(response.stream, Copy(passage, response, self.http))
        return response

    async def asend(self, request: Any, inner: Any) -> Any:
        """The same for an asynchronous transport."""
        passage = self._begin(request, await request.aread()) if _is_candidate(request) else None
        if passage is None:
            return await inner(request)
        response = await inner(_with_body(self.http, request, passage.body))
        if response.status_code >= 400 and self.repairer.heals:
            data = await response.aread()
            again = passage.refused(response.status_code, data)
            if again is None:
                return response
            await response.aclose()
            response = await inner(_with_body(self.http, request, again))
        if response.status_code < 300:
            response.stream = _async_stream(self.http)(response.stream, Copy(passage, response, self.http))
        return response

    def _begin(self, request: Any, body: bytes) -> Passage | None:
        request.extensions[OWN] = True  # the transport below may be patched
        return self.repairer.begin(str(request.url), _headers(request), body)


def _is_candidate(request: Any) -> bool:
    """Whether a request may be one to a model; those of segue's own client are not changed."""
    return request.method == "POST" and OWN not in request.extensions


def _headers(request: Any) -> dict[str, str]:
    """The headers of a request. (To find one in the library's own mapping, it is compared with every name.)"""
    return {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in request.headers.raw}


def _with_body(http: Any, request: Any, body: bytes) -> Any:
    """The request with another body. The extensions have its timeouts."""
    if body is request.content:
        return request
    headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"content-length"]
    return http.Request(request.method, request.url, headers=headers, content=body, extensions=request.extensions)


# -- classes of httpx2 and httpx -------------------------------------------------------------------------------------


@cache
def _sync_stream(http: Any) -> Any:
    class Stream(http.SyncByteStream):  # type: ignore[misc] # the library is chosen at run time
        def __init__(self, stream: Any, copy: Copy) -> None:
            self._stream, self._copy = stream, copy

        def __iter__(self) -> Iterator[bytes]:
            for data in self._stream:
                self._copy.add(data)
                yield data
            self._copy.end()

        def close(self) -> None:
            self._stream.close()
            self._copy.end()

    return Stream


@cache
def _async_stream(http: Any) -> Any:
    class Stream(http.AsyncByteStream):  # type: ignore[misc] # as above
        def __init__(self, stream: Any, copy: Copy) -> None:
            self._stream, self._copy = stream, copy

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for data in self._stream:
                self._copy.add(data)
                yield data
            self._copy.end()

        async def aclose(self) -> None:
            await self._stream.aclose()
            self._copy.end()

    return Stream


@cache
def transports(http: Any) -> tuple[Any, Any]:
    """The two classes of transports for this library."""

    class Repairing(http.BaseTransport):  # type: ignore[misc] # as above
        """Sends requests through another transport, repaired."""

        def __init__(self, repairer: Repairer, inner: Any) -> None:
            self._exchange, self._inner = Exchange(repairer, http), inner

        def handle_request(self, request: Any) -> Any:
            return self._exchange.send(request, self._inner.handle_request)

        def close(self) -> None:
            self._inner.close()

    class AsyncRepairing(http.AsyncBaseTransport):  # type: ignore[misc] # as above
        """Sends requests through another transport, repaired."""

        def __init__(self, repairer: Repairer, inner: Any) -> None:
            self._exchange, self._inner = Exchange(repairer, http), inner

        async def handle_async_request(self, request: Any) -> Any:
            return await self._exchange.asend(request, self._inner.handle_async_request)

        async def aclose(self) -> None:
            await self._inner.aclose()

    return Repairing, AsyncRepairing


def library(legacy: bool) -> Any:
    """httpx2, or httpx for older SDKs."""
    name = "httpx" if legacy else "httpx2"
    try:
        return import_module(name)
    except ImportError:
        raise SettingError(f"{name} is not installed; pass httpx={not legacy} or install it") from None


def make_client(repairer: Repairer, http: Any, *, is_async: bool, settings: dict[str, Any]) -> Any:
    """An HTTP client whose requests are repaired. ``settings`` are those of the library's own client."""
    return make_http(lambda: _make_client(repairer, http, is_async, settings))


def _make_client(repairer: Repairer, http: Any, is_async: bool, settings: dict[str, Any]) -> Any:
    kind, plain = (http.AsyncClient, http.AsyncHTTPTransport) if is_async else (http.Client, http.HTTPTransport)
    wrapping = transports(http)[is_async]
    inner = settings.pop("transport", None)
    options = {name: settings.pop(name) for name in ("verify", "cert", "http2", "limits") if name in settings}
    options.setdefault("limits", http.Limits(max_connections=1000, max_keepalive_connections=100))

    def wrapped(proxy: str | None = None) -> Any:
        return wrapping(repairer, inner or plain(proxy=proxy, **options))

    mounts = {}
    if inner is None and "proxy" not in settings and settings.get("trust_env", True):
        mounts = {name: None if proxy is None else wrapped(proxy) for name, proxy in _proxies().items()}
    proxy = settings.pop("proxy", None)
    settings.setdefault("follow_redirects", True)
    return kind(transport=wrapped(proxy), mounts=mounts or None, **settings)


def _proxies() -> dict[str, str | None]:
    """The proxies of the environment, as the library's own clients use them."""
    found = getproxies()
    mounts: dict[str, str | None] = {}
    for scheme in ("http", "https", "all"):
        if address := found.get(scheme):
            mounts[f"{scheme}://"] = address if "://" in address else f"http://{address}"
    hosts = [host.strip() for host in found.get("no", "").split(",") if host.strip()] if mounts else []
    for host in hosts:
        mounts["all://" if host == "*" else f"all://{host}" if "://" not in host else host] = None
    return mounts
