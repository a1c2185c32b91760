"""Tools and the one way to run them: schemas, validation, approval, limits, the scheduler."""

from .approval import Allow, AllowAlways, Approval, Approve, Asked, Deny, Edit
from .current import Running, running
from .files import file_tools
from .limits import ToolLimits
from .mcp import McpServer
from .scheduler import Journal, Scheduler
from .shell import shell_tool
from .states import CallState, State
from .tool import Tool, ToolLike, as_tool, tool

__all__ = [
    "Allow",
    "AllowAlways",
    "Approval",
    "Approve",
    "Asked",
    "CallState",
    "Deny",
    "Edit",
    "Journal",
    "McpServer",
    "Running",
    "Scheduler",
    "State",
    "Tool",
    "ToolLike",
    "ToolLimits",
    "as_tool",
    "file_tools",
    "running",
    "shell_tool",
    "tool",
]
