"""The members that each part of a request may have, as tables. State: SDK anthropic 2.8.0, betas included."""

SDK_FIELDS = frozenset(
    {"cache_control", "container", "diagnostics", "inference_geo", "max_tokens", "messages", "metadata", "model",
     "output_config", "service_tier", "speed", "stop_sequences", "stream", "system", "thinking", "tool_choice", "tools",
     "user_profile_id", "workspace_id"}
)  # fmt: skip
"""The arguments of ``messages.create()`` that are part of the body."""

SAMPLING = ("temperature", "top_k", "top_p")

BODY = SDK_FIELDS | {"compaction", "context_management", "fallback_credit_token", "fallbacks", "mcp_servers", "thread",
                     "anthropic_version", "anthropic_beta"} | set(SAMPLING)  # fmt: skip
"""Top level: also what is in beta, what Bedrock and Vertex want in the body, and what ANT-48 speaks about."""

MESSAGE = frozenset({"role", "content"})
SYSTEM_MESSAGE = MESSAGE | {"output_config"}

_CACHED = frozenset({"type", "cache_control"})
_SERVER_RESULT = _CACHED | {"tool_use_id", "content", "caller"}

BLOCKS: dict[str, frozenset[str]] = {
    "text": _CACHED | {"text", "citations"},
    "image": _CACHED | {"source", "transformations"},
    "document": _CACHED | {"source", "title", "context", "citations"},
    "search_result": _CACHED | {"source", "title", "content", "citations"},
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
    "tool_use": _CACHED | {"id", "name", "input", "caller", "toolset_name"},
    "tool_result": _CACHED | {"tool_use_id", "content", "is_error", "toolset_name"},
    "server_tool_use": _CACHED | {"id", "name", "input", "caller"},
    "mcp_tool_use": _CACHED | {"id", "name", "input", "server_name"},
    "mcp_tool_result": _CACHED | {"tool_use_id", "content", "is_error"},
    "advisor_tool_result": _SERVER_RESULT,
    "bash_code_execution_tool_result": _SERVER_RESULT,
    "code_execution_tool_result": _SERVER_RESULT,
    "text_editor_code_execution_tool_result": _SERVER_RESULT,
    "tool_search_tool_result": _SERVER_RESULT,
    "web_fetch_tool_result": _SERVER_RESULT,
    "web_search_tool_result": _SERVER_RESULT,
    "container_upload": _CACHED | {"file_id"},
    "compaction": _CACHED | {"content", "encrypted_content", "signature", "tool_changes"},
    "fallback": frozenset({"type", "from", "to", "trigger"}),
    "browser_state": _CACHED | {"tabs", "state_changes"},
    "tool_reference": _CACHED | {"tool_name"},
    "tool_addition": _CACHED | {"tool"},
    "tool_removal": _CACHED | {"tool"},
}

SERVER_RESULTS = frozenset(name for name, members in BLOCKS.items() if members == _SERVER_RESULT)
"""Blocks that answer a ``server_tool_use`` in the same message."""

# Which blocks may stand where. A document directly in an answer is refused since API version 2026-10-21 (ANT-07b).
IN_USER = frozenset(
    {"text", "image", "document", "search_result", "tool_result", "container_upload", "mcp_tool_result"}
)
IN_ASSISTANT = SERVER_RESULTS | {"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use",
                                 "mcp_tool_use", "mcp_tool_result", "compaction", "fallback", "container_upload",
                                 "search_result", "document"}  # fmt: skip
IN_SYSTEM = frozenset({"text", "tool_addition", "tool_removal"})
IN_RESULT = frozenset({"text", "image", "document", "search_result", "tool_reference", "browser_state"})
BY_ROLE = {"user": IN_USER, "assistant": IN_ASSISTANT, "system": IN_SYSTEM}

TOOL = frozenset({"type", "name", "description", "input_schema", "cache_control", "strict", "defer_loading",
                  "allowed_callers", "eager_input_streaming", "input_examples"})  # fmt: skip
"""A tool of the caller's own; tools that Anthropic defines have a dated type."""

SOURCES: dict[str, frozenset[str]] = {
    "base64": frozenset({"type", "media_type", "data"}),
    "url": frozenset({"type", "url"}),
    "file": frozenset({"type", "file_id"}),
    "text": frozenset({"type", "media_type", "data"}),
    "content": frozenset({"type", "content"}),
}
CACHE_CONTROL = frozenset({"type", "ttl"})
METADATA = frozenset({"user_id"})
