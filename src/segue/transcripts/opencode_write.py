"""Write a session of opencode, in the form that ``opencode import`` reads.

Found by running 1.18.33 (2026-11-16): ids begin with ``ses``, ``msg`` and ``prt`` and sort the order; messages that
exist already are not overwritten.
"""

import hashlib
from typing import Any

from ..types import (
    AssistantContent,
    AssistantMessage,
    Context,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from .format import Draft, Target
from .provider_metadata import metadata_of
from .rows import data_url, images_in, lines_of, text_of
from .source import Object

VERSION = "1.18.33"
_FINISH = {"toolUse": "tool-calls", "length": "length"}


class _Writer:
    def __init__(self, context: Context, target: Target) -> None:
        self.target = target
        self._number = 0
        self.session = self._id("ses")
        self.messages: list[Object] = []
        self._results = {each.tool_call_id: each for each in context.messages if isinstance(each, ToolResultMessage)}
        self._asked = ""

    def _id(self, prefix: str) -> str:
        """An id that is larger than those before it: the time, a counter, and what makes it unique."""
        self._number += 1
        moment = (self.target.now * 0x1000 + self._number) & 0xFFFFFFFFFFFF
        word = hashlib.sha256(f"{self.target.id}/{self._number}".encode()).hexdigest()[:14]
        return f"{prefix}_{moment:012x}{word}"

    def user(self, message: UserMessage) -> None:
        self._asked = self._id("msg")
        info = {"agent": "build", "model": self._model(None)}
        mark = {"synthetic": True} if message.injected else {}
        parts = [
            {"type": "file", "mime": block.mime_type, "url": data_url(block)}
            if isinstance(block, ImageContent)
            else {"type": "text", "text": getattr(block, "text", "") or "", **mark}
            for block in message.content
        ]
        self._add(self._asked, "user", info, parts, {})

    def answer(self, message: AssistantMessage) -> None:
        usage = message.usage
        cache = {"read": usage.cache_read, "write": usage.cache_write}
        info = {
            "parentID": self._asked,
            "mode": "build",
            "agent": "build",
            "path": {"cwd": self.target.cwd, "root": self.target.cwd},
            "cost": usage.cost.total if usage.cost is not None else 0,
            "tokens": {"input": usage.input, "output": usage.output, "reasoning": 0, "cache": cache},
            **self._model(message),
            "finish": _FINISH.get(message.stop_reason, "stop"),
        }
        parts = [self._part(block, message.protocol) for block in message.content]
        self._add(self._id("msg"), "assistant", info, parts, {"completed": self.target.now + self._number})

    def _model(self, message: AssistantMessage | None) -> Object:
        name = message.model if message is not None else ""
        provider = message.provider if message is not None else ""
        return {"providerID": provider or self.target.provider or "anthropic", "modelID": name or self.target.model}

    def _add(self, name: str, role: str, info: Object, parts: list[Object], times: Object) -> None:
        where = {"sessionID": self.session, "messageID": name}
        info = {"id": name, "sessionID": self.session, "role": role, "time": {"created": self._now(), **times}, **info}
        self.messages.append({"info": info, "parts": [{"id": self._id("prt"), **where, **part} for part in parts]})

    def _now(self) -> int:
        return self.target.now + self._number

    def _part(self, block: AssistantContent, protocol: str) -> Object:
        if isinstance(block, ToolCall):
            return self._tool(block, protocol)
        if isinstance(block, TextContent | ThinkingContent):
            thinking = isinstance(block, ThinkingContent)
            text = block.thinking if isinstance(block, ThinkingContent) else block.text
            times = {"start": self._now(), "end": self._now()}
            part: Object = {"type": "reasoning" if thinking else "text", "text": text, "time": times}
            return part | _metadata(block, protocol)
        return {"type": "text", "text": block.text}

    def _tool(self, call: ToolCall, protocol: str) -> Object:
        result = self._results.get(call.id)
        times = {"start": self._now(), "end": self._now()}
        text = text_of(result) if result is not None else "No result provided"
        images = images_in(result.content) if result is not None else []
        state: Object = {"status": "completed", "input": call.arguments, "output": text, "title": "", "metadata": {}}
        if images:
            files = [{"type": "file", "mime": image.mime_type, "url": data_url(image)} for image in images]
            where = {"sessionID": self.session, "messageID": ""}
            state["attachments"] = [{"id": self._id("prt"), **where, **file} for file in files]
        elif result is None or result.is_error:
            state = {"status": "error", "input": call.arguments, "error": text}
        part = {"type": "tool", "tool": call.name, "callID": call.id, "state": state | {"time": times}}
        return part | _metadata(call, protocol)


def _metadata(block: Any, protocol: str) -> Object:
    found = metadata_of(block, protocol)
    return {"metadata": found} if found else {}


def write(context: Context, target: Target) -> Draft:
    """The document of a new session."""
    writer = _Writer(context, target)
    for message in context.messages:
        if isinstance(message, UserMessage):
            writer.user(message)
        elif isinstance(message, AssistantMessage):
            writer.answer(message)
    info = {
        "id": writer.session,
        "slug": "continued",
        "projectID": "global",
        "directory": target.cwd,
        "title": target.title or "Continued conversation",
        "version": VERSION,
        "time": {"created": target.now, "updated": target.now},
    }
    name = f"segue/{writer.session}.json"
    resume = f"cd {target.cwd} && opencode import {{path}} && opencode --session {writer.session}"
    return Draft(name, lines_of([{"info": info, "messages": writer.messages}]), resume)
