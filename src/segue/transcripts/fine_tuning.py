"""Fine-tuning files of OpenAI: a conversation of chat completions in each row, or a prompt with two answers.

A row with a ``model`` is a request, not an example. Messages of litellm (``reasoning_content``, ``thinking_blocks``)
are read as they are in requests. Source: OpenAI's guide to fine-tuning, 2026.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from .building import Conversation
from .datasets import dataset_format, first_rows
from .origins import CHAT
from .reading import mostly, object_in, object_of, objects, objects_in, text_of
from .source import Object, Source

NAME = "fine-tuning"
_FIELDS = frozenset(
    {"messages", "tools", "functions", "parallel_tool_calls", "id", "images", "videos", "audios", "weight", "metadata",
     "source", "category", "key", "answer", "prompt_id", "prompt"}
)  # fmt: skip
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


def is_own(row: Object) -> bool:
    """Whether a row is an example: nothing of a request beside its messages, or two answers to compare."""
    if "preferred_output" in row:
        return True
    messages = objects(row.get("messages"))
    return bool(messages) and row.keys() <= _FIELDS and all(map(_is_message, messages))


def _is_message(message: Object) -> bool:
    return text_of(message.get("role")) in _ROLES and not {"parts", "stopReason", "provider"} & message.keys()


def recognise(source: Source) -> bool:
    """Whether a file holds several examples. A single object with messages is read as a request body elsewhere."""
    found = first_rows(source)
    several = isinstance(source.document, list) or len(found) > 1 or "preferred_output" in object_of(source.document)
    return several and mostly(found, is_own)


def read(conversation: Conversation, row: Object) -> None:
    """Read one row."""
    prompt = object_in(row, "input") or row
    conversation.add_tools(prompt.get("tools") or prompt.get("functions"))
    _add(conversation, objects_in(prompt, "messages"))
    if "preferred_output" in row:
        _add(conversation, objects_in(row, "preferred_output"))
        other = Conversation(NAME)
        _add(other, [*objects_in(prompt, "messages"), *objects_in(row, "non_preferred_output")])
        conversation.add_branch("non-preferred", other)
    if row.get("images") or row.get("videos") or row.get("audios"):
        conversation.remark("file-missing", "images and files beside a dataset are not read")


def _add(conversation: Conversation, messages: Iterable[Object]) -> None:
    for message in messages:
        weight = message.get("weight")
        meta = {"weight": weight} if isinstance(weight, int | float) else None
        conversation.ingest(message, CHAT, meta=meta)


FORMAT = replace(
    dataset_format(
        name=NAME,
        title="Fine-tuning files of OpenAI",
        recognise=is_own,
        read=read,
        verified=True,
        source="OpenAI's guide to fine-tuning, 2026",
    ),
    recognise=recognise,
    is_plain=lambda source: source.document is None and all("messages" in row for row in source.rows),
)
