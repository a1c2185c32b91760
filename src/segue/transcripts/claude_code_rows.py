"""The rows of a file of Claude Code, each read once into a node of the tree that they form.

Rows hold one block each; which of them make one answer, and which are on the live branch, is decided in
``claude_code_tree.py``. Formats 1.0.24 to 2.1.220 were seen in files; 2.1.197 was run (2026-11-16).
"""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from ..types import AssistantContent, ImageContent, TextContent, ToolCall, ToolResultContent, UserContent
from ..types.codec import UNREADABLE
from ..types.text import scrub_escapes
from .anthropic_blocks import answer_blocks, result_blocks, user_blocks
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
INTERRUPTED = "[Request interrupted by user"
SYNTHETIC = "<synthetic>"


class _Message(Struct, gc=False):
    content: Any = None
    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: dict[str, Any] | None = None


class Row(Struct, gc=False, rename="camel"):
    """The fields that are read of a row. All others are left out."""

    type: str = ""
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    message: _Message | None = None
    attachment: dict[str, Any] | None = None
    subtype: str | None = None
    compact_metadata: dict[str, Any] | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    agent_id: str | None = None
    summary: str | None = None
    leaf_uuid: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None


class Result(Struct, gc=False):
    """A result in a user row."""

    call: str
    content: list[ToolResultContent]
    is_error: bool


class Answered(Struct, gc=False):
    """The block of an answer in an assistant row."""

    id: str
    content: list[AssistantContent]
    model: str
    stop: str | None
    usage: dict[str, Any] | None
    timestamp: str | None


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
    preserved: str | None = None
    """The uuid of the first row that a compaction kept."""
    answer: Answered | None = None
    content: list[UserContent] | None = None
    results: list[Result] | None = None
    timestamp: str | None = None

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


_decode = msgspec.json.Decoder(Row).decode


class Rows:
    """All rows of a file."""

    def __init__(self, source: Source, report: Report) -> None:
        self.nodes: list[Node] = []
        self.numbers: dict[str, int] = {}
        self.head = Head(titles={})
        self.calls: dict[str, str] = {}
        """The names of the tools, by the ids of the calls."""
        self.prompts: dict[str, str] = {}
        """The calls that gave a prompt to a sub-agent, by the prompt."""
        self._report, self._line = report, 0
        self._source = source
        torn: tuple[int, bytes] | None = None
        for number, line in source.lines():
            if torn is not None:
                self._unreadable(torn[0])
                torn = None
            self._line = number
            row = self._row(line)
            if row is None:
                torn = (number, line)
            else:
                self._add(row)
        if torn is not None:
            report_last_line(report, *torn)

    def _unreadable(self, line: int) -> None:
        self._report.add("line-unreadable", "this line is not JSON", line)

    def remark(self, code: RemarkCode, text: str) -> None:
        self._report.add(code, text, self._line)

    def _row(self, line: bytes) -> Row | None:
        try:
            return _decode(line)
        except UNREADABLE:
            pass
        try:
            return _decode(scrub_escapes(line))
        except UNREADABLE:
            pass
        value = read_line(line)
        if not isinstance(value, dict):
            return None
        names = ("type", "uuid", "parentUuid", "sessionId", "timestamp")
        self.remark("row-incomplete", f"a row of type {value.get('type')!r} with a field of another type than usual")
        return msgspec.convert({name: found for name in names if (found := text_in(value, name))}, Row)

    # -- rows ---------------------------------------------------------------------------------------------------------

    def _add(self, row: Row) -> None:
        self._note(row)
        if row.uuid is None or row.type not in TREE:
            self._leave_out(row)
            return
        if row.uuid in self.numbers:
            self.remark("row-repeated", f"a copy of row {row.uuid}")
            return
        parent = row.parent_uuid
        node = Node(self._line, row.uuid, row.type, None, bool(row.is_sidechain), timestamp=row.timestamp)
        if row.subtype == "compact_boundary":
            node.boundary = True
            node.preserved = text_in(object_in(row.compact_metadata, "preservedSegment"), "headUuid")
            parent = row.logical_parent_uuid or parent
        node.parent = self.numbers.get(parent, parent) if parent else None
        self.numbers[row.uuid] = len(self.nodes)
        self.nodes.append(node)
        if row.message is not None and row.type in ("user", "assistant"):
            (self._user if row.type == "user" else self._assistant)(node, row, row.message)
        elif row.attachment is not None:
            self._attachment(node, row.attachment)
        elif not node.boundary:
            self.remark("row-left-out", f"a row of type {row.type}{f' ({row.subtype})' if row.subtype else ''}")

    def _note(self, row: Row) -> None:
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

    def _leave_out(self, row: Row) -> None:
        if row.type in LOOSE:
            self.remark("row-left-out", f"a row of type {row.type}")
        elif row.type in TREE:
            self.remark("row-incomplete", f"a row of type {row.type} without a uuid")
        else:
            self.remark("row-unknown", f"a row of type {row.type!r}")

    def _assistant(self, node: Node, row: Row, message: _Message) -> None:
        content = answer_blocks(message.content, self.remark)
        for block in content:
            if type(block) is ToolCall:
                self.calls[block.id] = block.name
                if isinstance(prompt := block.arguments.get("prompt"), str):
                    self.prompts[prompt] = block.id
        identity = message.id or f"row {node.uuid}"
        node.answer = Answered(
            identity, content, message.model or "", message.stop_reason, message.usage, row.timestamp
        )

    def _user(self, node: Node, row: Row, message: _Message) -> None:
        content = message.content
        node.injected, node.summary = bool(row.is_meta or row.is_compact_summary), bool(row.is_compact_summary)
        if isinstance(content, list) and any(_is_result(block) for block in content):
            node.results = [self._result(block) for block in content if _is_result(block)]
            content = [block for block in content if not _is_result(block)]
        node.content = user_blocks(content, self.remark)
        first = node.content[0] if node.content else None
        if isinstance(first, TextContent) and first.text.startswith(_WRITTEN_BY_PROGRAM):
            node.injected = True

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
