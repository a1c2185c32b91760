"""Request bodies from any source: ``lint`` finds what a provider would refuse, ``ingest`` reads the conversation."""

import json
from typing import Any

from ..errors import FormatError, SegueError
from ..rules import Finding, run
from ..types import Context, Model, check_model
from ..types.codec import read_document
from ..types.text import has_surrogate_escapes, scrub, scrub_json
from ..wire import MALFORMED, PROTOCOLS, Protocol, is_torn, protocol_of
from .clock import current_time

TOO_DEEP = "nested too deeply to be read"
UNREAD = "this body cannot be read; please report this as a bug"
Body = dict[str, Any] | bytes | str


def lint(body: Body, protocol: str | None = None, model: Model | None = None) -> list[Finding]:
    """Find everything in ``body`` that a provider of this protocol would refuse or change.

    The protocol is recognised if it is not passed. Without a model, rules that apply to some models only are warnings.
    """
    if model is not None:
        check_model(model)
    body = _as_text(body)
    document = _with_surrogates(body, _read(body))
    if protocol is not None and (not isinstance(document, dict) or protocol_of(protocol).history in document):
        return run(protocol_of(protocol).rules, document, model)  # blocks of another protocol are also findings
    return run(_protocol(_check_object(document), protocol).rules, document, model)


def ingest(body: Body, protocol: str | None = None, model: Model | None = None, now: int | None = None) -> Context:
    """Read the conversation from a request body. The protocol is recognised if it is not passed.

    ``model`` is the origin of its answers; without one their signatures are never replayed. ``now`` (Unix ms) is the
    timestamp of its messages, by default the current time.
    """
    if model is not None:
        check_model(model)
    now = current_time() if now is None else now
    document = read_body(body)
    read = _protocol(document, protocol).ingest
    try:
        try:
            return read(document, model, now)
        except UnicodeEncodeError:  # lone surrogates: a dict may contain them, but parsed JSON text does not
            return read(scrub_json(document), model, now)
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


def _protocol(body: dict[str, Any], name: str | None) -> Protocol:
    """The protocol of that name. Raise if the body clearly belongs to another one."""
    if name is None:
        return protocol_of(recognise(body))
    asked = protocol_of(name)
    if asked.recognise(body) == 0:
        others = [other for other in PROTOCOLS if protocol_of(other).recognise(body) > 0]
        if others:
            raise FormatError(f"this is not a body of {name}; it looks like {' or '.join(others)}")
    return asked


def recognise(body: dict[str, Any]) -> str:
    """The most likely protocol of ``body``."""
    scores = {name: protocol_of(name).recognise(body) for name in PROTOCOLS}
    best = max(scores, key=lambda name: scores[name])
    if scores[best] == 0:
        raise FormatError(f"this does not look like a request body of {', '.join(PROTOCOLS)}; pass the protocol")
    return best


def read_body(body: Body) -> dict[str, Any]:
    """A body as a dict, from a dict or JSON text."""
    return _check_object(_read(body))


def _check_object(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        advice = '; put a list of messages in one: {"messages": […]}' if isinstance(document, list) else ""
        raise FormatError(f"a request body is a JSON object, not a {type(document).__name__}{advice}")
    return document


def _read(body: Any) -> Any:
    """A body as Python values, from values or JSON text."""
    if not isinstance(body, bytes | str):
        return body
    return read_document(scrub(body).encode() if isinstance(body, str) else body)
