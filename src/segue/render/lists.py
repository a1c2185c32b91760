"""Lists and bodies as programs have them: with objects of an SDK, and with segue's messages between dicts."""

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

import msgspec
from msgspec.structs import replace

from ..errors import FormatError
from ..types import AssistantMessage, Context, Message, ToolCall, ToolResultMessage, UserMessage
from ..types.texts import SYSTEM


def plain_values(document: Any) -> Any:
    """A document whose objects of an SDK are replaced by their JSON. Messages of segue in a list stay objects."""
    if isinstance(document, list):
        return [item if isinstance(item, Message) else plain_values(item) for item in document]
    return msgspec.to_builtins(document, builtin_types=(bytes, bytearray, memoryview), enc_hook=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "model_dump"):  # the SDKs use pydantic
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    raise FormatError(f"a conversation holds messages and JSON; an object of type {type(value).__name__} is not JSON")


def read_mixed(items: list[Any], read: Callable[[list[Any]], Context]) -> Context:
    """The conversation in a list of segue's messages and dicts. ``read`` reads dicts."""
    system: str | None = None
    messages: list[Message] = []
    for is_own, run in groupby(items, key=lambda item: isinstance(item, Message)):
        if is_own:
            messages += run
            continue
        part = read(list(run))
        if not messages:
            system = part.system_prompt
        elif part.system_prompt:
            messages.append(UserMessage(SYSTEM.format(part.system_prompt)))
        messages += part.messages
    return Context(_with_names(messages), system_prompt=system)


def _with_names(messages: list[Message]) -> list[Message]:
    """Add the name of its tool to a result that has none, from an earlier call with the same id."""
    names: dict[str, str] = {}
    named: list[Message] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            names |= {block.id: block.name for block in message.content if isinstance(block, ToolCall)}
        elif isinstance(message, ToolResultMessage) and not message.tool_name:
            message = replace(message, tool_name=names.get(message.tool_call_id, ""))
        named.append(message)
    return named
