"""From a model and a connection to a URL and headers. The key is in the headers and nowhere else."""

import os
import re
from collections.abc import Callable, Mapping
from hashlib import blake2b

import anyio
import anyio.to_thread
from msgspec.structs import replace

from ..catalog import Provider, get_provider
from ..errors import SettingError, UnknownProviderError
from ..types import Model
from ..wire.common.headers import joined
from .connection import Connection
from .credentials import aws_headers, aws_region, google_token

Sign = Callable[[str, Mapping[str, str], bytes], dict[str, str]]
"""The headers that prove who asks, from the URL, the headers and the body of one request. May block."""

_ALTERNATIVES = {"AWS_REGION": ("AWS_DEFAULT_REGION",), "GOOGLE_CLOUD_LOCATION": ("GOOGLE_CLOUD_REGION",)}
_NAME = re.compile(r"\{([A-Z_]+)\}")


class Access:
    """Where a request goes, and how it proves who asks."""

    __slots__ = ("_blocks", "_key", "_sign", "base_url", "headers", "model", "signs_body")

    def __init__(self, model: Model, connection: Connection, provider: Provider | None) -> None:
        self.base_url = _filled(connection.base_url or model.base_url).rstrip("/")
        if not self.base_url.startswith(("https://", "http://")):
            raise SettingError(f"the endpoint {self.base_url!r} is no URL that begins with https:// or http://")
        self.headers = connection.headers
        self._key = connection.api_key or _key(provider, named_host=connection.base_url is None)
        scheme = provider.auth if provider is not None and provider.auth else _BY_PROTOCOL.get(model.protocol, "bearer")
        self._sign = SCHEMES[scheme](self._key, self.base_url)
        self._blocks = scheme in _BLOCKING
        self.signs_body = scheme in _SIGNING
        self.model = replace(model, base_url=self.base_url, endpoint=model.endpoint or self._fingerprint())

    async def signed(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[str, dict[str, str]]:
        """The URL and all headers of a request. Only where ``signs_body`` is true does the body play a part."""
        url = self.base_url + path
        all_headers = joined(headers, self.headers)
        if self._blocks:
            proof = await anyio.to_thread.run_sync(self._sign, url, all_headers, body)
        else:
            proof = self._sign(url, all_headers, body)
        return url, all_headers | proof

    def without_key(self, text: str) -> str:
        """``text`` with the key blotted out: some providers repeat it in their errors."""
        return text.replace(self._key, "[key]") if self._key else text

    def _fingerprint(self) -> str:
        """Which endpoint and account this is: a short digest, from which nobody can learn the key."""
        seed = f"{self.base_url}\n{self._key or ''}".encode()
        return blake2b(seed, digest_size=6, person=b"segue-endpoint").hexdigest()


def access(model: Model, connection: Connection) -> Access:
    """How to reach ``model``; a ``SettingError`` names what is missing."""
    try:
        provider: Provider | None = get_provider(model.provider)
    except UnknownProviderError:
        provider = None  # a model that the caller made; what it needs is in the connection
    return Access(model, connection, provider)


def _key(provider: Provider | None, named_host: bool) -> str | None:
    if provider is None:
        return None
    for name in provider.keys:
        if found := os.environ.get(name, "").strip():
            return found
    # Another endpoint may well run without a key.
    if provider.needs_key and named_host:
        names = " or ".join(provider.keys)
        raise SettingError(f"no key for {provider.name}: set {names}, or pass segue.Connection(api_key=…)")
    return None


def _filled(base_url: str) -> str:
    def value(name: re.Match[str]) -> str:
        for variable in (name[1], *_ALTERNATIVES.get(name[1], ())):
            if found := os.environ.get(variable, "").strip():
                return found
        raise SettingError(f"the endpoint {base_url} needs {name[1]}: set it, or pass segue.Connection(base_url=…)")

    return _NAME.sub(value, base_url)


# -- schemes ---------------------------------------------------------------------------------------------------------


def _header(name: str, prefix: str = "") -> Callable[[str | None, str], Sign]:
    def scheme(key: str | None, base_url: str) -> Sign:
        found = {} if key is None else {name: prefix + key}
        return lambda url, headers, body: found

    return scheme


def _aws(key: str | None, base_url: str) -> Sign:
    """A Bedrock key is a bearer token; without one, requests are signed with the credentials of the machine."""
    token = os.environ.get("AWS_BEARER_TOKEN_BEDROCK", "").strip()
    if key is not None and (key == token or key != os.environ.get("AWS_ACCESS_KEY_ID", "").strip()):
        return lambda url, headers, body: {"authorization": f"Bearer {key}"}
    region = aws_region(base_url)
    return lambda url, headers, body: aws_headers(url, headers, body, region)


def _google(key: str | None, base_url: str) -> Sign:
    """A given key is an access token; without one, application default credentials are asked for one."""
    credentials = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS", "").strip()
    if key is not None and key != credentials:
        return lambda url, headers, body: {"authorization": f"Bearer {key}"}
    return lambda url, headers, body: {"authorization": f"Bearer {google_token()}"}


SCHEMES: dict[str, Callable[[str | None, str], Sign]] = {
    "bearer": _header("authorization", "Bearer "),
    "x-api-key": _header("x-api-key"),
    "x-goog-api-key": _header("x-goog-api-key"),
    "api-key": _header("api-key"),
    "aws": _aws,
    "google": _google,
}
"""How a provider wants to know who asks; a provider's row may name one."""

_BLOCKING = frozenset({"aws", "google"})
"""Schemes that may have to fetch credentials first."""

_SIGNING = frozenset({"aws"})
"""Schemes that sign the body."""

_BY_PROTOCOL = {
    "anthropic-messages": "x-api-key",
    "google-generative-ai": "x-goog-api-key",
    "bedrock-converse": "aws",
}
