"""segue: change models in the middle of a conversation.

Every public name is here, and is loaded when it is first used: ``import segue`` costs next to nothing and brings in
no HTTP, no command line and no SDK.
"""

TYPE_CHECKING = False  # to type checkers this name means the same as that of `typing`, which costs an import

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .agent import Agent as Agent
    from .agent import AgentStream as AgentStream
    from .agent import CallResult as CallResult
    from .agent import CallStart as CallStart
    from .agent import Compaction as Compaction
    from .agent import Interruption as Interruption
    from .agent import Outcome as Outcome
    from .agent import Retried as Retried
    from .agent import RunLimits as RunLimits
    from .agent import Runner as Runner
    from .agent import Session as Session
    from .agent import Settings as Settings
    from .agent import Steered as Steered
    from .agent import Switch as Switch
    from .agent import TurnEnd as TurnEnd
    from .agent import TurnEvent as TurnEvent
    from .agent import TurnStart as TurnStart
    from .agent import TurnStream as TurnStream
    from .agent import session_usage as session_usage
    from .catalog import Catalog as Catalog
    from .catalog import Provider as Provider
    from .catalog import UnknownModelWarning as UnknownModelWarning
    from .catalog import get_model as get_model
    from .catalog import get_provider as get_provider
    from .catalog import list_models as list_models
    from .catalog import list_providers as list_providers
    from .client import Client as Client
    from .client import Connection as Connection
    from .client import Retries as Retries
    from .client import Stream as Stream
    from .client import SyncStream as SyncStream
    from .client import Timeouts as Timeouts
    from .client import complete as complete
    from .client import complete_sync as complete_sync
    from .client import error_of as error_of
    from .client import send as send
    from .client import send_sync as send_sync
    from .client import stream as stream
    from .client import stream_sync as stream_sync
    from .errors import AuthenticationError as AuthenticationError
    from .errors import CatalogError as CatalogError
    from .errors import ConflictError as ConflictError
    from .errors import ContextOverflowError as ContextOverflowError
    from .errors import FormatError as FormatError
    from .errors import InvalidRequestError as InvalidRequestError
    from .errors import ModelError as ModelError
    from .errors import ModelNotFoundError as ModelNotFoundError
    from .errors import NetworkError as NetworkError
    from .errors import OverloadedError as OverloadedError
    from .errors import ProjectionError as ProjectionError
    from .errors import ProviderError as ProviderError
    from .errors import QuotaError as QuotaError
    from .errors import RateLimitError as RateLimitError
    from .errors import RefusedError as RefusedError
    from .errors import SegueError as SegueError
    from .errors import ServerError as ServerError
    from .errors import SessionError as SessionError
    from .errors import SettingError as SettingError
    from .errors import ToolServerError as ToolServerError
    from .errors import TransferError as TransferError
    from .errors import UnknownProviderError as UnknownProviderError
    from .errors import VersionError as VersionError
    from .projection import ContextTranslationStrategy as ContextTranslationStrategy
    from .projection import DefaultContextTranslation as DefaultContextTranslation
    from .projection import Policy as Policy
    from .projection import ProjectedContext as ProjectedContext
    from .projection import Projection as Projection
    from .projection import project as project
    from .render import Decoder as Decoder
    from .render import Estimate as Estimate
    from .render import Preview as Preview
    from .render import Renderer as Renderer
    from .render import Request as Request
    from .render import decode as decode
    from .render import encode as encode
    from .render import ingest as ingest
    from .render import lint as lint
    from .render import preview as preview
    from .router import Failover as Failover
    from .router import Fixed as Fixed
    from .router import Patience as Patience
    from .router import RoundRobin as RoundRobin
    from .router import Router as Router
    from .router import Weighted as Weighted
    from .rules import Finding as Finding
    from .rules import Rule as Rule
    from .rules import is_context_overflow as is_context_overflow
    from .tools import Allow as Allow
    from .tools import AllowAlways as AllowAlways
    from .tools import Approval as Approval
    from .tools import Approve as Approve
    from .tools import Asked as Asked
    from .tools import CallState as CallState
    from .tools import Deny as Deny
    from .tools import Edit as Edit
    from .tools import Journal as Journal
    from .tools import McpServer as McpServer
    from .tools import Scheduler as Scheduler
    from .tools import Tool as Tool
    from .tools import ToolLike as ToolLike
    from .tools import ToolLimits as ToolLimits
    from .tools import file_tools as file_tools
    from .tools import shell_tool as shell_tool
    from .tools import tool as tool
    from .types import AssistantContent as AssistantContent
    from .types import AssistantMessage as AssistantMessage
    from .types import Block as Block
    from .types import Change as Change
    from .types import Context as Context
    from .types import Diagnostic as Diagnostic
    from .types import Done as Done
    from .types import Error as Error
    from .types import Event as Event
    from .types import ImageContent as ImageContent
    from .types import Line as Line
    from .types import Message as Message
    from .types import Modality as Modality
    from .types import Model as Model
    from .types import ModelCost as ModelCost
    from .types import Options as Options
    from .types import Partial as Partial
    from .types import Start as Start
    from .types import StopReason as StopReason
    from .types import TextContent as TextContent
    from .types import TextDelta as TextDelta
    from .types import TextEnd as TextEnd
    from .types import TextStart as TextStart
    from .types import ThinkingContent as ThinkingContent
    from .types import ThinkingDelta as ThinkingDelta
    from .types import ThinkingEnd as ThinkingEnd
    from .types import ThinkingStart as ThinkingStart
    from .types import ToolCall as ToolCall
    from .types import ToolCallDelta as ToolCallDelta
    from .types import ToolCallEnd as ToolCallEnd
    from .types import ToolCallStart as ToolCallStart
    from .types import ToolDefinition as ToolDefinition
    from .types import ToolResultContent as ToolResultContent
    from .types import ToolResultMessage as ToolResultMessage
    from .types import Usage as Usage
    from .types import UsageCost as UsageCost
    from .types import UserContent as UserContent
    from .types import UserMessage as UserMessage
    from .types import read_conversations as read_conversations
    from .types import read_jsonl as read_jsonl
    from .types import write_jsonl as write_jsonl

