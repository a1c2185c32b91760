"""One request of a client, as the server has received it."""

import secrets
from collections.abc import Mapping
from urllib.parse import parse_qs

from msgspec import Struct

from ..transport import Body
from .clients import ClientProtocol
from .config import KeySetting

ANYONE = KeySetting(name="local", digest="sha256:" + "0" * 64)
"""In place of a key where the gateway has none."""


class Incoming(Struct, frozen=True, kw_only=True):
    """A request for an answer."""

    id: str
    client: ClientProtocol
    # The name of the model that the client asks for.
    model: str
    body: Body
    streams: bool
    headers: Mapping[str, str]
    query: str
    key: KeySetting
    # The stored response that the request continues, and the body with its items.
    parent: str = ""
    expanded: Body | None = None

    @property
    def readable(self) -> Body:
        """The body that is read: with the items that it continues."""
        return self.expanded or self.body

    @property
    def tenant(self) -> str:
        """Whose answers are remembered together."""
        return self.key.owner


def fresh_id() -> str:
    """A new id of a request, which is also that of its answer."""
    return secrets.token_hex(12)


def query_value(query: str, name: str) -> str | None:
    """The first value in a query."""
    return next(iter(parse_qs(query).get(name, [])), None)
