"""Signatures that a stand-in issues and later verifies: bound to the text that they sign and to this one stand-in."""

import hmac
from base64 import b64decode, b64encode
from hashlib import sha256


class Signer:
    """One account's signatures. The same seed gives the same ones, so that runs can be compared."""

    def __init__(self, seed: str) -> None:
        self._key = seed.encode()
        self._count = 0

    def issue(self, text: str = "") -> str:
        """A fresh signature of ``text``."""
        self._count += 1
        nonce = self._count.to_bytes(8)
        return b64encode(b"\x12" + nonce + self._mac(nonce, text)).decode()

    def verify(self, signature: object, text: str = "") -> bool:
        """Whether ``signature`` was issued here, for this very text."""
        if not isinstance(signature, str):
            return False
        try:
            raw = b64decode(signature, validate=True)
        except ValueError:
            return False
        return len(raw) == 41 and hmac.compare_digest(raw[9:], self._mac(raw[1:9], text))

    def digest(self, text: str) -> str:
        """What only this account can make of ``text``, the same every time, in hex: for ids that it must know again."""
        return self._mac(b"", text).hex()

    def _mac(self, nonce: bytes, text: str) -> bytes:
        return hmac.new(self._key, nonce + text.encode("utf-8", "surrogatepass"), sha256).digest()
