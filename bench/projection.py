"""The cost of projection per message, by the length and the state of a history."""

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

import segue
from segue.types import AssistantMessage, Context, Message, ToolResultMessage

from .conversations import tool_history
from .measure import measured
from .report import Part, Section, Table, cell

LENGTHS = (100, 1_000, 10_000)


def torn(context: Context) -> Context:
    """The same history with every fifth result removed, every seventh doubled, and every eleventh answer failed."""
    messages: list[Message] = []
    for at, message in enumerate(context.messages):
        if isinstance(message, ToolResultMessage) and at % 5 == 0:
            continue
        if isinstance(message, AssistantMessage) and at % 11 == 0:
            message = replace(message, stop_reason="aborted")
        messages.append(message)
        if isinstance(message, ToolResultMessage) and at % 7 == 0:
            messages.append(message)
    return replace(context, messages=messages)


def run() -> Iterator[Part]:
    own = segue.get_model("anthropic/claude-sonnet-4-5")
    other = segue.get_model("mistral/mistral-large-latest")
    rows = []
    for title, model, tear in (
        ("clean, to the model that made it", own, False),
        ("switched to another protocol", other, False),
        ("torn, and switched", other, True),
    ):
        histories = {count: torn(tool_history(count)) if tear else tool_history(count) for count in LENGTHS}
        times = measured({count: partial(segue.project, history, model) for count, history in histories.items()})
        cells = [cell(times[count].times(1e6 / len(histories[count].messages)), "µs") for count in LENGTHS]
        rows.append((title, *cells))
    heads = [f"{count:,} messages" for count in LENGTHS]
    yield Table("segue.project(context, model), µs per message", ("history", *heads), rows)


SECTION = Section("project", "Projection alone", run)
