"""Every error that segue raises, in one tree.

    SegueError
    ├── FormatError             the data is not what it claims to be: path says where, the text says what
    │   └── VersionError        a document from a newer segue
    ├── ProjectionError         a conversation that cannot be rendered: nothing to send, or a policy that misbehaves
    ├── ModelError              a model or provider was asked for that cannot be had
    │   └── UnknownProviderError
    └── CatalogError            a catalog file has faults; all of them are listed

All of these are the caller's to mend, and each text says how; none is raised for what a provider did. Misuse in
Python code (a block in a message that may not hold it, an argument of the wrong type) is a plain ``TypeError``.
"""

from collections.abc import Sequence


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
