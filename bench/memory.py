"""The memory of rendering, in addition to the conversation and the bytes that are sent.

Measured by tracemalloc, each in its own process. Peers get the same history without the images.
"""

import gc
import tracemalloc
from base64 import b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from random import Random
from typing import Any, NamedTuple

from msgspec.structs import replace

import segue
from segue.render import Renderer
from segue.types import Context, ImageContent, TextContent, ToolResultMessage

from .conversations import tool_history
from .measure import Figure
from .peers import PEERS
from .peers.encoders import ANTHROPIC, Encoder
from .report import Bars, Part, Section, Table, number

COUNT = 10_000
IMAGES = 200
IMAGE_BYTES = 100_000
PNG = b"\x89PNG\r\n\x1a\n"
Pieces = list[bytes | memoryview]
Render = Callable[[], tuple[object, Pieces]]
"""An object to keep, and the bytes that are sent, in pieces."""


class Taken(NamedTuple):
    """Bytes of the conversation's JSON, of the body, and of additional memory: at the peak, and while the renderer is
    kept."""

    title: str
    called: str
    json: int
    body: int
    peak: int
    kept: int


def run() -> Iterator[Part]:
    with_images = [alone(renderer, True), alone(scratch, True)]
    without = [alone(renderer, False), alone(scratch, False), *(alone(peer, False, at) for at in range(len(PEERS)))]
    yield table(f"{COUNT:,} messages with {IMAGES} images, to {ANTHROPIC.title}", with_images)
    yield table(f"{COUNT:,} messages without images, to {ANTHROPIC.title}", without)
    panels = {
        title: {each.title: Figure.of([each.peak / 1e6]) for each in taken}
        for title, taken in ((f"with {IMAGES} images", with_images), ("without images", without))
    }
    yield Bars(
        "bench-memory.svg", f"Memory that rendering {COUNT:,} messages adds, the outgoing bytes apart", "MB", panels
    )


def table(title: str, taken: list[Taken]) -> Table:
    def share(size: int, each: Taken) -> str:
        return f"{number(size / 1e6)} MB, {number(size / each.json)} × its JSON"

    return Table(
        f"{title}; JSON of the conversation {number(taken[0].json / 1e6)} MB",
        ("", "outgoing bytes", "added at the height", "added, and still there afterwards", "called"),
        [
            (each.title, f"{number(each.body / 1e6)} MB", share(each.peak, each), share(each.kept, each), each.called)
            for each in taken
        ],
        ("Measured with tracemalloc in its own process, without the conversation and the outgoing bytes.",),
    )


def alone(what: Callable[..., Taken], *arguments: Any) -> Taken:
    """Measure in a new process."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(what, *arguments).result()


def conversation(images: bool) -> Context:
    """A long history, in which some results are screenshots."""
    context = tool_history(COUNT)
    results = [at for at, message in enumerate(context.messages) if isinstance(message, ToolResultMessage)]
    messages = list(context.messages)
    chance = Random(1)
    for at in results[:: len(results) // IMAGES][: IMAGES if images else 0]:
        picture = ImageContent(b64encode(PNG + chance.randbytes(IMAGE_BYTES)).decode(), "image/png")
        messages[at] = replace(messages[at], content=[TextContent("A screenshot."), picture])
    return replace(context, messages=messages)


def renderer(images: bool) -> Taken:
    model = segue.get_model(ANTHROPIC.ref)

    def render(context: Context) -> tuple[object, Pieces]:
        keeps = Renderer(model)
        return keeps, keeps.request(context).pieces()

    return own("segue, a session's renderer", "Renderer(model).request(context).pieces()", render, images)


def scratch(images: bool) -> Taken:
    model = segue.get_model(ANTHROPIC.ref)

    def render(context: Context) -> tuple[object, Pieces]:
        request = segue.encode(context, model)
        return request, request.pieces()

    return own("segue, from scratch", "segue.encode(context, model).pieces()", render, images)


def own(title: str, called: str, render: Callable[[Context], tuple[object, Pieces]], images: bool) -> Taken:
    render(tool_history(10))  # so that imports are not counted
    context = conversation(images)
    assert not images or b"".join(render(context)[1]).count(b'"type":"image"') == IMAGES
    return added(title, called, context, lambda: render(context))


def peer(images: bool, which: int) -> Taken:
    PEERS[which](tool_history(10)).encoders[ANTHROPIC].encode()  # so that imports are not counted
    context = conversation(images)
    loaded = PEERS[which](context)
    encoder = loaded.encoders[ANTHROPIC]
    assert isinstance(encoder, Encoder)
    return added(loaded.title, encoder.called, context, lambda: (None, [encoder.encode()]))


def added(title: str, called: str, context: Context, render: Render) -> Taken:
    size = len(context.to_json())
    gc.collect()
    tracemalloc.start()
    _kept, data = render()
    gc.collect()
    now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    body = sum(map(len, data))
    return Taken(title, called, size, body, peak - body, now - body)


SECTION = Section("memory", "Memory", run)
