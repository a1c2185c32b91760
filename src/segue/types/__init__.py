"""Pure data: blocks, messages, tools, usage and models, and the JSON of them. No I/O beyond an open file."""

from .changes import LOSSY, Change, ChangeCode
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
from .jsonl import Line, read_conversations, read_jsonl, write_jsonl
from .messages import (
    PLACEMENT,
    AssistantMessage,
    Diagnostic,
    Message,
    StopReason,
    ToolResultMessage,
    UserMessage,
)
from .model import Modality, Model
from .options import CacheRetention, Options, ReasoningLevel
from .tools import ToolDefinition
from .usage import ModelCost, Usage, UsageCost

__all__ = [
    "LOSSY",
    "PLACEMENT",
    "AssistantContent",
    "AssistantMessage",
    "Block",
    "CacheRetention",
    "Change",
    "ChangeCode",
    "Context",
    "Diagnostic",
    "ImageContent",
    "Line",
    "Message",
    "Modality",
    "Model",
    "ModelCost",
    "Options",
    "ReasoningLevel",
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
