"""The rows of a file of Claude Code, each read once into a node of the tree that they form.

Rows hold one block each; which of them make one answer, and which are on the live branch, is decided in
``claude_code_tree.py``. Formats 1.0.24 to 2.1.220 were seen in files; 2.1.197 was run (2026-11-16).
"""

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET, Struct

from ..types import AssistantContent, ImageContent, TextContent, ToolCall, ToolResultContent, UserContent
from .anthropic_blocks import answer_blocks, result_blocks, user_blocks
from .claude_code_shapes import (
    ANSWER,
    USER,
    AnyMessage,
    AnyRow,
    LooseRow,
    ResultBlock,
    Row,
    UsageShape,
    quick_blocks,
    read_loosely,
    read_row,
)
from .reading import object_in, report_last_line, text_in
from .source import Source, read_line
from .values import RemarkCode, Report

_OF_THE_USER = ("queued_command", "file")
"""Attachments that the user made: what was typed during a turn, and files that were mentioned with `@`."""
TREE = frozenset({"user", "assistant", "system", "attachment", "progress"})
LEAVES = TREE - {"progress"}
LOOSE = frozenset(
    {
        "agent-name",
        "ai-title",
        "bridge-session",
        "custom-title",
        "file-history-snapshot",
        "frame-link",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "queue-operation",
        "relocated",
        "result",
        "started",
        "summary",
        "worktree-state",
    }
)
"""Rows that are not in the tree."""

_WRITTEN_BY_PROGRAM = (
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "<task-notification>",
    "[Request interrupted by user",
)
_AGENT_TOOLS = ("Task", "Agent")
"""The names of the tool that starts a sub-agent. Its copy of the result has the id of the sub-agent, which is nowhere
else if the prompt was changed on its way."""
INTERRUPTED = "[Request interrupted by user"
SYNTHETIC = "<synthetic>"


class Result(Struct, gc=False):
    """A result in a user row."""

    call: str
    content: list[ToolResultContent]
    is_error: bool


class Answer(Struct, gc=False):
    """An answer, with the blocks of all its rows. Usage is repeated in each; the last one counts."""

    id: str
    timestamp: str | None
    rows: list[int] = []
    content: list[AssistantContent] = []
    calls: list[str] = []
    model: str = ""
    stop: str | None = None
    usage: UsageShape | dict[str, Any] | None = None


class Node(Struct, gc=False):
    """A row of the tree. ``parent`` is the number of a node, or the uuid of a row that was not read before it."""

    line: int
    uuid: str
    type: str
    parent: int | str | None
    sidechain: bool = False
    injected: bool = False
    summary: bool = False
    boundary: bool = False
    interrupts: bool = False
    preserved: str | None = None
    """The uuid of the first row that a compaction kept."""
    answer: Answer | None = None
    content: list[UserContent] | None = None
    results: list[Result] | None = None

    @property
    def is_spoken(self) -> bool:
        """Whether the user, a model or a tool wrote it."""
        return not self.injected and (self.answer is not None or bool(self.content) or bool(self.results))


class Head(Struct):
    """What the rows state about the session."""

    session: str | None = None
    agent: str | None = None
    cwd: str | None = None
    version: str | None = None
    branch: str | None = None
    started: str | None = None
    updated: str | None = None
    titles: dict[str, str] = {}


