"""The items of the Responses API as Codex stores them, and the messages that they are.

Between two items that are not the model's, all of the model's items are one answer.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..types import (
    AssistantContent,
    AssistantMessage,
    Message,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserContent,
    UserMessage,
)
from ..types.codec import json_text
from .reading import (
    ENDPOINT,
    as_arguments,
    as_text,
    image_of_url,
    joined_text,
    number_in,
    object_in,
    objects_in,
    text_in,
    unix_ms,
)
from .source import Object, read_line
from .values import Report

PROTOCOL = "openai-responses"
UNKNOWN_TOOL = "unknown"
_PASSED = "internal_chat_message_metadata_passthrough"

INJECTED = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<skills_instructions>",
    "<apps_instructions>",
    "<collaboration_mode>",
    "<personality_spec>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<user_action>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
)
"""Beginnings of user messages that Codex writes itself (seen in 0.166; source of 2026-08-22)."""
_IMAGE_TAG = re.compile(r"\s*</?image[^<>]*>\s*")
_EXITED = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)", re.MULTILINE)


class Step(Struct, frozen=True, gc=False):
    """An item, with what was known when it was written."""

    line: int
    item: Object
    model: str = ""
    time: str | None = None


class Facts(Struct):
    """What events state about items: exit codes by the ids of calls, and usage by the line of the last item before."""

    provider: str
    exits: dict[str, int] = {}
    usage: dict[int, Object] = {}


class Messages:
    """The messages of items, in order."""

    def __init__(self, facts: Facts, report: Report) -> None:
        self.messages: list[Message] = []
        self.system: list[str] = []
        self._facts, self._report = facts, report
        self._names: dict[str, str] = {}
        self._answered: set[str] = set()
        self._open: list[AssistantContent] = []
        self._first: Step | None = None

    def add(self, step: Step) -> None:
        kind = step.item.get("type")
        if kind == "message" and step.item.get("role") != "assistant":
            self.close()
            self._message(step)
        elif kind in ("function_call_output", "custom_tool_call_output", "tool_search_output"):
            self.close()
            self._output(step)
        elif kind == "ghost_snapshot":
            self._report.add("row-left-out", "a snapshot of files", step.line)
        elif isinstance(kind, str):
            blocks = _MODEL_ITEMS.get(kind, _provider)(step, self._report)
            self._names.update({block.id: block.name for block in blocks if type(block) is ToolCall})
            if blocks:
                self._first = self._first or step
                self._open += blocks
        else:
            self._report.add("row-unknown", "an item without a type", step.line)
        self._spend(step.line)

    def _spend(self, line: int) -> None:
        """Add the usage that an event after this item stated to the last answer."""
        usage = self._facts.usage.get(line)
        if usage is None:
            return
        self.close()
        for at in range(len(self.messages) - 1, -1, -1):
            message = self.messages[at]
            if isinstance(message, AssistantMessage):
                self.messages[at] = replace(message, usage=usage_of(usage))
                return

    def close(self) -> None:
        """End the open answer."""
        if self._open and self._first is not None:
            first = self._first
            only_thinking = all(type(block) is ThinkingContent for block in self._open)
            self.messages.append(
                AssistantMessage(
                    self._open,
                    protocol=PROTOCOL,
                    provider=self._facts.provider,
                    model=first.model,
                    endpoint=f"{ENDPOINT}codex",
                    timestamp=unix_ms(first.time) or 0,
                    stop_reason="aborted" if only_thinking else None,
                )
            )
        self._open, self._first = [], None

    def _message(self, step: Step) -> None:
        content = self._content(step.item.get("content"), step.line)
        role, text = step.item.get("role"), joined_text(content)
        if role in ("developer", "system") and not self.messages:
            self.system.append(text)
        elif role in ("developer", "system"):
            self.messages.append(UserMessage(f"<{role}>\n{text}\n</{role}>", injected=True))
        elif content:
            self.messages.append(UserMessage(content, injected=is_injected(content)))

    def _output(self, step: Step) -> None:
        call = text_in(step.item, "call_id") or ""
        if call in self._answered:
            self._report.add("result-repeated", f"a second result of call {call}", step.line)
            return
        if call not in self._names:
            self._report.add("result-orphaned", f"the call {call} of this result is not in the file", step.line)
        self._answered.add(call)
        output = step.item.get("output", step.item.get("tools"))
        content = self._content(output, step.line)
        code = self._facts.exits.get(call, _exit_code(joined_text(content)))
        failed = bool(code) or object_in(step.item, "output").get("success") is False
        self.messages.append(ToolResultMessage(call, self._names.get(call, UNKNOWN_TOOL), content, is_error=failed))

    def _content(self, content: Any, line: int) -> list[UserContent]:
        if isinstance(content, str):
            return [TextContent(content)] if content else []
        if isinstance(content, dict):
            content = content.get("content_items") or [{"type": "input_text", "text": as_text(content.get("content"))}]
        blocks: list[UserContent] = []
        for part in content if isinstance(content, list) else ():
            text, url = text_in(part, "text"), text_in(part, "image_url")
            image = image_of_url(url) if url else None
            if image is not None:
                blocks.append(image)
            elif text is not None and not _IMAGE_TAG.fullmatch(text):
                blocks.append(TextContent(text))
            elif text is None:
                self._report.add("block-unknown", f"a part of type {text_in(part, 'type')!r}", line)
        return blocks


def is_injected(content: Iterable[UserContent]) -> bool:
    """Whether Codex wrote a user message itself."""
    return joined_text(content).lstrip().startswith(INJECTED)


def is_typed(item: Object) -> bool:
    """Whether an item is a message that a person typed."""
    if item.get("type") != "message" or item.get("role") != "user":
        return False
    texts = [text_in(part, "text") or "" for part in objects_in(item, "content")]
    return not "\n".join(texts).lstrip().startswith(INJECTED)


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """The usage of an answer. ``input_tokens`` includes what was read from and written to a cache."""
    usage = dict(usage)
    spent, made = number_in(usage, "input_tokens"), number_in(usage, "output_tokens")
    read, written = number_in(usage, "cached_input_tokens"), number_in(usage, "cache_write_input_tokens")
    return Usage(max(spent - read - written, 0), made, read, written, spent + made)


def _exit_code(text: str) -> int | None:
    """The exit code that the text of a result states; older versions write JSON."""
    if text.startswith("{"):
        metadata = object_in(read_line(text.encode("utf-8", "replace")), "metadata")
        if isinstance(code := metadata.get("exit_code"), int):
            return code
    match = _EXITED.search(text[:400])
    return int(match[1]) if match else None


# -- items of the model -----------------------------------------------------------------------------------------------


def _text(step: Step, report: Report) -> list[AssistantContent]:
    item = step.item
    known = {name: item[name] for name in ("id", "phase") if isinstance(item.get(name), str) and item[name]}
    signature = json_text(known) if known else None
    found = [text_in(part, "text", "refusal") for part in objects_in(item, "content")]
    return [TextContent(text, signature) for text in found if text]


def _reasoning(step: Step, report: Report) -> list[AssistantContent]:
    item = {name: value for name, value in step.item.items() if name != _PASSED}
    parts = [*objects_in(item, "summary"), *objects_in(item, "content")]
    text = "\n\n".join(found for part in parts if (found := text_in(part, "text")))
    sealed = isinstance(item.get("encrypted_content"), str) and item["encrypted_content"]
    if not text and not sealed:
        report.add("thinking-empty", "reasoning with neither text nor encrypted content", step.line)
        return []
    return [ThinkingContent(text, json_text(item) if sealed else None)]


def _call(step: Step, report: Report) -> list[AssistantContent]:
    item = step.item
    name, identity = text_in(item, "name") or "", text_in(item, "call_id") or ""
    arguments = as_arguments(item.get("arguments"))
    if arguments is None:
        report.add("arguments-unreadable", f"the arguments of call {identity} are not an object", step.line)
        arguments = {"input": item.get("arguments")}
    return [ToolCall(identity, name, arguments, text_in(item, "id"), None, text_in(item, "namespace"))]


def _custom_call(step: Step, report: Report) -> list[AssistantContent]:
    item = step.item
    arguments = {"input": as_text(item.get("input") or "")}
    return [
        ToolCall(text_in(item, "call_id") or "", text_in(item, "name") or "", arguments, text_in(item, "id"), "custom")
    ]


def _shell_call(step: Step, report: Report) -> list[AssistantContent]:
    item = step.item
    return [ToolCall(text_in(item, "call_id", "id") or "", "local_shell", object_in(item, "action"))]


def _provider(step: Step, report: Report) -> list[AssistantContent]:
    """An item that only its maker can read back, such as a search that the provider ran."""
    item = {name: value for name, value in step.item.items() if name != _PASSED}
    action = object_in(item, "action")
    text = text_in(action, "query", "url") or text_in(item, "revised_prompt", "message", "content") or ""
    return [ProviderContent(item, str(item.get("type")), text)]


_MODEL_ITEMS: dict[str, Callable[[Step, Report], list[AssistantContent]]] = {
    "message": _text,
    "reasoning": _reasoning,
    "function_call": _call,
    "custom_tool_call": _custom_call,
    "local_shell_call": _shell_call,
}
