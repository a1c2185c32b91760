"""The ASGI application: a table of routes, and what every request goes through before its handler.

A web page is not a local client: a foreign ``Host`` and an ``Origin`` that is not configured are refused, and so are
requests with forwarding headers where there are no keys.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..errors import (
    AuthenticationError,
    InvalidRequestError,
    ModelNotFoundError,
    OverloadedError,
    ProviderError,
    SegueError,
)
from ..render import write_error
from ..transport import Body, read_body
from ..types.codec import UNREADABLE
from ..types.text import whole_number
from . import admin
from .bodies import BodyError, Disconnected, read_bytes
from .clients import ANTHROPIC, CHAT, CLIENTS, GEMINI, RESPONSES
from .counting import WRITTEN, request_in
from .gateway import Gateway
from .incoming import Incoming, fresh_id
from .listing import format_for, listed, one
from .output import encoded, send_whole
from .pipeline import as_provider_error
from .responses import Refused
from .routes import is_allowed

logger = logging.getLogger("segue.gateway")
JSON = {"content-type": "application/json"}


class Call(Struct, frozen=True, kw_only=True):
    """One HTTP request that has been admitted."""

    path: Mapping[str, str]
    query: str
    headers: Mapping[str, str]
    method: str
    receive: Any
    send: Any
    protocol: str | None
    is_local: bool

    async def reply(self, status: int, body: Any, headers: Mapping[str, str] = JSON) -> None:
        """Send a whole answer; a body that is not bytes is JSON."""
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        await send_whole(self.send, status, headers, data)

    async def gone(self) -> None:
        """Wait until the client has disconnected."""
        while (await self.receive())["type"] != "http.disconnect":
            pass


Handler = Callable[["App", Call], Awaitable[None]]


class Endpoint(Struct, frozen=True):
    """A path, its method, and who answers."""

    method: str
    path: re.Pattern[str]
    handler: Handler
    protocol: str | None = None


class App:
    """The application of one process."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.running = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        headers = _headers(scope)
        path, query = scope["path"], scope["query_string"].decode("latin-1")
        endpoint, found = _find(scope["method"], path)
        protocol = None if endpoint is None else endpoint.protocol
        origin = headers.get("origin")
        if origin is not None and self.gateway.guard.shares_with(origin):
            send = _shared(send, origin)
        client = scope.get("client")
        call = Call(
            path=found, query=query, headers=headers, method=scope["method"], receive=receive, send=send,
            protocol=protocol, is_local=client is None or client[0] in LOOPBACK,
        )  # fmt: skip
        self.running += 1
        try:
            await self._dispatch(endpoint, call, path)
        except Disconnected:
            pass
        except (SegueError, *UNREADABLE) as error:
            await _refuse(call, as_provider_error(error))
        except Refused as error:
            await call.reply(error.status, error.body)
        except BodyError as error:
            await _refuse(call, InvalidRequestError(error.text), error.status)
        finally:
            self.running -= 1

    async def _dispatch(self, endpoint: Endpoint | None, call: Call, path: str) -> None:
        problem = self.gateway.guard.problem(call.headers)
        if problem is not None:
            await _refuse(call, AuthenticationError(problem), 403)
        elif call.method == "OPTIONS" and "access-control-request-method" in call.headers:
            allowed = {"access-control-allow-headers": call.headers.get("access-control-request-headers", "")}
            await call.reply(200, b"", {"access-control-allow-methods": "GET, POST, DELETE", **allowed})
        elif endpoint is None:
            known = any(each.path.fullmatch(path) for each in ENDPOINTS)
            await _refuse(call, InvalidRequestError(f"there is no {call.method} {path} here"), 405 if known else 404)
        elif endpoint.protocol is not None and self.running > self.gateway.config.gateway.max_requests:
            await _refuse(call, OverloadedError("the gateway has too many requests at once", retry_after=1.0))
        else:
            await endpoint.handler(self, call)

    async def _lifespan(self, receive: Any, send: Any) -> None:
        await receive()
        try:
            await self.gateway.start()
        except Exception as error:
            logger.exception("the gateway cannot start")
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.gateway.stop()
        await send({"type": "lifespan.shutdown.complete"})

    # -- answers -----------------------------------------------------------------------------------------------------

    async def body(self, call: Call) -> Body:
        """The body of a request, which must be a JSON object."""
        settings = self.gateway.config.gateway
        length = call.headers.get("content-length", "")
        if (whole_number(length) or 0) > settings.max_body:
            raise BodyError(413, f"the body has more than {settings.max_body:,} bytes")
        encoding = call.headers.get("content-encoding", "")
        data = await read_bytes(call.receive, encoding, settings.max_body, settings.body_timeout)
        body = read_body(data.strip())
        if body is None:
            raise BodyError(400, "the body is not a JSON object")
        return body

    async def count(self, call: Call, model: str | None = None) -> None:
        """Answer a request for the number of tokens."""
        incoming = await self.incoming(call, model, False)
        incoming = replace(incoming, body=request_in(incoming.body, incoming.client.name))
        tokens, is_exact = await self.gateway.pipeline.count(incoming)
        assert call.protocol is not None
        mark = {} if is_exact else {"x-segue-tokens": "estimated"}
        await call.reply(200, WRITTEN[call.protocol](tokens), {**JSON, **mark})

    async def generate(self, call: Call, model: str | None = None, streams: bool | None = None) -> None:
        """Answer a request for an answer."""
        incoming = await self.incoming(call, model, streams)
        await self.gateway.answer(incoming, call.send, call.gone)

    async def incoming(self, call: Call, model: str | None, streams: bool | None) -> Incoming:
        """Read a request."""
        assert call.protocol is not None
        key = self.gateway.keys.find(call.headers, call.query)
        body = await self.body(call)
        name = body.value("model") if model is None else model
        if not isinstance(name, str) or not name:
            raise InvalidRequestError("model: it is missing")
        incoming = Incoming(
            id=fresh_id(), client=CLIENTS[call.protocol], model=name, body=body,
            streams=body.value("stream") is True if streams is None else streams,
            headers=call.headers, query=call.query, key=key,
        )  # fmt: skip
        if call.protocol == RESPONSES:
            expanded, parent = await self.gateway.pipeline.responses.expanded(body, incoming.tenant)
            incoming = replace(incoming, expanded=expanded, parent=parent)
        return incoming


