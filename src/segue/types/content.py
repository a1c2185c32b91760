"""The six blocks that messages are made of. Which message may hold which block is a table in ``messages.py``."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import msgspec
from msgspec import Raw
from msgspec.structs import force_setattr

from .media import (
    UNKNOWN_TYPE,
    FileKind,
    Media,
    checked_address,
    is_text_type,
    kind_of,
    kind_of_file,
    read_bytes,
    type_of_address,
    type_of_name,
)
from .raw import minified
from .value import UNREADABLE, Optional, Value, encode, unchecked

ToolKind = Literal["custom"]
"""``custom``: a free-text tool. Every other tool is a function, with arguments."""


def check_tool_kind(kind: object) -> None:
    """Refuse an unknown kind of tool."""
    if kind is not None and kind != "custom":
        raise ValueError(f"kind of a tool is 'custom' or absent, not {kind!r}")


@final
class TextContent(Value, frozen=True, omit_defaults=True, tag_field="type", tag="text"):
    """Text. ``text_signature`` is opaque metadata of the protocol that it came from; citations are a part of it."""

    type: ClassVar[Literal["text"]] = "text"
    text: str
    text_signature: Optional = None

    def _validate(self) -> None:
        self._empty_to_none("text_signature")

    @property
    def citations(self) -> list[dict[str, Any]]:
        """The sources of the text, in the form of the protocol that it came from; empty if there are none."""
        signature = self.text_signature
        if signature is None or signature[0] not in "[{":
            return []
        try:
            stored = msgspec.json.decode(signature)
        except UNREADABLE:
            return []
        if isinstance(stored, dict):
            stored = stored.get("annotations")
        return [each for each in stored if _is_citation(each)] if isinstance(stored, list) else []


_ANNOTATIONS = frozenset({"url_citation", "file_citation", "container_file_citation", "file_path", "reference"})
"""The types of annotations on Responses and Chat Completions (SDK openai 3.49.0), and of references on Mistral."""
_CONVERSE = frozenset({"title", "source", "sourceContent", "location"})
"""The fields of a citation on Converse, which has no type (botocore 1.44.0)."""


def _is_citation(value: object) -> bool:
    """Whether a part of a signature is a citation. Those of Anthropic all quote what they cite (SDK anthropic 2.8.0);
    other lists in a signature, such as details of reasoning, are not citations."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    if kind is None:
        return bool(value) and value.keys() <= _CONVERSE
    return "cited_text" in value or (isinstance(kind, str) and kind in _ANNOTATIONS)


plain_text: Callable[[str], TextContent] = partial(unchecked, TextContent)
"""Make a text without a signature, without validation: for internal use, where the text is known to be a string."""


@final
class ImageContent(Media, frozen=True, omit_defaults=True, tag_field="type", tag="image"):
    """An image: base64 ``data`` and its ``mime_type``, or a ``url``. In Python, ``data`` may also be ``bytes``."""

    type: ClassVar[Literal["image"]] = "image"

    if TYPE_CHECKING:

        def __init__(self, data: str | bytes = "", mime_type: str = "", url: str | None = None) -> None: ...

    @classmethod
    def from_file(cls, path: str | Path) -> "ImageContent":
        """Read an image from a file. The media type is that of its first bytes, otherwise that of its name."""
        name, data = read_bytes(path)
        mime_type = kind_of(data) or type_of_name(name) or UNKNOWN_TYPE
        if not mime_type.startswith("image/"):
            raise ValueError(f"{name} is {mime_type}, not an image; FileContent.from_file reads other files")
        return cls(data, mime_type)

    @classmethod
    def from_url(cls, url: str) -> "ImageContent":
        """An image at an address. It is not downloaded: ``segue.inline`` does that."""
        return cls(url=checked_address(url), mime_type=type_of_address(url) or "")


