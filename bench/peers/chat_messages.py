"""The history as messages of OpenAI's chat completions, which litellm and any-llm use as their own format."""

from typing import Any

import msgspec

from segue.types import (
    AssistantMessage,
    Context,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
)

ChatMessage = dict[str, Any]


def text_of(message: Message) -> str:
    """All text of a message."""
    return "".join(block.text for block in message.content if isinstance(block, TextContent))


def thinking_of(message: AssistantMessage) -> ThinkingContent | None:
    """The thinking block of an answer, if it has one."""
    return next((block for block in message.content if isinstance(block, ThinkingContent)), None)


def chat_messages(context: Context) -> list[ChatMessage]:
    """The history without its thinking."""
    return [{"role": "system", "content": context.system_prompt}, *map(_chat_message, context.messages)]


def _chat_message(message: Message) -> ChatMessage:
    text = text_of(message)
    if isinstance(message, ToolResultMessage):
        return {"role": "tool", "tool_call_id": message.tool_call_id, "name": message.tool_name, "content": text}
    if not isinstance(message, AssistantMessage):
        return {"role": "user", "content": text}
    calls = [
        {
            "id": block.id,
            "type": "function",
            "function": {"name": block.name, "arguments": msgspec.json.encode(block.arguments).decode()},
        }
        for block in message.content
        if isinstance(block, ToolCall)
    ]
    return {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})


def chat_tools(tools: list[ToolDefinition]) -> list[dict[str, Any]]:
    """The tools in the same format."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
        }
        for tool in tools
    ]
