"""Items that only the API can read back: what a person would read of them, and which of them are pairs."""

from collections.abc import Iterable, Mapping
from typing import Any

from ...types.codec import json_text
from .shapes import Item

_LONGEST = 2_000
"""Characters of a text; the item itself is kept whole."""

OUTPUTS = {
    # The kinds of items that wait for an output, and the field by which the output refers to its call (SDK openai
    # 3.49.0, response_input_item_param.py). "No tool output found for computer call call_…"
    "computer_call": ("computer_call_output", "call_id"),
    "local_shell_call": ("local_shell_call_output", "call_id"),
    "shell_call": ("shell_call_output", "call_id"),
    "apply_patch_call": ("apply_patch_call_output", "call_id"),
    "tool_search_call": ("tool_search_output", "call_id"),
    "program": ("program_output", "call_id"),
    "mcp_approval_request": ("mcp_approval_response", "id"),
}
_NAMES = {"local_shell_call_output": "id", "mcp_approval_response": "approval_request_id"}


def waiting(items: Iterable[Item]) -> bool:
    """Whether an item has no output among those after it, or an output has no item before it."""
    open_calls: set[tuple[str, Any]] = set()
    outputs = {output for output, _ in OUTPUTS.values()}
    for item in items:
        if item["type"] in OUTPUTS:
            output, name = OUTPUTS[item["type"]]
            open_calls.add((output, item.get(name)))
        elif item["type"] in outputs:
            key = (item["type"], item.get(_NAMES.get(item["type"], "call_id")))
            if key not in open_calls:
                return True
            open_calls.remove(key)
    return bool(open_calls)


def readable(item: Mapping[str, Any]) -> str:
    """The text of an item: what a tool was asked, and what it found."""
    found = [text for name in _READ.get(str(item.get("type")), ()) for text in _texts(item.get(name))]
    return "\n".join(found)[:_LONGEST]


_READ = {
    "web_search_call": ("action",),
    "file_search_call": ("queries", "results"),
    "code_interpreter_call": ("code", "outputs"),
    "image_generation_call": ("revised_prompt",),
    "mcp_call": ("server_label", "name", "arguments", "output", "error"),
    "mcp_list_tools": ("server_label",),
    "mcp_approval_request": ("server_label", "name", "arguments"),
    "computer_call": ("action", "actions"),
    "local_shell_call": ("action",),
    "local_shell_call_output": ("output",),
    "shell_call": ("action",),
    "shell_call_output": ("output",),
    "apply_patch_call": ("operation",),
    "apply_patch_call_output": ("output",),
    "tool_search_call": ("arguments",),
    "program": ("code",),
    "program_output": ("result",),
}
_INNER = (
    *("query", "queries", "url", "pattern", "logs", "text", "stdout", "stderr"),
    *("command", "commands", "path", "diff"),
)


def _texts(value: Any) -> list[str]:
    """The readable parts of a value."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    if not isinstance(value, Mapping):
        return []
    found = [text for name in _INNER for text in _texts(value.get(name))]
    return list(dict.fromkeys(found)) or [json_text(value)]