class Rows:
    """All rows of a file."""

    def __init__(self, source: Source, report: Report) -> None:
        self.nodes: list[Node] = []
        self.numbers: dict[str, int] = {}
        self.head = Head(titles={})
        self.answers: dict[str, Answer] = {}
        self.calls: dict[str, str] = {}
        """The names of the tools, by the ids of the calls."""
        self.prompts: dict[str, str] = {}
        """The calls that gave a prompt to a sub-agent, by the prompt."""
        self.agents: dict[str, str] = {}
        """The calls that started sub-agents, by the ids of the sub-agents."""
        self._report, self._line, self._text = report, 0, b""
        self._models: dict[str, str] = {}
        torn: tuple[int, bytes] | None = None
        for self._line, self._text in source.lines():
            if torn is not None:
                self._report.add("line-unreadable", "this line is not JSON", torn[0])
                torn = None
            row = read_row(self._text, self.remark)
            if row is None:
                torn = (self._line, self._text)
            else:
                self._add(row)
        if torn is not None:
            report_last_line(report, *torn)

    def remark(self, code: RemarkCode, text: str) -> None:
        self._report.add(code, text, self._line)

    # -- rows ---------------------------------------------------------------------------------------------------------

    def _add(self, row: AnyRow) -> None:
        self._note(row)
        kind = _KINDS.get(row.type)
        if kind is None or row.uuid is None:
            self._leave_out(row)
            return
        if row.uuid in self.numbers:
            self.remark("row-repeated", f"a copy of row {row.uuid}")
            return
        parent = row.parent_uuid
        node = Node(self._line, row.uuid, kind, None, row.is_sidechain is True)
        if row.subtype == "compact_boundary":
            node.boundary = True
            node.preserved = text_in(object_in(row.compact_metadata, "preservedSegment"), "headUuid")
            parent = row.logical_parent_uuid or parent
        node.parent = self.numbers.get(parent, parent) if parent else None
        self.numbers[row.uuid] = len(self.nodes)
        self.nodes.append(node)
        read = _SPOKEN.get(kind)
        if read is not None and row.message is not None:
            read(self, node, row, row.message)
        elif row.attachment is not None:
            self._attachment(node, row.attachment)
        elif not node.boundary:
            self.remark("row-left-out", f"a row of type {row.type}{f' ({row.subtype})' if row.subtype else ''}")

    def _note(self, row: AnyRow) -> None:
        """Remember what the row states about the session."""
        head = self.head
        if row.timestamp is not None:
            head.started = head.started or row.timestamp
            head.updated = row.timestamp
        if row.uuid is not None:
            head.session = head.session or row.session_id
            head.cwd = head.cwd or row.cwd
            head.version = row.version or head.version
            head.branch = row.git_branch or head.branch
            head.agent = head.agent or row.agent_id
        else:
            for kind, title in (("custom", row.custom_title), ("ai", row.ai_title), ("summary", row.summary)):
                if title:
                    head.titles[kind] = title

    def _leave_out(self, row: AnyRow) -> None:
        if row.type in LOOSE:
            self.remark("row-left-out", f"a row of type {row.type}")
        elif row.type in TREE:
            self.remark("row-incomplete", f"a row of type {row.type} without a uuid")
        else:
            self.remark("row-unknown", f"a row of type {row.type!r}")

    def _any_content(self, row: AnyRow) -> Any:
        """The content of the current row with blocks of any shape, as JSON."""
        loose = row if isinstance(row, LooseRow) else read_loosely(self._text, self.remark)
        return loose.message.content if loose is not None and loose.message is not None else None

    def _assistant(self, node: Node, row: AnyRow, message: AnyMessage) -> None:
        content = quick_blocks(message.content, ANSWER) if type(row) is Row else None
        if content is None:
            content = answer_blocks(self._any_content(row), self.remark)
        identity = message.id or f"row {node.uuid}"
        answer = self.answers.get(identity)
        if answer is None:
            answer = self.answers[identity] = Answer(identity, row.timestamp)
        for block in content:
            if type(block) is ToolCall:
                answer.calls.append(block.id)
                self.calls[block.id] = block.name
                if isinstance(prompt := block.arguments.get("prompt"), str):
                    self.prompts[prompt] = block.id
        node.answer = answer
        answer.rows.append(len(self.nodes) - 1)
        answer.content += content
        answer.model = self._models.setdefault(message.model or "", message.model or "")
        answer.stop = message.stop_reason or answer.stop
        if message.usage:
            answer.usage = message.usage

    def _user(self, node: Node, row: AnyRow, message: AnyMessage) -> None:
        node.injected, node.summary = bool(row.is_meta or row.is_compact_summary), row.is_compact_summary is True
        if not (type(row) is Row and self._usual(node, message.content)):
            self._unusual(node, self._any_content(row))
        first = node.content[0] if node.content else None
        if isinstance(first, TextContent) and first.text.startswith(_WRITTEN_BY_PROGRAM):
            node.injected, node.interrupts = True, first.text.startswith(INTERRUPTED)
        if row.tool_use_result is not UNSET:
            self.remark("copy-left-out", "a copy of a result in the tool's own form")
            if node.results and self.calls.get(node.results[0].call) in _AGENT_TOOLS:
                agent = text_in(read_line(bytes(row.tool_use_result)), "agentId")
                if agent is not None:
                    self.agents[agent] = node.results[0].call

    def _usual(self, node: Node, content: Any) -> bool:
        """Read content of the usual shapes; returns whether it has only these."""
        results: list[Result] = []
        others = content
        if type(content) is list:
            others = []
            for block in content:
                if type(block) is not ResultBlock:
                    others.append(block)
                    continue
                inside = quick_blocks(block.content, USER)
                if inside is None:
                    return False
                results.append(Result(block.tool_use_id, inside, block.is_error is True))
        node.content = quick_blocks(others, USER)
        node.results = results or None
        return node.content is not None

    def _unusual(self, node: Node, content: Any) -> None:
        """Read content of any shape."""
        if isinstance(content, list) and any(_is_result(block) for block in content):
            node.results = [self._result(block) for block in content if _is_result(block)]
            content = [block for block in content if not _is_result(block)]
        node.content = user_blocks(content, self.remark)

    def _result(self, block: dict[str, Any]) -> Result:
        call = block.get("tool_use_id")
        content = result_blocks(block.get("content"), self.remark)
        return Result(call if isinstance(call, str) else "", content, block.get("is_error") is True)

    def _attachment(self, node: Node, attachment: dict[str, Any]) -> None:
        kind = attachment.get("type")
        node.injected = kind not in _OF_THE_USER or attachment.get("commandMode") == "task-notification"
        if kind == "queued_command":
            node.content = user_blocks(attachment.get("prompt"), self.remark)
        elif kind == "file":
            node.content = _attached_file(attachment)
        elif kind in ("edited_text_file", "nested_memory"):
            node.content = _attached_text(attachment)
        if not node.content:
            self.remark("row-left-out", f"an attachment of type {kind}")


