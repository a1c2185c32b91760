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
from .events import (
    Done,
    Error,
    Event,
    Partial,
    Start,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from .fold import Fold
from .jsonl import Line, read_conversations, read_jsonl, write_jsonl
from .messages import (
    FAILED_STOPS,
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
    "FAILED_STOPS",
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
    "Done",
    "Error",
    "Event",
    "Fold",
    "ImageContent",
    "Line",
    "Message",
    "Modality",
    "Model",
    "ModelCost",
    "Options",
    "Partial",
    "ReasoningLevel",
    "Start",
    "StopReason",
    "TextContent",
    "TextDelta",
    "TextEnd",
    "TextStart",
    "ThinkingContent",
    "ThinkingDelta",
    "ThinkingEnd",
    "ThinkingStart",
    "ToolCall",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
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
