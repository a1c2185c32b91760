"""The first page: open something, and everything that can be opened, with a search across it."""

import htpy as h

from ..session import SessionInfo
from ..transcripts import shown_time
from ..types.text import count_of
from .marked import one_line, safe
from .opened import Opened, id_of
from .shelf import Listed, Place

MOST_LISTED = 200
"""Sessions that the list shows; a search finds the others."""


def draw_home(
    documents: list[Opened],
    sessions: list[SessionInfo],
    transcripts: list[Listed],
    find: str,
    places: list[Place],
    gateway: str,
) -> list[h.Node]:
    """The content of the page."""
    return [
        h.div("#home")[
            h.h1["See what each model gets"],
            _open_form(),
            h.form(method="get", action="/", role="search", data_visit="")[
                h.label[h.span["search all conversations"], h.input(name="q", type="search", value=find)],
                h.button["search"],
            ],
            _places(find, places) if find else None,
            h.p[h.a(href="/gateway")[f"requests of the gateway at {one_line(gateway)}"]] if gateway else None,
            _documents(documents),
            _sessions(sessions),
            _transcripts(transcripts),
        ]
    ]


def draw_error(text: str, pasted: str = "") -> list[h.Node]:
    """What was wrong with something that should be opened. What was pasted is kept, to be corrected."""
    failure = h.p(".failure", role="alert")[one_line(text)]
    return [h.div("#home")[h.h1["This cannot be shown"], failure, _open_form(pasted)]]


def _open_form(pasted: str = "") -> h.Renderable:
    return h.form("#open", method="post", action="/open", enctype="multipart/form-data")[
        h.h2["Open a conversation"],
        h.label[
            "paste it here: a conversation, a request body, a list of messages, a transcript",
            h.textarea(name="text", rows="5")[pasted],
        ],
        h.p[h.label["or choose a file ", h.input(name="file", type="file")], " ", h.button["open"]],
    ]


def _places(find: str, places: list[Place]) -> h.Renderable:
    items = [
        h.li[
            h.a(href=f"/c/{place.id}?at={place.message}#m{place.message}")[
                f"{one_line(place.name)}, message {place.message}"
            ],
            h.p(".excerpt", dir="auto")[safe(place.text, find)],
        ]
        for place in places
    ]
    return h.section(aria_label="found")[
        h.h2[f"{count_of(len(places), 'message')} with “{one_line(find)}”"], h.ol(".places")[items] if items else None
    ]


def _documents(documents: list[Opened]) -> h.Renderable | None:
    if not documents:
        return None
    rows = [
        h.tr[
            h.td[h.a(href=f"/c/{each.id}")[one_line(each.name)]],
            h.td(".count")[one_line(each.form)],
            h.td(".count")[count_of(len(each.context.messages), "message")],
        ]
        for each in documents[:MOST_LISTED]
    ]
    return h.section(aria_label="opened")[h.h2["Opened"], h.table[_head("name", "taken for", "size"), h.tbody[rows]]]


def _sessions(sessions: list[SessionInfo]) -> h.Renderable:
    if not sessions:
        return h.p(".facts")["No stored sessions: ", h.code["segue chat"], " makes one."]
    rows = [
        h.tr[
            h.td[h.a(href=f"/c/{id_of('session', info.id)}")[one_line(info.title) or one_line(info.id)]],
            h.td[one_line(info.id), f", fork of {one_line(info.parent)}" if info.parent else ""],
            h.td(".count")[f"{info.entries:,} entries"],
            h.td(".count")[shown_time(info.changed)],
        ]
        for info in sessions[:MOST_LISTED]
    ]
    more = h.p(".facts")[f"and {len(sessions) - MOST_LISTED} more"] if len(sessions) > MOST_LISTED else None
    return h.section(aria_label="sessions")[
        h.h2["Sessions"], h.table[_head("title", "session", "size", "changed"), h.tbody[rows]], more
    ]


def _transcripts(transcripts: list[Listed]) -> h.Renderable | None:
    if not transcripts:
        return None
    rows = [
        h.tr[
            h.td[h.a(href=f"/c/{each.id}")[one_line(each.name)]],
            h.td(".count")[each.tool],
            h.td(".count")[shown_time(each.changed * 1_000)],
        ]
        for each in transcripts
    ]
    return h.section(aria_label="other tools")[
        h.h2["Transcripts of other tools on this machine"], h.table[_head("title", "tool", "changed"), h.tbody[rows]]
    ]


def _head(*names: str) -> h.Renderable:
    return h.thead[h.tr[[h.th(scope="col")[name] for name in names]]]
