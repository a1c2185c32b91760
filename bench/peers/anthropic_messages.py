"""The history as Anthropic's messages: LangChain stores answers of Claude like this, and any-llm accepts it for
Responses."""

from typing import Any

from segue.types import AssistantMessage, Message, TextContent, ThinkingContent, ToolCall, ToolResultMessage

from .chat_messages import text_of


def anthropic_message(message: Message) -> dict[str, Any]:
    """A message in Anthropic's format; a result is a message of the user."""
    if isinstance(message, AssistantMessage):
        return {"role": "assistant", "content": answer_blocks(message)}
    if isinstance(message, ToolResultMessage):
        result = {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": text_of(message)}
        return {"role": "user", "content": [result]}
    return {"role": "user", "content": text_of(message)}


def answer_blocks(message: AssistantMessage) -> list[dict[str, Any]]:
    """The content of an answer."""
    return [_block(block) for block in message.content]


def _block(block: TextContent | ThinkingContent | ToolCall) -> dict[str, Any]:
    match block:
        case TextContent():
            return {"type": "text", "text": block.text}
        case ThinkingContent():
            return {"type": "thinking", "thinking": block.thinking, "signature": block.thinking_signature}
        case ToolCall():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.arguments}
