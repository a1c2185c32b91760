"""How a stand-in speaks one protocol: a record of functions, one file per protocol in ``voices/``."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from ..types import AssistantContent, Model, StopReason, Usage
from .script import FaultKind
from .signatures import Signer

Body = dict[str, Any]


class Route(Struct, frozen=True):
    """What a path asks for. ``model`` and ``stream`` where the path says them, ``None`` where the body does."""

    model: str | None = None
    stream: bool | None = None


class Spoken(Struct, frozen=True):
    """A reply on its way out: everything that was empty has been made."""

    id: str
    model: Model
    content: list[AssistantContent]
    stop: StopReason
    usage: Usage
    created: int = 1_700_000_000
    # The request: some of an answer depends on it.
    asked: Body = {}
    # What the provider says that it left out of the request; None: it says nothing of that.
    transformed: list[Body] | None = None


class Refusal(Struct, frozen=True):
    """An error as the provider tells it: the status, its word for the kind, and its text."""

    status: int
    kind: str
    text: str


class Bindings(Struct, frozen=True):
    """What the provider makes of signed blocks that are bound to something else: a refusal, or a list of changes."""

    refused: str | None = None
    transformed: list[Body] | None = None


class Voice(Struct, frozen=True, kw_only=True):
    """One protocol, spoken by the provider's side."""

    # What a path (without the part that belongs to the base URL) asks for; None: there is nothing here.
    route: Callable[[str], Route | None]
    # The blocks of a reply with signatures, ids and payloads in them, in the form in which answers of this protocol
    # carry them.
    complete: Callable[[list[AssistantContent], Signer, Model], list[AssistantContent]]
    # The answer in one piece, and as the bytes of its events.
    whole: Callable[[Spoken], Body]
    events: Callable[[Spoken], Iterator[bytes]]
    content_type: str = "text/event-stream"
    # Everything in a request that only the provider can have signed and that it did not: the path and what it answers.
    forged: Callable[[Body, Signer, Model], Iterable[str]]
    # The blocks of a reply to this request with signatures that are bound to it, where the provider binds them; and
    # what it makes of such blocks in a request, given its headers.
    bind: Callable[[list[AssistantContent], Body, Signer, Model], list[AssistantContent]] = lambda content, *_: content
    bindings: Callable[[Body, Mapping[str, str], Signer, Model], Bindings] = lambda *_: Bindings()
    # What it says to a request for a stream that this model answers only in one piece; None: it streams.
    whole_only: Callable[[Body, Model], str | None] = lambda body, model: None
    # The body of an error, the headers of its own, an error in the middle of a stream, and bytes in a stream that are
    # no event of it.
    error: Callable[[Refusal], Body]
    error_headers: Callable[[Refusal], Mapping[str, str]] = lambda refusal: {}
    error_event: Callable[[Refusal], bytes]
    broken_event: bytes = b'data: {"type": "\n\n'
    # What it says to a request that breaks a rule, and to faults on demand.
    invalid: Callable[[str], Refusal]
    faults: Mapping[FaultKind, Refusal]
    # How a request proves who sends it, unless the provider's row names another way (`keys.HEADERS`).
    auth: str = "bearer"
    # Headers of every answer; the one that names the request.
    request_id: str = "x-request-id"
