"""Repair the requests of every HTTP client in this process. For debugging: code elsewhere changes its behaviour."""

from contextlib import suppress
from importlib import import_module
from types import TracebackType
from typing import Any

from .http import Exchange
from .repair import Repairer


class Patch:
    """A patch that is in effect; ``undo()``, or the end of a ``with`` statement, removes it."""

    def __init__(self, repairer: Repairer) -> None:
        self._originals: list[tuple[Any, str, Any]] = []
        for name in ("httpx2", "httpx"):
            with suppress(ImportError):
                self._patch(import_module(name), repairer)

    def _patch(self, http: Any, repairer: Repairer) -> None:
        exchange = Exchange(repairer, http)
        sends, asends = http.HTTPTransport.handle_request, http.AsyncHTTPTransport.handle_async_request

        def handle_request(transport: Any, request: Any) -> Any:
            return exchange.send(request, lambda each: sends(transport, each))

        async def handle_async_request(transport: Any, request: Any) -> Any:
            return await exchange.asend(request, lambda each: asends(transport, each))

        for kind, function, original in (
            (http.HTTPTransport, handle_request, sends),
            (http.AsyncHTTPTransport, handle_async_request, asends),
        ):
            self._originals.append((kind, function.__name__, original))
            setattr(kind, function.__name__, function)

    def undo(self) -> None:
        """Remove the patch."""
        while self._originals:
            setattr(*self._originals.pop())

    def __enter__(self) -> "Patch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.undo()
