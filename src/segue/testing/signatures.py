"""Signatures that a stand-in issues and later verifies, bound to the text that they sign and to its account.

A signature may also contain what else it is bound to, like Claude's, which the stand-in reads back.
"""

import hmac
from base64 import b64decode, b64encode
from hashlib import sha256


class Signer:
    """The signatures of one account. The same seed results in the same signatures, so that runs can be compared."""

    def __init__(self, seed: str) -> None:
        self._key = seed.encode()
        self._count = 0

    def issue(self, text: str = "", bound_to: bytes = b"") -> str:
        """A new signature of ``text``, which contains ``bound_to``."""
        self._count += 1
        nonce = self._count.to_bytes(8)
        return b64encode(b"\x12" + nonce + self._mac(nonce + bound_to, text) + bound_to).decode()

    def verify(self, signature: object, text: str = "") -> bool:
        """Whether ``signature`` was issued by this account for this text."""
        raw = _raw(signature)
        return len(raw) >= 41 and hmac.compare_digest(raw[9:41], self._mac(raw[1:9] + raw[41:], text))

    @staticmethod
    def bound_to(signature: object) -> bytes:
        """The ``bound_to`` in a signature; empty if the signature is not one of ours."""
        return _raw(signature)[41:]

    def digest(self, text: str) -> str:
        """A keyed digest of ``text`` in hex, for ids that this account must recognise."""
        return self._mac(b"", text).hex()

    def _mac(self, nonce: bytes, text: str) -> bytes:
        return hmac.new(self._key, nonce + text.encode("utf-8", "surrogatepass"), sha256).digest()


def _raw(signature: object) -> bytes:
    try:
        return b64decode(signature, validate=True) if isinstance(signature, str) else b""
    except ValueError:
        return b""
