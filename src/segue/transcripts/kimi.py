"""Sessions of Kimi: ``wire.jsonl`` of Kimi Code (protocol 1.4), and ``context.jsonl`` of the older Kimi CLI.

The new form has the system prompt and the tools. A step is one answer: its parts, calls and results are events between
``step.begin`` and ``step.end``; usage excludes what a cache had.
"""

from collections.abc import Iterable
from typing import Any

from ..types import AssistantContent, TextContent, ThinkingContent, UserContent, UserMessage
from .building import Conversation, media, tokens
from .entries import below, rows_format
from .origins import CHAT
from .reading import as_text, number_of, object_in, objects, objects_in, text_in, text_of
from .source import Object
from .values import Compaction

NAME = "kimi"
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
            step.close("aborted")
            _message(conversation, object_in(row, "message"), row.get("time"))
        elif kind == "context.apply_compaction":
            step.close("aborted")
            _compact(conversation, row)
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
    """The last messages of the user stay, and the summary follows them."""
    typed = [each for each in conversation.log if isinstance(each, UserMessage) and not each.injected]
    count = number_of(row.get("keptUserMessageCount"))
    summary = UserMessage(text_in(row, "contextSummary", "summary") or "", injected=True)
    conversation.log.append(Compaction((*(typed[-count:] if count else ()), summary)))


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
        origin = object_in(message, "origin")
        conversation.add_user([*content], injected=origin.get("kind", "user") != "user")
    elif role == "assistant":
        calls = [_call(conversation, each) for each in objects_in(message, "toolCalls")]
        conversation.add_answer([*_thoughts(message), *_texts(content), *calls], time=time)
    elif role == "tool":
        conversation.add_result(message.get("toolCallId"), content, message.get("isError") is True)
    elif role == "system":
        conversation.add_system("\n".join(each.text for each in content if isinstance(each, TextContent)))
    else:
        conversation.remark("row-incomplete", "a message of an unknown role")


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
        self._time: Any = None

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
        elif kind == "tool.result":
            self._results.append(event)
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


FORMAT = rows_format(
    name=NAME,
    title="Kimi Code and Kimi CLI",
    recognise=is_own,
    read=read,
    find=below("~/.kimi", "sessions/*/*/context.jsonl"),
    verified=True,
    source="files of protocol 1.4; the older form from MoonshotAI/kimi-cli",
)
