"""The kinds of items and parts in a Responses body, as tables without behaviour.

From the request types of SDK openai 3.49.0 (2026-11). A test compares the tables with the SDK.
"""

import re
from typing import Any

Item = dict[str, Any]

# The kinds of items. An item without a type is a message, or a reference if it has only an id. Their fields are in
# shape.json. The API accepts the items of agents (2026-08), which the SDK does not have.
ITEMS = frozenset(
    {
        "additional_tools",
        "agent_message",
        "apply_patch_call",
        "apply_patch_call_output",
        "code_interpreter_call",
        "compaction",
        "compaction_trigger",
        "computer_call",
        "computer_call_output",
        "configuration_update",
        "custom_tool_call",
        "custom_tool_call_output",
        "file_search_call",
        "function_call",
        "function_call_output",
        "image_generation_call",
        "item_reference",
        "local_shell_call",
        "local_shell_call_output",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_call",
        "mcp_list_tools",
        "message",
        "multi_agent_call",
        "multi_agent_call_output",
        "program",
        "program_output",
        "reasoning",
        "shell_call",
        "shell_call_output",
        "tool_search_call",
        "tool_search_output",
        "web_search_call",
    }
)
ROLES = frozenset({"user", "assistant", "system", "developer"})
PHASES = frozenset({"commentary", "final_answer"})
STATUSES = frozenset({"in_progress", "completed", "incomplete"})

# The kinds that the model makes, in addition to assistant messages; everything else comes from the client.
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

# The kinds of calls that a client answers, with the kinds of their outputs: "No tool output found for function call …",
# and the same for custom tool, computer, shell, apply patch and tool search calls (missing outputs as classified by
# public gateways, 2026). Codex answers its local shell with the output of a function (codex-rs/protocol, 2026-11). A
# program may still be running, and needs none.
OUTPUTS_OF = {
    "function_call": ("function_call_output",),
    "custom_tool_call": ("custom_tool_call_output",),
    "computer_call": ("computer_call_output",),
    "shell_call": ("shell_call_output",),
    "apply_patch_call": ("apply_patch_call_output",),
    "local_shell_call": ("local_shell_call_output", "function_call_output"),
    "tool_search_call": ("tool_search_output",),
}
OUTPUTS = tuple(dict.fromkeys(kind for kinds in OUTPUTS_OF.values() for kind in kinds))

# Fields of items in answers that requests do not have (SDK openai 3.49.0; its helper for stored items leaves them out,
# openai-node#1794, 2026-06), and the status that compactions come with (oh-my-pi#10415, 2026-08).
ANSWERS_ONLY = ("created_by",)
OF_COMPACTIONS = (*ANSWERS_ONLY, "status")

PARTS_OF_INPUT = frozenset({"input_text", "input_image", "input_file", "scoped_content", "input_audio"})
PARTS_OF_OUTPUT = frozenset({"output_text", "refusal"})
PARTS_OF_RESULT = frozenset({"input_text", "input_image", "input_file"})

# The prefixes of item ids by kind: "Expected an ID that begins with 'fc'." At most 64 characters.
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
    """The type of an item, or the implied type if it is left out."""
    kind = item.get("type")
    if kind is not None:
        return kind
    return "message" if "role" in item else "item_reference" if set(item) <= {"id", "type"} and "id" in item else None
