"""Sessions of Kimi: ``wire.jsonl`` of Kimi Code (protocol 1.4), and ``context.jsonl`` of the older Kimi CLI.

The new form has the system prompt and the tools. A step is one answer: its parts, calls and results are events between
``step.begin`` and ``step.end``; usage excludes what a cache had. Each agent of a session has a file of its own, in
``agents/<agent>/`` beside ``state.json``.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..types import AssistantContent, TextContent, ThinkingContent, ToolResultMessage, UserContent, UserMessage
from .building import Conversation, media, tokens
from .entries import Entry, entries_format
from .origins import CHAT
from .reading import (
    as_text,
    joined_text,
    json_rows,
    number_of,
    object_in,
    object_of,
    objects,
    objects_in,
    text_in,
    text_of,
    unix_ms,
)
from .source import Object, Source
from .values import Compaction, seen

NAME = "kimi"
_MAIN, _FILE = "main", "wire.jsonl"
_OLD = frozenset({"_system_prompt", "_checkpoint", "_usage"})
_PREFIXES = (
    "metadata", "turn.", "llm.", "usage.", "permission.", "tools.", "plugin.", "runtime.", "token_counting.", "config.",
    "profile.", "goal.", "task.", "mcp.", "cron.", "skill.", "plan_mode.", "full_compaction.",
)  # fmt: skip


def is_own(rows: list[Object]) -> bool:
    kinds = [text_of(row.get("type")) for row in rows]
    new = any(kind.startswith(("context.append_", "turn.prompt", "config.update")) for kind in kinds)
    return new or any(text_of(row.get("role")) in _OLD for row in rows)


def read(conversation: Conversation, rows: Iterable[tuple[int, Object]]) -> None:
    step = _Step(conversation)
    for line, row in rows:
        conversation.at(line)
        conversation.saw(row.get("time"))
        kind = text_of(row.get("type"))
        if "role" in row:
            _old(conversation, row)
        elif kind in ("config.update", "profile.bind"):
            _configure(conversation, row)
        elif kind == "llm.tools_snapshot":
            conversation.tools = []
            conversation.add_tools(row.get("tools"))
        elif kind == "context.append_message":
            step.add_message(row)
        elif kind in _CHANGES:
            step.close("aborted")
            _CHANGES[kind](conversation, row)
        elif kind == "context.append_loop_event":
            step.event(object_in(row, "event"), row.get("time"))
        else:
            conversation.unknown(row, (kind,) if kind.startswith(_PREFIXES) else ())
    step.close("aborted")


def _configure(conversation: Conversation, row: Object) -> None:
    prompt = text_of(row.get("systemPrompt"))
    if prompt and not conversation.log:
        conversation.system = [prompt]
    provider, _, model = text_of(row.get("modelAlias")).rpartition("/")
    if model:
        conversation.set_origin(provider or "kimi", model)


def _compact(conversation: Conversation, row: Object) -> None:
    """The first and the last messages of the user stay, and the summary follows them. Older versions put the summary
    first, and keep what follows the messages that it replaces."""
    before = seen(conversation.log)
    summary = UserMessage(text_in(row, "contextSummary", "summary") or "", injected=True)
    if "keptUserMessageCount" not in row:
        after = before[number_of(row.get("compactedCount")) :]
        conversation.log.append(Compaction((summary, *after)))
        return
    typed = [each for each in before if isinstance(each, UserMessage) and not each.injected]
    first = number_of(row.get("keptHeadUserMessageCount"))
    last = number_of(row.get("keptUserMessageCount")) - first
    conversation.log.append(Compaction((*typed[:first], *typed[max(len(typed) - last, first) :], summary)))


def _clear(conversation: Conversation, row: Object) -> None:
    conversation.log.append(Compaction(()))


def _undo(conversation: Conversation, row: Object) -> None:
    """Take back the last turns, but nothing before a compaction. What the program injected stays."""
    undone = Conversation(NAME)
    undone.log = [*conversation.log]
    count, at = number_of(row.get("count")), len(conversation.log) - 1
    while count and at >= 0 and not isinstance(message := conversation.log[at], Compaction):
        if not isinstance(message, UserMessage) or not message.injected:
            del conversation.log[at]
            count -= isinstance(message, UserMessage)
        at -= 1
    conversation.add_branch(f"undone-{len(conversation.branches) + 1}", undone)


_CHANGES = {"context.apply_compaction": _compact, "context.clear": _clear, "context.undo": _undo}
"""What changes the messages before it."""


def _old(conversation: Conversation, row: Object) -> None:
    role = text_of(row.get("role"))
    if role == "_system_prompt":
        conversation.add_system(as_text(row.get("content")))
    elif role in _OLD:
        conversation.unknown(row, _OLD)
    else:
        conversation.set_origin("kimi")
        conversation.ingest(row, CHAT)


def _message(conversation: Conversation, message: Object, time: Any) -> None:
    role = message.get("role")
    content = _content(conversation, message.get("content"))
    if role == "user":
        conversation.add_user([*content], injected=not _is_typed(object_in(message, "origin")))
    elif role == "assistant":
        calls = [_call(conversation, each) for each in objects_in(message, "toolCalls")]
        conversation.add_answer([*_thoughts(message), *_texts(content), *calls], time=time)
    elif role == "tool":
        conversation.add_result(message.get("toolCallId"), content, message.get("isError") is True)
    elif role == "system":
        conversation.add_system("\n".join(each.text for each in content if isinstance(each, TextContent)))
    else:
        conversation.remark("row-incomplete", "a message of an unknown role")


def _is_typed(origin: Object) -> bool:
    """Whether a message is a prompt: what the user typed, or what another agent asks a sub-agent."""
    kind, name = origin.get("kind", "user"), origin.get("name")
    return kind == "user" or origin.get("trigger") == "user-slash" or (kind == "system_trigger" and name == "subagent")


def _call(conversation: Conversation, call: Object) -> AssistantContent:
    function = object_in(call, "function") or call
    return conversation.call(call.get("id"), function.get("name"), function.get("arguments", function.get("args")))


def _texts(content: Iterable[UserContent]) -> list[AssistantContent]:
    return [each for each in content if isinstance(each, TextContent)]


def _thoughts(message: Object) -> list[AssistantContent]:
    parts = objects_in(message, "content")
    return [_thought(part) for part in parts if part.get("type") == "think"]


def _thought(part: Object) -> ThinkingContent:
    return ThinkingContent(text_in(part, "think", "text") or "", text_in(part, "encrypted"))


def _content(conversation: Conversation, value: Any) -> list[UserContent]:
    if not isinstance(value, list):
        return [TextContent(as_text(value))]
    found: list[UserContent] = []
    for part in objects(value):
        kind = text_of(part.get("type"))
        if kind == "text":
            found.append(TextContent(text_of(part.get("text"))))
            continue
        address = object_in(part, kind).get("url") if kind.endswith("_url") else None
        shown = media({"image_url": "", "audio_url": "audio/mpeg", "video_url": "video/mp4"}.get(kind, ""), url=address)
        if shown is not None:
            found.append(shown)
        elif kind != "think":
            conversation.remark("block-left-out", "a part of another type")
    return found


class _Step:
    """The step that is being read."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._blocks: list[AssistantContent] = []
        self._results: list[Object] = []
        self._waiting: set[str] = set()
        self._held: list[Object] = []
        self._time: Any = None

    def add_message(self, row: Object) -> None:
        """Add a message. While a call waits for its result, the message is held back, as Kimi does it."""
        if self._waiting:
            self._held.append(row)
        else:
            self.close("aborted")
            _message(self._conversation, object_in(row, "message"), row.get("time"))

    def event(self, event: Object, time: Any) -> None:
        kind = text_of(event.get("type"))
        self._time = time
        if kind == "step.begin":
            self.close("aborted")
        elif kind == "content.part":
            part = object_in(event, "part")
            found = [_thought(part)] if part.get("type") == "think" else _texts(_content(self._conversation, [part]))
            self._blocks += found
        elif kind == "tool.call":
            self._blocks.append(_call(self._conversation, {"id": event.get("toolCallId")} | event))
            self._waiting.add(text_of(event.get("toolCallId")))
        elif kind == "tool.result":
            self._results.append(event)
            self._waiting.discard(text_of(event.get("toolCallId")))
            if not self._waiting and not self._blocks:  # the step has ended before
                self.close(None)
        elif kind == "step.end":
            self.close(event.get("finishReason"), event)
        else:
            self._conversation.unknown(event)

    def close(self, stop: Any, event: Object | None = None) -> None:
        """Add the answer and its results. ``aborted``: the step has no end; it counts only if it has no result."""
        usage = object_in(event, "usage")
        names = ("inputOther", "output", "inputCacheRead", "inputCacheCreation")
        if self._blocks:
            self._conversation.add_answer(
                self._blocks,
                stop=None if self._results and stop == "aborted" else stop,
                time=self._time,
                usage=tokens(*(usage.get(name) for name in names)),
                response_id=text_in(event, "messageId"),
            )
        for each in self._results:
            result = object_in(each, "result")
            content = _content(self._conversation, result.get("output"))
            self._conversation.add_result(each.get("toolCallId"), content, result.get("isError") is True)
        self._blocks, self._results = [], []
        if stop == "aborted":
            self._waiting.clear()
        if not self._waiting:
            held, self._held = self._held, []
            for row in held:
                _message(self._conversation, object_in(row, "message"), row.get("time"))


