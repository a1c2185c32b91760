"""The application: one function for each page. Pages are made in threads, so that a long one does not block others."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from email.parser import BytesParser
from email.policy import HTTP
from importlib.metadata import version
from urllib.parse import parse_qs, quote

import htpy as h
import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HTTPRequest
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from ..catalog import list_models
from ..errors import SegueError
from ..types.printable import printable
from ..types.text import whole_number
from .blocks import Ink, Place, plain
from .frame import ASSETS, file_page, keys_button, page
from .gateway import AwayError, GatewayClient, draw_request, draw_requests, mark_of
from .home import draw_error, draw_home
from .marked import one_line
from .opened import Opened
from .pages_json import home_json, screen_json
from .raw import draw_raw, find_in_body
from .rows import CHUNK, Sheet, draw_rows
from .screen import draw_screen, draw_whole, find, title_line
from .shelf import Shelf, default_models
from .view import View, view_of

LARGEST = 64 << 20
"""Bytes that can be pasted or dropped."""
PASTED = "pasted text"
"""The name of what has none."""
LOOKS_EVERY = 0.4
"""Seconds between two looks at a session that may grow."""
TYPES = {".css": "text/css", ".js": "text/javascript"}
_WORDS = {
    "Not Found": "there is no page at this address",
    "Content Too Large": f"this is too long: at most {LARGEST >> 20} MB can be opened here; name the file at the shell",
}
"""What the server's own errors mean to a reader."""


