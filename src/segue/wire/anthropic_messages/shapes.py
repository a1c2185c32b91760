"""Names in a request: arguments of the SDK, and which blocks are allowed where. Their fields are in shape.json.

Taken from SDK anthropic 2.8.0, betas included.
"""

SDK_FIELDS = frozenset(
    {"cache_control", "container", "diagnostics", "inference_geo", "max_tokens", "messages", "metadata", "model",
     "output_config", "service_tier", "speed", "stop_sequences", "stream", "system", "thinking", "tool_choice", "tools",
     "user_profile_id", "workspace_id"}
)  # fmt: skip
"""The arguments of ``messages.create()`` that are part of the body."""

SAMPLING = ("temperature", "top_k", "top_p")

SERVER_RESULTS = frozenset(
    {
        "advisor_tool_result",
        "bash_code_execution_tool_result",
        "code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "web_fetch_tool_result",
        "web_search_tool_result",
    }
)
"""Blocks that answer a ``server_tool_use`` in the same message."""

# Which blocks are allowed where. A document directly in an answer is refused since API version 2026-10-21 (ANT-07b).
IN_USER = frozenset(
    {"text", "image", "document", "search_result", "tool_result", "container_upload", "mcp_tool_result"}
)
IN_ASSISTANT = SERVER_RESULTS | {"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use",
                                 "mcp_tool_use", "mcp_tool_result", "mcp_tool_listing", "compaction", "fallback",
                                 "container_upload", "search_result", "document"}  # fmt: skip
IN_SYSTEM = frozenset({"text", "tool_addition", "tool_removal"})
IN_RESULT = frozenset({"text", "image", "document", "search_result", "tool_reference", "browser_state"})
IN_TOOLSET_RESULT = frozenset({"text", "image", "browser_state"})
BY_ROLE = {"user": IN_USER, "assistant": IN_ASSISTANT, "system": IN_SYSTEM}
BLOCKS = IN_USER | IN_ASSISTANT | IN_SYSTEM | IN_RESULT
