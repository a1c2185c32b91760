"""Approval of a call by a person: the request, and the possible answers."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from ..types import ToolCall
from .tool import Tool


class ApprovalRequest(Struct, frozen=True):
    """Asks whether a call may run. The call has the arguments that would be used."""

    call: ToolCall
    tool: Tool


class Allow(Struct, frozen=True):
    """Run this call."""


class AllowAlways(Struct, frozen=True):
    """Run this call, and do not ask again for this tool as long as the scheduler exists."""


class Deny(Struct, frozen=True):
    """Do not run this call. The model gets the reason, if there is one."""

    reason: str = ""


class Edit(Struct, frozen=True):
    """Run this call with other arguments. The model is shown which were used."""

    arguments: dict[str, Any]


Approval = Allow | AllowAlways | Deny | Edit
"""The decision about a call."""
Approve = Callable[[ApprovalRequest], Approval | Awaitable[Approval]]
"""Asks the user. It is called on the event loop, so anything that takes long must be awaited."""
