"""A request is what goes over the wire, without keys and without I/O."""

from typing import Any

import msgspec
from msgspec import Struct

from ..projection import ProjectedContext, Projection
from ..projection.pipeline import Rendering
from ..projection.prefix import Prefix
from ..projection.step import Report, Told, spelled
from ..projection.summary import summarize
from ..types import Change, Message, Model, Options, ToolDefinition
from ..wire.common.dataurl import to_builtins, to_json
from ..wire.common.headers import joined
from ..wire.protocol import Protocol
from .fold import Fold
from .tokens import guessed_frame


class Place(Struct, frozen=True, eq=False):
    """A rendering as it was when a request was made. It shares the lists of the rendering, which only grow: who goes
    back to an earlier place leaves them behind."""

    rendering: Rendering
    system_prompt: str | None
    tools: list[ToolDefinition]
    messages: list[Message]
    sources: list[int]
    count: int
    # Lists of changes (of the frame, of messages, of turns), and how many of each.
    told: tuple[tuple[list[Told], int], ...]
    # Of the messages: how many tokens they have, by a guess, and the digest of all that is sent.
    guess: Fold[float]
    prefix: Fold[Prefix]
    # How many turns stand before those that were written.
    head: int
    # What was written of the turns, each with a comma behind it, and how many bytes of it.
    written: bytearray
    length: int

    def changes(self, lists: int) -> list[Change]:
        """The changes of the first few lists."""
        return [spelled(each) for told, count in self.told[:lists] for each in told[:count]]


class Request:
    """A request to one model.

    ``path`` (below the model's base URL) and ``headers`` go with the body. ``json()`` is the body as bytes,
    ``sdk_kwargs()`` the same for the provider's own Python SDK.
    """

    __slots__ = ("_body", "_frame", "_place", "_protocol", "_report", "headers", "model", "options", "path")

    def __init__(
        self, model: Model, protocol: Protocol, options: Options, place: Place, frame: dict[str, Any], report: Report
    ) -> None:
        self.model = model
        self.options = options
        self.path = protocol.path(model, options, frame)
        self.headers = {"content-type": "application/json"} | joined(protocol.headers(model, options), model.headers)
        self._protocol = protocol
        self._place = place
        self._frame = frame  # the body, without the turns that were written before
        self._report = report
        self._body: dict[str, Any] | None = None

    @property
    def body(self) -> dict[str, Any]:
        """The provider's REST JSON, as a copy: what is changed in it goes out."""
        if self._body is None:
            written = self._place.length
            self._body = msgspec.json.decode(self.json()) if written else to_builtins(self._frame)
        return self._body

    def json(self) -> bytes:
        """The body as bytes."""
        return b"".join(self.pieces())

    def pieces(self) -> list[bytes | memoryview]:
        """The body as bytes in a few pieces, of which the large one is not copied: what a renderer wrote for earlier
        requests. Let go of them when they are sent."""
        place, name = self._place, self._protocol.history
        if self._body is not None:
            return [msgspec.json.encode(self._body)]  # somebody may have changed it
        if not place.length:
            return [to_json(self._frame)]
        data = to_json({**self._frame, name: []})
        # A quote inside a text is escaped, so that this is the member itself.
        begin = f'"{name}":['.encode()
        at = data.index(begin) + len(begin)
        turns = self._frame[name]
        head = to_json(turns[: place.head])[1:-1] + b"," if place.head else b""
        rest = to_json(turns[place.head :])[1:-1]
        return [data[:at] + head, memoryview(place.written)[: place.length], rest + data[at:]]

    def sdk_kwargs(self) -> dict[str, Any]:
        """What the provider's own Python SDK wants as keyword arguments."""
        return self._protocol.sdk_kwargs(self.body, self.model, self.options)

    @property
    def projection(self) -> Projection:
        """The conversation as the model gets it, before it took the protocol's shape."""
        place = self._place
        return Projection(
            context=ProjectedContext(system_prompt=place.system_prompt, messages=self.messages, tools=place.tools),
            changes=place.changes(2),
            model=self.model,
            sources=place.sources[: place.count],
            names=self.names,
        )

    @property
    def names(self) -> dict[str, str]:
        """The stored name behind each rendered tool name that differs."""
        return self._place.rendering.names

    @property
    def messages(self) -> list[Message]:
        """The messages as they were rendered."""
        return self._place.messages[: self._place.count]

    @property
    def changes(self) -> list[Change]:
        """Every change, of projection and of encoding."""
        return [*self._place.changes(3), *self._report.changes]

    def guessed(self) -> float:
        """About how many tokens it has, by length alone."""
        place = self._place
        frame = guessed_frame(place.system_prompt, place.tools)
        return frame + place.guess.over(place.messages, place.count)

    def prefix_digest(self) -> str:
        """The digest of everything that is sent, which the answer is bound to."""
        return self._place.prefix.over(self._place.messages, self._place.count).digest()

    def summary(self) -> str:
        """The changes of projection and encoding in a few lines, for a person."""
        return summarize(self.changes, self.model.ref, self._place.count)

    def __repr__(self) -> str:
        return f"<Request to {self.model.ref}: POST {self.path}, {len(self.changes)} changes>"
