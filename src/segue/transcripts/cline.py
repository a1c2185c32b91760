"""Tasks of Cline, Roo Code and Kilo: ``api_conversation_history.json``, a list of Anthropic's messages with extras.

Roo hides messages whose summary or truncation marker exists (``condenseParent``, ``truncationParent``); Cline stores
the range of indexes that it no longer sends beside the messages of the screen. ``ui_messages.json`` is read only where
the history is missing: it has neither calls nor results. Source: cline/cline and RooCodeInc/Roo-Code, 2026.
"""

from pathlib import Path
from typing import Any

from ..types import AssistantContent, TextContent, ThinkingContent, UserMessage
from ..types.text import whole_number
from . import signatures
from .building import Conversation
from .entries import Entry, below, entries_format
from .origins import ANTHROPIC
from .reading import mostly, object_in, objects, text_in, text_of, unix_ms
from .source import Object, Source
from .values import Compaction, Report, seen

NAME = "cline"
HISTORY, SCREEN = "api_conversation_history.json", "ui_messages.json"
_EXTRAS = frozenset({"ts", "modelInfo", "metrics", "condenseId", "condenseParent", "truncationParent", "isSummary"})


def _is_history(each: Object) -> bool:
    is_message = text_of(each.get("role")) in ("user", "assistant") and "content" in each
    return not _EXTRAS.isdisjoint(each) and (is_message or each.get("type") == "reasoning")


def _is_screen(each: Object) -> bool:
    return "ts" in each and each.get("type") in ("say", "ask") and ("say" in each or "ask" in each)


def _recognise(source: Source) -> bool:
    if source.is_directory:
        return bool({HISTORY, SCREEN} & source.members)
    return mostly(source.document, _is_history) or mostly(source.document, _is_screen)


def _entries(source: Source) -> list[Entry]:
    folder = source.path if source.is_directory else source.path.parent
    history, screen = Source(folder / HISTORY), Source(folder / SCREEN)
    if not source.is_directory and mostly(source.document, _is_history):
        history = source
    elif not source.is_directory:
        screen = source
    rows = history.document if history.path.is_file() else None
    shown = objects(screen.document) if screen.path.is_file() else []
    first = objects(rows)[:1] or shown[:1]
    started = unix_ms(first[0].get("ts")) if first else None
    return [Entry(read=lambda: _read(rows, shown), id=_task(folder), started=started)]


def _task(folder: Path) -> str | None:
    return folder.name if whole_number(folder.name) is not None else None


def _read(rows: Any, shown: list[Object]) -> Conversation:
    if isinstance(rows, list):
        return _read_history(rows, shown)
    report = Report()
    report.add("older-form", f"{HISTORY} is missing; the messages of the screen have neither calls nor results")
    return _read_screen(shown, report)


# -- the history -----------------------------------------------------------------------------------------------------


def _read_history(rows: list[Any], shown: list[Object]) -> Conversation:
    conversation = Conversation(NAME)
    conversation.set_origin("anthropic")
    hidden = _hidden(objects(rows)) | _deleted(shown)
    visible: list[Any] = []
    thoughts: list[AssistantContent] = []
    for at, row in enumerate(rows):
        conversation.at(where=f"[{at}]")
        start = len(conversation.log)
        if not isinstance(row, dict):
            conversation.remark("row-unknown", "not a message")
        elif row.get("type") == "reasoning":
            thoughts.append(_reasoning(row))
        else:
            _add(conversation, row, thoughts)
            thoughts = []
        if at not in hidden:
            visible += conversation.log[start:]
    if hidden:
        conversation.log.append(Compaction(tuple(seen(visible))))
    return conversation


def _hidden(rows: list[Object]) -> set[int]:
    summaries = {text_of(row.get("condenseId")) for row in rows if row.get("isSummary")} - {""}
    markers = {text_of(row.get("truncationId")) for row in rows if row.get("isTruncationMarker")} - {""}
    return {
        at
        for at, row in enumerate(rows)
        if text_of(row.get("condenseParent")) in summaries or text_of(row.get("truncationParent")) in markers
    }


def _deleted(shown: list[Object]) -> set[int]:
    """The indexes of messages that Cline no longer sends."""
    ranges = [each["conversationHistoryDeletedRange"] for each in shown if "conversationHistoryDeletedRange" in each]
    found = ranges[-1] if ranges else None
    if isinstance(found, list) and len(found) == 2 and all(isinstance(each, int) and each < 1e6 for each in found):
        return set(range(found[0], found[1] + 1))
    return set()


def _reasoning(row: Object) -> ThinkingContent:
    text = "\n\n".join(text_of(each.get("text")) for each in objects(row.get("summary")))
    return signatures.thinking(text, {"id": text_of(row.get("id")), "encrypted": text_of(row.get("encrypted_content"))})


def _add(conversation: Conversation, row: Object, thoughts: list[AssistantContent]) -> None:
    model = object_in(row, "modelInfo")
    if model:
        conversation.set_origin(text_in(model, "providerId"), text_in(model, "modelId"))
    content = row.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
    start = len(conversation.log)
    conversation.ingest({"role": row.get("role"), "content": blocks}, ANTHROPIC, time=row.get("ts"))
    last = conversation.log[-1] if len(conversation.log) > start else None
    if isinstance(last, UserMessage) and all(_is_environment(block) for block in last.content):
        conversation.log[-1] = UserMessage(last.content, injected=True)
    reasoning = text_in(row, "reasoning_content")
    found = [*thoughts, *([ThinkingContent(reasoning, "reasoning_content")] if reasoning else [])]
    if found and row.get("role") == "assistant":
        answer = conversation.log.pop() if len(conversation.log) > start else None
        content = answer.content if answer is not None and not isinstance(answer, Compaction) else []
        conversation.add_answer([*found, *content], time=row.get("ts"))


def _is_environment(block: Any) -> bool:
    return isinstance(block, TextContent) and block.text.lstrip().startswith("<environment_details>")


# -- the screen ------------------------------------------------------------------------------------------------------


def _read_screen(shown: list[Object], report: Report) -> Conversation:
    conversation = Conversation(NAME, report)
    blocks: list[AssistantContent] = []
    for at, row in enumerate(shown):
        conversation.at(where=f"[{at}]")
        conversation.saw(row.get("ts"))
        kind, text = text_in(row, "say", "ask") or "", text_of(row.get("text"))
        if kind == "user_feedback" or (kind == "text" and not conversation.log and not blocks):
            conversation.add_answer(blocks)
            blocks = []
            conversation.add_user(text)
        elif kind in ("text", "completion_result"):
            if blocks and isinstance(blocks[-1], TextContent) and text.startswith(blocks[-1].text.rstrip(".…")):
                blocks.pop()  # the same text, further along
            blocks.append(TextContent(text))
        elif kind == "reasoning":
            blocks.append(ThinkingContent(text))
        else:
            conversation.remark("row-left-out", "a message of the screen")
    conversation.add_answer(blocks)
    return conversation


_TASKS = "User/globalStorage/{}/tasks/*"
FORMAT = entries_format(
    name=NAME,
    title="Cline, Roo Code and Kilo",
    recognise=_recognise,
    entries=_entries,
    find=below(
        "~/.config/Code",
        *(
            _TASKS.format(each)
            for each in ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")
        ),
    ),
    source="cline/cline and RooCodeInc/Roo-Code, 2026; hand-made files of the screen",
)
