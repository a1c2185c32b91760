"""Bodies that others made: ``lint`` says what a provider would refuse, ``ingest`` reads the history out of one."""

import json
from typing import Any

import msgspec

from ..errors import FormatError, SegueError
from ..rules import Finding, run
from ..types import Context, Model
from ..types.codec import read_json
from ..types.expect import expect_model
from ..types.text import has_half_escapes, scrub, scrub_json
from ..wire.common.checks import is_torn
from ..wire.common.reader import MALFORMED
from ..wire.protocol import Protocol
from ..wire.registry import FOLDERS, protocol_of
from .clock import current_time

TOO_DEEP = "nested too deeply to be read"
UNREAD = "this body cannot be read; please report it"
Given = dict[str, Any] | bytes | str


def lint(body: Given, protocol: str | None = None, model: Model | None = None) -> list[Finding]:
    """Everything in ``body`` that a provider of this protocol would refuse or spoil.

    The protocol is recognised when it is not given. Without a model, rules that hold for some models only are warnings.
    """
    if model is not None:
        expect_model(model)
    body = _as_text(body)
    document = _with_halves(body, _read(body))
    if protocol is not None and (not isinstance(document, dict) or protocol_of(protocol).history in document):
        return run(protocol_of(protocol).rules, document, model)  # blocks of another protocol are findings, too
    return run(_protocol(_expect_object(document), protocol).rules, document, model)


def ingest(body: Given, protocol: str | None = None, model: Model | None = None, now: int | None = None) -> Context:
    """The conversation in a request body. The protocol is recognised if it is not passed.

    ``model`` is the origin of its answers; without one their signatures are never replayed. ``now`` (Unix ms) is the
    timestamp of its messages, by default the current time.
    """
    if model is not None:
        expect_model(model)
    now = current_time() if now is None else now
    document = read_body(body)
    read = _protocol(document, protocol).ingest
    try:
        try:
            return read(document, model, now)
        except UnicodeEncodeError:  # half characters, which a dict may hold and JSON text that was read does not
            return read(scrub_json(document), model, now)
    except SegueError:
        raise
    except RecursionError:
        raise FormatError(TOO_DEEP) from None
    except MALFORMED as error:  # readers say what is wrong and where; this is for what none of them has thought of
        raise FormatError(f"{UNREAD} ({type(error).__name__}: {error})") from None


def _as_text(body: Given) -> Given:
    """Bytes that are UTF-8 but for half characters, as text; any other body as it is."""
    if not isinstance(body, bytes):
        return body
    try:
        text = body.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return body
    return text if is_torn(text) else body


def _with_halves(body: Given, document: Any) -> Any:
    """A body that was given as text, read again with the half characters in it, which reading has replaced."""
    if not isinstance(body, bytes | str):
        return document
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    if (isinstance(body, bytes) or scrub(body) is body) and not has_half_escapes(data):
        return document
    try:
        return json.loads(body)
    except RecursionError:
        raise FormatError(TOO_DEEP) from None


def _protocol(body: dict[str, Any], name: str | None) -> Protocol:
    """The protocol of that name, unless the body is plainly of another one."""
    if name is None:
        return protocol_of(recognise(body))
    asked = protocol_of(name)
    if asked.recognise(body) == 0:
        others = [other for other in FOLDERS if protocol_of(other).recognise(body) > 0]
        if others:
            raise FormatError(f"this is no {name} body; it looks like {' or '.join(others)}")
    return asked


def recognise(body: dict[str, Any]) -> str:
    """The protocol that ``body`` is surest to be of."""
    surest = {name: protocol_of(name).recognise(body) for name in FOLDERS}
    best = max(surest, key=lambda name: surest[name])
    if surest[best] == 0:
        raise FormatError(f"this is no request body of a known protocol ({', '.join(FOLDERS)}); say which one it is")
    return best


def read_body(body: Given) -> dict[str, Any]:
    """A body as a dict, whatever it was given as."""
    return _expect_object(_read(body))


def _expect_object(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        advice = '; put a list of messages in one: {"messages": […]}' if isinstance(document, list) else ""
        raise FormatError(f"a request body is a JSON object, not a {type(document).__name__}{advice}")
    return document


def _read(body: Any) -> Any:
    """A body as Python values, whatever it was given as."""
    if not isinstance(body, bytes | str):
        return body
    data = scrub(body).encode() if isinstance(body, str) else body
    try:
        data.decode()
        document = read_json(data)
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}") from None
    except RecursionError:
        raise FormatError(TOO_DEEP) from None
    except msgspec.DecodeError as error:
        raise FormatError(f"not JSON: {error}") from None
    return document
