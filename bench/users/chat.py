"""Messages in the format of chat completions, in which users of litellm and any-llm write them."""

from typing import Any

from segue.types import ImageContent, TextContent, ToolResultMessage, UserMessage

QUESTION = "go"


def system_message(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def user_message(message: UserMessage) -> dict[str, Any]:
    return {"role": "user", "content": content(message.content)}


def tool_message(message: ToolResultMessage) -> dict[str, Any]:
    """The error flag has no field; users write errors as text, which the cases already do."""
    return {"role": "tool", "tool_call_id": message.tool_call_id, "content": content(message.content)}


def content(blocks: list[TextContent | ImageContent]) -> str | list[dict[str, Any]]:
    """A string if there is only text."""
    if all(isinstance(block, TextContent) for block in blocks):
        return "".join(block.text for block in blocks)
    return [part(block) for block in blocks]


def part(block: TextContent | ImageContent) -> dict[str, Any]:
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    return {"type": "image_url", "image_url": {"url": f"data:{block.mime_type};base64,{block.data}"}}


def call_ids(answer: Any) -> list[str]:
    """The ids of the calls in an answer in the form of OpenAI's SDK."""
    return [call.id for call in answer.tool_calls or ()]
