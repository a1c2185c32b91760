"""Envelopes: the origin and the signature of a block in an opaque field of another protocol.

An envelope is base64 of a marker, the content, and a MAC with a key of the tenant. It works without the store, after a
restart or in another replica; the marker distinguishes it from a vendor's own data. Nothing is ever put into ids.
"""

import hmac
from base64 import b64decode, b64encode
from hashlib import sha256

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..types import AssistantContent, Origin, ProviderContent, TextContent, ThinkingContent, ToolCall
from ..wire import signature_of

MARKER = b"segue1"
_PREFIX = b64encode(MARKER).decode()
LARGEST = 16 * 1024
"""Characters of a signature that an envelope holds; a longer one is found through the store."""
_MAC = 16


class Envelope(Struct, frozen=True, array_like=True):
    """What is known of a block: its origin, the id of its answer in the store, its signature."""

    provider: str
    protocol: str
    model: str
    endpoint: str | None
    answer: str
    redacted: bool
    signature: str | None

    @property
    def origin(self) -> Origin:
        """The origin of the answer."""
        return Origin(self.provider, self.protocol, self.model, self.endpoint)


class Sealer:
    """Makes and opens the envelopes of one tenant."""

    def __init__(self, secret: bytes, tenant: str) -> None:
        # HKDF (RFC 5869) with SHA-256 and one block of output.
        extracted = hmac.digest(b"segue-gateway", secret, sha256)
        self._key = hmac.digest(extracted, b"envelope\0" + tenant.encode() + b"\x01", sha256)

    def seal(self, block: AssistantContent, origin: Origin, answer: str) -> str | None:
        """The envelope for a block: always for thinking, otherwise only if it is signed."""
        signature = signature_of(block)
        if isinstance(block, ProviderContent) or (signature is None and not isinstance(block, ThinkingContent)):
            return None
        kept = signature if signature is None or len(signature) <= LARGEST else None
        redacted = isinstance(block, ThinkingContent) and block.redacted
        made = Envelope(origin.provider, origin.protocol, origin.model, origin.endpoint, answer, redacted, kept)
        content = MARKER + msgspec.msgpack.encode(made)
        return b64encode(content + self._mac(content)).decode()

    def open(self, text: str) -> Envelope | None:
        """The content of an envelope of this tenant; ``None`` for one that is damaged, forged or of another tenant."""
        try:
            data = b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), validate=True)
            content, mac = data[:-_MAC], data[-_MAC:]
            if not hmac.compare_digest(mac, self._mac(content)):
                return None
            return msgspec.msgpack.decode(content[len(MARKER) :], type=Envelope)
        except (ValueError, msgspec.MsgspecError):
            return None

    def _mac(self, content: bytes) -> bytes:
        return hmac.digest(self._key, content, sha256)[:_MAC]


def is_envelope(text: str) -> bool:
    """Whether an opaque field holds an envelope, valid or not."""
    return text.startswith(_PREFIX)


def signed(block: AssistantContent, signature: str | None, redacted: bool = False) -> AssistantContent:
    """The block with another signature."""
    if isinstance(block, ThinkingContent):
        return replace(block, thinking_signature=signature, redacted=redacted)
    if isinstance(block, ToolCall):
        return replace(block, thought_signature=signature)
    if isinstance(block, TextContent):
        return replace(block, text_signature=signature)
    return block
