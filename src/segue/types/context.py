"""A conversation: the system prompt, the messages, and the tools that the model may call."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import force_setattr

from .codec import VERSION, read, write
from .messages import PLACEMENT, AssistantMessage, Message
from .tools import ToolDefinition
from .value import Optional, Value

_HOLDS: dict[str, frozenset[type]] = {"messages": frozenset(PLACEMENT), "tools": frozenset({ToolDefinition})}


class Context(Value, frozen=True, kw_only=True, omit_defaults=True, tag_field="version", tag=VERSION):
    """The provider-neutral record, from which a request for any model can be rendered at any time."""

    system_prompt: Optional = None
    messages: list[Message]
    tools: list[ToolDefinition] = []

    if TYPE_CHECKING:

        def __init__(
            self, *, system_prompt: str | None = None, messages: Iterable[Message], tools: Iterable[ToolDefinition] = ()
        ) -> None: ...

    def _validate(self) -> None:
        self._empty_to_none("system_prompt")
        for name, kinds in _HOLDS.items():
            items = getattr(self, name)
            if type(items) is not list:
                if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
                    raise TypeError(f"{name} of a Context must be a list, not {type(items).__name__}")
                force_setattr(self, name, items := list(items))
            if kinds.issuperset(map(type, items)):
                continue
            for index, item in enumerate(items):
                if type(item) not in kinds:
                    allowed = ", ".join(sorted(kind.__name__ for kind in kinds))
                    raise TypeError(f"{name}[{index}] of a Context must be {allowed}, not {type(item).__name__}")

    def _may_hide_nan(self) -> bool:
        for message in self.messages:
            if type(message) is AssistantMessage and message._may_hide_nan():
                return True
        return False

    @classmethod
    def from_json(cls, data: bytes | str) -> "Context":
        """Read a document. A ``FormatError`` states what is wrong with it, and where."""
        return read(data, cls)

    def to_json(self) -> bytes:
        """Write the document, on one line."""
        return write(self)
