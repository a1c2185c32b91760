"""Authentication of requests to a stand-in, with the keys or signatures that its provider accepts."""

import hmac
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.message import Message
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ..errors import SettingError
from .voice import Refusal

HEADERS: dict[str, tuple[str, ...]] = {
    "bearer": (),
    # An OAuth token is sent as a bearer token (anthropic 0.95, `auth_token`; 2026-11).
    "x-api-key": ("x-api-key",),
    "x-goog-api-key": ("x-goog-api-key",),
    "api-key": ("api-key",),
    "cf-aig-authorization": ("cf-aig-authorization",),
    "google": (),
    "aws": (),
}
"""The headers that may contain the key, by scheme. All schemes accept a bearer token."""

_BEARER = "Bearer "
_SIGNED = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/,\s]+)/(?P<day>\d{8})/(?P<region>[a-z0-9-]+)/bedrock/aws4_request, ?"
    r"SignedHeaders=(?P<headers>[a-z0-9;-]+), ?Signature=(?P<signature>[0-9a-f]{64})"
)
_TIME = "%Y%m%dT%H%M%SZ"
_VALID = timedelta(minutes=5)

# Texts as Bedrock has answered: BerriAI/litellm#14763 (2025-09), vercel/ai#4163 (2024-12), as known 2026-11. AWS
# documents the kinds and the status in "Common Error Types" of the Bedrock API reference.
_WRONG = Refusal(
    403,
    "InvalidSignatureException",
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key "
    "and signing method. Consult the service documentation for details.",
)
_UNKNOWN = Refusal(403, "UnrecognizedClientException", "The security token included in the request is invalid.")
_INCOMPLETE = Refusal(403, "IncompleteSignatureException", "Authorization header is not a complete AWS signature.")


class Authenticator:
    """Checks the key of a request. With the ``secret`` that belongs to the key, it also verifies AWS signatures."""

    def __init__(self, scheme: str, key: str | None, secret: str | None, wrong: Refusal) -> None:
        if secret is not None and scheme != "aws":
            raise ValueError("only a provider that accepts AWS signatures has a secret")
        if secret is not None and key is None:
            raise ValueError("a secret requires a key")
        self._scheme, self._key, self._secret, self._wrong = scheme, key, secret, wrong
        if secret is not None:
            _botocore()

    def refusal(self, path: str, headers: "Message[str, str]", body: bytes) -> Refusal | None:
        """The provider's refusal of a request without the right key; ``None`` if the key is right."""
        if self._key is None:
            return None
        authorization = headers.get("authorization") or ""
        if self._scheme == "aws" and authorization.startswith("AWS4"):
            return self._signature(authorization, path, headers, body)
        sent = {(headers.get(name) or "").removeprefix(_BEARER) for name in HEADERS[self._scheme]}
        if authorization.startswith(_BEARER):
            sent.add(authorization.removeprefix(_BEARER))
        if self._scheme == "x-goog-api-key":  # https://ai.google.dev/api, seen 2026-11: also as a query parameter
            sent.update(parse_qs(urlsplit(path).query).get("key", []))
        return None if self._key in sent else self._wrong

    def _signature(self, authorization: str, path: str, headers: "Message[str, str]", body: bytes) -> Refusal | None:
        found = _SIGNED.fullmatch(authorization)
        time = headers.get("x-amz-date") or ""
        if found is None or not time.startswith(found["day"]) or "host" not in found["headers"].split(";"):
            return _INCOMPLETE
        if self._secret is None or self._key is None:
            return None  # without the secret, only the form is checked
        if found["key"] != self._key:
            return _UNKNOWN
        if (expired := _time_refusal(time)) is not None:
            return expired
        declared = headers.get("x-amz-content-sha256")
        if declared not in (None, "UNSIGNED-PAYLOAD", sha256(body).hexdigest()):
            return _WRONG
        named = {name: headers.get(name, "") for name in found["headers"].split(";")}
        expected = _signed(
            self._key, self._secret, found["region"], time, f"http://{headers.get('host')}{path}", named, body
        )
        return None if hmac.compare_digest(expected, found["signature"]) else _WRONG


def _time_refusal(time: str) -> Refusal | None:
    try:
        signed = datetime.strptime(time, _TIME).replace(tzinfo=UTC)
    except ValueError:
        return _INCOMPLETE
    now = datetime.now(UTC)
    if abs(now - signed) <= _VALID:
        return None
    limit = (now - _VALID).strftime(_TIME)
    text = f"Signature expired: {time} is now earlier than {limit} ({now.strftime(_TIME)} - 5 min.)"
    return Refusal(403, "InvalidSignatureException", text)


def _signed(key: str, secret: str, region: str, time: str, url: str, headers: Mapping[str, str], body: bytes) -> str:
    """The signature of a request, computed by botocore."""
    auth, awsrequest, credentials = _botocore()
    signer = auth.SigV4Auth(credentials.Credentials(key, secret), "bedrock", region)
    request = awsrequest.AWSRequest("POST", url, headers=dict(headers), data=body)
    request.context["timestamp"] = time
    signature: str = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    return signature


def _botocore() -> Any:
    try:
        from botocore import auth, awsrequest, credentials
    except ImportError:
        raise SettingError("verifying AWS signatures requires botocore: pip install 'segue[bedrock]'") from None
    return auth, awsrequest, credentials