@final
class FileContent(Media, frozen=True, omit_defaults=True, tag_field="type", tag="file"):
    """A document, sound or video: base64 ``data`` or a ``url``, its ``mime_type``, and its ``name`` if it has one. In
    Python, ``data`` may also be ``bytes``."""

    type: ClassVar[Literal["file"]] = "file"
    name: str | None = None

    if TYPE_CHECKING:

        def __init__(
            self, data: str | bytes = "", mime_type: str = "", url: str | None = None, name: str | None = None
        ) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        self._empty_to_none("name")
        if not self.mime_type:
            raise ValueError("a file needs its mimeType, which decides its kind")

    @classmethod
    def from_file(cls, path: str | Path) -> "FileContent":
        """Read a file. Its name decides the media type, otherwise its first bytes do."""
        name, data = read_bytes(path)
        return cls(data, type_of_name(name) or kind_of(data) or UNKNOWN_TYPE, name=name)

    @classmethod
    def from_url(cls, url: str, mime_type: str | None = None, name: str | None = None) -> "FileContent":
        """A file at an address; without ``mime_type``, the ending of the address decides. It is not downloaded:
        ``segue.inline`` does that."""
        return cls(url=checked_address(url), mime_type=mime_type or type_of_address(url) or UNKNOWN_TYPE, name=name)

    @property
    def kind(self) -> FileKind:
        """Document, audio or video, by the media type."""
        return kind_of_file(self.mime_type)

    @property
    def text(self) -> str | None:
        """The text of a file of text; ``None`` for any other file, and for one at an address."""
        if not self.data or not is_text_type(self.mime_type):
            return None
        try:
            return self.content().decode("utf-8-sig")
        except ValueError:
            return None


@final
class ProviderContent(Value, frozen=True, omit_defaults=True, tag_field="type", tag="provider"):
    """Something that only its maker can read back, such as a search that the provider ran.

    ``raw`` is the block as the provider sent it, as raw JSON; in Python it may also be a dict or JSON text. ``kind`` is
    the provider's word for it, and ``text`` what a person would read of it.
    """

    type: ClassVar[Literal["provider"]] = "provider"
    raw: Raw
    kind: str
    text: str = ""

    if TYPE_CHECKING:

        def __init__(self, raw: Mapping[str, Any] | Raw | bytes | str, kind: str, text: str = "") -> None: ...

    def __post_init__(self) -> None:
        force_setattr(self, "raw", Raw(minified(f"raw of provider content {self.kind!r}", self.raw)))

    def __hash__(self) -> int:
        return hash((bytes(self.raw), self.kind, self.text))

    @property
    def value(self) -> Any:
        """``raw`` as a new Python value."""
        return msgspec.json.decode(self.raw)


@final
class ThinkingContent(Value, frozen=True, omit_defaults=True, tag_field="type", tag="thinking"):
    """Reasoning of a model. ``redacted``: its text is withheld and the signature holds the encrypted payload."""

    type: ClassVar[Literal["thinking"]] = "thinking"
    thinking: str
    thinking_signature: Optional = None
    redacted: bool = False

    def _validate(self) -> None:
        self._empty_to_none("thinking_signature")
        if self.redacted is None:
            force_setattr(self, "redacted", False)


@final
# The base class is frozen, and mypy does not allow what msgspec allows: a subclass that is not.
class ToolCall(Value, frozen=False, omit_defaults=True, tag_field="type", tag="toolCall"):  # type: ignore[misc]
    """A call that the model requests. Its result has the same ``id``. A call of a free-text tool has the ``kind``
    ``custom`` and the arguments ``{"input": text}``; ``namespace`` is that of its tool.

    The only block that is not frozen: its arguments are a dict anyway, and ``AssistantMessage.tool_calls`` returns
    copies that the caller may change.
    """

    type: ClassVar[Literal["toolCall"]] = "toolCall"
    id: str
    name: str
    arguments: dict[str, Any]
    thought_signature: Optional = None
    kind: ToolKind | None = None
    namespace: Optional = None

    def _validate(self) -> None:
        if type(self.arguments) is not dict:
            raise TypeError(f"arguments of a ToolCall must be a dict, not {type(self.arguments).__name__}")
        self._empty_to_none("thought_signature", "namespace")
        check_tool_kind(self.kind)

    def _may_hide_nan(self) -> bool:
        for value in self.arguments.values():
            if type(value) is not str and type(value) is not int:
                return b"null" in encode(self.arguments)
        return False


Block = TextContent | ImageContent | FileContent | ThinkingContent | ToolCall | ProviderContent
"""A piece of a message."""
UserContent = TextContent | ImageContent | FileContent
"""A block of a user message."""
AssistantContent = TextContent | ThinkingContent | ToolCall | ProviderContent
"""A block of an answer."""
ToolResultContent = TextContent | ImageContent | FileContent
"""A block of the result of a call."""
