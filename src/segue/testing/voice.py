"""The provider's side of a protocol as a record of functions, with one file per protocol in ``voices/``."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from ..types import AssistantContent, Model, StopReason, Usage
from .script import FaultKind
from .signatures import Signer

Body = dict[str, Any]


class Route(Struct, frozen=True):
    """What a path requests. ``model`` and ``stream`` are ``None`` if they are in the body, not in the path."""

    model: str | None = None
    stream: bool | None = None


class Answer(Struct, frozen=True):
    """A reply with everything that the provider adds, ready to be sent."""

    id: str
    model: Model
    content: list[AssistantContent]
    stop: StopReason
    usage: Usage
    created: int = 1_700_000_000
    # The request: parts of an answer depend on it.
    request: Body = {}
    # What the provider reports that it left out of the request; None: it does not report that.
    transformed: list[Body] | None = None


class Refusal(Struct, frozen=True):
    """An error of the provider: the status, its name for the kind, and its text; where the protocol has them, also the
    error's code and the field that it is about."""

    status: int
    kind: str
    text: str
    code: str | None = None
    param: str | None = None


class Bindings(Struct, frozen=True):
    """How the provider treats signed blocks that are bound to something else: a refusal, or a list of changes."""

    refused: str | None = None
    transformed: list[Body] | None = None


class Voice(Struct, frozen=True, kw_only=True):
    """The provider's side of one protocol."""

    # What a path (without the base URL) requests; None: there is no such path.
    route: Callable[[str], Route | None]
    # The blocks of a reply with signatures, ids and payloads, in the form of this protocol's answers.
    complete: Callable[[list[AssistantContent], Signer, Model], list[AssistantContent]]
    # The whole answer, and the bytes of its events in a stream.
    whole: Callable[[Answer], Body]
    events: Callable[[Answer], Iterator[bytes]]
    content_type: str = "text/event-stream"
    # Every signature in a request that the provider did not issue: its path and the provider's text.
    forged: Callable[[Body, Signer, Model], Iterable[str]]
    # The blocks of a reply with signatures that are bound to the request, if the provider binds them; and how it
    # treats such blocks in a request with these headers.
    bind: Callable[[list[AssistantContent], Body, Signer, Model], list[AssistantContent]] = lambda content, *_: content
    bindings: Callable[[Body, Mapping[str, str], Signer, Model], Bindings] = lambda *_: Bindings()
    # The model as a request with these headers addresses it: a header may ask for another version of the API.
    addressed: Callable[[Model, Mapping[str, str]], Model] = lambda model, headers: model
    # The text of the refusal to stream what this model only answers whole; None: it streams.
    whole_only: Callable[[Body, Model], str | None] = lambda body, model: None
    # The body of an error, its additional headers, an error in mid-stream, and bytes in a stream that are not an event.
    error: Callable[[Refusal], Body]
    error_headers: Callable[[Refusal], Mapping[str, str]] = lambda refusal: {}
    error_event: Callable[[Refusal], bytes]
    broken_event: bytes = b'data: {"type": "\n\n'
    # The refusal of a request that violates a rule, and the refusals for faults on demand.
    invalid: Callable[[str], Refusal]
    faults: Mapping[FaultKind, Refusal]
    # The authentication scheme, unless the provider's row names another (`keys.HEADERS`).
    auth: str = "bearer"
    # The header with the id of the request.
    request_id: str = "x-request-id"
