"""Credentials other than keys: AWS signatures by botocore, Google tokens by google-auth. Both are optional extras."""

import os
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct

from ..errors import AuthenticationError, NetworkError, ProviderError, SettingError
from ..types.secret import shown_address
from .transport import hide_in_logs

T = TypeVar("T")
_REGION = re.compile(r"//bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.")


class Library(Struct, frozen=True):
    """A library for credentials, and the meaning of its errors."""

    service: str
    hint: str
    # Classes of errors by name, the error to raise, and whether the text may be shown because it only names a profile
    # or a file. Other texts may quote the output of a program or server, with a token in it. The first match is used.
    failures: tuple[tuple[str, Callable[[str], ProviderError | SettingError], bool], ...]


# botocore 1.44.0 `exceptions.py`; google-auth 2.62.2 `exceptions.py` (2026-11).
AWS = Library(
    "AWS",
    "set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile",
    (
        ("ProfileNotFound", SettingError, True),
        ("PartialCredentialsError", SettingError, True),
        ("ConfigParseError", SettingError, True),
        ("ConfigNotFound", SettingError, True),
        ("HTTPClientError", NetworkError, False),
        ("ClientError", AuthenticationError, False),
        ("CredentialRetrievalError", AuthenticationError, False),
        ("TokenRetrievalError", AuthenticationError, False),
        ("SSOError", AuthenticationError, False),
        ("BotoCoreError", SettingError, False),
        ("Exception", SettingError, False),
    ),
)
GOOGLE = Library(
    "Google Cloud",
    "set GOOGLE_APPLICATION_CREDENTIALS, or log in with gcloud auth application-default login",
    (
        ("TransportError", NetworkError, False),
        ("RefreshError", AuthenticationError, False),
        ("ReauthFailError", AuthenticationError, False),
        ("MalformedError", SettingError, False),
        ("DefaultCredentialsError", SettingError, True),
        ("GoogleAuthError", SettingError, False),
        ("Exception", SettingError, False),
    ),
)


def _call(act: Callable[[], T], library: Library) -> T:
    """Call a library for credentials and map its errors to ours.

    It reads files, runs programs and asks servers, and may raise anything. The original error is dropped, because it
    may quote a secret.
    """
    try:
        return act()
    except (SettingError, ProviderError):
        raise
    except Exception as error:  # noqa: BLE001, an edge: the library and the plug-ins that it loads
        names = {kind.__name__ for kind in type(error).__mro__}
        _, kind, showable = next(row for row in library.failures if row[0] in names)
        text = f": {' '.join(str(error).split())}" if showable else ""
        failure = kind(f"no credentials for {library.service} ({type(error).__name__}{text}): {library.hint}")
    raise failure


def aws_region(base_url: str) -> str:
    """The region that a request is signed for: the endpoint's, or the environment's."""
    if found := _REGION.search(base_url):
        return found[1]
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise SettingError(f"the endpoint {shown_address(base_url)} does not name an AWS region: set AWS_REGION")
    return region


def aws_headers(url: str, headers: Mapping[str, str], body: bytes, region: str) -> dict[str, str]:
    """The headers of a request with its AWS signature (version 4)."""
    try:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
    except ImportError:
        raise SettingError("Bedrock needs botocore: pip install 'segue[bedrock]'") from None
    request = AWSRequest(method="POST", url=url, data=body, headers=dict(headers))
    found = _call(lambda: _aws_credentials().get_frozen_credentials(), AWS)
    hide_in_logs(found.secret_key, found.token)  # the signer logs what it signs
    _call(lambda: SigV4Auth(found, "bedrock", region).add_auth(request), AWS)
    return dict(request.headers.items())


@cache
def _aws_session() -> Any:
    from botocore.session import Session

    return Session()


def _aws_credentials() -> Any:
    found = _aws_session().get_credentials()
    if found is None:
        raise SettingError(f"no credentials for AWS: {AWS.hint}")
    return found


@cache
def _google_credentials() -> Any:
    try:
        import google.auth
    except ImportError:
        raise SettingError("Vertex needs google-auth: pip install 'segue[vertex]'") from None
    scopes = ["https://www.googleapis.com/auth/cloud-platform"]
    credentials, _ = _call(lambda: google.auth.default(scopes=scopes), GOOGLE)
    return credentials


def google_token() -> str:
    """An access token; a new one is fetched when the last one is about to expire."""
    credentials = _google_credentials()
    if not credentials.valid:
        from google.auth.transport.requests import Request

        _call(lambda: credentials.refresh(Request()), GOOGLE)
    hide_in_logs(str(credentials.token))
    return str(credentials.token)
