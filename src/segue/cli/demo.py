"""The stand-in that answers in a chat without any model, as a demonstration. Its tool calls really run.

It reacts to a few phrases, listed in ``TRIGGERS``, and repeats everything else.
"""

import re
from typing import NamedTuple

from ..testing import Reply, StandIn
from ..types import Context, TextContent, ToolCall, ToolDefinition, ToolResultMessage, UserMessage
from .formatting import text_of

PROVIDER, PROTOCOL, MODEL = "local", "openai-completions", "stand-in"
MAX_REPEATED = 300
"""Characters of a message, or of a result, that are repeated."""
PAUSE = 0.01
"""Seconds between two pieces of an answer, so that the user sees it stream."""


class Trigger(NamedTuple):
    """A phrase that makes the stand-in call a tool. The group that it captures is the first required argument."""

    pattern: re.Pattern[str]
    tool: str
    example: str


TRIGGERS = (
    Trigger(re.compile(r"\bread\s+(\S+)", re.IGNORECASE), "read_file", "read README.md"),
    Trigger(re.compile(r"\bsearch\s+(?:for\s+)?(\S+)", re.IGNORECASE), "search_files", "search for def"),
    Trigger(re.compile(r"^\W*(?:please\s+)?run\s+(.+)", re.IGNORECASE), "shell", "run date"),
    Trigger(re.compile(r"\b(?:list|files|folder|directory|tools?)\b", re.IGNORECASE), "list_files", "list the files"),
)

GREETING = (
    "I am a stand-in, not a model: no API key was found, so this is a demonstration of a chat. Everything except my "
    "answers is real: the session, the tools, and the approval of tools that may do harm."
)


def start_demo() -> StandIn:
    """Start the stand-in."""
    server = StandIn(PROVIDER, protocol=PROTOCOL, key=None)

    def answer(context: Context) -> Reply:
        server.say(answer)  # the script has one answer per request: add the next
        return reply(context)

    server.say(answer)
    return server.start()


def reply(context: Context) -> Reply:
    """Answer a conversation."""
    last = context.messages[-1]
    if isinstance(last, ToolResultMessage):
        return _reply(_about(last))
    text = text_of(last) if isinstance(last, UserMessage) else ""
    if call := _triggered_call(text, context.tools):
        return Reply([TextContent(f"Let me call {call.name}."), call], pause=PAUSE)
    if len(context.messages) == 1:
        return _reply(f"{GREETING}\n\nYou said: {_short(text)}\n\n{_hint(context.tools)}")
    return _reply(f"You said: {_short(text)}")


def _triggered_call(text: str, tools: list[ToolDefinition]) -> ToolCall | None:
    offered = {tool.name: tool for tool in tools}
    for trigger in TRIGGERS:
        found = trigger.pattern.search(text)
        if found is not None and trigger.tool in offered:
            required = offered[trigger.tool].schema.get("required") or []
            return ToolCall("", trigger.tool, dict(zip(required, found.groups(), strict=False)))
    return None


def _hint(tools: list[ToolDefinition]) -> str:
    offered = {tool.name for tool in tools}
    examples = [f"“{trigger.example}”" for trigger in TRIGGERS if trigger.tool in offered]
    if not examples:
        return "No tools are offered, so I cannot call any."
    return f"Try {', '.join(examples[:-1])}{' or ' if len(examples) > 1 else ''}{examples[-1]}."


def _about(result: ToolResultMessage) -> str:
    text = "".join(block.text for block in result.content if isinstance(block, TextContent))
    verb = "failed with" if result.is_error else "returned"
    return f"The call of {result.tool_name} {verb}: {_short(text) or 'nothing'}"


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_REPEATED else f"{words[:MAX_REPEATED]} …"


def _reply(text: str) -> Reply:
    return Reply([TextContent(text)], pause=PAUSE)