_SPOKEN = {"user": Rows._user, "assistant": Rows._assistant}
_KINDS = {kind: kind for kind in TREE}
"""One copy of each word, however many rows have it."""


def _is_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _attached_file(attachment: dict[str, Any]) -> list[UserContent]:
    """A file that the user named in a prompt: its text, or an image."""
    content = object_in(attachment, "content")
    file = object_in(content, "file")
    data, kind = file.get("base64"), text_in(file, "type")
    if isinstance(data, str) and data and kind is not None:
        return [ImageContent(data, kind)]
    text = file.get("content")
    name = text_in(attachment, "filename") or text_in(file, "filePath") or ""
    return [TextContent(f"[File {name}]\n{text}")] if isinstance(text, str) and text else []


def _attached_text(attachment: dict[str, Any]) -> list[UserContent]:
    """A file that was changed, or a file of instructions."""
    inner = attachment.get("content")
    text = attachment.get("snippet") or (inner if isinstance(inner, str) else text_in(inner, "content"))
    name = text_in(attachment, "filename", "path") or ""
    return [TextContent(f"[File {name}]\n{text}")] if isinstance(text, str) and text else []


def agent_rows(files: Iterable[Source], session: str | None) -> list[Source]:
    """Those of the files that are sub-agents of the session."""
    return [each for each in files if each.rows and each.rows[0].get("sessionId") == session]