# -- the files of a session ------------------------------------------------------------------------------------------


def _entries(source: Source) -> list[Entry]:
    session = _session(source.path)
    state = object_of(Source(session / "state.json").document) if session is not None else {}
    return [
        Entry(
            read=lambda: _read(source, session),
            id=session.name if session is not None else None,
            title=text_in(state, "title"),
            cwd=text_in(state, "workDir"),
            started=unix_ms(state.get("createdAt")),
            updated=unix_ms(state.get("updatedAt")),
        )
    ]


def _session(path: Path) -> Path | None:
    """The directory of the session of Kimi Code that a file belongs to; ``None`` if the file is not in one."""
    folder = path.absolute().parent.parent
    return folder.parent if folder.name == "agents" and (folder.parent / "state.json").is_file() else None


def _read(source: Source, session: Path | None) -> Conversation:
    conversation = Conversation(NAME)
    read(conversation, json_rows(source, conversation.report))
    if session is not None and source.path.absolute().parent.name == _MAIN:
        conversation.at()
        for path in sorted((session / "agents").glob(f"*/{_FILE}")):
            if path.parent.name != _MAIN:
                _add_agent(conversation, path)
    return conversation


def _add_agent(conversation: Conversation, path: Path) -> None:
    """Add a sub-agent. The result of the call that started it begins with its id."""
    agent, name = Conversation(NAME), path.parent.name
    read(agent, json_rows(Source(path), agent.report))
    results = [each for each in conversation.log if isinstance(each, ToolResultMessage)]
    calls = (each.tool_call_id for each in results if joined_text(each.content).startswith(f"agent_id: {name}\n"))
    conversation.add_branch(name, agent, "subagent", next(calls, None))


def find() -> Iterator[Path]:
    """The files of sessions on this machine."""
    home = Path(os.environ.get("KIMI_CODE_HOME") or Path.home() / ".kimi-code")
    yield from home.glob(f"sessions/*/*/agents/{_MAIN}/{_FILE}")
    yield from (Path.home() / ".kimi").glob("sessions/*/*/context.jsonl")


FORMAT = entries_format(
    name=NAME,
    title="Kimi Code and Kimi CLI",
    recognise=lambda source: is_own(source.rows),
    entries=_entries,
    find=find,
    verified=True,
    source="files of protocol 1.4; MoonshotAI/kimi-code, 2026; the older form from MoonshotAI/kimi-cli",
)
