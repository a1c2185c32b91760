"""What the stand-in says in a chat without any model: a demonstration, with tool calls that really run.

It understands a handful of words, which ``WISHES`` lists, and repeats everything else.
"""

import re
from typing import NamedTuple

from ..testing import Reply, StandIn
from ..types import Context, TextContent, ToolCall, ToolDefinition, ToolResultMessage, UserMessage

PROVIDER, PROTOCOL, MODEL = "local", "openai-completions", "stand-in"
REPEATED = 300
"""Characters of what was said, or of a result, that are repeated."""
PAUSE = 0.01
"""Seconds between two pieces of an answer, so that it is seen to stream."""


class Wish(NamedTuple):
    """Words that make the stand-in call a tool; what they capture is its first required argument."""

    words: re.Pattern[str]
    tool: str
    example: str


WISHES = (
    Wish(re.compile(r"\bread\s+(\S+)", re.IGNORECASE), "read_file", "read README.md"),
    Wish(re.compile(r"\bsearch\s+(?:for\s+)?(\S+)", re.IGNORECASE), "search_files", "search for def"),
    Wish(re.compile(r"^\W*(?:please\s+)?run\s+(.+)", re.IGNORECASE), "shell", "run date"),
    Wish(re.compile(r"\b(?:list|files|folder|directory|tools?)\b", re.IGNORECASE), "list_files", "list the files"),
)

GREETING = (
    "I am a stand-in, not a model: no key was found, so this is a demonstration of how a chat goes. Everything but my "
    "wits is real: the session, the tools, the approval of what may do harm."
)


def demonstration() -> StandIn:
    """The server, started."""
    server = StandIn(PROVIDER, protocol=PROTOCOL, key=None)

    def answer(context: Context) -> Reply:
        server.say(answer)  # and so to every request
        return reply(context)

    server.say(answer)
    return server.start()


def reply(context: Context) -> Reply:
    """The answer to a conversation."""
    last = context.messages[-1]
    if isinstance(last, ToolResultMessage):
        return _text(_about(last))
    text = _said(last) if isinstance(last, UserMessage) else ""
    if call := _wished(text, context.tools):
        return Reply([TextContent(f"Let me call {call.name}."), call], pause=PAUSE)
    if len(context.messages) == 1:
        return _text(f"{GREETING}\n\nYou said: {_short(text)}\n\n{_hint(context.tools)}")
    return _text(f"You said: {_short(text)}")


def _wished(text: str, tools: list[ToolDefinition]) -> ToolCall | None:
    offered = {tool.name: tool for tool in tools}
    for wish in WISHES:
        found = wish.words.search(text)
        if found is not None and wish.tool in offered:
            required = offered[wish.tool].schema.get("required") or []
            return ToolCall("", wish.tool, dict(zip(required, found.groups(), strict=False)))
    return None


def _hint(tools: list[ToolDefinition]) -> str:
    offered = {tool.name for tool in tools}
    examples = [f"“{wish.example}”" for wish in WISHES if wish.tool in offered]
    if not examples:
        return "No tools are offered, so there is nothing that I could call."
    return f"Try {', '.join(examples[:-1])}{' or ' if len(examples) > 1 else ''}{examples[-1]}."


def _about(result: ToolResultMessage) -> str:
    text = "".join(block.text for block in result.content if isinstance(block, TextContent))
    how = "did not work out and says" if result.is_error else "gave"
    return f"The call of {result.tool_name} {how}: {_short(text) or 'nothing'}"


def _said(message: UserMessage) -> str:
    return "".join(block.text for block in message.content if isinstance(block, TextContent))


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= REPEATED else f"{words[:REPEATED]} …"


def _text(text: str) -> Reply:
    return Reply([TextContent(text)], pause=PAUSE)
