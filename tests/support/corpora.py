"""Corpora for tests: clean conversations, torn ones in every way of the failure corpus, and rows that are neither."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

import segue
from segue.types import AssistantMessage, Context, TextContent, ToolCall, ToolDefinition, ToolResultMessage, UserMessage
from support.cases import context, load

IS_LARGE = bool(os.environ.get("SEGUE_ENDURANCE"))
"""Whether the large versions of these tests run: `make endurance`."""
TARGETS = ("anthropic/claude-sonnet-4-5", "openai/gpt-5.4", "mistral/mistral-large-latest")
UNREADABLE: tuple[Callable[[int], str], ...] = (
    lambda at: f'{{"id":{at},"messages":[',
    lambda at: json.dumps({"id": at, "messages": "no conversation"}),
    lambda at: json.dumps({"id": at, "messages": [{"role": "martian", "content": "hello"}]}),
    lambda at: json.dumps({"id": at, "text": "no column for it"}),
)
"""Rows that are not conversations."""
REJECTED_EVERY = 40
TORN_EVERY = 5
TOOLS = [ToolDefinition("search", "finds things", {"type": "object", "properties": {"text": {"type": "string"}}})]


def clean(at: int) -> Context:
    """A conversation with a call and its result, different for each number."""
    made = segue.get_model(TARGETS[0])
    call = ToolCall(f"toolu_{at:08d}", "search", {"text": f"thing {at}"})
    first = AssistantMessage.start(made, 1_700_000_000_000)
    asked = replace(first, content=[TextContent("I look."), call], stop_reason="toolUse")
    told = replace(first, content=[TextContent(f"It is {at}.")], stop_reason="stop")
    result = ToolResultMessage(call.id, "search", [TextContent(f"found {at}")])
    return Context([UserMessage(f"Where is thing {at}?"), asked, result, told], system_prompt="Help.", tools=TOOLS)


def torn() -> list[Context]:
    """A conversation for each way of the failure corpus."""
    return [context(case) for case in load("corpus").values()]


def rows(count: int) -> Iterator[tuple[int, Context | None, str]]:
    """Rows as lines: a number, the conversation (``None``: unreadable), and the text."""
    broken = torn()
    for at in range(count):
        if at % REJECTED_EVERY == REJECTED_EVERY - 1:
            yield at, None, UNREADABLE[at // REJECTED_EVERY % len(UNREADABLE)](at)
            continue
        found = broken[at // TORN_EVERY % len(broken)] if at % TORN_EVERY == 0 else clean(at)
        columns = {"id": at, "note": f"row {at}", "rate": 1.50}
        yield at, found, json.dumps(json.loads(found.to_json()) | columns, ensure_ascii=False)


def write(path: Path, count: int) -> Path:
    """Write a corpus of so many rows."""
    with path.open("w", encoding="utf-8") as file:
        for _, _, text in rows(count):
            file.write(text + "\n")
    return path


def written(out: Path) -> list[dict[str, Any]]:
    """All rows that a run has written, in order."""
    files = sorted(file for file in out.rglob("*.jsonl") if file.name != "rejected.jsonl" and "parts" not in file.parts)
    return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]


def expected_changes(model: segue.Model, count: int) -> tuple[Counter[str], int]:
    """How many rows have each change for a model, and how many rows cannot be rendered, found one by one."""
    found, refused = Counter[str](), 0
    for _, conversation, text in rows(count):
        if conversation is None:
            refused += 1
            continue
        try:
            found.update({change.code for change in segue.encode(segue.Context.from_json(text), model).changes})
        except segue.ProjectionError:
            refused += 1
    return found, refused
