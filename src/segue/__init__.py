"""segue: change models in the middle of a conversation.

Every public name is here, except events (``segue.events``) and doubles for tests (``segue.testing``). A name is loaded
when it is first used: ``import segue`` takes next to no time and imports no HTTP, no command line and no SDK.
"""

TYPE_CHECKING = False  # type checkers treat this name like the one in `typing`, which takes time to import

__version__ = "0.2.0"

# The `__all__` of each room, written by `make docs`; a test compares.
_NAMES = {
    "agent": "Agent AgentStream Interruption Outcome RunLimits Runner Session Settings TurnStream session_usage",
    "catalog": "Catalog Provider UnknownModelWarning get_model get_provider list_models list_providers",
    "client": (
        "Client Connection Downloads Poster Reach RetiringModelWarning Retries Stream SyncStream Timeouts complete "
        "complete_sync error_of inline inline_sync reach send send_sync stream stream_sync"
    ),
    "dialects": (
        "AnthropicMessages BedrockConverse Dialect GoogleGenerativeAI MistralChat OpenAICompletions OpenAIResponses"
    ),
    "errors": (
        "AuthenticationError CatalogError ConfigError ConflictError ContextOverflowError DownloadError FormatError "
        "InvalidRequestError ModelError ModelNotFoundError NetworkError OverloadedError ProjectionError ProviderError "
        "QuotaError RateLimitError RefusedError SegueError ServerError SessionError SettingError ToolServerError "
        "TransferError UnknownProviderError VersionError"
    ),
    "healing": "Fact Facts",
    "projection": "ContextTranslationStrategy DefaultContextTranslation Policy PolicyLike ProjectedContext Projection",
    "render": (
        "AnswerSettings AnswerWriter ConversationLike Decoder Estimate Export Ledger Preview ReadRequest Renderer "
        "Request Sources WrittenAnswer body_sources decode encode events_of export ingest lint preview project "
        "read_request write_answer write_error"
    ),
    "router": "Failover Fixed Patience RoundRobin Router Weighted",
    "rules": "Finding Rule is_context_overflow",
    "session": (
        "ExposedStoreWarning PostgresStore SQLiteStore SessionInfo Store Stored export_session import_session "
        "open_store sessions"
    ),
    "tools": (
        "Allow AllowAlways Approval ApprovalRequest Approve Deny Edit Journal McpServer Scheduler Tool ToolLike "
        "ToolLimits file_tools shell_tool tool"
    ),
    "types": (
        "AssistantContent AssistantMessage Block Change Context Diagnostic FileContent ImageContent Message Modality "
        "Model ModelCost Options Origin Origins PriceStep Prices ProviderContent ResponseFormat StopReason TextContent "
        "ThinkingContent ToolCall ToolDefinition ToolResultContent ToolResultMessage Usage UsageCost UserContent "
        "UserMessage parse read_conversations read_jsonl write_jsonl"
    ),
}
_HOMES = {name: room for room, names in _NAMES.items() for name in names.split()}
_MODULES = (*_NAMES, "adapters", "bulk", "events", "testing", "transcripts", "transport")

if TYPE_CHECKING:
    from . import (
        adapters as adapters,
        agent as agent,
        bulk as bulk,
        catalog as catalog,
        client as client,
        dialects as dialects,
        errors as errors,
        events as events,
        healing as healing,
        projection as projection,
        render as render,
        router as router,
        rules as rules,
        session as session,
        testing as testing,
        tools as tools,
        transcripts as transcripts,
        transport as transport,
        types as types,
    )
    from .agent import *
    from .catalog import *
    from .client import *
    from .dialects import *
    from .errors import *
    from .healing import *
    from .projection import *
    from .render import *
    from .router import *
    from .rules import *
    from .session import *
    from .tools import *
    from .types import *
else:
    __all__ = sorted(_HOMES)

    def __getattr__(name: str) -> object:
        room = name if name in _MODULES else _HOMES.get(name)
        if room is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        module = import_module(f".{room}", __name__)
        value = module if room is name else getattr(module, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*_HOMES, *_MODULES, "__version__"])
