"""Request bodies from any source: ``lint`` finds what a provider would refuse, ``ingest`` reads the conversation."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from ..catalog import Catalog, as_model, get_model
from ..errors import FormatError, SegueError
from ..rules import Finding, run
from ..types import Context, Message, Model
from ..types.codec import json_text, read_document
from ..types.text import has_surrogate_escapes, scrub, scrub_json
from ..wire import MALFORMED, PROTOCOLS, Protocol, is_torn, protocol_of
from .clock import current_time
from .lists import plain_values, read_mixed
from .recognise import Recognised, as_body, recognise

TOO_DEEP = "nested too deeply to be read"
UNREAD = "this body cannot be read; please report this as a bug"
Body = Mapping[str, Any] | Sequence[Message | Mapping[str, Any] | Any] | bytes | str


def lint(body: Body, protocol: str | None = None, model: Model | str | None = None) -> list[Finding]:
    """Find everything in ``body`` that a provider of this protocol would refuse or change.

    The protocol is recognised if it is not passed. Without a model, rules that apply to some models only are warnings,
    and so are rules that depend on a header.
    """
    return _findings(body, protocol, model, body_only=True)


def lint_request(body: Body, protocol: str, model: Model) -> list[Finding]:
    """As ``lint``, for a request that has the headers of ``model``."""
    return _findings(body, protocol, model, body_only=False)


def _findings(body: Body, protocol: str | None, model: Model | str | None, body_only: bool) -> list[Finding]:
    body = _as_text(body)
    document = _with_surrogates(body, _read(body))
    if protocol is not None and (not isinstance(document, dict) or protocol_of(protocol).history in document):
        spoken = protocol_of(protocol)  # blocks of another protocol are also findings
    else:
        spoken = _protocol_of_body(document, protocol)
    return run(spoken.rules, document, _model(model, spoken.name), body_only=body_only)


def ingest(
    body: Body, protocol: str | None = None, model: Model | str | None = None, now: int | None = None
) -> Context:
    """Read the conversation from a request body, or from a bare list of messages. The protocol is recognised if it is
    not passed; a conversation of segue is read as it is.

    ``model`` is the origin of its answers; without one their signatures are never replayed. ``now`` (Unix ms) is the
    timestamp of its messages, by default the current time.
    """
    now = current_time() if now is None else now
    document = _read(body) if isinstance(body, bytes | str) else _plain(body)
    if isinstance(document, list):
        dicts = [item for item in document if not isinstance(item, Message)]
        if len(dicts) < len(document):
            known = protocol or (recognise(dicts).protocol if dicts else None)
            return read_mixed(document, lambda run: ingest(run, known, model, now))
    text = body if isinstance(body, bytes | str) else None
    return RecognisedBody(_form(document, protocol), text).conversation(model, now)


class RecognisedBody(Struct, frozen=True):
    """A body whose form is known."""

    form: Recognised
    # The text that was read, if there was one.
    text: bytes | str | None

    def conversation(self, model: Model | str | None = None, now: int | None = None) -> Context:
        """Read the conversation."""
        protocol = self.form.protocol
        if protocol is None:
            return self._read_own()
        time = current_time() if now is None else now
        return _ingest(self.form.body, protocol_of(protocol), _model(model, protocol), time)

    def _read_own(self) -> Context:
        """Read a conversation of segue, or a list of its messages."""
        try:
            data = json_text(self.form.body) if self.text is None or self.form.is_list else self.text
        except MALFORMED as error:
            raise FormatError(f"this conversation contains something that is not JSON: {error}") from None
        return Context.from_json(data)


def recognise_body(text: bytes | str, protocol: str | None = None) -> RecognisedBody:
    """Find out which form a JSON text has, or check that it has the form of ``protocol``."""
    return RecognisedBody(_form(_read(text), protocol), text)


def _form(document: Any, protocol: str | None) -> Recognised:
    if protocol is None:
        return recognise(document)
    form = Recognised(protocol, isinstance(document, list), as_body(document, protocol))
    _check_protocol(form.body, protocol)
    return form


def opened(body: Body, protocol: str | None) -> tuple[dict[str, Any] | None, str | None]:
    """A request body as Python values, and its protocol; ``None`` if it is not a body of a protocol."""
    document = _read(body) if isinstance(body, bytes | str) else _plain(body)
    if not isinstance(document, dict):
        return None, protocol
    if protocol is not None:
        _check_protocol(document, protocol)
    elif (protocol := recognise(document).protocol) is None:
        return None, None
    return document, protocol


def read_conversation(document: dict[str, Any], protocol: str, model: Model | str | None, now: int) -> Context:
    """Read the conversation from a body of this protocol, as ``opened`` returns it."""
    return _ingest(document, protocol_of(protocol), _model(model, protocol), now)


def _model(model: Model | str | None, protocol: str) -> Model | None:
    """The model, with this protocol if it is passed by name and its provider speaks it."""
    if not isinstance(model, str):
        return None if model is None else as_model(model)
    provider, _, _ = Catalog.default().find(model)
    return get_model(model, protocol=protocol if protocol in provider.protocols else None)


def _plain(body: Any) -> Any:
    try:
        return plain_values(body)
    except RecursionError:
        raise FormatError(TOO_DEEP) from None


def _ingest(document: dict[str, Any], protocol: Protocol, model: Model | None, now: int) -> Context:
    try:
        try:
            return protocol.ingest(document, model, now)
        except UnicodeEncodeError:  # lone surrogates: a dict may contain them, but parsed JSON text does not
            return protocol.ingest(scrub_json(document), model, now)
    except SegueError:
        raise
    except RecursionError:
        raise FormatError(TOO_DEEP) from None
    except MALFORMED as error:  # readers report what is wrong and where; this is for cases that they do not handle
        raise FormatError(f"{UNREAD} ({type(error).__name__}: {error})") from None


def _as_text(body: Body) -> Body:
    """Bytes that are UTF-8 except for lone surrogates, as text; any other body unchanged."""
    if not isinstance(body, bytes):
        return body
    try:
        text = body.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return body
    return text if is_torn(text) else body


def _with_surrogates(body: Body, document: Any) -> Any:
    """A body that was passed as text, parsed again with its lone surrogates, which ``_read`` has replaced."""
    if not isinstance(body, bytes | str):
        return document
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    if (isinstance(body, bytes) or scrub(body) is body) and not has_surrogate_escapes(data):
        return document
    try:
        return json.loads(body)
    except RecursionError:
        raise FormatError(TOO_DEEP) from None


def _protocol_of_body(document: Any, name: str | None) -> Protocol:
    """The protocol of that name, or the one that the body has. Raise if it is not a body of it."""
    if isinstance(document, list):
        raise FormatError(
            'a request body is a JSON object, not a list; put a list of messages in one: {"messages": […]}'
        )
    if name is not None:
        _check_protocol(as_body(document, name), name)
        return protocol_of(name)
    found = recognise(document)
    if found.protocol is None:
        raise FormatError("this is a conversation of segue, not a request body; encode it for a model first")
    return protocol_of(found.protocol)


def _check_protocol(body: dict[str, Any], name: str) -> None:
    """Raise if the body clearly belongs to another protocol than ``name``."""
    if protocol_of(name).recognise(body) == 0:
        others = [other for other in PROTOCOLS if protocol_of(other).recognise(body) > 0]
        if others:
            raise FormatError(f"this is not a body of {name}; it looks like {' or '.join(others)}")


def _read(body: Any) -> Any:
    """A body as Python values, from values or JSON text."""
    if not isinstance(body, bytes | str):
        return body
    return read_document(scrub(body).encode() if isinstance(body, str) else body)
