"""Tool definitions. ``parameters`` is raw JSON."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import Raw, Struct, field
from msgspec.structs import force_setattr

from .content import ToolCall, ToolKind, check_tool_kind
from .raw import minified

_NO_PARAMETERS = Raw(b'{"type":"object","properties":{}}')
_FREE_TEXT = Raw(b'{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}')


class ToolDefinition(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A tool that the model may call. ``parameters`` is a JSON Schema, passed as a dict or as JSON text.

    A free-text tool has the ``kind`` ``custom`` and gets one text, as ``{"input": text}``; ``format`` may be the
    grammar of that text, as OpenAI writes it. ``namespace`` groups tools.
    """

    name: str
    description: str = field(default_factory=str)
    parameters: Raw = field(default_factory=lambda: _NO_PARAMETERS)
    kind: ToolKind | None = None
    format: dict[str, Any] | None = None
    namespace: str | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            description: str = "",
            parameters: Mapping[str, Any] | Raw | bytes | str = ...,
            kind: ToolKind | None = None,
            format: dict[str, Any] | None = None,  # noqa: A002, the name of the field
            namespace: str | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        check_tool_kind(self.kind)
        parameters = self.parameters
        if self.kind == "custom" and parameters is _NO_PARAMETERS:
            parameters = _FREE_TEXT
        force_setattr(self, "parameters", Raw(minified(f"parameters of tool {self.name!r}", parameters, "are")))
        if self.format is not None:
            copied = msgspec.json.decode(minified(f"format of tool {self.name!r}", self.format))
            force_setattr(self, "format", copied or None)
        if self.namespace == "":
            force_setattr(self, "namespace", None)

    def __hash__(self) -> int:
        return hash((self.name, self.description, bytes(self.parameters), self.kind, self.namespace))

    @property
    def schema(self) -> Any:
        """``parameters`` as a new Python value."""
        return msgspec.json.decode(self.parameters)


class ToolKey(NamedTuple):
    """What identifies a tool in a conversation."""

    name: str
    kind: ToolKind | None = None
    namespace: str | None = None


def tool_key(call: ToolCall) -> ToolKey:
    """The tool of a call. A free-text call has one text; with other arguments it is the call of a function."""
    is_text = call.arguments.keys() == {"input"} and type(call.arguments["input"]) is str
    return ToolKey(call.name, call.kind if is_text else None, call.namespace)
