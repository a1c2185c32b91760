"""Datasets in the form of ShareGPT, with calls in turns of their own or in tags (Hermes), and ChatML texts.

Names of turns are those of LLaMA-Factory (``data/README.md``, 2026) and of older files. Calls have no ids: they are
numbered, and results belong to calls in their order.
"""

import re
from collections.abc import Iterable
from typing import Any

from ..errors import FormatError
from ..types import AssistantContent, Context, TextContent
from .building import Conversation
from .datasets import dataset_format
from .reading import as_text, in_tags, object_of, objects, text_in, text_of
from .source import Object, read_line

NAME = "sharegpt"
_ROLES = {
    "human": "user",
    "user": "user",
    "gpt": "answer",
    "assistant": "answer",
    "model": "answer",
    "chatgpt": "answer",
    "bing": "answer",
    "bard": "answer",
    "system": "system",
    "function_call": "call",
    "tool_call": "call",
    "observation": "result",
    "tool": "result",
    "function_response": "result",
    "function": "result",
}
_CHATML = re.compile(r"<\|im_start\|>(\w+)\n(.*?)(?:<\|im_end\|>|\Z)", re.DOTALL)


def is_own(row: Object) -> bool:
    """Whether a row is a conversation of ShareGPT or a ChatML text."""
    return bool(_turns(row))


def _turns(row: Object) -> list[tuple[str, str]]:
    """The turns of a row: who speaks, and what."""
    chat = _CHATML.findall(text_of(row.get("text")))
    found = [
        (text_in(each, "from", "role") or "", as_text(each.get("value", each.get("content"))))
        for each in objects(row.get("conversations") or row.get("conversation"))
        if "value" in each or "content" in each
    ]
    return found or chat


def read(conversation: Conversation, row: Object) -> None:
    """Read one row."""
    conversation.add_system(text_of(row.get("system")))
    tools = row.get("tools")
    conversation.add_tools(read_line(tools.encode("utf-8", "replace")) if isinstance(tools, str) else tools)
    _add_turns(conversation, _turns(row))
    if row.get("images") or row.get("videos") or row.get("audios"):
        conversation.remark("file-missing", "images and files beside a dataset are not read")


def read_turns(turns: Iterable[Any]) -> Context:
    """The conversation in a list of turns. A ``FormatError`` if something in it cannot be read."""
    conversation = Conversation(NAME, endpoint="")
    found = [(text_in(each, "from", "role") or "", as_text(object_of(each).get("value"))) for each in turns]
    _add_turns(conversation, found)
    for remark in conversation.report:
        if remark.code in ("row-unknown", "arguments-unreadable"):
            raise FormatError(remark.text)
    return conversation.context


def is_turns(items: Iterable[Any]) -> bool:
    """Whether a list has turns of this form."""
    return any(isinstance(each, dict) and "from" in each and "role" not in each for each in items)


def _add_turns(conversation: Conversation, found: Iterable[tuple[str, str]]) -> None:
    turns = _Turns(conversation)
    for role, text in found:
        kind = _ROLES.get(role.lower())
        if kind is None:
            conversation.remark("row-unknown", f"a turn whose role is not one of {', '.join(_ROLES)}")
        else:
            turns.add(kind, text)


class _Turns:
    """Adds turns, and numbers calls. Results belong to the calls since the last results, in their order."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._count = 0
        self._open: list[str] = []
        self._last = ""

    def add(self, kind: str, text: str) -> None:
        if kind in ("call", "answer") and self._last == "result":
            self._open.clear()
        self._last = kind
        if kind == "system":
            self._conversation.add_system(text)
        elif kind == "user":
            self._conversation.add_user(text)
        elif kind == "result":
            for each in in_tags(text, "tool_response")[1::2] or [text]:
                self._conversation.add_result(self._open.pop(0) if self._open else "", each)
        elif kind == "call":
            self._conversation.add_answer(self._calls(text))
        else:
            self._conversation.add_answer(self._answer(text))

    def _answer(self, text: str) -> list[AssistantContent]:
        blocks: list[AssistantContent] = []
        before = in_tags(text, "tool_call")
        for at, piece in enumerate(before):
            if at % 2:
                blocks += self._calls(piece)
            elif piece.strip():
                blocks.append(TextContent(piece if len(before) == 1 else piece.strip()))
        return blocks

    def _calls(self, text: str) -> list[AssistantContent]:
        value = read_line(text.encode("utf-8", "replace"))
        found = [each for each in (value if isinstance(value, list) else [value]) if object_of(each).get("name")]
        if not found:
            self._conversation.remark("arguments-unreadable", "a call that is not a JSON object with a name")
            return [TextContent(text)]
        return [self._call(each) for each in found]

    def _call(self, value: Any) -> AssistantContent:
        self._count += 1
        self._open.append(f"call_{self._count}")
        return self._conversation.call(self._open[-1], value["name"], value.get("arguments", value.get("parameters")))


FORMAT = dataset_format(
    name=NAME,
    title="ShareGPT and ChatML datasets",
    recognise=is_own,
    read=read,
    verified=True,
    source="LLaMA-Factory's demonstration data, 2026",
)
