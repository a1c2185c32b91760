"""Pure data: blocks, messages, tools, usage and models, and their JSON. No I/O except on open files."""

from .changes import LOSSY as LOSSY, Change, ChangeCode as ChangeCode
from .content import (
    AssistantContent,
    Block,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultContent,
    UserContent,
)
from .context import Context
from .fold import Fold as Fold
from .jsonl import Line as Line, read_conversations, read_jsonl, write_jsonl
from .messages import (
    FAILED_STOPS as FAILED_STOPS,
    PLACEMENT as PLACEMENT,
    AssistantMessage,
    Diagnostic,
    Message,
    StopReason,
    ToolResultMessage,
    UserMessage,
)
from .model import Modality, Model
from .options import CacheRetention as CacheRetention, Options, ReasoningLevel as ReasoningLevel
from .tools import ToolDefinition
from .usage import ModelCost, Usage, UsageCost

__all__ = [
    "AssistantContent",
    "AssistantMessage",
    "Block",
    "Change",
    "Context",
    "Diagnostic",
    "ImageContent",
    "Message",
    "Modality",
    "Model",
    "ModelCost",
    "Options",
    "StopReason",
    "TextContent",
    "ThinkingContent",
    "ToolCall",
    "ToolDefinition",
    "ToolResultContent",
    "ToolResultMessage",
    "Usage",
    "UsageCost",
    "UserContent",
    "UserMessage",
    "read_conversations",
    "read_jsonl",
    "write_jsonl",
]
