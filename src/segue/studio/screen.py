"""The one screen: a conversation as it is stored, and beside it what each model gets."""

from collections.abc import Iterator

import htpy as h
import msgspec

from ..types import Message
from ..types.printable import printable
from ..types.text import count_of
from .blocks import Ink, long_text, plain, title_of
from .columns import Column
from .frame import keys_button
from .heads import draw_heads, hidden
from .marked import cut, one_line, pattern_of, shorten
from .opened import Event, Opened, switches
from .rows import CHUNK, Sheet, draw_rows
from .view import View

_SIGNS = {"model": "●", "compaction": "✂", "fork": "↳", "failure": "✗"}
LAST = 999_999_999
"""As the message to show: the last one."""
MOST_EVENTS = 400
"""Events that the strip shows."""


def draw_screen(sheet: Sheet, view: View, path: str) -> h.Renderable:
    """The screen with the chunk around ``view.at``; other chunks are loaded when they come near."""
    count = len(sheet.messages)
    kept = {0, min(view.at, max(count - 1, 0)) // CHUNK * CHUNK}
    chunks = []
    for first in range(0, count, CHUNK):
        last = min(first + CHUNK, count)
        rows = draw_rows(sheet, first, last) if first in kept else None
        source = f"{path}/rows?{view.change(at=first).query()}"
        chunks.append(_chunk(first, last, rows, source))
    return _screen(sheet, view, path, chunks)


def draw_whole(sheet: Sheet) -> h.Renderable:
    """The screen with every message, for a file."""
    chunks = [
        _chunk(first, first + CHUNK, draw_rows(sheet, first, first + CHUNK), None)
        for first in range(0, len(sheet.messages), CHUNK)
    ]
    return _screen(sheet, View(), "", chunks, is_file=True)


def _screen(sheet: Sheet, view: View, path: str, chunks: list[h.Renderable], *, is_file: bool = False) -> h.Renderable:
    width = 2 if sheet.diff else 1 + len(sheet.columns)
    changed, refused = changed_messages(sheet), refused_messages(sheet)
    live = {} if is_file or sheet.opened.entries is None else _live(sheet.opened, view, path)
    return h.div(f"#screen.cols-{width}", **live)[
        strip(sheet.opened, is_file),
        h.div("#heads")[draw_heads(sheet, view, path, is_file=is_file)],
        h.div("#tools")[_steps(sheet)] if is_file else _tools_line(sheet, view, path),
        _system(sheet),
        h.div(
            "#feed",
            role="feed",
            aria_label="messages",
            data_count=str(len(sheet.messages)),
            data_changed=",".join(map(str, changed)),
            data_refused=",".join(map(str, refused)),
            data_chunk=str(CHUNK),
        )[chunks],
        h.p("#end", tabindex="-1")["the end of the conversation"],
    ]


def _live(opened: Opened, view: View, path: str) -> dict[str, str]:
    """Where a page of a session learns that it has grown, and gets what is new."""
    return {
        "data_live": f"{path}/live?after={opened.entries}",
        "data_refresh": f"{path}?{view.change(at=LAST).query()}",
    }


def _chunk(first: int, last: int, rows: Iterator[h.Renderable] | None, source: str | None) -> h.Renderable:
    waiting = "" if rows else ".waiting"
    return h.div(f"#c{first}.chunk{waiting}", data_src=source, data_first=str(first))[
        rows if rows is not None else f"messages {first} to {last - 1} are loaded when they come near"
    ]


def changed_messages(sheet: Sheet) -> list[int]:
    """The messages that at least one model gets changed or not at all."""
    columns = [sheet.columns[number - 1] for number in sheet.diff if number] if sheet.diff else sheet.columns
    return [
        index
        for index, message in enumerate(sheet.messages)
        if any(column.cell(index, message).state != "same" for column in columns if not column.error)
    ]


def refused_messages(sheet: Sheet) -> list[int]:
    """The messages with findings."""
    tables = [sheet.findings, *[column.findings for column in sheet.columns]]
    return sorted({index for found in tables for index in found if index is not None})


def strip(opened: Opened, is_file: bool) -> h.Renderable | None:
    """Switches, compactions, forks and failures in order, each as a link to its message."""
    events = opened.events
    if not events:
        return None
    items = [
        h.li(f".{event.kind}")[
            h.a(href=_place(event, opened), title=f"message {event.message}")[
                h.span(aria_hidden="true")[_SIGNS[event.kind], " "],
                shorten(one_line(event.text), 60),
            ]
        ]
        for event in events[:MOST_EVENTS]
    ]
    more = h.li[f"and {len(events) - MOST_EVENTS} more"] if len(events) > MOST_EVENTS else None
    if opened.whole and not is_file:
        items.insert(0, h.li(".compaction")[h.a(href=f"/c/{opened.whole}")["the whole log"]])
    return h.nav("#strip", aria_label="switches", tabindex="0")[h.ol[items, more]]


def _place(event: Event, opened: Opened) -> str:
    """The message of an event; the last one, if no message has followed the event yet."""
    last = len(opened.context.messages) - 1
    return f"#m{min(event.message, last)}" if last >= 0 else "#end"


def _system(sheet: Sheet) -> h.Renderable | None:
    """The system prompt and the tools, which come before all messages."""
    context = sheet.opened.context
    if not context.system_prompt and not context.tools:
        return None
    prompt = context.system_prompt or ""
    return h.details("#frame")[
        h.summary[
            h.b["system prompt and tools"],
            h.span(".first")[" ", one_line(prompt[:160]), " · " if prompt and context.tools else ""],
            h.span(".first")[one_line(", ".join(tool.name for tool in context.tools)[:200])],
        ],
        h.div(".text", dir="auto")[long_text(prompt, Ink(sheet.ink.find), (0, 0, 0), 0)],
        [
            h.details[
                h.summary[h.code[one_line(tool.name)], " ", one_line(tool.description[:200])],
                h.pre[cut(printable(msgspec.json.format(msgspec.json.encode(tool.parameters), indent=2).decode()))],
            ]
            for tool in context.tools
        ],
    ]


def _tools_line(sheet: Sheet, view: View, path: str) -> h.Renderable:
    """Adding a model, the difference, the export, the end."""
    toggled = view.change(diff=None) if view.diff else view.compared()
    return h.div("#tools")[
        h.form(method="get", action=path, data_visit="")[
            hidden(view.change(diff=None, raw=0)),
            h.label[
                h.span(".visually-hidden")["add a model"],
                h.input(name="add", list="models", placeholder="provider/model", required=True, autocomplete="off"),
            ],
            h.datalist("#models"),
            h.button["+ model"],
        ],
        h.a("#diff", href=f"{path}?{toggled.query()}", data_visit="", aria_current="true" if view.diff else None)[
            "difference"
        ]
        if view.to
        else None,
        _compare_form(view, path) if view.diff else None,
        _steps(sheet),
        h.a(href=f"{path}/export?{view.query()}", download="")["export as HTML"],
        h.a(href=f"{path}.json?{view.query()}")["JSON"],
        h.a("#to-end", href="#end")["to the end"],
        h.span("#live", role="status"),
    ]


def _compare_form(view: View, path: str) -> h.Renderable:
    """Which two columns are compared."""
    names = ["as stored", *[one_line(target.name) for target in view.to]]
    options = [
        h.option(value=f"{one},{other}", selected=view.diff == (one, other))[f"{names[one]} → {names[other]}"]
        for one in range(len(names))
        for other in range(one + 1, len(names))
    ]
    return h.form(method="get", action=path, data_visit="change")[
        hidden(view.change(diff=None)),
        h.label[h.span(".visually-hidden")["compare"], h.select(name="diff")[options]],
    ]


def _steps(sheet: Sheet) -> Iterator[h.Renderable]:
    """Buttons to the next and the previous change and finding, which do what the keys do."""
    for what, found, (back, forward) in (
        ("change", changed_messages(sheet), "pn"),
        ("finding", refused_messages(sheet), "PN"),
    ):
        if found:
            yield h.span(".steps")[
                f"{what}s ",
                h.button(type="button", data_key=back, title=f"{back}", aria_label=f"previous {what}")["‹"],
                h.button(type="button", data_key=forward, title=f"{forward}", aria_label=f"next {what}")["›"],
            ]


# -- finding ----------------------------------------------------------------------------------------------------------


def find(sheet: Sheet, text: str) -> list[int]:
    """The messages that contain ``text``, as they are stored or as one of the models gets them."""
    if not text:
        return []
    search = pattern_of(text).search
    found = []
    for index, message in enumerate(sheet.messages):
        shown = [message, *_other_messages(sheet.columns, index)]
        if search(title_of(message)) or any(search(plain(block)) for each in shown for block in each.content):
            found.append(index)
    return found


def _other_messages(columns: list[Column], index: int) -> Iterator[Message]:
    for column in columns:
        yield from column.messages.get(index, [])


def title_line(opened: Opened, view: View, path: str, hits: list[int]) -> list[h.Node]:
    """The line above the screen: what is shown, and the search."""
    models = len({event.text for event in switches(opened.context.messages) if event.kind == "model"})
    facts = [one_line(opened.form), count_of(len(opened.context.messages), "message")]
    if models:
        facts.append(count_of(models, "model"))
    return [
        h.h1[one_line(opened.name)],
        h.span(".facts")[" · ".join(facts)],
        h.form("#find", method="get", action=path, role="search", data_visit="")[
            hidden(view.change(find="", hit=1, at=0)),
            h.label[
                h.span(".visually-hidden")["find"],
                h.input(name="find", type="search", value=view.find, placeholder="find"),
            ],
            _hits(view, path, hits),
        ],
        keys_button(),
    ]


def _hits(view: View, path: str, hits: list[int]) -> h.Node:
    if not view.find:
        return None
    if not hits:
        return h.span(role="status")["not found"]
    hit = min(max(view.hit, 1), len(hits))
    kind = "t" if view.raw else "m"  # turns of a body, or messages

    def link(number: int, text: str, name: str) -> h.Renderable:
        number = (number - 1) % len(hits) + 1
        there = view.change(hit=number, at=max(hits[number - 1], 0))
        address = f"{path}?{there.query()}#{kind}{hits[number - 1]}"
        return h.a(href=address, data_visit="", aria_label=name, title=name)[text]

    return [
        link(hit - 1, "‹", "previous place"),
        h.span(role="status")[h.a(".hit", href=f"#{kind}{hits[hit - 1]}")[f"{hit} of {len(hits)}"]],
        link(hit + 1, "›", "next place"),
    ]
