"""Sessions of the GitHub Copilot CLI: one event on each line (``events.jsonl``, 1.0.77). The system prompt is kept.

Events with a ``parentToolCallId`` are those of a sub-agent.
"""

from collections.abc import Iterable

from ..types import AssistantContent, TextContent, ThinkingContent
from .building import Conversation, tokens
from .entries import below, rows_format
from .reading import as_text, object_in, objects_in, text_in, text_of
from .source import Object

NAME = "copilot"
_PREFIXES = ("session.", "user.", "assistant.", "tool.", "system.", "hook.", "subagent.", "skill.")


def is_own(rows: list[Object]) -> bool:
    kinds = [text_of(row.get("type")) for row in rows if isinstance(row.get("data"), dict)]
    return any(kind in ("session.start", "user.message", "assistant.message", "session.resume") for kind in kinds)


def head(rows: list[Object]) -> Object:
    start = next((object_in(row, "data") for row in rows if row.get("type") == "session.start"), {})
    return {
        "id": text_in(start, "sessionId"),
        "cwd": text_in(object_in(start, "context"), "cwd"),
        "version": text_in(start, "copilotVersion"),
    }


def read(conversation: Conversation, rows: Iterable[tuple[int, Object]]) -> None:
    agents: dict[str, Conversation] = {}
    thoughts: dict[str, str] = {}
    for line, row in rows:
        conversation.saw(row.get("timestamp"))
        data = object_in(row, "data")
        parent = text_of(data.get("parentToolCallId"))
        found = conversation
        if parent:
            found = agents.setdefault(parent, Conversation(NAME, conversation.report))
        found.at(line)
        conversation.at(line)
        _event(found, text_of(row.get("type")), row, data, thoughts)
    for call, agent in agents.items():
        conversation.add_branch(call, agent, "subagent", call)


def _event(conversation: Conversation, kind: str, row: Object, data: Object, thoughts: dict[str, str]) -> None:
    if kind in ("session.start", "session.model_change", "session.resume"):
        conversation.set_origin(model=text_in(data, "selectedModel", "newModel"))
    elif kind == "system.message":
        if text_of(data.get("content")) not in conversation.system:
            conversation.add_system(text_of(data.get("content")))
    elif kind == "user.message":
        conversation.add_user(text_in(data, "transformedContent", "content") or "")
        for _ in objects_in(data, "attachments"):
            conversation.remark("file-missing", "an attachment, whose content is not in the file")
    elif kind == "assistant.reasoning":
        thoughts["next"] = text_of(data.get("content"))
    elif kind == "assistant.message":
        conversation.set_origin(model=data.get("model"))
        conversation.add_answer(
            _blocks(conversation, data, thoughts.pop("next", "")),
            time=row.get("timestamp"),
            usage=tokens(0, data.get("outputTokens")),
            response_id=text_in(data, "messageId"),
        )
    elif kind == "tool.execution_complete":
        result, error = object_in(data, "result"), object_in(data, "error")
        text = text_in(result, "content", "detailedContent") or text_in(error, "message") or ""
        conversation.add_result(data.get("toolCallId"), text, data.get("success") is False, data.get("toolName"))
    elif kind == "abort" or kind.startswith(_PREFIXES):
        conversation.unknown(row, (kind,))
    else:
        conversation.unknown(row)


def _blocks(conversation: Conversation, data: Object, thought: str) -> list[AssistantContent]:
    blocks: list[AssistantContent] = []
    thought = text_in(data, "reasoningText") or thought
    signature = text_in(data, "reasoningOpaque", "encryptedContent")
    if thought or signature:
        blocks.append(ThinkingContent(thought, signature))
    if text_of(data.get("content")):
        blocks.append(TextContent(as_text(data["content"])))
    for call in objects_in(data, "toolRequests"):
        blocks.append(conversation.call(call.get("toolCallId"), call.get("name"), call.get("arguments")))
    return blocks


FORMAT = rows_format(
    name=NAME,
    title="GitHub Copilot CLI",
    recognise=is_own,
    head=head,
    read=read,
    find=below("~/.copilot/session-state", "*/events.jsonl", "*.jsonl"),
    verified=True,
    source="files of 1.0.77",
)
