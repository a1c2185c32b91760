"""The histories for the measurements. They depend only on the number of messages, so every run has the same ones."""

from segue.types import (
    AssistantMessage,
    Context,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    Usage,
    UsageCost,
    UserMessage,
)

WORDS = "the quick brown fox jumps over the lazy dog and reads another file before it answers".split()  # noqa: SIM905


def prose(length: int, seed: int) -> str:
    """About ``length`` characters of text."""
    words = [WORDS[(seed * 7 + at * 3) % len(WORDS)] for at in range(length // 5)]
    return " ".join(words)


def tool_history(count: int) -> Context:
    """A history of ``count`` messages, like that of a coding agent, with about 1.2 KB per message: a question, thinking
    and a call, its result, an answer."""
    messages: list[Message] = []
    turn = 0
    while len(messages) < count:
        usage = Usage(1200, 300, 20_000, 400, 21_900, cost=UsageCost(0.0036, 0.0045, 0.006, 0.0015, 0.0156))
        call = ToolCall(
            f"toolu_{turn:024d}", "read_file", {"path": f"src/module_{turn}.py", "offset": turn, "limit": 200}
        )
        messages += [
            UserMessage(prose(300, turn)),
            AssistantMessage(
                content=[ThinkingContent(prose(600, turn), "c2lnbmF0dXJl" * 20), TextContent(prose(200, turn)), call],
                usage=usage,
                stop_reason="toolUse",
                timestamp=1_700_000_000_000 + turn,
                protocol="anthropic-messages",
                provider="anthropic",
                model="claude-sonnet-4-5",
            ),
            ToolResultMessage(call.id, call.name, [TextContent(prose(2200, turn))]),
            AssistantMessage(
                content=[TextContent(prose(700, turn))],
                usage=usage,
                stop_reason="stop",
                timestamp=1_700_000_000_500 + turn,
                protocol="anthropic-messages",
                provider="anthropic",
                model="claude-sonnet-4-5",
            ),
        ]
        turn += 1
    schema = {"type": "object", "properties": {"path": {"type": "string"}, "offset": {"type": "integer"}}}
    return Context(
        system_prompt=prose(800, 1),
        messages=messages[:count],
        tools=[ToolDefinition("read_file", "Read a file", schema)],
    )
