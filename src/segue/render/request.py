"""``encode``: project and encode in one call. A request is what goes over the wire, without keys and without I/O."""

from typing import Any

import msgspec

from ..projection import PolicyLike, Projection, project
from ..projection.step import Report
from ..projection.summary import summarize
from ..types import Change, Context, Model, Options
from ..wire.registry import protocol_of


class Request:
    """A request to one model.

    ``body`` is the provider's REST JSON; ``path`` (below the model's base URL) and ``headers`` go with it. ``json()``
    is the body as bytes, ``sdk_kwargs()`` the same for the provider's own Python SDK. The body shares its leaves with
    the stored conversation: copy it deeply before you change it in place.
    """

    __slots__ = ("body", "changes", "headers", "model", "options", "path", "projection")

    def __init__(self, projection: Projection, options: Options) -> None:
        protocol = protocol_of(projection.model.protocol)
        report = Report()
        self.model: Model = projection.model
        self.options = options
        self.projection = projection
        self.body: dict[str, Any] = protocol.encode(projection, options, report)
        self.path = protocol.path(projection.model, options, self.body)
        self.headers = {"content-type": "application/json"}
        self.headers |= protocol.headers(projection.model, options) | projection.model.headers
        self.changes: list[Change] = [*projection.changes, *report.changes]

    def json(self) -> bytes:
        """The body as bytes."""
        return msgspec.json.encode(self.body)

    def sdk_kwargs(self) -> dict[str, Any]:
        """What the provider's own Python SDK wants as keyword arguments."""
        return protocol_of(self.model.protocol).sdk_kwargs(self.body, self.model, self.options)

    def summary(self) -> str:
        """The changes of projection and encoding in a few lines, for a person."""
        return summarize(self.changes, self.model.ref, len(self.projection.context.messages))

    def __repr__(self) -> str:
        return f"<Request to {self.model.ref}: POST {self.path}, {len(self.changes)} changes>"


def encode(context: Context, model: Model, options: Options | None = None, policy: PolicyLike = None) -> Request:
    """The request that sends ``context`` to ``model``."""
    return Request(project(context, model, policy), options or Options())
