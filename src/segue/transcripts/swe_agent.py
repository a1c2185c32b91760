"""Trajectories of SWE-agent (``.traj``): the ``history`` of messages. Old ones have the action in a fenced block of the
text, and no calls; they stay as they are."""

from typing import Any

from ..types import TextContent
from .building import Conversation
from .entries import document_format
from .origins import CHAT
from .reading import as_text, object_of, objects, objects_in, text_of
from .source import Object
from .values import Report

NAME = "swe-agent"


def is_own(document: Any) -> bool:
    history = objects_in(document, "history")
    return "trajectory" in object_of(document) and any("role" in each for each in history)


def read(document: Any, report: Report) -> Conversation:
    conversation = Conversation(NAME, report)
    for at, message in enumerate(objects_in(document, "history")):
        conversation.at(where=f"history[{at}]")
        role = text_of(message.get("role"))
        if role == "tool" or message.get("tool_call_ids"):
            _results(conversation, message)
        elif role == "assistant":
            content = as_text(message.get("content")) or as_text(message.get("thought"))
            calls = [_call(conversation, each) for each in objects(message.get("tool_calls"))]
            conversation.add_answer([TextContent(content), *calls])
        elif role or "content" in message:
            shown = {"role": role or "user", "content": message.get("content")}
            conversation.ingest(shown, CHAT)
        else:
            conversation.remark("row-unknown", "not a message")
    return conversation


def _call(conversation: Conversation, call: Object) -> Any:
    function = object_of(call.get("function"))
    return conversation.call(call.get("id"), function.get("name"), function.get("arguments"))


def _results(conversation: Conversation, message: Object) -> None:
    content = message.get("content")
    text = "\n".join(as_text(each.get("text")) for each in objects(content)) if isinstance(content, list) else content
    ids = message.get("tool_call_ids")
    for each in ids if isinstance(ids, list) and ids else [message.get("tool_call_id")]:
        conversation.add_result(each, as_text(text))


FORMAT = document_format(
    name=NAME,
    title="SWE-agent trajectories",
    recognise=is_own,
    read=read,
    verified=True,
    source="files of SWE-agent, 2024",
)
