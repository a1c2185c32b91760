"""Tools and the one way to run them: schemas, validation, approval, limits, the scheduler."""

from .approval import Allow, AllowAlways, Approval, ApprovalRequest, Approve, Deny, Edit
from .files import file_tools
from .limits import ToolLimits
from .mcp import McpServer
from .running_call import RunningCall, running_call
from .scheduler import Journal, Scheduler
from .shell import shell_tool
from .states import CallState, State
from .tool import Tool, ToolLike, as_tool, tool

__all__ = [
    "Allow",
    "AllowAlways",
    "Approval",
    "ApprovalRequest",
    "Approve",
    "CallState",
    "Deny",
    "Edit",
    "Journal",
    "McpServer",
    "RunningCall",
    "Scheduler",
    "State",
    "Tool",
    "ToolLike",
    "ToolLimits",
    "as_tool",
    "file_tools",
    "running_call",
    "shell_tool",
    "tool",
]
