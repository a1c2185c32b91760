"""What is read from the files of other tools, as values: a conversation, its branches, and what was left out."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct

from ..types import Context, Message, ToolDefinition

RemarkCode = Literal[
    "line-unreadable",
    "line-torn",
    "row-unknown",
    "row-left-out",
    "row-incomplete",
    "row-repeated",
    "parent-missing",
    "block-unknown",
    "block-left-out",
    "copy-left-out",
    "thinking-empty",
    "arguments-unreadable",
    "result-repeated",
    "result-orphaned",
    "file-missing",
    "older-form",
    # from writing
    "injected-left-out",
    "system-left-out",
    "tools-left-out",
    "branch-left-out",
    "tool-renamed",
    "call-as-text",
    "opening-added",
]
"""What a remark is about; ``REMARK_CODES`` says what each means."""

REMARK_CODES = {
    "line-unreadable": "a line or a document that is not JSON",
    "line-torn": "the last line is incomplete: the file was still being written, or its writer was stopped",
    "row-unknown": "a row of a kind that segue does not know",
    "row-left-out": "a row that is not a part of the conversation, for example one that only the screen shows",
    "row-incomplete": "a row without a field that is needed to read it",
    "row-repeated": "a copy of an earlier row",
    "parent-missing": "the row before this one is not in the file; the nearest earlier row was used",
    "block-unknown": "a block of a kind that segue does not know",
    "block-left-out": "a block that is not a part of the conversation",
    "copy-left-out": "a copy of a result in a form of the tool's own, for its screen; the result itself is kept",
    "thinking-empty": "thinking with neither text nor signature",
    "arguments-unreadable": "arguments of a call that are not a JSON object; they are kept as text",
    "result-repeated": "a second copy of a result",
    "result-orphaned": "a result whose call is not in the conversation; it is kept",
    "file-missing": "a file that belongs to the conversation was not found",
    "older-form": "the conversation was read from a less complete file, because the better one is missing",
    "injected-left-out": "messages that the other tool wrote itself are not written",
    "system-left-out": "the system prompt is not written",
    "tools-left-out": "definitions of tools are not written",
    "branch-left-out": "other branches and sub-agents are not written",
    "tool-renamed": "calls got the names of the tool's own tools",
    "call-as-text": "calls and results were written as texts",
    "opening-added": "a message of the user was added, because a conversation begins with one",
}
"""Every code of a remark, and what it means."""


class Remark(Struct, frozen=True, omit_defaults=True, gc=False):
    """Something that was left out or repaired: its line (from 1) or its place, a code, and a readable text.

    Texts name kinds, ids and places. They never quote content, so that they cannot reveal a secret.
    """

    code: RemarkCode
    text: str
    line: int | None = None
    where: str = ""

    def __str__(self) -> str:
        place = f"line {self.line}" if self.line is not None else self.where
        return f"{place}: {self.text}" if place else self.text


class Compaction(Struct, frozen=True, omit_defaults=True):
    """A place in the log where older messages were replaced: from here on the model sees ``messages``, then the last
    ``kept`` messages before this place, then what follows."""

    messages: tuple[Message, ...]
    kept: int = 0


BranchKind = Literal["branch", "subagent", "conversation"]
"""``branch``: a part that was left by going back. ``subagent``: the conversation of a sub-agent. ``conversation``:
another one in the same place."""


class Branch(Struct, frozen=True, omit_defaults=True):
    """Another conversation that belongs to the one that was read."""

    id: str
    kind: BranchKind
    context: Context
    title: str | None = None
    call: str | None = None
    """The id of the call that started a sub-agent, if it is known."""
    shared: int = 0
    """How many messages at the beginning are those of the log of the main conversation."""


class Transcript(Struct, frozen=True, omit_defaults=True, dict=True):
    """A conversation as another tool stored it.

    ``context`` is what the model would see if the tool continued the conversation. ``log`` has also the messages that
    compactions replaced. Times are Unix milliseconds.
    """

    tool: str
    log: tuple[Message | Compaction, ...]
    system_prompt: str | None = None
    tools: tuple[ToolDefinition, ...] = ()
    id: str | None = None
    version: str | None = None
    form: str = ""
    """Which of the tool's formats it is, where it has several."""
    title: str | None = None
    cwd: str | None = None
    model: str | None = None
    started: int | None = None
    updated: int | None = None
    branches: tuple[Branch, ...] = ()
    changes: tuple[Remark, ...] = ()
    meta: dict[str, Any] = {}

    @cached_property
    def context(self) -> Context:
        """The conversation that the model would see."""
        return Context(seen(self.log), system_prompt=self.system_prompt, tools=self.tools)

    @property
    def messages(self) -> list[Message]:
        """All messages, also those that compactions replaced."""
        return [each for each in self.log if not isinstance(each, Compaction)]


def seen(log: Iterable[Message | Compaction]) -> list[Message]:
    """The messages that the model would see."""
    messages: list[Message] = []
    for each in log:
        if isinstance(each, Compaction):
            messages = [*each.messages, *(messages[-each.kept :] if each.kept else ())]
        else:
            messages.append(each)
    return messages


class TranscriptInfo(Struct, frozen=True, omit_defaults=True):
    """One conversation in a file, as far as a short look at it shows."""

    tool: str
    path: str
    id: str | None = None
    title: str | None = None
    cwd: str | None = None
    model: str | None = None
    version: str | None = None
    updated: int | None = None
    messages: int | None = None
    """The number of messages; ``None`` where they were not counted."""


class Report:
    """Collects the remarks of one reading. They are returned in the order of lines, those without a line last."""

    def __init__(self) -> None:
        self.remarks: list[Remark] = []

    def add(self, code: RemarkCode, text: str, line: int | None = None, where: str = "") -> None:
        """Add a remark about a line, or about another place."""
        self.remarks.append(Remark(code, text, line, where))

    def __iter__(self) -> Iterator[Remark]:
        return iter(sorted(self.remarks, key=lambda each: (each.line is None, each.line)))
