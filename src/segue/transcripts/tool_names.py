"""The common tools of coding agents: shell, read, write, edit, search. What each agent calls them and their arguments.

Sources: the tools that each agent declared in a run against a local server, and their public sources (2026-11-16).
"""

from collections.abc import Mapping

from ..types import AssistantMessage, Message, TextContent, ToolCall, ToolResultMessage, UserMessage
from ..types.codec import json_text

Tool = tuple[str, Mapping[str, str]]
"""A name, and the names of arguments by what they mean."""

_PATH, _TEXTS = {"path": "file_path"}, {"content": "content"}
_CHANGE = {"path": "file_path", "old": "old_string", "new": "new_string"}

COMMON: Mapping[str, Mapping[str, Tool]] = {
    "claude-code": {
        "shell": ("Bash", {"command": "command"}),
        "read": ("Read", _PATH),
        "write": ("Write", _PATH | _TEXTS),
        "edit": ("Edit", _CHANGE),
        "search": ("Grep", {"pattern": "pattern", "path": "path"}),
    },
    "codex": {"shell": ("exec_command", {"command": "cmd"})},
    "opencode": {
        "shell": ("bash", {"command": "command"}),
        "read": ("read", {"path": "filePath"}),
        "write": ("write", {"path": "filePath", "content": "content"}),
        "edit": ("edit", {"path": "filePath", "old": "oldString", "new": "newString"}),
        "search": ("grep", {"pattern": "pattern", "path": "path"}),
    },
    "pi": {
        "shell": ("bash", {"command": "command"}),
        "read": ("read", {"path": "path"}),
        "write": ("write", {"path": "path", "content": "content"}),
        "edit": ("edit", {"path": "path", "old": "oldText", "new": "newText"}),
        "search": ("grep", {"pattern": "pattern", "path": "path"}),
    },
    "gemini-cli": {
        "shell": ("run_shell_command", {"command": "command"}),
        "read": ("read_file", _PATH),
        "write": ("write_file", _PATH | _TEXTS),
        "edit": ("replace", _CHANGE),
        "search": ("search_file_content", {"pattern": "pattern", "path": "path"}),
    },
    "qwen-code": {
        "shell": ("run_shell_command", {"command": "command"}),
        "read": ("read_file", {"path": "absolute_path"}),
        "write": ("write_file", _PATH | _TEXTS),
        "edit": ("edit", _CHANGE),
        "search": ("grep_search", {"pattern": "pattern", "path": "path"}),
    },
}


def translated(messages: list[Message], source: str | None, target: str) -> tuple[list[Message], int]:
    """The messages with the target's names of common tools, and the number of calls that were renamed."""
    known, wanted = COMMON.get(source or "", {}), COMMON.get(target, {})
    kinds = {name: (kind, names) for kind, (name, names) in known.items() if kind in wanted}
    renamed: dict[str, str] = {}
    result: list[Message] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            blocks = [_renamed(block, kinds, wanted, renamed) for block in message.content]
            message = message if blocks == message.content else _replaced(message, blocks)
        elif isinstance(message, ToolResultMessage) and message.tool_call_id in renamed:
            name = renamed[message.tool_call_id]
            message = ToolResultMessage(
                message.tool_call_id, name, message.content, message.is_error, message.synthetic
            )
        result.append(message)
    return result, len(renamed)


def _renamed(
    block: TextContent | ToolCall | object, kinds: Mapping[str, tuple[str, Mapping[str, str]]],
    wanted: Mapping[str, Tool], renamed: dict[str, str],
) -> object:  # fmt: skip
    if type(block) is not ToolCall or block.name not in kinds:
        return block
    kind, names = kinds[block.name]
    name, theirs = wanted[kind]
    meanings = {own: meaning for meaning, own in names.items()}
    arguments = {theirs.get(meanings.get(key, ""), key): value for key, value in block.arguments.items()}
    renamed[block.id] = name
    return ToolCall(block.id, name, arguments)


def as_text(messages: list[Message]) -> tuple[list[Message], int]:
    """The messages with all calls and results as texts, and the number of calls."""
    result: list[Message] = []
    count = 0
    for message in messages:
        if isinstance(message, AssistantMessage) and any(type(block) is ToolCall for block in message.content):
            count += sum(type(block) is ToolCall for block in message.content)
            blocks: list[object] = [_call_text(b) if type(b) is ToolCall else b for b in message.content]
            result.append(_replaced(message, blocks, "stop"))
        elif isinstance(message, ToolResultMessage):
            label = "Error" if message.is_error else "Result"
            head = TextContent(f"[{label} of an earlier call to {message.tool_name}]")
            result.append(UserMessage([head, *message.content]))
        else:
            result.append(message)
    return result, count


def _call_text(call: ToolCall) -> TextContent:
    return TextContent(f"[Called {call.name} with {json_text(call.arguments)}]")


def _replaced(message: AssistantMessage, blocks: list[object], stop: str | None = None) -> AssistantMessage:
    from msgspec.structs import replace

    changes = {"content": blocks} if stop is None or message.failed else {"content": blocks, "stop_reason": stop}
    return replace(message, **changes)
