"""A conversation: the system prompt, the messages, and the tools that the model may call."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from msgspec.structs import force_setattr

from .codec import VERSION, read, write
from .messages import PLACEMENT, Message
from .tools import ToolDefinition
from .value import FlexibleMeta, Optional, Value


class DefinesTool(Protocol):
    """A tool that has a definition for the model, such as one made by ``segue.tool``."""

    @property
    def definition(self) -> ToolDefinition: ...


_HOLDS: dict[str, frozenset[type]] = {"messages": frozenset(PLACEMENT), "tools": frozenset({ToolDefinition})}


class Context(
    Value,
    metaclass=FlexibleMeta,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    tag_field="version",
    tag=VERSION,
):
    """The provider-neutral record, from which a request for any model can be rendered at any time.

    In Python, ``tools`` may also be tools with a handler (``segue.tool``); their definitions are kept.
    """

    system_prompt: Optional = None
    messages: list[Message]
    tools: list[ToolDefinition] = []

    if TYPE_CHECKING:

        def __init__(
            self,
            messages: Iterable[Message],
            *,
            system_prompt: str | None = None,
            tools: Iterable[ToolDefinition | DefinesTool] = (),
        ) -> None: ...

    @staticmethod
    def _fields(messages: Any, **others: Any) -> dict[str, Any]:
        return others | {"messages": messages}

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
            if name == "tools":
                force_setattr(self, name, items := [getattr(item, "definition", item) for item in items])
            for index, item in enumerate(items):
                if type(item) not in kinds:
                    allowed = ", ".join(sorted(kind.__name__ for kind in kinds))
                    hint = f"; segue.ingest reads {name} that are dicts" if isinstance(item, Mapping) else ""
                    raise TypeError(f"{name}[{index}] of a Context must be {allowed}, not {type(item).__name__}{hint}")

    def _may_hide_nan(self) -> bool:
        for message in self.messages:
            if message._may_hide_nan():
                return True
        return False

    @classmethod
    def from_json(cls, data: bytes | str) -> "Context":
        """Read a document. A ``FormatError`` states what is wrong with it, and where."""
        return read(data, cls)

    def to_json(self) -> bytes:
        """Write the document, on one line."""
        return write(self)
