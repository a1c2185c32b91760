"""Messages as short lines, for the expectations of cases."""

from segue import AssistantMessage, Message, ToolResultMessage
from segue.types import Block


def shown(message: Message) -> str:
    """One message on one line."""
    content = " | ".join(map(_block, message.content))
    if isinstance(message, ToolResultMessage):
        return f"result{'!' if message.is_error else ''} {message.tool_call_id} {message.tool_name}: {content}"
    if isinstance(message, AssistantMessage):
        failed = f" {message.error_message}" if message.error_message else ""
        return f"answer {message.stop_reason}{failed}: {content}"
    return f"{'injected' if message.injected else 'user'}: {content}"


def _block(block: Block) -> str:
    if block.type == "text":
        return block.text
    if block.type == "thinking":
        return f"<{'redacted' if block.redacted else block.thinking}>"
    if block.type == "toolCall":
        return f"{block.name}({', '.join(f'{name}={value}' for name, value in block.arguments.items())}) {block.id}"
    if block.type == "provider":
        return f"[{block.kind}] {block.text}"
    return f"[{block.mime_type or block.url}]"


def signatures(message: Message) -> list[str]:
    """All signatures of a message, in order."""
    found = []
    for block in message.content:
        for name in ("thinking_signature", "text_signature", "thought_signature"):
            if signature := getattr(block, name, None):
                found.append(signature)
    return found