class Studio:
    """The pages over one shelf."""

    def __init__(self, shelf: Shelf, gateway: str = "") -> None:
        self.shelf = shelf
        self.gateway = GatewayClient(gateway) if gateway else None

    def close(self) -> None:
        """Close what is open."""
        if self.gateway is not None:
            self.gateway.close()

    def routes(self) -> list[Route]:
        """The address of each page."""
        return [
            Route("/", self.home),
            Route("/index.json", self.home),
            Route("/open", self.open, methods=["POST"]),
            Route("/models.json", self.models),
            Route("/c/{id}", self.conversation),
            Route("/c/{id}/rows", self.rows),
            Route("/c/{id}/text", self.text),
            Route("/c/{id}/body", self.body),
            Route("/c/{id}/export", self.export),
            Route("/c/{id}/live", self.live),
            Route("/gateway", self.requests),
            Route("/gateway.json", self.requests),
            Route("/gateway/live", self.requests_live),
            Route("/gateway/{id}", self.request),
            Route("/assets/{name}", asset),
        ]

    # -- lists -------------------------------------------------------------------------------------------------------

    def home(self, request: HTTPRequest) -> Response:
        find = request.query_params.get("q", "").strip()
        places = list(self.shelf.search(find)) if find else []
        documents, sessions, others = self.shelf.documents(), self.shelf.sessions(), self.shelf.transcripts()
        if request.url.path.endswith(".json"):
            return Response(home_json(documents, sessions, others, places), media_type="application/json")
        address = self.gateway.url if self.gateway else ""
        return HTMLResponse(page("", draw_home(documents, sessions, others, find, places, address)))

    def models(self, request: HTTPRequest) -> Response:
        return Response(msgspec.json.encode(list_models()), media_type="application/json")

    async def open(self, request: HTTPRequest) -> Response:
        data = b""
        async for part in request.stream():
            data += part
            if len(data) > LARGEST:
                raise HTTPException(413)
        text, name = _posted(request.headers.get("content-type", ""), data)
        try:
            found = await asyncio.to_thread(self.shelf.add_text, text, name)
        except SegueError as error:
            pasted = text.decode("utf-8", "replace") if name == PASTED else ""
            return HTMLResponse(page("", draw_error(error.for_shell(), pasted)), 422)
        return RedirectResponse(f"/c/{found[0].id}" if len(found) == 1 else "/", 303)

    # -- one conversation --------------------------------------------------------------------------------------------

    def conversation(self, request: HTTPRequest) -> Response:
        name = request.path_params["id"]
        as_json = name.endswith(".json")
        opened = self._opened(name.removesuffix(".json"))
        path, view = f"/c/{opened.id}", view_of(request.query_params)
        if "add" in request.query_params:
            return RedirectResponse(f"{path}?{view.query()}", 303)
        if "to" not in request.query_params:  # the other fields may be about the default models
            view = view_of({**request.query_params, "to": ",".join(default_models(opened))})
        sheet = self._sheet(opened, view)
        shown = sheet.columns[view.raw - 1].preview if view.raw else None
        hits = find(sheet, view.find) if shown is None or as_json else find_in_body(shown.request, view.find)
        if hits and not view.at:
            view = view.change(at=max(hits[min(view.hit, len(hits)) - 1], 0))
        if as_json:
            return Response(screen_json(sheet, view, path, hits), media_type="application/json")
        line = title_line(opened, view, path, hits)
        content = draw_screen(sheet, view, path) if shown is None else draw_raw(shown.request, view, path)
        return HTMLResponse(page(one_line(opened.name), content, line=line))

    def rows(self, request: HTTPRequest) -> Response:
        opened = self._opened(request.path_params["id"])
        view = view_of(request.query_params)
        rows = draw_rows(self._sheet(opened, view), view.at, view.at + CHUNK)
        return HTMLResponse(str(h.fragment[rows]))

    def text(self, request: HTTPRequest) -> Response:
        """The whole text of a block that is too long for the screen."""
        opened = self._opened(request.path_params["id"])
        written = request.query_params.get("p", "").split(".")
        numbers = [number for each in written if (number := whole_number(each)) is not None]
        if len(numbers) != 4 or len(written) != 4:
            raise HTTPException(404)
        column, index, part, block = numbers
        sheet = self._sheet(opened, view_of(request.query_params))
        try:
            messages = sheet.columns[column - 1].messages[index] if column else [sheet.messages[index]]
            text = plain(messages[part].content[block])
        except (KeyError, IndexError):
            raise HTTPException(404) from None
        return Response(printable(text), media_type="text/plain")

    def body(self, request: HTTPRequest) -> Response:
        """The bytes of a request body."""
        opened = self._opened(request.path_params["id"])
        view = view_of(request.query_params)
        column = self._sheet(opened, view).columns[view.raw - 1] if view.raw else None
        if column is None or column.preview is None:
            raise HTTPException(404)
        return Response(column.preview.request.json(), media_type="application/json")

    def export(self, request: HTTPRequest) -> Response:
        """The screen as one file that needs neither a server nor a network."""
        opened = self._opened(request.path_params["id"])
        view = view_of(request.query_params)
        sheet = self.shelf.sheet(opened, view, Ink(view.find))
        facts = f"{one_line(opened.form)} · made with segue {version('segue')}"
        line = [h.h1[one_line(opened.name)], h.span(".facts")[facts], keys_button()]
        document = file_page(one_line(opened.name), draw_whole(sheet), line=line)
        name = "".join(each if each.isascii() and (each.isalnum() or each in "-_.") else "-" for each in opened.name)
        headers = {"content-disposition": f'attachment; filename="{name[:60] or "conversation"}.html"'}
        return HTMLResponse(document, headers=headers)

    async def live(self, request: HTTPRequest) -> Response:
        """A stream with one event whenever the session has grown."""
        reader = await asyncio.to_thread(self.shelf.reader, request.path_params["id"])
        if reader is None:
            return Response(status_code=204)  # tells the browser not to ask again

        return _watched(reader.head, request.query_params.get("after", "0"))

    # -- the gateway -------------------------------------------------------------------------------------------------

    def _gateway(self) -> GatewayClient:
        if self.gateway is None:
            raise HTTPException(404, "no gateway is shown here; start the studio with --gateway URL")
        return self.gateway

    def requests(self, request: HTTPRequest) -> Response:
        gateway = self._gateway()
        rows = gateway.requests()
        if request.url.path.endswith(".json"):
            return Response(msgspec.json.encode({"requests": rows}), media_type="application/json")
        return HTMLResponse(page("gateway", draw_requests(gateway.url, rows)))

    def request(self, request: HTTPRequest) -> Response:
        name = request.path_params["id"]
        row = self._gateway().request(quote(name.removesuffix(".json"), safe=""))
        if name.endswith(".json"):
            return Response(msgspec.json.encode(row), media_type="application/json")
        conversation = None
        if isinstance(row.get("body"), dict):
            body = msgspec.json.encode(row["body"])
            conversation = self.shelf.add_text(body, f"request {name}")[0].id
        return HTMLResponse(page(f"request {one_line(name)}", draw_request(row, conversation)))

    async def requests_live(self, request: HTTPRequest) -> Response:
        """A stream with one event whenever the gateway's list has changed."""
        gateway = self._gateway()

        return _watched(lambda: mark_of(gateway.requests()), request.query_params.get("after", ""))

    def _opened(self, id: str) -> Opened:  # noqa: A002
        opened = self.shelf.open(id)
        if opened is None:
            raise HTTPException(
                404, "there is no such conversation here; it may have been pasted into an earlier studio"
            )
        return opened

    def _sheet(self, opened: Opened, view: View) -> Sheet:
        query = view.change(diff=None, raw=0, find="", at=0).query()

        def address(place: Place, block: int) -> str:
            return f"/c/{opened.id}/text?p={'.'.join(map(str, (*place, block)))}&{query}"

        return self.shelf.sheet(opened, view, Ink(view.find, address))


