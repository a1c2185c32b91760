"""Tools, and the scheduler that runs their calls: schemas, validation, approval, limits."""

from .approval import Allow, AllowAlways, Approval, ApprovalRequest, Approve, Deny, Edit
from .files import file_tools
from .limits import ToolLimits
from .mcp import McpServer
from .running_call import RunningCall as RunningCall, running_call as running_call
from .scheduler import Journal, Scheduler
from .shell import shell_tool
from .states import FINAL_STATES as FINAL_STATES, CallState as CallState, State as State
from .tool import Tool, ToolLike, as_tool as as_tool, tool

__all__ = [
    "Allow",
    "AllowAlways",
    "Approval",
    "ApprovalRequest",
    "Approve",
    "Deny",
    "Edit",
    "Journal",
    "McpServer",
    "Scheduler",
    "Tool",
    "ToolLike",
    "ToolLimits",
    "file_tools",
    "shell_tool",
    "tool",
]
