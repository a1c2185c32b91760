"""A conversation that a session begins with, as entries of its log."""

from collections import deque

from msgspec.structs import replace

from ..session import AnyEntry, MessageAdded, SystemPromptSet
from ..types import AssistantMessage, Context, Model, ToolCall, ToolResultMessage
from .identity import with_identity
from .log import Log
from .state import State


def history_entries(log: Log, context: Context, model: Model) -> list[AnyEntry]:
    """The system prompt and the messages of ``context`` as entries.

    As in every session, a call without an id, or with one that occurred before, gets a new id, and its result, too.
    ``model`` has the form of new ids.
    """
    entries: list[AnyEntry] = []
    if context.system_prompt:
        entries.append(log.entry(SystemPromptSet, system_prompt=context.system_prompt))
    state = State()
    open_calls: dict[str, deque[str]] = {}  # the new ids of the last calls with an id, which results refer to
    for message in context.messages:
        if isinstance(message, AssistantMessage):
            stored = with_identity(message, model, state)
            open_calls |= _renamed(message, stored)
            message = stored
        elif isinstance(message, ToolResultMessage) and open_calls.get(message.tool_call_id):
            message = replace(message, tool_call_id=open_calls[message.tool_call_id].popleft())
        entry: MessageAdded = log.message(message)
        state.apply(entry)
        entries.append(entry)
    return entries


def _renamed(message: AssistantMessage, stored: AssistantMessage) -> dict[str, deque[str]]:
    """The new ids of the calls of an answer, by the ids that they had."""
    found: dict[str, deque[str]] = {}
    for before, after in zip(message.content, stored.content, strict=True):
        if isinstance(before, ToolCall) and isinstance(after, ToolCall):
            found.setdefault(before.id, deque()).append(after.id)
    return found
