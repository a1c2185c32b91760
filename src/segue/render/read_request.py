"""``read_request`` reads everything that a request body says: the conversation, the model, the options, and a report of
every field that could not be carried. ``ingest`` is the short form that returns the conversation."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..errors import FormatError
from ..types import AssistantMessage, Change, Context, Message, Model, Options, Origin, Origins
from ..wire import Asked, check_fields, protocol_of
from .bodies import TOO_DEEP, Body, ingest, opened, read_conversation
from .clock import current_time

FindOrigin = Callable[[AssistantMessage], Origin | Model | None]
"""Returns who made an answer, or ``None`` if that is not known."""


class ReadRequest(Struct, frozen=True):
    """Everything that a request body says.

    ``protocol`` is ``None`` for a conversation of segue. ``model`` is the name that the request asks for; it is empty
    if the body does not contain it. ``changes`` names every field that could not be carried.
    """

    protocol: str | None
    context: Context
    model: str
    options: Options
    changes: list[Change]


def read_request(
    body: Body,
    protocol: str | None = None,
    origins: Origins | FindOrigin | Origin | Model | str | None = None,
    now: int | None = None,
) -> ReadRequest:
    """Read everything that a request body says. The protocol is recognised if it is not passed.

    ``origins`` knows who made the answers, so that their signatures can be sent back: a ledger, a function that gets an
    answer, or the model that made all of them. ``now`` (Unix ms) is the timestamp of the answers, by default the
    current time.
    """
    now = current_time() if now is None else now
    document, protocol = opened(body, protocol)
    maker = origins if isinstance(origins, Model | str) else None
    if document is None or protocol is None:
        context = _attributed(ingest(body, protocol, maker, now), origins)
        return ReadRequest(protocol, context, "", Options(), [])
    context = _attributed(read_conversation(document, protocol, maker, now), origins)
    form, asked = protocol_of(protocol).request, Asked()
    try:
        form.options(document, asked)
        check_fields(form.fields, document, None, asked)
    except RecursionError:
        raise FormatError(TOO_DEEP) from None
    name = document.get(form.model)
    return ReadRequest(
        protocol, context, name if isinstance(name, str) else "", Options(**asked.options), _dropped(asked)
    )


def unread_fields(document: dict[str, Any], protocol: str) -> list[Change]:
    """Everything in these fields of a body that a conversation cannot hold: options, too, such as cache markers."""
    asked = Asked()
    check_fields(protocol_of(protocol).request.fields, document, None, asked)
    if "cache" in asked.options:
        asked.leave(", ".join(document), "cache markers are not kept")
    return _dropped(asked)


def _dropped(asked: Asked) -> list[Change]:
    return [Change("field-dropped", detail=f"{path}: {why}", lossy=True) for path, why in asked.left]


def _attributed(context: Context, origins: Any) -> Context:
    """The conversation, with the origins of the answers that are known."""
    if origins is None or isinstance(origins, Model | str):  # nothing is known, or all answers have their origin
        return context
    find = _finder(origins)
    return replace(context, messages=[_marked(message, find) for message in context.messages])


def _finder(origins: Any) -> FindOrigin:
    if isinstance(origins, Origin):
        return lambda message: origins
    if hasattr(origins, "origin_of"):
        found: FindOrigin = origins.origin_of
        return found
    if not callable(origins):
        kind = type(origins).__name__
        raise TypeError(f"origins must be a ledger, a function, an Origin or a Model, not a {kind}")
    return origins  # type: ignore[no-any-return]  # a function


def _marked(message: Message, find: FindOrigin) -> Message:
    if not isinstance(message, AssistantMessage):
        return message
    origin = find(message)
    if origin is None:
        return message
    return (Origin.of(origin) if isinstance(origin, Model) else origin).mark(message)
