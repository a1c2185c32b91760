"""Every error that segue raises, in one tree.

    SegueError
    ├── FormatError             the data is not what it claims to be: path says where, the text says what
    │   └── VersionError        a document from a newer segue
    ├── ProjectionError         a conversation that cannot be rendered: nothing to send, or a policy that misbehaves
    ├── ModelError              a model or provider was asked for that cannot be had
    │   └── UnknownProviderError
    ├── CatalogError            a catalog file has faults; all of them are listed
    ├── SessionError            a session that is not there, is there already, or cannot be read
    │   ├── ConflictError       somebody else has written to the session in the meantime
    │   └── TransferError       an exported session has lines that cannot be read; all of them are listed
    ├── ToolServerError         a server of tools that cannot be started or reached, or does not speak its protocol
    ├── SettingError            a key or another setting is missing: the text names the variable to set
    └── ProviderError           what a provider did, or the way to it
        ├── RateLimitError          too much in too short a time; may say when to come back
        ├── QuotaError              the account has nothing left to spend
        ├── OverloadedError         the provider has no capacity now
        ├── ServerError             the provider failed
        ├── NetworkError            no connection, one that broke, silence, bytes that are no answer, a redirect
        ├── AuthenticationError     the key is not accepted, or may not do this
        ├── ModelNotFoundError      the endpoint does not have this model, or not any more, or is not there
        ├── InvalidRequestError     the provider refused the request: a bug of ours, or of a body that was changed
        ├── ContextOverflowError    the conversation does not fit into the model's window
        └── RefusedError            the model or a filter would not answer

The upper part is the caller's to mend, and each text says how. A ``ProviderError`` is never raised by ``stream`` and
``complete``: it is told by the ``error`` event, next to a message that can be stored. Misuse in Python code (a block in
a message that may not hold it, an argument of the wrong type) is a plain ``TypeError``.
"""

from collections.abc import Sequence
from typing import ClassVar

__all__ = [
    "AuthenticationError",
    "CatalogError",
    "ConflictError",
    "ContextOverflowError",
    "FormatError",
    "InvalidRequestError",
    "ModelError",
    "ModelNotFoundError",
    "NetworkError",
    "OverloadedError",
    "ProjectionError",
    "ProviderError",
    "QuotaError",
    "RateLimitError",
    "RefusedError",
    "SegueError",
    "ServerError",
    "SessionError",
    "SettingError",
    "ToolServerError",
    "TransferError",
    "UnknownProviderError",
    "VersionError",
]


class SegueError(Exception):
    """The base of all errors of this package."""


class FormatError(SegueError, ValueError):
    """Data that cannot be read or written as a conversation.

    ``path`` points into the document (``messages[3].content[1]``), ``source`` names the file and ``line`` the line of
    a JSONL file; each is empty or ``None`` where it does not apply. ``str()`` is always a single line.
    """

    def __init__(self, reason: str, *, path: str = "", source: str = "", line: int | None = None) -> None:
        self.reason, self.path, self.source, self.line = reason, path, source, line
        super().__init__(reason, path, source, line)

    def __str__(self) -> str:
        where = self.source + (f":{self.line}" if self.line is not None else "") if self.source else ""
        if not where and self.line is not None:
            where = f"line {self.line}"
        text = ": ".join(part for part in (where, self.path, self.reason) if part)
        return " ".join(text.split())

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.reason, self.path, self.source, self.line)

    def at(self, source: str, line: int | None = None) -> "FormatError":
        """The same error, told with the file (and line) in which it was found."""
        return type(self)(self.reason, path=self.path, source=source, line=line)


def _rebuild(kind: type[FormatError], reason: str, path: str, source: str, line: int | None) -> FormatError:
    return kind(reason, path=path, source=source, line=line)


class VersionError(FormatError):
    """A document whose version this segue does not know."""


class ProjectionError(SegueError, ValueError):
    """A conversation with nothing to send, a policy that nobody knows, or an id function that breaks the rules."""


class ModelError(SegueError, LookupError):
    """A model that cannot be had as it was asked for."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class UnknownProviderError(ModelError):
    """A provider that neither the built-in catalog nor the user's own names."""


class CatalogError(SegueError, ValueError):
    """A catalog file with faults. ``faults`` has every one of them, each with its place."""

    def __init__(self, source: str, faults: Sequence[str]) -> None:
        self.source, self.faults = source, tuple(faults)
        super().__init__(source, self.faults)

    def __str__(self) -> str:
        return f"{self.source}: " + "; ".join(self.faults)


class SessionError(SegueError):
    """A session that is not there, is there already, or cannot be read."""


class ConflictError(SessionError):
    """Somebody else has written to the session in the meantime; nothing was written. Open it again to see what."""


class TransferError(SessionError, ValueError):
    """An exported session that cannot be read; nothing was written. ``faults`` has every bad line, with its number."""

    def __init__(self, faults: Sequence[FormatError]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        told = [str(fault) for fault in self.faults[:3]]
        rest = len(self.faults) - len(told)
        return "; ".join([*told, f"and {rest} more"] if rest else told)


class ToolServerError(SegueError):
    """A server of tools that cannot be started or reached, or does not speak its protocol."""


class SettingError(SegueError, LookupError):
    """A key or another setting that a request needs is missing; nothing was sent."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class ProviderError(SegueError):
    """What a provider did, or the way to it.

    ``status`` is the HTTP status, if there was one; ``request_id`` what the provider calls the request; ``retryable``
    whether the same request may succeed later; ``retry_after`` the seconds that the provider asks to wait.
    """

    kind: ClassVar[str] = "provider"
    may_help: ClassVar[bool] = False
    """Whether another try usually helps."""

    def __init__(
        self,
        text: str,
        *,
        provider: str = "",
        model: str = "",
        status: int | None = None,
        request_id: str | None = None,
        retryable: bool | None = None,
        retry_after: float | None = None,
    ) -> None:
        self.text, self.provider, self.model = text, provider, model
        self.status, self.request_id, self.retry_after = status, request_id, retry_after
        self.retryable = self.may_help if retryable is None else retryable
        super().__init__(text)

    def __str__(self) -> str:
        status = f" (HTTP {self.status})" if self.status is not None else ""
        return f"{self.provider}/{self.model}{status}: {self.text}"


class RateLimitError(ProviderError):
    """Too much in too short a time."""

    kind, may_help = "rate-limit", True


class QuotaError(ProviderError):
    """The account has nothing left to spend."""

    kind = "quota"


class OverloadedError(ProviderError):
    """The provider has no capacity now."""

    kind, may_help = "overloaded", True


class ServerError(ProviderError):
    """The provider failed."""

    kind, may_help = "server", True


class NetworkError(ProviderError):
    """No connection, a connection that broke, silence, or bytes that are no answer."""

    kind, may_help = "network", True


class AuthenticationError(ProviderError):
    """The key is not accepted, or may not do this."""

    kind = "authentication"


class ModelNotFoundError(ProviderError):
    """The endpoint does not have this model, or not any more; or there is no such endpoint."""

    kind = "model-not-found"


class InvalidRequestError(ProviderError):
    """The provider refused the request."""

    kind = "invalid-request"


class ContextOverflowError(ProviderError):
    """The conversation does not fit into the model's window."""

    kind = "overflow"


class RefusedError(ProviderError):
    """The model or a filter would not answer."""

    kind = "refused"
