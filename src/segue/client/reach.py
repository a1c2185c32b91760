"""How a model is reached: the URL and headers for a model and a connection. The key is in the headers only."""

import os
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import unquote

import anyio
import anyio.to_thread
import httpx2
from msgspec.structs import replace

from ..catalog import Auth, Provider, as_model, get_provider
from ..errors import SettingError, UnknownProviderError
from ..healing import default_facts
from ..types import Model
from ..types.secret import Secrets, address_secrets, shown_address
from ..wire import join_headers
from .connection import Connection, check
from .credentials import aws_headers, aws_region, google_token
from .post import Poster
from .retiring import warn_if_retiring

Sign = Callable[[str, Mapping[str, str], bytes], dict[str, str]]
"""Returns the headers that authenticate one request, from its URL, headers and body. May block."""

Scheme = Callable[[str | None, str], Sign | dict[str, str]]
"""How to authenticate, from the key and the base URL: the same headers for all requests, or a function for each."""

_ALTERNATIVES = {"AWS_REGION": ("AWS_DEFAULT_REGION",), "GOOGLE_CLOUD_LOCATION": ("GOOGLE_CLOUD_REGION",)}
_NAME = re.compile(r"\{([A-Z_]+)\}")
_TOKEN = re.compile(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
"""The name of a header (RFC 9110, 5.6.2)."""
_UNPRINTABLE = re.compile(r"[^ -~]")


class Reach:
    """Everything needed to send a request to a model: endpoint, headers, credentials and settings.

    Render requests for ``model``: it is the model with the URL and the fingerprint of its endpoint, and with what was
    learnt about it. ``secrets`` are the secrets in all headers.
    """

    def __init__(self, model: Model, connection: Connection, provider: Provider | None) -> None:
        check(connection)
        self.connection = connection
        address = _with_variables(connection.base_url or model.base_url).rstrip("/")
        self.secrets = Secrets(address_secrets(address))
        self.base_url, user = parse_endpoint(address)
        self.headers = checked_headers(connection.headers, "Connection.headers")
        key = _stripped(connection.api_key) or _find_key(provider, own_endpoint=connection.base_url is None)
        scheme = provider.auth if provider is not None and provider.auth else _BY_PROTOCOL.get(model.protocol, "bearer")
        proof = SCHEMES[scheme](key, self.base_url)
        self._sign: Sign | None = None if isinstance(proof, dict) else proof
        self._proof: dict[str, str] = proof if isinstance(proof, dict) else {}
        checked_headers(self._proof, f"the key for {model.provider}")
        self._proof |= user
        self.signs_body = self._sign is not None and scheme in _SIGNING
        for headers in (checked_headers(model.headers, "Model.headers"), self.headers, self._proof):
            self.secrets.add_headers(headers)
        fingerprint = model.endpoint or _fingerprint(self.base_url, (key or "") + user.get("authorization", ""))
        self.facts = connection.facts or default_facts()
        self._target = replace(model, base_url=self.base_url, endpoint=fingerprint)
        self.model = self.facts.amend(self._target)

    def renewed(self, poster: Poster) -> "Reach":
        """The same for another request, which ``poster`` sends: with what was learnt in the meantime."""
        made = Reach.__new__(Reach)
        made.__dict__.update(self.__dict__)
        made.connection = replace(self.connection, poster=poster)
        made.secrets = self.secrets.copy()
        made.model = self.facts.amend(self._target)
        return made

    async def signed(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[str, dict[str, str]]:
        """The URL and all headers of a request. ``body`` is only used if ``signs_body`` is true."""
        url = self.base_url + path
        all_headers = checked_headers(join_headers(headers, self.headers), "the headers of the request")
        if self._sign is not None:
            proof = await anyio.to_thread.run_sync(self._sign, url, all_headers, body)
            all_headers |= checked_headers(proof, "the credentials")
        all_headers |= self._proof
        self.secrets.add_headers(all_headers)
        return url, all_headers

    def without_key(self, text: str) -> str:
        """``text`` with all secrets hidden: some providers repeat them in their errors."""
        return self.secrets.hide(text)


def _fingerprint(base_url: str, key: str) -> str:
    """A short digest that identifies endpoint and account. It does not reveal the key."""
    return blake2b(f"{base_url}\n{key}".encode(), digest_size=6, person=b"segue-endpoint").hexdigest()


def checked_headers(headers: Mapping[str, str], where: str) -> dict[str, str]:
    """The headers, if they can be sent. If not, raise here: the transport would quote them in its error."""
    found = {}
    for place, (name, value) in enumerate(headers.items(), 1):
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"{where}: name and value of header {place} must be strings")
        if not _TOKEN.fullmatch(name):
            raise SettingError(f"{where}: the name of header {place} has invalid characters")
        if odd := _UNPRINTABLE.search(value):
            raise SettingError(
                f"{where}: the value of {name} cannot be sent, because character {odd.start() + 1} of {len(value)} "
                "is not printable ASCII; check for a line break or a stray character where it was copied from"
            )
        found[name] = value.strip(" ")
    return found


def _stripped(key: str | None) -> str | None:
    if key is not None and not isinstance(key, str):
        raise TypeError(f"Connection.api_key must be a string, not a {type(key).__name__}")
    return key and key.strip()


def parse_endpoint(address: str, query: bool = False) -> tuple[str, dict[str, str]]:
    """The address without user and password, and the header that they are sent in.

    The address may have a query if ``query`` is true, that is, if no path is added to it.
    """
    bare, user = _parsed(address, query)
    return bare, {} if user is None else {"authorization": f"Basic {user}"}


@lru_cache(maxsize=64)
def _parsed(address: str, query: bool) -> tuple[str, str | None]:
    shown = shown_address(address)
    if not address.startswith(("https://", "http://")):
        raise SettingError(f"the endpoint {shown!r} cannot be used: it must begin with https:// or http://")
    if re.search(r"[?#]", address) and not query:
        raise SettingError(f"the endpoint {shown!r} cannot be used: a path is added to it, so it must not have a query")
    scheme, _, rest = address.partition("://")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    user, found, host = authority.rpartition("@")
    bare = f"{scheme}://{host}{rest[len(authority) :]}"
    url: httpx2.URL | None = None
    try:
        url = httpx2.URL(bare)
        url.host.encode("idna")  # as the resolver does
    except (httpx2.InvalidURL, ValueError):
        url = None
    if url is None or not url.host or not 0 <= (url.port or 0) <= 65535 or re.search(r"^[^:]*[%\s]", url.host):
        raise SettingError(f"the endpoint {shown!r} cannot be used: check its host, port and path")
    return bare, b64encode(unquote(user).encode("utf-8", "replace")).decode() if found else None


def reach(model: Model | str, connection: Connection | None = None) -> Reach:
    """How to reach ``model`` (a ``Model``, or its name ``provider/model``).

    Raises ``SettingError`` if the key or another setting is missing. Warns once if the last day of the model is near.
    """
    target = as_model(model)
    try:
        provider: Provider | None = get_provider(target.provider)
    except UnknownProviderError:
        provider = None  # a model of the caller; the connection has its settings
    found = Reach(target, connection or Connection(), provider)
    warn_if_retiring(target)
    return found


def _find_key(provider: Provider | None, own_endpoint: bool) -> str | None:
    if provider is None:
        return None
    for name in provider.keys:
        if found := os.environ.get(name, "").strip():
            return found
    # Another endpoint may not need a key.
    if provider.needs_key and own_endpoint:
        names = " or ".join(provider.keys)
        raise SettingError(f"no key for {provider.name}: set {names}", in_python="pass segue.Connection(api_key=…)")
    return None


def _with_variables(base_url: str) -> str:
    def value(name: re.Match[str]) -> str:
        for variable in (name[1], *_ALTERNATIVES.get(name[1], ())):
            if found := os.environ.get(variable, "").strip():
                return found
        shown = shown_address(base_url)
        advice = "pass segue.Connection(base_url=…)"
        raise SettingError(f"the endpoint {shown} needs {name[1]}: set it", in_python=advice)

    return _NAME.sub(value, base_url)


# -- schemes ---------------------------------------------------------------------------------------------------------


def _header(name: str, prefix: str = "") -> Scheme:
    return lambda key, base_url: {} if key is None else {name: prefix + key}


def _aws(key: str | None, base_url: str) -> Sign | dict[str, str]:
    """A Bedrock key is a bearer token; without one, requests are signed with the credentials of the machine."""
    token = os.environ.get("AWS_BEARER_TOKEN_BEDROCK", "").strip()
    if key is not None and (key == token or key != os.environ.get("AWS_ACCESS_KEY_ID", "").strip()):
        return {"authorization": f"Bearer {key}"}
    region = aws_region(base_url)
    return lambda url, headers, body: aws_headers(url, headers, body, region)


def _google(key: str | None, base_url: str) -> Sign | dict[str, str]:
    """A key is an access token; without one, a token is fetched with application default credentials."""
    credentials = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS", "").strip()
    if key is not None and key != credentials:
        return {"authorization": f"Bearer {key}"}
    return lambda url, headers, body: {"authorization": f"Bearer {google_token()}"}


SCHEMES: dict[Auth, Scheme] = {
    "bearer": _header("authorization", "Bearer "),
    "x-api-key": _header("x-api-key"),
    "x-goog-api-key": _header("x-goog-api-key"),
    "api-key": _header("api-key"),
    "cf-aig-authorization": _header("cf-aig-authorization", "Bearer "),
    "aws": _aws,
    "google": _google,
}
"""Ways to authenticate. A provider's row may name one (``Auth`` in ``catalog/rows.py``)."""

_SIGNING = frozenset({"aws"})
"""Schemes that sign the body."""

_BY_PROTOCOL: dict[str, Auth] = {
    "anthropic-messages": "x-api-key",
    "google-generative-ai": "x-goog-api-key",
    "bedrock-converse": "aws",
}