_ROOMS = {
    "agent": (
        "Agent",
        "AgentStream",
        "CallResult",
        "CallStart",
        "Compaction",
        "Interruption",
        "Outcome",
        "Retried",
        "RunLimits",
        "Runner",
        "Session",
        "Settings",
        "Steered",
        "Switch",
        "TurnEnd",
        "TurnEvent",
        "TurnStart",
        "TurnStream",
        "session_usage",
    ),
    "catalog": (
        "Catalog",
        "Provider",
        "UnknownModelWarning",
        "get_model",
        "get_provider",
        "list_models",
        "list_providers",
    ),
    "client": (
        "Client",
        "Connection",
        "Retries",
        "Stream",
        "SyncStream",
        "Timeouts",
        "complete",
        "complete_sync",
        "error_of",
        "send",
        "send_sync",
        "stream",
        "stream_sync",
    ),
    "errors": (
        "AuthenticationError",
        "CatalogError",
        "ConflictError",
        "ContextOverflowError",
        "FormatError",
        "InvalidRequestError",
        "ModelError",
        "ModelNotFoundError",
        "NetworkError",
        "OverloadedError",
        "ProjectionError",
        "ProviderError",
        "QuotaError",
        "RateLimitError",
        "RefusedError",
        "SegueError",
        "ServerError",
        "SessionError",
        "SettingError",
        "ToolServerError",
        "TransferError",
        "UnknownProviderError",
        "VersionError",
    ),
    "projection": (
        "ContextTranslationStrategy",
        "DefaultContextTranslation",
        "Policy",
        "ProjectedContext",
        "Projection",
        "project",
    ),
    "render": (
        "Decoder",
        "Estimate",
        "Preview",
        "Renderer",
        "Request",
        "decode",
        "encode",
        "ingest",
        "lint",
        "preview",
    ),
    "router": (
        "Failover",
        "Fixed",
        "Patience",
        "RoundRobin",
        "Router",
        "Weighted",
    ),
    "rules": (
        "Finding",
        "Rule",
        "is_context_overflow",
    ),
    "tools": (
        "Allow",
        "AllowAlways",
        "Approval",
        "Approve",
        "Asked",
        "CallState",
        "Deny",
        "Edit",
        "Journal",
        "ToolLimits",
        "McpServer",
        "Scheduler",
        "Tool",
        "ToolLike",
        "file_tools",
        "shell_tool",
        "tool",
    ),
    "types": (
        "AssistantContent",
        "AssistantMessage",
        "Block",
        "Change",
        "Context",
        "Diagnostic",
        "Done",
        "Error",
        "Event",
        "ImageContent",
        "Line",
        "Message",
        "Modality",
        "Model",
        "ModelCost",
        "Options",
        "Partial",
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
    ),
}
_HOMES = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = sorted(_HOMES)


def _load(name: str) -> object:
    room = _HOMES.get(name)
    if room is None:
        raise AttributeError(f"module 'segue' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{room}", __name__), name)
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # a type checker would take every name for a name of this module
    __getattr__ = _load


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
