"""The conversations of the failure corpus (`tests/cases`): what users report, and the scenarios of earlier designs."""

import json
import sys
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from segue.types import (
    AssistantContent,
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
)

TESTS = Path(__file__).parent.parent / "tests"
FOLDERS = ("corpus", "scenarios")
SCHEMA = {"type": "object", "properties": {"path": {"type": "string", "description": "A path or a command."}}}
SIGNED = ("anthropic-messages", "google-generative-ai", "bedrock-converse")
"""Protocols whose signatures are base64. In the cases they are short names; real ones are needed, because clients
decode them. Items of OpenAI Responses are complete in the cases."""
PIXEL = ImageContent(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==", "image/png"
)
"""A real image in place of the one in the cases, whose bytes are not an image."""


class Conversation(NamedTuple):
    """A conversation as it is stored, with the names of the cases that contain it."""

    names: tuple[str, ...]
    context: Context


def conversations() -> list[Conversation]:
    """All distinct conversations: some cases have the same messages for several targets."""
    found: dict[str, Conversation] = {}
    for name, case in _cases():
        context = _context(case)
        key = context.to_json()
        earlier = found.get(key)
        found[key] = Conversation((*(earlier.names if earlier else ()), name), context)
    return list(found.values())


def _cases() -> Iterator[tuple[str, dict[str, Any]]]:
    for folder in FOLDERS:
        for name, case in _notation().load(folder).items():
            yield f"{folder}/{name}", case


def _notation() -> Any:
    """The reader of the cases."""
    if str(TESTS) not in sys.path:
        sys.path.append(str(TESTS))
    from support import cases

    return cases


def _context(case: dict[str, Any]) -> Context:
    """The conversation of a case. Where a case does not name its tools, those that the history calls are defined."""
    messages = [_realistic(message) for message in _notation().context(case).messages]
    names = case.get("tools")
    if names is None:
        names = dict.fromkeys(name for message in messages for name in _called(message))
    tools = [ToolDefinition(name, f"Run {name}.", SCHEMA) for name in names]
    return Context(system_prompt=case.get("system", "Be brief."), messages=messages, tools=tools)


def _called(message: Message) -> list[str]:
    if isinstance(message, ToolResultMessage):
        return [message.tool_name]
    if isinstance(message, AssistantMessage):
        return [block.name for block in message.content if isinstance(block, ToolCall)]
    return []


def _realistic(message: Message) -> Message:
    if not isinstance(message, AssistantMessage):
        content = [PIXEL if isinstance(block, ImageContent) else block for block in message.content]
        return replace(message, content=content)
    if message.protocol not in SIGNED:
        return message
    return replace(message, content=[_with_real_signature(block, message) for block in message.content])


def _with_real_signature(block: AssistantContent, message: AssistantMessage) -> AssistantContent:
    signature = signature_of(block)
    if not signature:
        return block
    seed = f"{message.provider} {message.endpoint} {signature}"
    return replace(block, **{FIELDS[type(block)]: b64encode(sha256(seed.encode()).digest() * 4).decode()})


FIELDS = {
    TextContent: "text_signature",
    ThinkingContent: "thinking_signature",
    ToolCall: "thought_signature",
}
"""The field with the signature of a block."""


def opaque_values(context: Context, providers: tuple[str, ...]) -> list[str]:
    """Signatures and encrypted content that one of these providers made, for this account."""
    return [
        value
        for message in context.messages
        if isinstance(message, AssistantMessage) and message.provider in providers and message.endpoint is None
        for block in message.content
        for value in _values(signature_of(block))
    ]


def _values(signature: str | None) -> list[str]:
    """A signature; of an item of OpenAI Responses, its encrypted content."""
    if not signature or not signature.startswith("{"):
        return [signature] if signature else []
    item = json.loads(signature)
    return [item["encrypted_content"]] if "encrypted_content" in item else []


def signature_of(block: AssistantContent) -> str | None:
    return getattr(block, FIELDS[type(block)])
