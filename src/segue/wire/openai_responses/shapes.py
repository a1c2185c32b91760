"""What a Responses body is made of, as tables: items, parts, parameters. No behaviour here.

State: the request types of SDK openai 3.49.0 (2026-11). A test compares the tables with the SDK.
"""

import re
from typing import Any

Item = dict[str, Any]

PARAMETERS = frozenset(
    {
        "access_programs",
        "background",
        "context_management",
        "conversation",
        "image",
        "include",
        "input",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "model",
        "moderation",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "service_tier",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    }
)

# Members of each kind of item, beside `type`. An item without a type is a message, or a reference if it has only an id.
ITEMS: dict[str, frozenset[str]] = {
    kind: frozenset(members.split())
    for kind, members in {
        "additional_tools": "id role tools",
        "agent_message": "",  # accepted by the API (2026-08), unknown to the SDK
        "apply_patch_call": "call_id caller id operation status",
        "apply_patch_call_output": "call_id caller id output status",
        "code_interpreter_call": "code container_id id outputs status",
        "compaction": "encrypted_content id",
        "compaction_trigger": "id",
        "computer_call": "action actions call_id id pending_safety_checks status",
        "computer_call_output": "acknowledged_safety_checks call_id id output status",
        "configuration_update": "id reasoning text",
        "custom_tool_call": "async call_id caller id input name namespace",
        "custom_tool_call_output": "call_id caller id output",
        "file_search_call": "id queries results status",
        "function_call": "arguments async call_id caller id name namespace status",
        "function_call_output": "call_id caller id name namespace output status",
        "image_generation_call": "action background error id output_format quality result revised_prompt size status"
        " svg_usage",
        "item_reference": "id",
        "local_shell_call": "action call_id id status",
        "local_shell_call_output": "id output status",
        "mcp_approval_request": "arguments id name server_label",
        "mcp_approval_response": "approval_request_id approve id reason",
        "mcp_call": "approval_request_id arguments error id name output server_label status",
        "mcp_list_tools": "error id server_label tools",
        "message": "content id phase role status",
        "multi_agent_call": "",  # as agent_message
        "multi_agent_call_output": "",
        "program": "call_id code fingerprint id",
        "program_output": "call_id id result status",
        "reasoning": "content encrypted_content id status summary",
        "shell_call": "action call_id caller environment id status",
        "shell_call_output": "call_id caller id max_output_length output status",
        "tool_search_call": "arguments call_id execution id status",
        "tool_search_output": "call_id execution id status tools",
        "web_search_call": "action id status",
    }.items()
}
# Members that may be left out but not null ("exclude None" when an SDK object is dumped).
NOT_NULL: dict[str, frozenset[str]] = {
    "message": frozenset({"id", "status"}),
    "function_call": frozenset({"async", "id", "namespace", "status"}),
    "custom_tool_call": frozenset({"async", "id", "namespace"}),
    "reasoning": frozenset({"status"}),  # Codex sends `content: null` (0.166, 2026-11)
}
ROLES = frozenset({"user", "assistant", "system", "developer"})
PHASES = frozenset({"commentary", "final_answer"})
STATUSES = frozenset({"in_progress", "completed", "incomplete"})

# The kinds that the model makes (besides messages of the assistant); everything else comes from outside.
MADE_BY_MODEL = frozenset(
    {
        "apply_patch_call",
        "code_interpreter_call",
        "computer_call",
        "custom_tool_call",
        "file_search_call",
        "function_call",
        "image_generation_call",
        "local_shell_call",
        "mcp_approval_request",
        "mcp_call",
        "mcp_list_tools",
        "multi_agent_call",
        "program",
        "reasoning",
        "shell_call",
        "tool_search_call",
        "web_search_call",
    }
)

PARTS_OF_INPUT = frozenset({"input_text", "input_image", "input_file", "scoped_content", "input_audio"})
PARTS_OF_OUTPUT = frozenset({"output_text", "refusal"})
PARTS_OF_RESULT = frozenset({"input_text", "input_image", "input_file"})

# How ids of items begin, by kind: "Expected an ID that begins with 'fc'." At most 64 characters.
ID_PREFIXES = {
    "message": "msg",
    "function_call": "fc",
    "custom_tool_call": "ctc",
    "reasoning": "rs",
    "web_search_call": "ws",
}
MAX_ID = 64
_is_id = {
    kind: re.compile(rf"{prefix}[A-Za-z0-9_-]{{1,{MAX_ID - len(prefix)}}}").fullmatch
    for kind, prefix in ID_PREFIXES.items()
}


def is_item_id(kind: str, value: Any) -> bool:
    """Whether ``value`` can be the id of an item of this kind."""
    return isinstance(value, str) and _is_id[kind](value) is not None


def kind_of(item: Item) -> Any:
    """The type of an item; where it is left out, as it may be, what it must be."""
    kind = item.get("type")
    if kind is not None:
        return kind
    return "message" if "role" in item else "item_reference" if set(item) <= {"id", "type"} and "id" in item else None
