"""Every error that segue raises, in one tree.

    SegueError
    ├── FormatError             data that cannot be read or written: ``path`` is the place, the text the reason
    │   └── VersionError        a document of a version that this segue does not support
    ├── ProjectionError         a conversation that cannot be rendered: nothing to send, or a faulty policy
    ├── ModelError              a model or protocol that is not available as requested
    │   └── UnknownProviderError
    ├── CatalogError            a catalog file with faults; all of them are listed
    │   └── ConfigError         the same for the configuration of a gateway
    ├── SessionError            a session that does not exist, exists already, or cannot be read
    │   ├── ConflictError       another process has written to the session in the meantime
    │   └── TransferError       an exported session with unreadable lines; all of them are listed
    ├── DownloadError           an image or file that cannot be downloaded; the text has its place and its address
    ├── ToolServerError         a tool server that cannot be started or reached, or breaks its protocol
    ├── SettingError            a key or another setting is missing: the text names the variable to set
    └── ProviderError           a failure of a provider, or of the connection to it
        ├── RateLimitError          too many requests or tokens; may state how long to wait
        ├── QuotaError              the account's quota or credit is used up
        ├── OverloadedError         the provider has no capacity now
        ├── ServerError             the provider failed
        ├── NetworkError            no connection, a broken one, a timeout, an unreadable answer, a redirect
        ├── AuthenticationError     the key is not accepted, or not allowed to do this
        ├── ModelNotFoundError      the endpoint does not have this model (any more), or does not exist
        ├── InvalidRequestError     the provider rejected the request: a bug in segue, or a body that was changed
        ├── ContextOverflowError    the conversation does not fit into the model's context window
        └── RefusedError            the model or a filter declined to answer

The caller can fix everything above ``ProviderError``, and each text states how. ``complete`` raises a
``ProviderError``, which has the message with what had arrived, and which can be stored. ``stream`` does not raise it:
it is in the ``error`` event, beside that message. Misuse in Python code (a block that a message may not hold, an
argument of the wrong type) is a plain ``TypeError``.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

__all__ = [
    "AuthenticationError",
    "CatalogError",
    "ConfigError",
    "ConflictError",
    "ContextOverflowError",
    "DownloadError",
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
    """The base of all errors of this package.

    ``in_python`` is advice for callers in Python. ``str()`` includes it; ``for_shell()`` does not.
    """

    def __init__(self, *args: object, in_python: str = "") -> None:
        super().__init__(*args)
        self.in_python = in_python

    def __str__(self) -> str:
        text = self.for_shell()
        return f"{text}; in Python, {self.in_python}" if self.in_python else text

    def for_shell(self) -> str:
        """The text without advice that is about Python."""
        return str(self.args[0]) if self.args else ""


class FormatError(SegueError, ValueError):
    """Data that cannot be read or written as a conversation.

    ``path`` points into the document (``messages[3].content[1]``), ``source`` is the name of the file and ``line`` the
    line of a JSONL file; each is empty or ``None`` where it does not apply. ``str()`` is always a single line.
    """

    def __init__(self, reason: str, *, path: str = "", source: str = "", line: int | None = None) -> None:
        self.reason, self.path, self.source, self.line = reason, path, source, line
        super().__init__(reason, path, source, line)

    def for_shell(self) -> str:
        where = self.source + (f":{self.line}" if self.line is not None else "") if self.source else ""
        if not where and self.line is not None:
            where = f"line {self.line}"
        text = ": ".join(part for part in (where, self.path, self.reason) if part)
        return " ".join(text.split())

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.reason, self.path, self.source, self.line)

    def at(self, source: str, line: int | None = None) -> "FormatError":
        """Return the same error with the file (and line) in which it was found."""
        return type(self)(self.reason, path=self.path, source=source, line=line)

    def below(self, path: str) -> "FormatError":
        """Return the same error with ``path`` before its own: what reads a part does not know where the part is."""
        inner = f".{self.path}" if self.path and not self.path.startswith((".", "[")) else self.path
        return type(self)(self.reason, path=path + inner, source=self.source, line=self.line)


def _rebuild(kind: type[FormatError], reason: str, path: str, source: str, line: int | None) -> FormatError:
    return kind(reason, path=path, source=source, line=line)


class VersionError(FormatError):
    """A document of a version that this segue does not support."""


class ProjectionError(SegueError, ValueError):
    """A conversation with nothing to send, an unknown policy, or an id function that breaks its rules."""


class ModelError(SegueError, LookupError):
    """A model or protocol that is not available as requested."""


class UnknownProviderError(ModelError):
    """A provider that is neither in the built-in catalog nor in the user's."""


