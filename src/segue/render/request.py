"""A request to a model, ready to send. It holds no key and does no I/O."""

import shlex
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ..projection import (
    Frame,
    PendingChange,
    PolicyLike,
    Prefix,
    ProjectedContext,
    Projection,
    Report,
    spelled_out,
    summarize,
)
from ..tokens import guess_frame
from ..types import Change, Context, Fold, Message, Model, Options, ToolKey
from ..types.secret import shown_headers
from ..wire import Protocol, join_headers, to_builtins, to_json
from .sources import Sources, trace

_PLACE = b"\0"
HISTORY = Raw(_PLACE)
"""The place of the turns that were written before. It is written verbatim, and NUL cannot occur in JSON."""


class Snapshot(Struct, frozen=True, eq=False):
    """The state of a rendering when a request was created. It shares the lists of the rendering, which only grow: going
    back replaces them."""

    frame: Frame
    messages: list[Message]
    sources: list[int]
    count: int
    names: dict[str, ToolKey]
    # Changes of messages and of turns: the lists, and how many of each belong to this request.
    pending: tuple[tuple[list[PendingChange], int], tuple[list[PendingChange], int]]
    # Folds over the messages: the guessed number of tokens, and the digest of everything that is sent.
    guess: Fold[float]
    prefix: Fold[Prefix]
    # Whether turns have placeholders that no stored message has.
    added: bool
    # The bytes of turns that were written before, and how many of them belong to this request.
    written: bytearray
    length: int

    def changes(self, *, turns: bool) -> list[Change]:
        """The changes of the frame and of the messages; with ``turns``, also those of the turns."""
        lists = self.pending if turns else self.pending[:1]
        return [*self.frame.report.changes, *[spelled_out(each) for made, count in lists for each in made[:count]]]


class Source(Struct, frozen=True, eq=False):
    """What a request was rendered from: the conversation, how many of its messages, and the policy."""

    context: Context
    count: int
    policy: PolicyLike


class Request:
    """A request to one model.

    ``path`` (below the model's base URL) and ``headers`` go with the body. ``json()`` is the body as bytes,
    ``sdk_kwargs()`` the same for the provider's own Python SDK.
    """

    __slots__ = (
        "_body",
        "_protocol",
        "_report",
        "_snapshot",
        "_unwritten",
        "headers",
        "model",
        "options",
        "path",
        "source",
    )

    def __init__(
        self,
        model: Model,
        protocol: Protocol,
        options: Options,
        snapshot: Snapshot,
        body: dict[str, Any],
        report: Report,
        source: Source,
    ) -> None:
        self.model = model
        self.options = options
        self.path = protocol.path(model, options, body)
        self.headers = {"content-type": "application/json"} | join_headers(
            protocol.headers(model, options), model.headers
        )
        self.source = source
        self._protocol = protocol
        self._snapshot = snapshot
        self._unwritten = body  # with `HISTORY` in place of the turns that were written before
        self._report = report
        self._body: dict[str, Any] | None = None

    @property
    def body(self) -> dict[str, Any]:
        """The body as JSON values. It is a copy of the rendering; changes to it are sent."""
        if self._body is None:
            written = self._snapshot.length
            self._body = msgspec.json.decode(self.json()) if written else to_builtins(self._unwritten)
        return self._body

    def json(self) -> bytes:
        """The body as bytes."""
        return b"".join(self.pieces())

    def pieces(self) -> list[bytes | memoryview]:
        """The body as bytes, in a few pieces. The largest one, which a renderer wrote for earlier requests, is not
        copied. Do not keep the pieces after sending."""
        if self._body is not None:
            return [msgspec.json.encode(self._body)]  # the caller may have changed it
        return self._filled(to_json(self._unwritten))

    def fields(self, *names: str) -> dict[str, Raw]:
        """These fields of the body, as far as it has them, as JSON."""
        body = self._unwritten if self._body is None else self._body
        return {name: Raw(b"".join(self._filled(to_json(body[name])))) for name in names if name in body}

    def _filled(self, data: bytes) -> list[bytes | memoryview]:
        """``data`` with the turns that were written before in their place."""
        before, place, after = data.partition(_PLACE) if self._snapshot.length else (data, b"", b"")
        if not place:
            return [data]
        return [before, memoryview(self._snapshot.written)[: self._snapshot.length], after]

    def sdk_kwargs(self) -> dict[str, Any]:
        """The body as keyword arguments of the provider's own Python SDK."""
        return self._protocol.sdk_kwargs(self.body, self.model, self.options)

    def curl(self) -> str:
        """A shell command that sends the body, saved as body.json. It has no key, and shows none."""
        headers = [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in shown_headers(self.headers).items()]
        address = shlex.quote(f"{self.model.base_url.rstrip('/')}/{self.path.lstrip('/')}")
        return " ".join(["curl", address, *headers, "--data-binary @body.json"])

    @property
    def projection(self) -> Projection:
        """The projected conversation, before it was encoded for the protocol."""
        snapshot = self._snapshot
        return Projection(
            context=ProjectedContext(
                system_prompt=snapshot.frame.system_prompt, messages=self.messages, tools=snapshot.frame.tools
            ),
            changes=snapshot.changes(turns=False),
            model=self.model,
            sources=snapshot.sources[: snapshot.count],
            names=self.names,
        )

    @property
    def names(self) -> dict[str, ToolKey]:
        """The stored tool behind each rendered name, where they differ."""
        return self._snapshot.names

    @property
    def messages(self) -> list[Message]:
        """The rendered messages."""
        return self._snapshot.messages[: self._snapshot.count]

    @property
    def changes(self) -> list[Change]:
        """All changes of projection and encoding."""
        return [*self._snapshot.changes(turns=True), *self._report.changes]

    @property
    def sources(self) -> Sources:
        """The stored messages behind the parts of the body. To find them, the conversation is rendered again."""
        return trace(self.source.context, self.source.count, self.source.policy, self.model, self.options)

    @property
    def added(self) -> bool:
        """Whether the request has placeholders that the target requires, for signatures or reasoning."""
        return self._snapshot.added

    def guessed(self) -> float:
        """A guess of the number of tokens, from length alone."""
        snapshot = self._snapshot
        frame = guess_frame(snapshot.frame.system_prompt, snapshot.frame.tools)
        return frame + snapshot.guess.over(snapshot.messages, snapshot.count)

    def prefix_digest(self) -> str:
        """The digest of everything that is sent. Answers store it."""
        return self._snapshot.prefix.over(self._snapshot.messages, self._snapshot.count).digest()

    def summary(self) -> str:
        """The changes of projection and encoding in a few lines of text."""
        return summarize(self.changes, self.model.ref, self._snapshot.count)

    def __repr__(self) -> str:
        return f"<Request to {self.model.ref}: POST {self.path}, {len(self.changes)} changes>"
