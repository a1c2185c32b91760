"""The fast lane: the client's own bytes, with another key and another name of the model, and the provider's own answer.

Fields that segue does not know survive in both directions. In an answer only the name of the model is rewritten:
clients decide by it whether they keep their thinking.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec import Raw

from ..render import Request
from ..transport import Body, read_body
from .clients import ClientProtocol

_fields = msgspec.json.Decoder(dict[str, Raw]).decode
_FORWARDED = re.compile(r"anthropic-.*|openai-beta|user-agent")
_RETURNED = re.compile(r"retry-after|.*ratelimit.*|request-id|x-request-id|anthropic-organization-id|openai-.*")
_CREDENTIALS = ("authorization", "x-api-key", "x-goog-api-key")
_MARK = b'"model'
"""In every event that has the name of the model."""


class Forwarded(Request):
    """A request whose body is the client's."""

    __slots__ = ("_data",)
    _data: bytes

    @classmethod
    def of(cls, request: Request, data: bytes, query: str, headers: Mapping[str, str]) -> "Forwarded":
        """The rendered request, with these bytes, this query and these headers of the client."""
        made = cls.__new__(cls)
        for name in Request.__slots__:
            setattr(made, name, getattr(request, name))
        made._data = data
        path, _, own = request.path.partition("?")
        ours = dict(parse_qsl(own))  # as the form of a stream, which has to be read
        pairs = [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] not in ("key", *ours)]
        if pairs:
            made.path = f"{path}?{urlencode([*pairs, *ours.items()])}"
        made.headers = {**request.headers, **headers}
        return made

    @property
    def body(self) -> dict[str, Any]:
        """The body of the client."""
        found: dict[str, Any] = msgspec.json.decode(self._data)
        return found

    def pieces(self) -> list[bytes | memoryview]:
        return [self._data]


def forwarded_headers(headers: Mapping[str, str], credentials: bool) -> dict[str, str]:
    """The headers of a client that the provider gets."""
    return {
        name: value
        for name, value in headers.items()
        if _FORWARDED.fullmatch(name) or (credentials and name in _CREDENTIALS)
    }


def returned_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a provider that the client gets."""
    return {name.lower(): value for name, value in headers.items() if _RETURNED.fullmatch(name.lower())}


def with_model(body: Body, name: str) -> bytes | None:
    """The bytes of a body with another name of the model; ``None`` if it cannot be replaced without doubt."""
    asked = body.fields.get("model")
    if asked is None:
        return body.data  # the name is in the path
    given, wanted = bytes(asked), msgspec.json.encode(name)
    if given == wanted:
        return body.data
    for place in re.finditer(rb'"model"\s*:\s*' + re.escape(given), body.data):
        data = body.data[: place.end() - len(given)] + wanted + body.data[place.end() :]
        split = read_body(data)
        if split is not None and bytes(split.fields["model"]) == wanted:
            return data
    return None


class Renamer:
    """Replaces the name of the model in the bytes of an answer, streamed or whole."""

    def __init__(self, client: ClientProtocol, name: str, streamed: bool) -> None:
        self._paths, self._name, self._streamed = client.model_at, Raw(msgspec.json.encode(name)), streamed
        self._rest = b""

    def feed(self, data: bytes) -> bytes:
        """The bytes that can be sent."""
        data = self._rest + data
        if not self._streamed:
            self._rest = data
            return b""
        last = data.rfind(b"\n\n") + 2 if b"\n\n" in data else 0
        if b"\r" in data and b"\n\r\n" in data:  # looked for only where it may be: it takes long
            last = max(last, data.rfind(b"\n\r\n") + 3)
        done, self._rest = data[:last], data[last:]
        return self._lines(done)

    def close(self) -> bytes:
        """The bytes that are left."""
        rest, self._rest = self._rest, b""
        return self._lines(rest) if self._streamed else self._renamed(rest)

    def _lines(self, data: bytes) -> bytes:
        """Rename the model in every line that has its name."""
        pieces: list[bytes] = []
        done = 0
        while (at := data.find(_MARK, done)) >= 0:
            start, end = data.rfind(b"\n", done, at) + 1 or done, data.find(b"\n", at)
            end = end if end >= 0 else len(data)
            field, colon, text = data[start:end].partition(b":")
            pieces += data[done:start], field, colon, self._value(text)
            done = end
        return b"".join([*pieces, data[done:]]) if pieces else data

    def _value(self, text: bytes) -> bytes:
        value = text.strip()
        return text.replace(value, self._renamed(value), 1)

    def _renamed(self, text: bytes) -> bytes:
        try:
            fields = _fields(text)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return text
        for path in self._paths:
            if self._replace(fields, path):
                return msgspec.json.encode(fields)
        return text

    def _replace(self, fields: dict[str, Any], path: tuple[str, ...]) -> bool:
        name, *rest = path
        if name not in fields:
            return False
        if not rest:
            fields[name] = self._name
            return True
        try:
            inner = _fields(fields[name])
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return False
        if not self._replace(inner, tuple(rest)):
            return False
        fields[name] = Raw(msgspec.json.encode(inner))
        return True