class CatalogError(SegueError, ValueError):
    """A catalog file with faults. ``faults`` lists all of them, each with its place."""

    def __init__(self, source: str, faults: Sequence[str]) -> None:
        self.source, self.faults = source, tuple(faults)
        super().__init__(source, self.faults)

    def for_shell(self) -> str:
        return f"{self.source}: " + "; ".join(self.faults)


class ConfigError(CatalogError):
    """The configuration of a gateway has faults. ``faults`` lists all of them, each with its place."""


class SessionError(SegueError):
    """A session that does not exist, exists already, or cannot be read."""


class ConflictError(SessionError):
    """Another process has written to the session in the meantime; nothing was written. Open it again to read that."""


class TransferError(SessionError, ValueError):
    """An exported session that cannot be read; nothing was written. ``faults`` lists every bad line with its number."""

    def __init__(self, faults: Sequence[FormatError]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)

    def for_shell(self) -> str:
        shown = [str(fault) for fault in self.faults[:3]]
        rest = len(self.faults) - len(shown)
        return "; ".join([*shown, f"and {rest} more"] if rest else shown)


class DownloadError(SegueError):
    """An image or file that cannot be downloaded, or may not be."""


class ToolServerError(SegueError):
    """A tool server that cannot be started or reached, or breaks its protocol."""


class SettingError(SegueError, LookupError):
    """A key or another setting that a request needs is missing; nothing was sent."""


class ProviderError(SegueError):
    """A failure of a provider, or of the connection to it.

    ``status`` is the HTTP status, if there was one; ``request_id`` the provider's id of the request; ``retryable``
    whether the same request may succeed later; ``retry_after`` the seconds to wait, if the provider stated them.
    ``message`` is the failed answer (an ``AssistantMessage``) with what had arrived, if a request was sent.
    """

    kind: ClassVar[str] = "provider"
    may_help: ClassVar[bool] = False
    """Whether trying again usually helps."""

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
        message: Any = None,
    ) -> None:
        self.text, self.provider, self.model = text, provider, model
        self.status, self.request_id, self.retry_after = status, request_id, retry_after
        self.retryable = self.may_help if retryable is None else retryable
        self.message = message
        super().__init__(text)

    def for_shell(self) -> str:
        status = f" (HTTP {self.status})" if self.status is not None else ""
        return f"{self.provider}/{self.model}{status}: {self.text}"


class RateLimitError(ProviderError):
    """Too many requests or tokens in a short time."""

    kind, may_help = "rate-limit", True


class QuotaError(ProviderError):
    """The account's quota or credit is used up."""

    kind = "quota"


class OverloadedError(ProviderError):
    """The provider has no capacity now."""

    kind, may_help = "overloaded", True


class ServerError(ProviderError):
    """The provider failed."""

    kind, may_help = "server", True


class NetworkError(ProviderError):
    """No connection, a broken one, a timeout, an unreadable answer, or a redirect."""

    kind, may_help = "network", True


class AuthenticationError(ProviderError):
    """The key is not accepted, or not allowed to do this."""

    kind = "authentication"


class ModelNotFoundError(ProviderError):
    """The endpoint does not have this model (any more), or does not exist."""

    kind = "model-not-found"


class InvalidRequestError(ProviderError):
    """The provider rejected the request."""

    kind = "invalid-request"


class ContextOverflowError(ProviderError):
    """The conversation does not fit into the model's context window."""

    kind = "overflow"


class RefusedError(ProviderError):
    """The model or a filter declined to answer."""

    kind = "refused"