def _watched(look: Callable[[], object], seen: str) -> Response:
    """A stream with one event whenever ``look`` returns something else."""

    async def events() -> AsyncIterator[str]:
        last = seen
        yield ": watching\n\n"
        while True:
            with suppress(SegueError):  # what is watched may be away for a while
                now = str(await asyncio.to_thread(look))
                if now != last:
                    last = now
                    yield f"event: grown\ndata: {now}\n\n"
            await asyncio.sleep(LOOKS_EVERY)

    return StreamingResponse(events(), media_type="text/event-stream")


def application(studio: Studio) -> Starlette:
    """The ASGI application, without its guard."""
    return Starlette(routes=studio.routes(), exception_handlers={HTTPException: _failed, SegueError: _failed})


def asset(request: HTTPRequest) -> Response:
    """A file of the page: style and scripts."""
    name = request.path_params["name"]
    file = ASSETS / name
    if name not in {each.name for each in ASSETS.iterdir()} or file.suffix not in TYPES:
        raise HTTPException(404)
    return Response(file.read_bytes(), media_type=TYPES[file.suffix])


def _failed(request: HTTPRequest, error: Exception) -> Response:
    """The page of an error, in words."""
    if isinstance(error, HTTPException):
        status, text = error.status_code, _WORDS.get(error.detail, error.detail)
    else:
        status = 502 if isinstance(error, AwayError) else 500
        text = error.for_shell() if isinstance(error, SegueError) else str(error)
    return HTMLResponse(page("not shown", draw_error(text)), status)


def _posted(content_type: str, data: bytes) -> tuple[bytes, str]:
    """The text and the name of what was posted: a form, or the file itself."""
    if content_type.startswith("multipart/form-data"):
        message = BytesParser(policy=HTTP).parsebytes(b"content-type: " + content_type.encode() + b"\r\n\r\n" + data)
        for part in message.iter_parts():
            content = part.get_payload(decode=True)
            if isinstance(content, bytes) and content.strip():
                return content, part.get_filename() or PASTED
        return b"", PASTED
    if content_type.startswith("application/x-www-form-urlencoded"):
        return parse_qs(data.decode("utf-8", "replace")).get("text", [""])[0].encode(), PASTED
    return data, "a file"
