"""Pure data: blocks, messages, tools, usage and models, and their JSON. No I/O except on open files."""

from .changes import LOSSY as LOSSY, Change, ChangeCode as ChangeCode
from .check import check_context as check_context, check_model as check_model, check_options as check_options
from .content import (
    AssistantContent,
    Block,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultContent,
    UserContent,
    plain_text as plain_text,
)
from .context import Context
from .fold import Fold as Fold
from .jsonl import (
    Line as Line,
    conversations_follow as conversations_follow,
    first_lines as first_lines,
    read_conversations,
    read_jsonl,
    shape_of as shape_of,
    write_jsonl,
)
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
from .numbers import refuse_non_finite as refuse_non_finite
from .options import CacheRetention as CacheRetention, Options, ReasoningLevel as ReasoningLevel
from .retries import Retries as Retries
from .tools import ToolDefinition
from .usage import ModelCost, Usage, UsageCost
from .value import Value as Value

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
