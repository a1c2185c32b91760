"""The three messages. The table ``PLACEMENT`` lists the blocks that each may hold.

Values have no identity: ids, parents and keys of stored entries belong to the store.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final, get_args

from msgspec import field
from msgspec.structs import force_setattr

from .content import (
    AssistantContent,
    Block,
    TextContent,
    ToolCall,
    ToolResultContent,
    UserContent,
)
from .model import Model
from .text import copy_json
from .usage import Usage
from .value import FlexibleMeta, JsonObject, Optional, Value

StopReason = Literal["stop", "length", "toolUse", "error", "aborted"]
"""Why an answer ended; the stop reasons of all providers are mapped to these five."""

_STOP_REASONS = frozenset(get_args(StopReason))
FAILED_STOPS = frozenset({"error", "aborted"})
"""The stop reasons of an answer that failed."""


class Diagnostic(Value, frozen=True, omit_defaults=True):
    """A non-fatal event, for example tool arguments that had to be repaired."""

    type: str
    timestamp: int = field(default_factory=int)
    message: str | None = None
    details: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        self._empty_to_none("message", "details")


NOT_RUNNABLE = frozenset({"arguments-truncated", "arguments-unreadable", "call-without-name"})
"""Types of diagnostics of a call that must not be run; ``details["block"]`` is its index."""


@final
class UserMessage(Value, frozen=True, omit_defaults=True, tag_field="role", tag="user"):
    """A message of the user. A plain string, here and in JSON, is short for one text block.

    ``injected``: it was written by a program, such as a reminder or a description of the environment, not by a person.
    ``meta`` is a JSON object that stays with the message and is never sent.
    """

    role: ClassVar[Literal["user"]] = "user"

    if TYPE_CHECKING:
        content: list[UserContent]
        injected: bool
        meta: dict[str, Any] | None

        def __init__(
            self, content: Iterable[UserContent] | str, injected: bool = False, meta: dict[str, Any] | None = None
        ) -> None: ...
    else:
        content: list[UserContent] | str
        injected: bool = False
        meta: JsonObject = None

    def __post_init__(self) -> None:
        if isinstance(self.content, str):
            force_setattr(self, "content", [TextContent(self.content)])

    def _validate(self) -> None:
        _place(self)
        _check_meta(self)
        if self.injected is None:
            force_setattr(self, "injected", False)

    def _may_hide_nan(self) -> bool:
        return self.meta is not None


@final
class AssistantMessage(
    Value,
    metaclass=FlexibleMeta,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    tag_field="role",
    tag="assistant",
):
    """An answer, with its origin. ``protocol``, ``provider`` and ``model`` (the requested id) are free strings: they
    need not be in any catalog.

    In Python only ``content`` is required: blocks, or a string as short for one text block. An answer without an origin
    is foreign to every model. The default of ``stop_reason`` is ``toolUse`` if there are calls, otherwise ``stop``.

    ``endpoint`` is a fingerprint of the endpoint and account that answered, and does not reveal a secret; signatures
    are bound to it. For an answer through a router it ends in ``|`` and the upstream that answered. ``prefix_digest``
    is the digest of everything that was sent before this answer; some models bind their thinking to it. ``meta`` is a
    JSON object that stays with the message and is never sent.
    """

    role: ClassVar[Literal["assistant"]] = "assistant"
    content: list[AssistantContent]
    protocol: str
    provider: str
    model: str
    usage: Usage = field(default_factory=Usage)
    stop_reason: StopReason
    timestamp: int = field(default_factory=int)
    response_model: Optional = None
    response_id: Optional = None
    error_message: Optional = None
    diagnostics: list[Diagnostic] = []
    endpoint: Optional = None
    prefix_digest: Optional = None
    meta: JsonObject = None

    if TYPE_CHECKING:

        def __init__(
            self,
            content: Iterable[AssistantContent] | str,
            *,
            protocol: str = "",
            provider: str = "",
            model: str = "",
            usage: Usage = ...,
            stop_reason: StopReason | None = None,
            timestamp: int = 0,
            response_model: str | None = None,
            response_id: str | None = None,
            error_message: str | None = None,
            diagnostics: list[Diagnostic] = ...,
            endpoint: str | None = None,
            prefix_digest: str | None = None,
            meta: dict[str, Any] | None = None,
        ) -> None: ...

    @staticmethod
    def _fields(content: Any, **others: Any) -> dict[str, Any]:
        return {"protocol": "", "provider": "", "model": "", "stop_reason": None} | others | {"content": content}

    def _validate(self) -> None:
        _place(self)
        if self.stop_reason is None:
            has_calls = any(type(block) is ToolCall for block in self.content)
            force_setattr(self, "stop_reason", "toolUse" if has_calls else "stop")
        _check_meta(self)
        if not isinstance(self.stop_reason, str) or self.stop_reason not in _STOP_REASONS:
            raise ValueError(f"stop_reason must be one of {', '.join(get_args(StopReason))}, not {self.stop_reason!r}")
        if self.diagnostics is None:
            force_setattr(self, "diagnostics", [])
        self._empty_to_none("response_model", "response_id", "error_message", "endpoint", "prefix_digest")

    def _may_hide_nan(self) -> bool:
        for block in self.content:
            if type(block) is ToolCall and block._may_hide_nan():
                return True
        cost = self.usage.cost
        return bool(self.diagnostics) or self.meta is not None or (cost is not None and cost._may_hide_nan())

    @classmethod
    def start(cls, model: Model, now: int) -> "AssistantMessage":
        """Make an empty answer of ``model`` at ``now`` (Unix ms), to which a decoder adds the content of a response."""
        return cls(
            content=[],
            protocol=model.protocol,
            provider=model.provider,
            model=model.id,
            stop_reason="stop",
            timestamp=now,
            endpoint=model.endpoint,
        )

    @property
    def failed(self) -> bool:
        """Whether the answer ended in an error or was aborted."""
        return self.stop_reason in FAILED_STOPS

    @property
    def text(self) -> str:
        """The joined text blocks, without thinking and calls."""
        return "".join([block.text for block in self.content if type(block) is TextContent])

    @property
    def tool_calls(self) -> list[ToolCall]:
        """All calls in order, as copies that the caller may change."""
        return [
            ToolCall(
                block.id,
                block.name,
                copy_json(block.arguments),
                block.thought_signature,
                block.kind,
                block.namespace,
            )
            for block in self.content
            if type(block) is ToolCall
        ]

    @property
    def runnable_calls(self) -> list[ToolCall]:
        """The calls that may be run, as copies. Excluded are all calls of an answer that failed or reached its length
        limit, and calls without a name or whose arguments were incomplete."""
        if self.stop_reason != "toolUse":
            return []
        unfit = {each.details.get("block") for each in self.diagnostics if each.details and each.type in NOT_RUNNABLE}
        calls = [at for at, block in enumerate(self.content) if type(block) is ToolCall]
        return [call for at, call in zip(calls, self.tool_calls, strict=True) if at not in unfit]


@final
class ToolResultMessage(Value, frozen=True, omit_defaults=True, tag_field="role", tag="toolResult"):
    """The result of a call. A plain string is short for one text block.

    ``synthetic``: a placeholder for a missing result, which a real one always replaces. ``meta`` is a JSON object that
    stays with the message and is never sent.
    """

    role: ClassVar[Literal["toolResult"]] = "toolResult"
    tool_call_id: str
    tool_name: str
    content: list[ToolResultContent]
    is_error: bool = field(default_factory=bool)
    synthetic: bool = False
    meta: JsonObject = None

    if TYPE_CHECKING:

        def __init__(
            self,
            tool_call_id: str,
            tool_name: str,
            content: Iterable[ToolResultContent] | str,
            is_error: bool = False,
            synthetic: bool = False,
            meta: dict[str, Any] | None = None,
        ) -> None: ...

    def _validate(self) -> None:
        _place(self)
        _check_meta(self)
        for name in ("is_error", "synthetic"):
            if getattr(self, name) is None:
                force_setattr(self, name, False)

    def _may_hide_nan(self) -> bool:
        return self.meta is not None


Message = UserMessage | AssistantMessage | ToolResultMessage
"""A message of a conversation."""

PLACEMENT: dict[type[Message], frozenset[type[Block]]] = {
    UserMessage: frozenset(get_args(UserContent)),
    AssistantMessage: frozenset(get_args(AssistantContent)),
    ToolResultMessage: frozenset(get_args(ToolResultContent)),
}


def _place(message: Message) -> None:
    """Refuse a block that ``message`` may not hold. (Type checkers and the JSON reader refuse it, too.)"""
    content, allowed = message.content, PLACEMENT[type(message)]
    if type(content) is list and allowed.issuperset(map(type, content)):
        return
    if isinstance(content, str):
        force_setattr(message, "content", [TextContent(content)])
        return
    if isinstance(content, (bytes, Mapping)) or not isinstance(content, Iterable):
        raise TypeError(f"content of a {type(message).__name__} must be a list of blocks, not {type(content).__name__}")
    blocks = list(content)
    force_setattr(message, "content", blocks)
    for index, block in enumerate(blocks):
        if type(block) not in allowed:
            names = ", ".join(sorted(kind.__name__ for kind in allowed))
            raise TypeError(
                f"content[{index}]: {type(block).__name__} is not allowed in a {type(message).__name__}; "
                f"allowed are {names}"
            )


def _check_meta(message: Message) -> None:
    """Refuse a ``meta`` that is not an object. An empty one is absent."""
    if message.meta is not None and type(message.meta) is not dict:
        raise TypeError(f"meta of a {type(message).__name__} must be a dict, not {type(message.meta).__name__}")
    if message.meta == {}:
        force_setattr(message, "meta", None)
