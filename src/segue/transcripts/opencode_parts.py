"""The messages of opencode and their parts. A part of type ``tool`` is a call and its result."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ..types import (
    AssistantContent,
    AssistantMessage,
    FileContent,
    ImageContent,
    Message,
    StopReason,
    TextContent,
    ToolCall,
    ToolResultContent,
    ToolResultMessage,
    Usage,
    UsageCost,
    UserContent,
    UserMessage,
)
from .provider_metadata import call_signature, text_signature, thinking_of
from .reading import (
    ENDPOINT,
    as_arguments,
    as_text,
    data_of_url,
    number_in,
    object_in,
    objects_in,
    protocol_of_provider,
    text_in,
    unix_ms,
)
from .source import Object
from .values import Compaction, RemarkCode, Report

_STOPS: dict[str, StopReason] = {
    "stop": "stop",
    "tool-calls": "toolUse",
    "length": "length",
    "content-filter": "error",
    "error": "error",
}
_CLEARED = "[Old tool result content cleared]"
"""What opencode sends instead of a result that it has pruned."""
_ASKED = "What did we do so far?"
"""What opencode sends in place of a compaction, before the summary."""


class Stored(Struct, frozen=True):
    """A message as it is stored, and its place for remarks."""

    info: Object
    parts: list[Object]
    where: str


class Conversation:
    """The messages so far."""

    def __init__(self, report: Report) -> None:
        self.log: list[Message | Compaction] = []
        self.agents: dict[str, str] = {}
        """The calls that started sub-agents, by the ids of their sessions."""
        self._report, self._where = report, ""
        self._starts: dict[str, int] = {}
        self._compacting: str | None = None

    def add(self, stored: Stored) -> None:
        info, self._where = stored.info, stored.where
        self._starts[str(info.get("id"))] = len(self.log)
        compaction = next((part for part in stored.parts if part.get("type") == "compaction"), None)
        if info.get("role") == "user":
            if compaction is not None:
                self._compacting = text_in(compaction, "tail_start_id") or ""
                return
            self.log += self._user(stored.parts)
        elif info.get("role") == "assistant":
            messages = self._assistant(info, stored.parts)
            if info.get("summary") is True and self._compacting is not None:
                self._compact(messages)
            else:
                self.log += messages
        else:
            self.remark("row-unknown", f"a message of role {info.get('role')!r}")

    def remark(self, code: RemarkCode, text: str) -> None:
        self._report.add(code, text, where=self._where)

    def _compact(self, messages: list[Message]) -> None:
        start = self._starts.get(self._compacting or "", len(self.log))
        kept = sum(not isinstance(each, Compaction) for each in self.log[start:])
        self.log.append(Compaction((UserMessage(_ASKED, injected=True), *messages), kept))
        self._compacting = None

    # -- users --------------------------------------------------------------------------------------------------------

    def _user(self, parts: list[Object]) -> list[Message]:
        runs: list[tuple[bool, list[UserContent]]] = []
        for part in parts:
            blocks = self._user_part(part)
            # A file that the user attached is marked as well (1.18.33, run 2026-11-18), but it is the user's.
            injected = part.get("synthetic") is True and part.get("type") != "file"
            if blocks and (not runs or runs[-1][0] != injected):
                runs.append((injected, []))
            if blocks:
                runs[-1][1].extend(blocks)
        return [UserMessage(content, injected) for injected, content in runs]

    def _user_part(self, part: Object) -> list[UserContent]:
        kind, text = part.get("type"), text_in(part, "text")
        if kind == "text" and part.get("ignored") is not True:
            return [TextContent(text)] if text is not None else []
        if kind == "file":
            return self._file(part)
        self.remark("block-left-out", f"a part of type {kind}")
        return []

    def _file(self, part: Object) -> list[UserContent]:
        url, mime, name = text_in(part, "url") or "", text_in(part, "mime") or "", text_in(part, "filename")
        data = data_of_url(url)
        if data is not None:
            kind = mime or data[0]
            return [ImageContent(data[1], kind) if kind.startswith("image/") else FileContent(data[1], kind, name=name)]
        if url.startswith(("https://", "http://")) and mime:
            return [
                ImageContent(url=url) if mime.startswith("image/") else FileContent(url=url, mime_type=mime, name=name)
            ]
        self.remark("block-left-out", "a file that is not in the transcript")
        return []

    # -- answers ------------------------------------------------------------------------------------------------------

    def _assistant(self, info: Object, parts: list[Object]) -> list[Message]:
        """The answers and results of a message. Older versions keep several answers in one."""
        steps: list[list[Object]] = [[]]
        for part in parts:
            if part.get("type") == "step-start" and any(_is_content(each) for each in steps[-1]):
                steps.append([])
            steps[-1].append(part)
        if len(steps) > 1 and not any(_is_content(each) for each in steps[-1]):
            steps[-2:] = [steps[-2] + steps[-1]]
        messages: list[Message] = []
        for at, step in enumerate(steps):
            messages += self._answer(info, step, last=at == len(steps) - 1)
        return messages

    def _answer(self, info: Object, parts: list[Object], last: bool) -> list[Message]:
        content: list[AssistantContent] = []
        results: list[Message] = []
        finish: Object = {}
        for part in parts:
            kind = part.get("type")
            if kind == "tool":
                content.append(self._call(part))
                results += self._result(part)
            elif kind == "step-finish":
                finish = part
            elif isinstance(kind, str) and kind in _BLOCKS:
                content += _BLOCKS[kind](part)
            elif kind != "step-start":
                self.remark("block-left-out", f"a part of type {kind}")
        error = object_in(info, "error") if last else {}
        if not content and not error:
            return []
        return [self._message(info, content, finish, error), *results]

    def _message(
        self, info: Object, content: list[AssistantContent], finish: Object, error: Object
    ) -> AssistantMessage:
        provider = text_in(info, "providerID") or text_in(object_in(info, "model"), "providerID") or ""
        tokens = object_in(finish, "tokens") or object_in(info, "tokens")
        reason = _STOPS.get(text_in(finish, "reason") or text_in(info, "finish") or "")
        if error:
            reason = "aborted" if error.get("name") == "MessageAbortedError" else "error"
        message = text_in(object_in(error, "data"), "message") or text_in(error, "name")
        return AssistantMessage(
            content,
            protocol=protocol_of_provider(provider),
            provider=provider,
            model=text_in(info, "modelID") or text_in(object_in(info, "model"), "modelID") or "",
            endpoint=f"{ENDPOINT}opencode",
            timestamp=unix_ms(object_in(info, "time").get("created")) or 0,
            usage=_usage(tokens, finish.get("cost", info.get("cost"))),
            stop_reason=reason,
            error_message=message if error else "content-filter" if reason == "error" else None,
        )

    def _call(self, part: Object) -> ToolCall:
        state, name = object_in(part, "state"), text_in(part, "callID", "id") or ""
        arguments = as_arguments(state.get("input"))
        if arguments is None:
            self.remark("arguments-unreadable", f"the arguments of call {name} are not an object")
            arguments = {"input": state.get("input")}
        for metadata in (object_in(state, "metadata"), object_in(part, "metadata")):
            if session := text_in(metadata, "sessionId", "sessionID"):
                self.agents[session] = name
        return ToolCall(name, text_in(part, "tool") or "", arguments, call_signature(object_in(part, "metadata")))

    def _result(self, part: Object) -> list[ToolResultMessage]:
        state, name = object_in(part, "state"), text_in(part, "callID", "id") or ""
        status = state.get("status")
        content: list[ToolResultContent] = []
        if status == "completed":
            if object_in(state, "time").get("compacted"):
                self.remark("block-left-out", f"the result of call {name}, which was cleared")
                content = [TextContent(_CLEARED)]
            else:
                text = as_text(state.get("output") or "")
                content = [*([TextContent(text)] if text else []), *self._attached(state)]
        elif status == "error":
            content = [TextContent(as_text(state.get("error") or ""))]
        else:
            return []  # it never ended
        return [ToolResultMessage(name, text_in(part, "tool") or "", content, is_error=status == "error")]

    def _attached(self, state: Object) -> list[ToolResultContent]:
        return [block for file in objects_in(state, "attachments") for block in self._file(file)]


def _is_content(part: Object) -> bool:
    return part.get("type") in ("tool", *_BLOCKS)


def _usage(tokens: Object, cost: Any) -> Usage:
    """The usage of an answer. Reasoning is not a part of ``output``."""
    cache = object_in(tokens, "cache")
    read, written = number_in(cache, "read"), number_in(cache, "write")
    spent, made = number_in(tokens, "input"), number_in(tokens, "output") + number_in(tokens, "reasoning")
    paid = UsageCost(total=float(cost)) if isinstance(cost, int | float) and cost > 0 else None
    return Usage(spent, made, read, written, spent + made + read + written, cost=paid)


def _text(part: Object) -> list[AssistantContent]:
    text = text_in(part, "text")
    return [TextContent(text, text_signature(object_in(part, "metadata")))] if text is not None else []


def _reasoning(part: Object) -> list[AssistantContent]:
    block = thinking_of(text_in(part, "text") or "", object_in(part, "metadata"))
    return [block] if block.thinking or block.thinking_signature else []


_BLOCKS: dict[str, Callable[[Object], list[AssistantContent]]] = {"text": _text, "reasoning": _reasoning}
