"""Asking a person before a tool runs: what they are told, and what they may answer."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from ..types import ToolCall
from .tool import Tool


class ApprovalRequest(Struct, frozen=True):
    """The question: may this call run? Its arguments are those that would be used."""

    call: ToolCall
    tool: Tool


class Allow(Struct, frozen=True):
    """Yes, this once."""


class AllowAlways(Struct, frozen=True):
    """Yes, and do not ask again for this tool as long as the scheduler lives."""


class Deny(Struct, frozen=True):
    """No. The model is told, with the reason if there is one."""

    reason: str = ""


class Edit(Struct, frozen=True):
    """Yes, with these arguments. The model is told which were used."""

    arguments: dict[str, Any]


Approval = Allow | AllowAlways | Deny | Edit
Approve = Callable[[ApprovalRequest], Approval | Awaitable[Approval]]
"""Asks somebody. It is called on the event loop: what takes long must be awaited."""
