"""Conversations of the OpenHands SDK: a directory with ``base_state.json`` and ``events/``, or the events as JSONL.

Events with the same ``llm_response_id`` are one answer. The system prompt and the tools are events. A condensation
names the events that are no longer sent. Source: OpenHands/software-agent-sdk, 2026.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from ..types import AssistantContent, TextContent, ThinkingContent, UserContent, UserMessage
from .building import Conversation, media
from .entries import Entry, below, entries_format
from .reading import as_text, json_rows, object_in, object_of, objects, objects_in, text_in, text_of
from .signatures import thinking
from .source import Object, Source, read_line
from .values import Compaction, Report

NAME = "openhands"
_RESULTS = ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation")
_OWN = frozenset({"SystemPromptEvent", "MessageEvent", "ActionEvent", "Condensation", "ConversationStateUpdateEvent",
                  "PauseEvent", "TokenEvent", *_RESULTS})  # fmt: skip


def _recognise(source: Source) -> bool:
    if source.is_directory:
        return {"base_state.json", "events"} <= source.members
    return any(text_of(row.get("kind")) in _OWN and "source" in row for row in source.rows)


def _entries(source: Source) -> list[Entry]:
    state: Object = {}
    if source.is_directory:
        state = object_of(Source(source.path / "base_state.json").document)
    agent = object_in(object_in(state, "agent"), "llm")
    return [
        Entry(
            read=lambda: _read(source, text_in(agent, "model")),
            id=text_in(state, "id"),
            cwd=text_in(object_in(state, "workspace"), "working_dir"),
            model=text_in(agent, "model"),
        )
    ]


def _events(source: Source, report: Report) -> Iterator[tuple[int | None, str, Object]]:
    if not source.is_directory:
        yield from ((line, "", row) for line, row in json_rows(source, report))
        return
    for path in sorted((source.path / "events").glob("*.json")):
        event = read_line(path.read_bytes())
        if isinstance(event, dict):
            yield None, path.name, event
        else:
            report.add("line-unreadable", "not a JSON object", where=path.name)


def _read(source: Source, model: str | None) -> Conversation:
    conversation = Conversation(NAME)
    provider, _, name = (model or "").rpartition("/")
    conversation.set_origin(provider, name)
    answer = _Answer(conversation)
    for line, where, event in _events(source, conversation.report):
        conversation.at(line, where)
        conversation.saw(event.get("timestamp"))
        kind = text_of(event.get("kind"))
        start = len(conversation.log)
        if kind == "ActionEvent":
            answer.add(event)
        elif kind in _RESULTS:
            answer.result(event)
        else:
            answer.close()
            start = len(conversation.log)
            _event(conversation, kind, event, answer)
        answer.ids[text_of(event.get("id"))] = (start, len(conversation.log))
    answer.close()
    return conversation


def _event(conversation: Conversation, kind: str, event: Object, answer: "_Answer") -> None:
    if kind == "SystemPromptEvent":
        for name in ("system_prompt", "dynamic_context"):
            conversation.add_system(text_of(object_in(event, name).get("text")))
        conversation.add_tools(event.get("tools"))
    elif kind == "MessageEvent":
        message = object_in(event, "llm_message")
        content = _content(conversation, message.get("content"))
        if message.get("role") == "assistant":
            conversation.add_answer([*_thoughts(message), *(each for each in content if isinstance(each, TextContent))])
        else:
            extended = _content(conversation, event.get("extended_content"))
            conversation.add_user([*content, *(each for each in extended if as_text(getattr(each, "text", "")))])
    elif kind == "Condensation":
        _condense(conversation, event, answer)
    else:
        conversation.unknown(event, _OWN)


def _condense(conversation: Conversation, event: Object, answer: "_Answer") -> None:
    """Leave out the forgotten events. Their summary takes their place."""
    forgotten = event.get("forgotten_event_ids")
    gone: set[int] = set()
    for each in forgotten if isinstance(forgotten, list) else ():
        start, end = answer.ids.get(text_of(each), (0, 0))
        gone |= set(range(start, end))
    kept: list[Any] = [each for at, each in enumerate(conversation.log) if at not in gone]
    summary = text_in(event, "summary")
    if summary:
        offset = event.get("summary_offset")
        at = offset if isinstance(offset, int) and 0 <= offset <= len(kept) else 0
        kept.insert(at, UserMessage(summary, injected=True))
    conversation.log.append(Compaction(tuple(each for each in kept if not isinstance(each, Compaction))))


class _Answer:
    """The answer whose actions are being read, and the results that came meanwhile."""

    def __init__(self, conversation: Conversation) -> None:
        self.ids: dict[str, tuple[int, int]] = {}  # the messages of an event in the log, by its id
        self._conversation = conversation
        self._response = ""
        self._blocks: list[AssistantContent] = []
        self._time: Any = None

    def add(self, event: Object) -> None:
        response = text_of(event.get("llm_response_id"))
        if self._blocks and (response != self._response or not response):
            self.close()
        if not self._blocks:
            self._blocks = [*_thoughts(event)]
            thought = _content(self._conversation, event.get("thought"))
            self._blocks += [each for each in thought if isinstance(each, TextContent)]
        self._response, self._time = response, event.get("timestamp")
        call = object_in(event, "tool_call")
        given = call.get("arguments", object_in(call, "function").get("arguments"))
        action = {name: value for name, value in object_in(event, "action").items() if name != "kind"}
        call_id, name = event.get("tool_call_id"), event.get("tool_name")
        self._blocks.append(self._conversation.call(call_id, name, action if given is None else given))

    def result(self, event: Object) -> None:
        self.close()
        seen, kind = object_in(event, "observation"), text_of(event.get("kind"))
        content = _content(self._conversation, seen.get("content", seen.get("output")))
        failed = kind != "ObservationEvent" or seen.get("is_error") is True
        text = text_in(event, "error", "rejection_reason") or ""
        found = content if seen else [TextContent(text)]
        self._conversation.add_result(event.get("tool_call_id"), found, failed, event.get("tool_name"))

    def close(self) -> None:
        if self._blocks:
            self._conversation.add_answer(self._blocks, time=self._time, response_id=self._response or None)
        self._blocks = []


def _thoughts(event: Object) -> Iterable[ThinkingContent]:
    """The thinking of an answer: with its signatures, if there are some."""
    for block in objects_in(event, "thinking_blocks"):
        if block.get("type") == "redacted_thinking":
            yield ThinkingContent("", text_in(block, "data"), redacted=True)
        else:
            yield ThinkingContent(text_in(block, "thinking") or "", text_in(block, "signature"))
    item = object_in(event, "responses_reasoning_item")
    if item:
        summary = item.get("summary")
        text = "\n\n".join(map(as_text, summary)) if isinstance(summary, list) else ""
        encrypted = text_in(item, "encrypted_content") or ""
        yield thinking(text, {"id": text_in(item, "id") or "", "encrypted": encrypted})
    elif not objects_in(event, "thinking_blocks") and text_in(event, "reasoning_content"):
        yield ThinkingContent(text_in(event, "reasoning_content") or "", "reasoning_content")


def _content(conversation: Conversation, value: Any) -> list[UserContent]:
    if isinstance(value, str):
        return [TextContent(value)]
    found: list[UserContent] = []
    for part in objects(value):
        urls = part.get("image_urls")
        found += [TextContent(part["text"])] if isinstance(part.get("text"), str) else []
        for url in urls if isinstance(urls, list) else ():
            image = media("", url=url)
            if image is None:
                conversation.remark("block-left-out", "an image without an address")
            else:
                found.append(image)
    return found


FORMAT = entries_format(
    name=NAME,
    title="OpenHands",
    recognise=_recognise,
    entries=_entries,
    find=below("~/.openhands/conversations", "*"),
    verified=True,
    source="OpenHands/software-agent-sdk, 2026",
)
