"""Message batches of Anthropic: rows with requests, rows with results, or both, joined by ``custom_id``.

A directory with both files is read like one file. Source: anthropic 0.125.0, ``types/messages/batch_*.py``.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from .building import STOPS, Conversation, tokens
from .datasets import Row, all_rows, first_rows
from .entries import Entry, entries_format
from .origins import ANTHROPIC, Origin
from .reading import mostly, object_in, object_of, objects_in, text_in, text_of
from .source import Object, Source
from .values import Report

NAME = "anthropic-batches"


def is_own(row: Object) -> bool:
    """Whether a row is a request or a result of a batch."""
    kinds = ("succeeded", "errored", "canceled", "expired")
    request, result = object_in(row, "params"), object_in(row, "result")
    return "custom_id" in row and ("messages" in request or result.get("type") in kinds)


def _recognise(source: Source) -> bool:
    return bool(_files(source))


def _files(source: Source) -> list[Source]:
    """The files of a batch: those in a directory, or the file itself."""
    files = [Source(path) for path in sorted(Path(source.path).glob("*.jsonl"))] if source.is_directory else [source]
    return [each for each in files if mostly(first_rows(each), is_own)]


def _entries(source: Source) -> Iterator[Entry]:
    faults = Report()
    found: dict[str, list[Row]] = {}
    for file in _files(source):
        for row in all_rows(file, faults):
            found.setdefault(text_of(row[2].get("custom_id")), []).append(row)
    for name, parts in found.items():
        yield Entry(read=lambda parts=parts: _read(parts, faults), id=name)  # type: ignore[misc] # a bound default


def _read(parts: Iterable[Row], faults: Report) -> Conversation:
    report = Report()
    report.remarks += faults.remarks
    conversation = Conversation(NAME, report)
    for line, where, row in sorted(parts, key=lambda part: "params" not in part[2]):
        conversation.at(line, where)
        if "params" in row:
            _request(conversation, object_in(row, "params"))
        elif "result" in row:
            _result(conversation, object_in(row, "result"))
        else:
            conversation.remark("row-unknown", "neither a request nor a result")
    return conversation


def _request(conversation: Conversation, request: Object) -> None:
    conversation.origin = Origin(ANTHROPIC, "anthropic", text_of(request.get("model")))
    if request.get("system") and not conversation.ingest_body({"messages": [], "system": request["system"]}, ANTHROPIC):
        conversation.remark("row-incomplete", "a system prompt that cannot be read")
    conversation.add_tools(request.get("tools"))
    for message in objects_in(request, "messages"):
        conversation.ingest(message, ANTHROPIC)


def _result(conversation: Conversation, result: Object) -> None:
    message, kind = object_in(result, "message"), text_of(result.get("type"))
    conversation.origin = Origin(ANTHROPIC, "anthropic", text_in(message, "model") or conversation.origin.model)
    if not message:
        error = object_of(object_in(result, "error").get("error"))
        said = ": ".join(part for name in ("type", "message") if (part := text_in(error, name)))
        conversation.add_answer([], stop="error", error_message=said or kind or "error")
        return
    usage = object_in(message, "usage")
    counts = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    stop = text_of(message.get("stop_reason"))
    conversation.ingest(
        {"role": "assistant", "content": message.get("content")},
        ANTHROPIC,
        stop=stop if stop in STOPS else None,
        usage=tokens(*(usage.get(name) for name in counts)),
        response_id=text_in(message, "id"),
    )


FORMAT = entries_format(
    name=NAME,
    title="Message batches of Anthropic",
    recognise=_recognise,
    entries=_entries,
    in_rows=True,
    source="anthropic 0.125.0, types",
)
