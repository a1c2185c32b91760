"""Pure data: blocks, messages, tools, usage and models, and their JSON. No I/O except on open files."""

from .changes import LOSSY as LOSSY, Change, ChangeCode as ChangeCode
from .check import check_model as check_model, check_options as check_options
from .content import (
    AssistantContent,
    Block,
    FileContent,
    ImageContent,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolKind as ToolKind,
    ToolResultContent,
    UserContent,
    plain_text as plain_text,
)
from .context import Context
from .fold import Fold as Fold
from .image_size import image_size as image_size
from .jsonl import (
    Line as Line,
    first_lines as first_lines,
    has_version as has_version,
    messages_follow as messages_follow,
    read_conversations,
    read_jsonl,
    shape_of as shape_of,
    write_jsonl,
)
from .media import FileKind as FileKind
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
from .model import ADDED_CELLS as ADDED_CELLS, LIMITS as LIMITS, Modality, Model
from .numbers import refuse_non_finite as refuse_non_finite
from .options import CacheRetention as CacheRetention, Options, ReasoningLevel as ReasoningLevel
from .origins import Origin, Origins
from .response_format import ResponseFormat, parse
from .retries import Retries as Retries
from .tools import ToolDefinition, ToolKey as ToolKey, tool_key as tool_key
from .usage import ModelCost, Prices, PriceStep, Usage, UsageCost, dollars as dollars
from .value import Value as Value, unchecked as unchecked

__all__ = [
    "AssistantContent",
    "AssistantMessage",
    "Block",
    "Change",
    "Context",
    "Diagnostic",
    "FileContent",
    "ImageContent",
    "Message",
    "Modality",
    "Model",
    "ModelCost",
    "Options",
    "Origin",
    "Origins",
    "PriceStep",
    "Prices",
    "ProviderContent",
    "ResponseFormat",
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
    "parse",
    "read_conversations",
    "read_jsonl",
    "write_jsonl",
]
