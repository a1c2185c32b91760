"""What happens in a turn, drawn line by line as it happens.

Whole lines go to the console; the line that is still growing is handed to ``live``, which may show it or not.
"""

from collections.abc import Callable
from typing import Any, assert_never

from ..agent import Outcome
from ..events import (
    CallResult,
    CallStart,
    Compaction,
    Done,
    Error,
    Retried,
    Start,
    Steered,
    Switch,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    TurnEnd,
    TurnEvent,
    TurnStart,
)
from ..tools import CallState
from ..tools.states import ENDS
from ..types import ImageContent, TextContent, ToolCall, ToolResultMessage
from .printable import flat, printable
from .show import brief, dollars, folded, tokens_of
from .terminal import Part, Screen, broken

RESULT_LINES = 8
"""Lines of a result that are shown."""
THINKING = "dim italic"

Live = Callable[[str, str], None]
"""Given the line that is still growing, and its style."""


class View:
    """Draws the events of turns. Without ``texts``, what the model says and thinks is left out."""

    def __init__(self, screen: Screen, live: Live = lambda text, style: None, *, texts: bool = True) -> None:
        self.screen = screen
        self.live = live
        self.texts = texts
        self.states: dict[str, CallState] = {}
        """How far the calls of the present batch are, by their ids."""
        self._growing = ""
        self._style = ""
        self._numbers: dict[str, int] = {}

    def show(self, event: TurnEvent) -> None:
        """Draw one event."""
        draw = _DRAWN[type(event)]
        if draw is not None:
            draw(self, event)

    def line(self, *parts: Part, indent: int = 0) -> None:
        """Texts with their styles, as one paragraph."""
        self.settle()
        self.screen.line(*parts, indent=indent)

    def settle(self) -> None:
        """End the line that is growing."""
        growing, self._growing = self._growing, ""
        if growing:
            self._print(growing)
            self.live("", "")

    @property
    def doing(self) -> str:
        """What the calls of the present batch are doing, in a few words; empty if there are none."""
        waiting = [each for each in self.states.values() if each.state not in ENDS]
        if not waiting:
            return ""
        running = ", ".join(dict.fromkeys(each.call.name for each in waiting if each.state == "executing"))
        ended = len(self.states) - len(waiting)
        counted = f" ({ended} of {len(self.states)} done)" if len(self.states) > 1 else ""
        return flat(f"running {running}{counted}" if running else f"{waiting[0].state}{counted}")

    # -- what the model says ------------------------------------------------------------------------------------------

    def _text(self, event: TextDelta) -> None:
        self._grow(event.delta, "")

    def _thinking(self, event: ThinkingDelta) -> None:
        self._grow(event.delta, THINKING)

    def _block_end(self, event: TextEnd | ThinkingEnd) -> None:
        self.settle()

    def _grow(self, delta: str, style: str) -> None:
        """Print the lines that are whole, broken where the terminal ends; the rest is live."""
        if not self.texts:
            return
        if style != self._style:
            self.settle()
            self._style = style
        *whole, growing = printable(self._growing + delta.replace("\r", "")).split("\n")
        *full, self._growing = broken(growing, self.screen.width)
        for line in (*whole, *full):
            self._print(line)
        self.live(self._growing, self._style)

    def _print(self, text: str) -> None:
        self.screen.line((text, self._style), wrap=False)

    # -- calls and results --------------------------------------------------------------------------------------------

    def _state(self, event: CallState) -> None:
        call = event.call
        if call.id not in self.states:
            self._numbers[call.id] = number = len(self._numbers) + 1
            self.line(("→ ", "yellow"), (f"{number} ", "dim"), *call_parts(call), indent=2)
        self.states[call.id] = event

    def _result(self, event: CallResult) -> None:
        result = event.result
        mark, style = ("✗ ", "red") if result.is_error else ("✓ ", "green")
        number = self._numbers.get(result.tool_call_id)
        named = flat(f"{number} {result.tool_name}" if number is not None else result.tool_name)
        self.line((mark, style), (named, "dim"), (f"\n{_result_text(result)}", ""), indent=2)

    # -- what else happens --------------------------------------------------------------------------------------------

    def _start(self, event: Start) -> None:
        self.settle()
        self.states.clear()
        self._numbers.clear()

    def _error(self, event: Error) -> None:
        self.line((f"✗ {event.message.error_message or event.message.stop_reason}", "red"))

    def _steered(self, event: Steered) -> None:
        text = "".join(block.text for block in event.message.content if isinstance(block, TextContent))
        self.line(("» now read: ", "dim"), (folded(text, 1), "dim"))

    def _retried(self, event: Retried) -> None:
        self.line((f"↻ {event.reason}", "yellow"))

    def _switch(self, event: Switch) -> None:
        self.line((flat(f"⇄ {event.model} goes on: {event.reason}"), "bold yellow"))

    def _compaction(self, event: Compaction) -> None:
        self.line((f"≡ {event.messages} messages were replaced by a summary", "magenta"))

    def _end(self, event: TurnEnd) -> None:
        self.settle()
        self.states.clear()

    def outcome(self, outcome: Outcome) -> None:
        """What came of a run, and what it has used."""
        used = " · ".join(
            part for part in (tokens_of(outcome.usage), dollars(outcome.cost) if outcome.cost else "") if part
        )
        if outcome.how == "done":
            self.line((used or "done", "dim"))
            return
        why = f": {outcome.reason}" if outcome.reason else ""
        self.line((f"■ {outcome.how}{why}", "red"), (f"  {used}" if used else "", "dim"))


_DRAWN: dict[type[TurnEvent], Callable[[View, Any], None] | None] = {
    Start: View._start,
    TextStart: None,
    TextDelta: View._text,
    TextEnd: View._block_end,
    ThinkingStart: None,
    ThinkingDelta: View._thinking,
    ThinkingEnd: View._block_end,
    ToolCallStart: None,  # a call is drawn when it is known whether it runs
    ToolCallDelta: None,
    ToolCallEnd: None,
    Done: None,
    Error: View._error,
    TurnStart: None,
    Steered: View._steered,
    Retried: View._retried,
    Switch: View._switch,
    Compaction: View._compaction,
    CallState: View._state,
    CallStart: None,
    CallResult: View._result,
    TurnEnd: View._end,
}
"""How each kind of event is drawn; ``None``: it is not shown."""


def call_parts(call: ToolCall) -> list[tuple[str, str]]:
    """A call in one line."""
    arguments = ", ".join(f"{name}={brief(value)}" for name, value in call.arguments.items())
    return [(flat(call.name), "bold yellow"), (f"({arguments})", "")]


def _result_text(result: ToolResultMessage) -> str:
    parts = []
    for block in result.content:
        if isinstance(block, TextContent):
            parts.append(folded(block.text.strip("\n"), RESULT_LINES))
        elif isinstance(block, ImageContent):
            parts.append(f"▣ {block.mime_type}")
        else:
            assert_never(block)
    return "\n".join(parts) or "(no text)"
