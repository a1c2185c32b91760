"""Who may use the studio: the browser that has its token, on this machine, for this address.

The token is in the first URL. It becomes a cookie that scripts cannot read and other sites cannot send, and the URL is
replaced by one without it. The name in ``Host`` is checked, so that another site cannot reach the studio by letting its
own name resolve to this machine.
"""

import secrets
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .frame import SERVED

HEADERS = {
    "content-security-policy": SERVED,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # without a referrer, a form would be posted with the origin `null`
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
NO_TOKEN = "Open the URL that `segue studio` printed: it has a token that this browser does not have yet.\n"
WRONG_HOST = "This address is not the studio's; use the URL that `segue studio` printed.\n"


class Guard:
    """Lets requests through that have the token, or the cookie that the token became."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._cookie = f"segue-studio-{port}"  # cookies do not distinguish ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)  # the lifespan of the server
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        refused = self._refused(scope)
        await (refused or self._app)(scope, receive, send_safely)

    def _refused(self, scope: Scope) -> Response | None:
        """The response to a request that is not let through."""
        headers = Headers(scope=scope)
        if headers.get("host", "") not in self._hosts:
            return PlainTextResponse(WRONG_HOST, 403)
        if headers.get("sec-fetch-site") == "cross-site" and scope["method"] != "GET":
            return PlainTextResponse(WRONG_HOST, 403)
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] not in self._hosts:
            return PlainTextResponse(WRONG_HOST, 403)
        if self._is_token(headers.get("authorization", "").removeprefix("Bearer ")):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = dict(query).get("token")
        if given is not None and self._is_token(given):
            return self._with_cookie(scope["path"], [(name, value) for name, value in query if name != "token"])
        if self._is_token(cookie_parser(headers.get("cookie", "")).get(self._cookie, "")):
            return None
        return PlainTextResponse(NO_TOKEN, 401)

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode(), self._token.encode())

    def _with_cookie(self, path: str, query: list[tuple[str, str]]) -> Response:
        # A path that begins with two slashes would be another host.
        address = "/" + path.lstrip("/\\") + (f"?{urlencode(query)}" if query else "")
        response = RedirectResponse(address, 303)
        response.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
        return response