LOOPBACK = ("127.0.0.1", "::1", "testclient")


def _headers(scope: Any) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _shared(send: Any, origin: str) -> Any:
    """``send``, with the headers without which a browser keeps an answer from the page of this origin."""
    shared = encoded({"access-control-allow-origin": origin, "access-control-expose-headers": "*", "vary": "origin"})

    async def act(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = message | {"headers": [*message["headers"], *shared]}
        await send(message)

    return act


def _find(method: str, path: str) -> tuple[Endpoint | None, Mapping[str, str]]:
    for endpoint in ENDPOINTS:
        if endpoint.method == method and (found := endpoint.path.fullmatch(path)):
            return endpoint, found.groupdict()
    return None, {}


async def _refuse(call: Call, error: ProviderError, status: int | None = None) -> None:
    """Send an error in the client's protocol; where that is not known, in that of its headers."""
    written = write_error(error, call.protocol or format_for(call.headers), status)
    close = {"connection": "close"} if status in (408, 413) else {}
    await call.reply(written.status, written.json(), {**written.headers, **close})


# -- handlers --------------------------------------------------------------------------------------------------------


async def _generate(app: App, call: Call) -> None:
    await app.generate(call)


async def _gemini(app: App, call: Call) -> None:
    await app.generate(call, call.path["model"], call.path["action"] == "streamGenerateContent")


async def _count(app: App, call: Call) -> None:
    await app.count(call)


async def _count_gemini(app: App, call: Call) -> None:
    await app.count(call, call.path["model"])


async def _models(app: App, call: Call) -> None:
    key = app.gateway.keys.find(call.headers, call.query)
    form = call.protocol or format_for(call.headers)
    await call.reply(200, listed(app.gateway.routes.names(key.models), form))


async def _model(app: App, call: Call) -> None:
    key = app.gateway.keys.find(call.headers, call.query)
    name = call.path["model"]
    app.gateway.routes.resolve(name, call.protocol or CHAT)
    if not is_allowed(name, key.models):
        raise ModelNotFoundError(f"the key {key.name} may not use {name!r}")
    await call.reply(200, one(name, call.protocol or format_for(call.headers)))


async def _get_response(app: App, call: Call) -> None:
    tenant = app.gateway.keys.find(call.headers, call.query).owner
    await call.reply(200, await app.gateway.pipeline.responses.get(call.path["id"], tenant))


async def _delete_response(app: App, call: Call) -> None:
    tenant = app.gateway.keys.find(call.headers, call.query).owner
    await call.reply(200, await app.gateway.pipeline.responses.delete(call.path["id"], tenant))


async def _hello(app: App, call: Call) -> None:
    await call.reply(200, b"", {})


async def _websocket(app: App, call: Call) -> None:
    """Codex tries a websocket first, and falls back at once only after 426 (measured 2026-11)."""
    error = InvalidRequestError("this endpoint has no websockets; use POST")
    written = write_error(error, RESPONSES, 426)
    await call.reply(426, written.json(), {**written.headers, "upgrade": "HTTP/1.1"})


def _endpoint(method: str, path: str, handler: Handler, protocol: str | None = None) -> Endpoint:
    return Endpoint(method, re.compile(path), handler, protocol)


_GEMINI_MODEL = r"/v1(?:beta)?/models/(?P<model>.+)"
ENDPOINTS: tuple[Endpoint, ...] = (
    _endpoint("POST", "/v1/messages", _generate, ANTHROPIC),
    _endpoint("HEAD", "/api/hello", _hello, ANTHROPIC),
    _endpoint("GET", "/api/hello", _hello, ANTHROPIC),
    _endpoint("POST", "/v1/chat/completions", _generate, CHAT),
    _endpoint("POST", "/v1/responses", _generate, RESPONSES),
    _endpoint("GET", "/v1/responses", _websocket, RESPONSES),
    _endpoint("GET", "/v1/responses/(?P<id>[^/]+)", _get_response, RESPONSES),
    _endpoint("DELETE", "/v1/responses/(?P<id>[^/]+)", _delete_response, RESPONSES),
    _endpoint("POST", "/v1/messages/count_tokens", _count, ANTHROPIC),
    _endpoint("POST", "/v1/responses/input_tokens", _count, RESPONSES),
    _endpoint("POST", _GEMINI_MODEL + ":countTokens", _count_gemini, GEMINI),
    _endpoint("GET", "/v1/models", _models),
    _endpoint("GET", "/v1beta/models", _models, GEMINI),
    _endpoint("GET", "/v1/models/(?P<model>.+)", _model),
    _endpoint("GET", "/v1beta/models/(?P<model>.+)", _model, GEMINI),
    _endpoint("GET", "/health/live", admin.live),
    _endpoint("GET", "/health/ready", admin.ready),
    _endpoint("GET", "/metrics", admin.metrics),
    _endpoint("GET", "/segue/requests", admin.requests),
    _endpoint("GET", "/segue/requests/(?P<id>[^/]+)", admin.request),
    _endpoint("GET", "/segue/routes", admin.routes),
    _endpoint("GET", "/segue/keys", admin.keys),
    _endpoint("GET", "/segue/usage", admin.usage),
    _endpoint("POST", _GEMINI_MODEL + ":(?P<action>generateContent|streamGenerateContent)", _gemini, GEMINI),
)
