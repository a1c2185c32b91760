"""Messages and their blocks as HTML. Everything of a conversation is text from outside, and nothing else."""

from collections.abc import Callable, Iterator
from typing import assert_never

import htpy as h
import msgspec
from msgspec import Struct

from ..types import (
    AssistantMessage,
    Block,
    FileContent,
    ImageContent,
    Message,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from ..types.formatting import brief, cost_of, media_of, origin_of, size_of, tokens_of
from ..types.media import is_base64, kind_of
from .marked import head_of, one_line, safe

SHOWN_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Types that are shown, if the data begins like one of them. SVG is a document with scripts, so it is not one."""
LARGEST_IMAGE = 2 << 20
"""Characters of base64 up to which an image is part of the page."""


Place = tuple[int, int, int]
"""Where a message is: its column (0: as stored), the index of the stored message, and its place among those that the
column has of it."""


class Ink(Struct, frozen=True):
    """How texts are drawn: the words to mark, and the address of the whole text of a block, if it is not part of the
    page."""

    find: str = ""
    address: Callable[[Place, int], str] | None = None


def plain(block: Block) -> str:
    """Everything of a block that can be read, for searching and comparing."""
    match block:
        case TextContent():
            return block.text
        case ThinkingContent():
            return block.thinking
        case ToolCall():
            return f"{call_name(block)}({arguments_of(block)})"
        case ImageContent() | FileContent():
            return one_line(media_of(block))
        case ProviderContent():
            return f"[{block.kind}] {block.text}"
        case _:
            assert_never(block)


def label(block: Block) -> str:
    """The kind of a block in a word or two."""
    match block:
        case TextContent():
            return "text"
        case ThinkingContent():
            traits = [name for name, has in (("redacted", block.redacted), ("signed", block.thinking_signature)) if has]
            return ", ".join(["thinking", *traits])
        case ToolCall():
            return "call"
        case ImageContent():
            return "image"
        case FileContent():
            return "file"
        case ProviderContent():
            return "provider content"
        case _:
            assert_never(block)


def draw(block: Block, ink: Ink, place: Place, at: int) -> h.Renderable:
    """One block of the message at ``place``."""
    match block:
        case TextContent():
            if not block.text.strip():
                return h.p(".empty")["(blank text)"]
            return h.div(".text", dir="auto")[long_text(block.text, ink, place, at)]
        case ThinkingContent():
            return _thinking(block, ink, place, at)
        case ToolCall():
            return _call(block, ink, place, at)
        case ImageContent():
            return _image(block)
        case FileContent():
            return h.p(".media")[h.span(aria_hidden="true")["▤ "], safe(one_line(media_of(block)), ink.find)]
        case ProviderContent():
            text = block.text or f"({size_of(len(bytes(block.raw)))})"
            return h.div(".text", dir="auto")[h.b[f"◇ {one_line(block.kind)} "], long_text(text, ink, place, at)]
        case _:
            assert_never(block)


def long_text(text: str, ink: Ink, place: Place, at: int) -> h.Node:
    """A text, and if it is long, its beginning with a link to the rest."""
    head = head_of(text)
    if head is text:
        return safe(text, ink.find)
    more = f"all {len(text):,} characters"
    if ink.address is None:
        return [safe(head, ink.find), "…", h.details(".rest")[h.summary[more], safe(text[len(head) :], ink.find)]]
    return [safe(head, ink.find), "… ", h.a(".more", href=ink.address(place, at))[more]]


def _thinking(block: ThinkingContent, ink: Ink, place: Place, at: int) -> h.Renderable:
    size = f" · {len(block.thinking):,} characters" if block.thinking else ""
    title: list[h.Node] = [h.span(".kind")[label(block)], size]
    if not block.thinking:
        return h.p(".thinking")[title]
    first = one_line(block.thinking[:160])
    opened = bool(ink.find) and ink.find.lower() in block.thinking.lower()
    return h.details(".thinking", open=opened)[
        h.summary[title, h.span(".first")[f": {first}"]],
        h.div(".text", dir="auto")[long_text(block.thinking, ink, place, at)],
    ]


def call_name(call: ToolCall) -> str:
    return call.name if call.namespace is None else f"{call.namespace}.{call.name}"


def arguments_of(call: ToolCall) -> str:
    """The arguments of a call, each with its value as JSON."""
    return ", ".join(f"{name}={_value(value)}" for name, value in call.arguments.items())


def _value(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return brief(value)


def _call(call: ToolCall, ink: Ink, place: Place, at: int) -> h.Renderable:
    return h.div(".call", dir="auto")[
        h.span(".arrow", aria_hidden="true")["→\u00a0"],
        h.b[safe(one_line(call_name(call)), ink.find)],
        "(",
        h.wbr,  # the arguments may begin on the next line, the name may not
        h.span(".arguments")[long_text(arguments_of(call), ink, place, at)],
        ")",
        h.span(".id")[f" {one_line(call.id)}"] if call.id else h.span(".id")[" no id"],
    ]


def _image(block: ImageContent) -> h.Renderable:
    kind = kind_of(block.data) if block.data and block.url is None else None
    about = one_line(media_of(block))
    if kind not in SHOWN_IMAGES or len(block.data) > LARGEST_IMAGE or not is_base64(block.data):
        missing = (
            "" if block.url is not None or kind in SHOWN_IMAGES else ", not shown: it is not an image of a known type"
        )
        return h.p(".media")[h.span(aria_hidden="true")["▣ "], f"image: {about}{missing}"]
    return h.figure[
        h.img(src=f"data:{kind};base64,{block.data}", alt=f"image, {about}", loading="lazy"),
        h.figcaption[about],
    ]


# -- messages ---------------------------------------------------------------------------------------------------------


def title_of(message: Message) -> str:
    """Who a message is from."""
    match message:
        case UserMessage():
            return "user, written by a program" if message.injected else "user"
        case AssistantMessage():
            return origin_of(message)
        case ToolResultMessage():
            return f"result of {message.tool_name or message.tool_call_id or 'a call'}"
        case _:
            assert_never(message)


def facts_of(message: Message) -> list[str]:
    """What else is known of a message."""
    match message:
        case AssistantMessage():
            found = [fact for fact in (tokens_of(message.usage), cost_of(message.usage)) if fact]
            if message.stop_reason not in ("stop", "toolUse"):
                found.insert(0, f"ended in {message.stop_reason}")
            return found
        case ToolResultMessage():
            return ["placeholder"] if message.synthetic else []
        case _:
            return []


def draw_blocks(message: Message, ink: Ink, place: Place) -> Iterator[h.Renderable]:
    """All blocks of a stored message."""
    if isinstance(message, AssistantMessage) and message.error_message:
        yield h.p(".failure")["✗ ", safe(one_line(message.error_message), ink.find)]
    if isinstance(message, ToolResultMessage):
        yield result_mark(message)
    for at, block in enumerate(message.content):
        name = f"m{place[1]}.b{at}"
        yield h.div(".block", id=name)[
            _link(name, place[1], at) if len(message.content) > 1 else None, draw(block, ink, place, at)
        ]
    if not message.content:
        yield h.p(".empty")["(empty)"]


def _link(name: str, index: int, at: int) -> h.Renderable:
    """A link to one block of several. It is visible where the mouse or the focus is."""
    return h.a(".here", href=f"#{name}", aria_label=f"block {at} of message {index}", title=f"link to block {at}")["#"]


def result_mark(message: ToolResultMessage) -> h.Renderable:
    """Whether a call succeeded, and which one."""
    sign, word = ("✗", "failed") if message.is_error else ("✓", "result")
    return h.span(".failed" if message.is_error else ".ok")[
        h.span(aria_hidden="true")[sign],
        f" {word} ",
        h.span(".id")[one_line(message.tool_call_id) or "no id"],
    ]
