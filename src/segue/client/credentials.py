"""Credentials that are more than a key: AWS signatures by botocore, Google tokens by google-auth. Both are extras."""

import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from ..errors import SettingError

_REGION = re.compile(r"//bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.")


def aws_region(base_url: str) -> str:
    """The region that a request is signed for: the endpoint's, or the environment's."""
    if found := _REGION.search(base_url):
        return found[1]
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise SettingError(f"the endpoint {base_url} names no AWS region: set AWS_REGION")
    return region


def aws_headers(url: str, headers: Mapping[str, str], body: bytes, region: str) -> dict[str, str]:
    """Signature version 4 of this very request."""
    try:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
    except ImportError:
        raise SettingError("Bedrock needs botocore: pip install 'segue[bedrock]'") from None
    request = AWSRequest(method="POST", url=url, data=body, headers=dict(headers))
    SigV4Auth(_aws_credentials().get_frozen_credentials(), "bedrock", region).add_auth(request)
    return dict(request.headers.items())


@cache
def _aws_session() -> Any:
    from botocore.session import Session

    return Session()


def _aws_credentials() -> Any:
    found = _aws_session().get_credentials()
    if found is None:
        raise SettingError(
            "no AWS credentials: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
            "or a profile"
        )
    return found


@cache
def _google_credentials() -> Any:
    try:
        import google.auth
        from google.auth.exceptions import DefaultCredentialsError
    except ImportError:
        raise SettingError("Vertex needs google-auth: pip install 'segue[vertex]'") from None
    try:
        credentials, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    except DefaultCredentialsError as error:
        raise SettingError(f"no Google credentials: set GOOGLE_APPLICATION_CREDENTIALS ({error})") from None
    return credentials


def google_token() -> str:
    """An access token, fetched anew when the last one is about to end."""
    credentials = _google_credentials()
    if not credentials.valid:
        from google.auth.transport.requests import Request

        credentials.refresh(Request())
    return str(credentials.token)
