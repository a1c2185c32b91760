"""Which model a request of an SDK addresses, from its URL and its body."""

import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any
from urllib.parse import unquote

from msgspec import Struct

from ..catalog import Catalog
from ..errors import ModelError
from ..types import Model


class Route(Struct, frozen=True):
    """A path, the protocols that have it, and the vendor whose dialect an unknown host gets."""

    path: str
    protocols: tuple[str, ...]
    vendor: str


_RAW = r"/models/(?P<model>[^/:]+):(?:rawPredict|streamRawPredict)"
ROUTES: tuple[Route, ...] = (
    Route(r"/v1/messages", ("anthropic-messages",), "anthropic"),
    Route(r"/chat/completions", ("openai-completions", "mistral-chat"), "openai"),
    Route(r"/responses", ("openai-responses",), "openai"),
    Route(rf"(?<=/publishers/anthropic){_RAW}", ("anthropic-messages",), "anthropic"),
    Route(rf"(?<=/publishers/mistralai){_RAW}", ("mistral-chat",), "mistral"),
    Route(r"/models/(?P<model>[^/:]+):(?:generateContent|streamGenerateContent)", ("google-generative-ai",), "google"),
)
_CREDENTIALS = ("authorization", "x-api-key", "x-goog-api-key", "api-key", "cf-aig-authorization")


class Address(Struct, frozen=True):
    """The endpoint of a request: the provider, its protocol, the base URL, and the model if the path names it."""

    provider: str
    protocol: str
    base_url: str
    model: str | None
    streams: bool


class Addresses:
    """Finds the endpoint of a URL. ``provider`` overrides what host and path say."""

    def __init__(self, provider: str | None = None, protocol: str | None = None) -> None:
        catalog = Catalog.default()
        self._only = None if provider is None else catalog.provider(provider)
        self._protocol = protocol
        self._hosts = [
            (_host(address), row)
            for row in catalog.providers.values()
            for address in (row.base_url, *row.base_urls.values())
        ]
        self._routes = [(re.compile(f"{route.path}$"), route) for route in ROUTES]
        self._vendors = {route.vendor: catalog.provider(route.vendor) for route in ROUTES}
        self.find = lru_cache(maxsize=256)(self._find)
        """Return the endpoint of a URL, or ``None`` if it is not one of a known API."""
        if self._only is not None and protocol is not None and protocol not in self._only.protocols:
            spoken = ", ".join(self._only.protocols)
            raise ModelError(f"{self._only.name} does not speak {protocol}; it speaks {spoken}")

    def _find(self, url: str) -> Address | None:
        bare = url.partition("?")[0].partition("#")[0]
        for pattern, route in self._routes:
            match = pattern.search(bare)
            if match is not None:
                return self._address(bare, match, route)
        return None

    def _address(self, url: str, match: re.Match[str], route: Route) -> Address:
        host = url.partition("://")[2].partition("/")[0]
        known = [row for pattern, row in self._hosts if pattern.fullmatch(host)]
        speaking = [row for row in known if set(route.protocols) & set(row.protocols)]
        row = self._only or (speaking[0] if speaking else self._vendors[route.vendor])
        spoken = [each for each in route.protocols if each in row.protocols]
        protocol = self._protocol or (spoken[0] if spoken else route.protocols[0])
        if protocol not in row.protocols:
            row = self._vendors[route.vendor]
        named = match.groupdict().get("model")
        streams = match[0].endswith(("streamGenerateContent", "streamRawPredict"))
        return Address(row.id, protocol, url[: match.start()], None if named is None else unquote(named), streams)


def _host(base_url: str) -> re.Pattern[str]:
    """Matches the host of a base URL, whose variables depend on the account."""
    host = base_url.partition("://")[2].partition("/")[0]
    return re.compile("".join(r"[^./]+" if part.startswith("{") else re.escape(part) for part in _PARTS.split(host)))


_PARTS = re.compile(r"(\{[A-Z_]+\})")


def model_at(address: Address, named: Any, headers: Mapping[str, str]) -> Model | None:
    """The model that is addressed; ``None`` if the body does not name one. ``headers`` have names in lower case."""
    name = address.model if address.model is not None else named
    if not isinstance(name, str) or not name.strip():
        return None
    return _resolved(address, name, "\n".join(headers.get(each, "") for each in _CREDENTIALS))


@lru_cache(maxsize=256)
def _resolved(address: Address, name: str, key: str) -> Model | None:
    try:
        model = Catalog.default().resolve(f"{address.provider}/{name}", address.protocol)
    except ModelError:
        return None
    return model.replace(base_url=address.base_url, endpoint=fingerprint(address.base_url, key))


def fingerprint(base_url: str, key: str) -> str:
    """A short digest that identifies endpoint and account. It does not reveal the key."""
    return blake2b(f"{base_url}\n{key}".encode(), digest_size=6, person=b"segue-transport").hexdigest()
