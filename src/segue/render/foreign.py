"""Bodies that others made: ``lint`` says what a provider would refuse, ``ingest`` reads the history out of one."""

import json
from typing import Any

import msgspec

from ..errors import FormatError
from ..rules import Finding, run
from ..types import Context, Model
from ..types.codec import read_json
from ..types.expect import expect_model
from ..types.text import has_half_escapes, scrub
from ..wire.protocol import Protocol
from ..wire.registry import FOLDERS, protocol_of

Given = dict[str, Any] | bytes | str


def lint(body: Given, protocol: str | None = None, model: Model | None = None) -> list[Finding]:
    """Everything in ``body`` that a provider of this protocol would refuse or spoil.

    The protocol is recognised when it is not given. Without a model, rules that hold for some models only are warnings.
    """
    if model is not None:
        expect_model(model)
    document = _with_halves(body, read_body(body))
    return run(_linted_as(document, protocol).rules, document, model)


def ingest(body: Given, protocol: str | None = None, model: Model | None = None, now: int = 0) -> Context:
    """The conversation that a request body holds. The protocol is recognised when it is not given.

    ``model`` is the origin of its answers; without one their signatures are never replayed. ``now`` (Unix ms) is the
    time that they are given.
    """
    if model is not None:
        expect_model(model)
    document = read_body(body)
    return _protocol(document, protocol).ingest(document, model, now)


def _linted_as(body: dict[str, Any], name: str | None) -> Protocol:
    """The protocol of that name, however many faults the body has, as long as it has the member for the messages."""
    asked = None if name is None else protocol_of(name)
    return asked if asked is not None and asked.history in body else _protocol(body, name)


def _with_halves(body: Given, document: dict[str, Any]) -> dict[str, Any]:
    """A body that was given as text, read again with the half characters in it, which reading has replaced."""
    if isinstance(body, dict):
        return document
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    if (isinstance(body, bytes) or scrub(body) is body) and not has_half_escapes(data):
        return document
    try:
        found: dict[str, Any] = json.loads(body)
    except RecursionError:
        raise FormatError("nested too deeply to be read") from None
    return found


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
    if isinstance(body, dict):
        return body
    data = scrub(body).encode() if isinstance(body, str) else body
    try:
        data.decode()
        document = read_json(data)
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}") from None
    except RecursionError:
        raise FormatError("nested too deeply to be read") from None
    except msgspec.DecodeError as error:
        raise FormatError(f"not JSON: {error}") from None
    if not isinstance(document, dict):
        raise FormatError("a request body is a JSON object")
    return document
