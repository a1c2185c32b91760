"""What projection costs a message, by the length and the state of a history."""

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

import segue
from segue.types import AssistantMessage, Context, Message, ToolResultMessage

from .conversations import tool_history
from .measure import medians, table

LENGTHS = (100, 1_000, 10_000)


def torn(context: Context) -> Context:
    """The same history with every fifth result gone, every seventh doubled, and every eleventh answer failed."""
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


def run() -> None:
    own = segue.get_model("anthropic/claude-sonnet-4-5")
    other = segue.get_model("mistral/mistral-large-latest")
    for title, model, tear in (
        ("clean, to the model that made it", own, False),
        ("switched to another protocol", other, False),
        ("torn, and switched", other, True),
    ):
        histories = {count: torn(tool_history(count)) if tear else tool_history(count) for count in LENGTHS}
        calls: dict[str, Callable[[], object]] = {
            f"{count:,} messages": partial(segue.project, history, model) for count, history in histories.items()
        }
        times = medians(calls)
        rows = [
            (name, times[name] / len(history.messages), "a message")
            for name, history in zip(times, histories.values(), strict=True)
        ]
        table(f"project a history: {title}", rows, "µs", 1e6)
