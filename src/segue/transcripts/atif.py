"""Trajectories in the Agent Trajectory Interchange Format of Harbor (ATIF 1.5 to 1.7). Results are in the step of their
calls; an observation without a call is what the environment said next."""

from typing import Any

from ..types import AssistantContent, FileContent, ImageContent, TextContent, ThinkingContent
from .building import Conversation, media, tokens
from .entries import Entry, entries_format
from .reading import as_text, object_in, objects, objects_in, text_in, text_of
from .source import Object, Source

NAME = "atif"


def is_own(document: Any) -> bool:
    return isinstance(document, dict) and text_of(document.get("schema_version")).startswith("ATIF")


def _entries(source: Source) -> list[Entry]:
    document = source.document
    agent = object_in(document, "agent")
    return [
        Entry(
            read=lambda: _read(document),
            id=text_in(document, "session_id"),
            version=text_in(document, "schema_version"),
            title=text_in(agent, "name"),
            model=text_in(agent, "model_name"),
        )
    ]


def _read(document: Object) -> Conversation:
    conversation = Conversation(NAME)
    agent = object_in(document, "agent")
    conversation.add_tools(agent.get("tool_definitions"))
    _origin(conversation, agent)
    for at, step in enumerate(objects_in(document, "steps")):
        conversation.at(where=f"steps[{at}]")
        conversation.saw(step.get("timestamp"))
        who, message = step.get("source"), step.get("message")
        if who == "agent":
            _origin(conversation, step)
            _answer(conversation, step)
        elif who == "user":
            conversation.add_user(_content(conversation, message))
        elif who == "system":
            conversation.add_system(as_text(message))
        else:
            conversation.remark("row-unknown", "a step of an unknown source")
        _results(conversation, step)
    if document.get("continued_trajectory_ref"):
        conversation.at()
        conversation.remark("file-missing", "the trajectory continues in another file")
    return conversation


def _origin(conversation: Conversation, named: Object) -> None:
    provider, _, model = (text_in(named, "model_name") or "").rpartition("/")
    conversation.set_origin(provider, model)


def _answer(conversation: Conversation, step: Object) -> None:
    blocks: list[AssistantContent] = []
    thought = text_of(step.get("reasoning_content"))
    blocks += [ThinkingContent(thought)] if thought else []
    blocks += [each for each in _content(conversation, step.get("message")) if isinstance(each, TextContent)]
    for call in objects_in(step, "tool_calls"):
        blocks.append(conversation.call(call.get("tool_call_id"), call.get("function_name"), call.get("arguments")))
    metrics = object_in(step, "metrics")
    counts = (metrics.get("prompt_tokens"), metrics.get("completion_tokens"), metrics.get("cached_tokens"))
    conversation.add_answer(blocks, time=step.get("timestamp"), usage=tokens(*counts, inclusive=True))


def _results(conversation: Conversation, step: Object) -> None:
    for result in objects_in(object_in(step, "observation"), "results"):
        content = _content(conversation, result.get("content"))
        if text_of(result.get("source_call_id")):
            conversation.add_result(result.get("source_call_id"), content)
        elif "content" in result:
            conversation.add_user(content, injected=True)
        if result.get("subagent_trajectory_ref"):
            conversation.remark("file-missing", "the trajectory of a sub-agent is in another file")


def _content(conversation: Conversation, value: Any) -> list[TextContent | ImageContent | FileContent]:
    if not isinstance(value, list):
        return [TextContent(as_text(value))]
    found: list[TextContent | ImageContent | FileContent] = []
    for part in objects(value):
        source = object_in(part, "source")
        block = media(source.get("media_type"), source.get("data"), source.get("path") or source.get("url"))
        if part.get("type") == "text":
            found.append(TextContent(text_of(part.get("text"))))
        elif block is not None:
            found.append(block)
        else:
            conversation.remark("block-left-out", "content of another type")
    return found


FORMAT = entries_format(
    name=NAME,
    title="ATIF trajectories",
    recognise=lambda source: is_own(source.document),
    entries=_entries,
    verified=True,
    source="files of Harbor, ATIF 1.5 and 1.7",
)
