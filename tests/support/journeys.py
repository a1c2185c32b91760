"""Histories of every origin: the stored answers of each provider, and of all providers in a row."""

from segue.types import (
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)

IMAGE = ImageContent(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "image/png"
)
TOOLS = [
    ToolDefinition("read_file", "Read a file", {"type": "object", "properties": {"path": {"type": "string"}}}),
    ToolDefinition("my.tool", "", {"type": "object", "properties": {}}),
]
REASONING_ITEM = '{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAAA"}'
# By origin: the protocol, thinking with its signature, the signature of a text, ids and signatures of calls.
ORIGINS: dict[str, tuple[str, ThinkingContent | None, str | None, list[tuple[str, str | None]]]] = {
    "anthropic/claude-sonnet-4-5": (
        "anthropic-messages",
        ThinkingContent("let me see", "EqQBsig"),
        None,
        [("toolu_01A", None), ("toolu_01B", None)],
    ),
    "anthropic/claude-opus-5-5": (
        "anthropic-messages",
        ThinkingContent("", "EqQBsig"),
        None,
        [("toolu_02A", None), ("toolu_02B", None)],
    ),
    "openai/gpt-5.4": (
        "openai-responses",
        ThinkingContent("a summary", REASONING_ITEM),
        '{"id":"msg_1","phase":"commentary"}',
        [("call_abc", "fc_1"), ("call_def", "fc_2")],
    ),
    "google/gemini-3-pro-preview": (
        "google-generative-ai",
        ThinkingContent("thought part"),
        "dGV4dA==",
        [("", "c2ln"), ("", None)],
    ),
    "amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0": (
        "bedrock-converse",
        ThinkingContent("bedrock thinks", "sigB"),
        None,
        [("tooluse_1", None), ("tooluse_2", None)],
    ),
    "mistral/magistral-medium-latest": (
        "mistral-chat",
        ThinkingContent("hmm"),
        None,
        [("abcdefgh1", None), ("abcdefgh2", None)],
    ),
    "moonshot/kimi-k2.5": (
        "openai-completions",
        ThinkingContent("kimi thinks", "reasoning_content"),
        None,
        [("functions.read_file:0", None), ("functions.my.tool:1", None)],
    ),
    "deepseek/deepseek-v4-pro": (
        "openai-completions",
        ThinkingContent("deep thought", "reasoning_content"),
        None,
        [("call_00_x", None), ("call_01_y", None)],
    ),
    "openrouter/google/gemini-3-pro-preview": (
        "openai-completions",
        ThinkingContent("routed", '[{"type":"reasoning.encrypted","data":"x","id":"tool_1","index":0}]'),
        None,
        [("tool_1", None), ("tool_2", None)],
    ),
    "groq/openai/gpt-oss-120b": (
        "openai-completions",
        ThinkingContent("fast", "reasoning"),
        None,
        [("fc_1", None), ("fc_2", None)],
    ),
    "nobody/knows": ("unheard-of", ThinkingContent("?", "?"), "?", [("0", "?"), ("0", "?")]),
}


def journey(origin: str) -> list[Message]:
    """A turn with thinking, parallel calls, an image in a result, an error, and a closing answer."""
    protocol, thinking, text_signature, calls = ORIGINS[origin]
    provider, _, model = origin.partition("/")
    made_calls = [
        ToolCall(call_id, name, {"path": "a.py", "n": None}, signature)
        for (call_id, signature), name in zip(calls, ("read_file", "my.tool"), strict=True)
    ]

    def answer(*content: TextContent | ThinkingContent | ToolCall | None, stop: str) -> AssistantMessage:
        kept = [block for block in content if block is not None]
        return AssistantMessage(
            content=kept,
            protocol=protocol,
            provider=provider,
            model=model,
            stop_reason=stop,  # type: ignore[arg-type]
        )

    return [
        UserMessage([TextContent(f"Have a look, says {origin}."), IMAGE]),
        answer(thinking, TextContent("On it.", text_signature), *made_calls, stop="toolUse"),
        ToolResultMessage(made_calls[0].id, made_calls[0].name, [TextContent("the file"), IMAGE]),
        ToolResultMessage(made_calls[1].id, made_calls[1].name, [TextContent("it broke")], is_error=True),
        answer(thinking, TextContent("Done.", text_signature), stop="stop"),
    ]


def conversation(*origins: str) -> Context:
    """The turns of these origins in a row, and a last question."""
    messages = [message for origin in origins for message in journey(origin)]
    return Context(system_prompt="Be brief.", messages=[*messages, UserMessage("And now?")], tools=TOOLS)


def interrupted(origin: str) -> Context:
    """The same, interrupted in the middle of a batch of calls, and without tools."""
    return Context(messages=[*journey(origin)[:3], UserMessage("Stop."), *journey(origin)[:2]])


CONVERSATIONS: dict[str, Context] = {
    **{origin: conversation(origin) for origin in ORIGINS},
    **{f"{origin}, interrupted": interrupted(origin) for origin in ORIGINS},
    "all in a row": conversation(*ORIGINS),
    "all in a row, backwards": conversation(*reversed(ORIGINS)),
}
