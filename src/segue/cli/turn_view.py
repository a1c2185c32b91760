"""The events of a turn, drawn line by line as they happen.

Complete lines are printed. The line that is still growing is passed to ``show_live``, which may display it.
"""

from collections.abc import Callable
from typing import assert_never

from ..agent import Outcome
from ..events import (
    CallResult,
    CallStart,
    Compaction,
    Done,
    Error,
    ProviderEnd,
    ProviderStart,
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
from ..healing import REPORT
from ..tools import FINAL_STATES, CallState
from ..types import AssistantMessage, FileContent, ImageContent, TextContent, ToolResultMessage, dollars
from ..types.text import count_of
from .conversation_view import call_parts
from .formatting import shorten, text_of, tokens_of
from .printable import one_line, printable
from .terminal import Part, Screen, wrap_line

RESULT_LINES = 8
"""Lines of a result that are shown."""
THINKING = "dim italic"

ShowLive = Callable[[str, str], None]
"""Called with the line that is still growing, and its style."""


class TurnView:
    """Draws the events of turns. Without ``texts``, the model's text and thinking are left out."""

    def __init__(self, screen: Screen, show_live: ShowLive = lambda text, style: None, *, texts: bool = True) -> None:
        self.screen = screen
        self.show_live = show_live
        self.texts = texts
        self.states: dict[str, CallState] = {}
        """The states of the calls that the last answer made, by their ids."""
        self._growing = ""
        self._style = ""
        self._numbers: dict[str, int] = {}

    def show(self, event: TurnEvent) -> None:
        """Draw one event."""
        match event:
            case Start():
                self._begin_answer()
            case TextDelta():
                self._grow(event.delta, "")
            case ThinkingDelta():
                self._grow(event.delta, THINKING)
            case TextEnd() | ThinkingEnd():
                self.end_line()
            case Done():
                self._draw_healing(event.message)
            case ProviderEnd():
                self.line((one_line(f"◇ {event.block.kind}"), "blue"), (f" {shorten(event.block.text, 1)}", "dim"))
            case Error():
                self.line((f"✗ {event.message.error_message or event.message.stop_reason}", "red"))
            case CallState():
                self._draw_state(event)
            case CallResult():
                self._draw_result(event.result)
            case Steered():
                self.line(("» now read: ", "dim"), (shorten(text_of(event.message), 1), "dim"))
            case Retried():
                self.line((f"↻ {event.reason}", "yellow"))
            case Switch():
                self.line((one_line(f"⇄ {event.model} continues: {event.reason}"), "bold yellow"))
            case Compaction():
                self.line((f"≡ a summary replaces {count_of(event.messages, 'message')}", "magenta"))
            case TurnEnd():
                self.end_line()
                self.states.clear()
            case TextStart() | ThinkingStart() | ToolCallStart() | ToolCallDelta() | ToolCallEnd() | ProviderStart():
                pass  # nothing to draw that the other events do not show
            case TurnStart() | CallStart():
                pass  # the message was drawn when it was typed, the call with its first state
            case _:
                assert_never(event)

    def line(self, *parts: Part, indent: int = 0) -> None:
        """Draw texts with their styles as one paragraph."""
        self.end_line()
        self.screen.line(*parts, indent=indent)

    def note(self, text: str) -> None:
        """Print a remark about the conversation."""
        if text:
            self.line((text, "dim"))

    def error(self, text: str) -> None:
        """Print that something did not work."""
        self.line((f"✗ {' '.join(text.split())}", "red"))

    def outcome(self, outcome: Outcome) -> None:
        """Print how a run ended, and what it used."""
        used = " · ".join(
            part for part in (tokens_of(outcome.usage), dollars(outcome.cost) if outcome.cost else "") if part
        )
        if outcome.how == "done":
            self.line((used or "done", "dim"))
            return
        reason = f": {outcome.reason}" if outcome.reason else ""
        self.line((f"■ {outcome.how}{reason}", "red"), (f"  {used}" if used else "", "dim"))

    def end_line(self) -> None:
        """Print the line that is growing, and start a new one."""
        growing, self._growing = self._growing, ""
        if growing:
            self._print(growing)
            self.show_live("", "")

    @property
    def activity(self) -> str:
        """What the present calls are doing, in a few words; empty if there are none."""
        unfinished = [each for each in self.states.values() if each.state not in FINAL_STATES]
        if not unfinished:
            return ""
        running = ", ".join(dict.fromkeys(each.call.name for each in unfinished if each.state == "executing"))
        finished = len(self.states) - len(unfinished)
        progress = f" ({finished} of {len(self.states)} done)" if len(self.states) > 1 else ""
        return one_line(f"running {running}{progress}" if running else f"{unfinished[0].state}{progress}")

    def _begin_answer(self) -> None:
        self.end_line()
        self.states.clear()
        self._numbers.clear()

    def _grow(self, delta: str, style: str) -> None:
        """Print the lines that are complete, wrapped to the width of the terminal. The rest is shown live."""
        if not self.texts:
            return
        if style != self._style:
            self.end_line()
            self._style = style
        *complete, growing = printable(self._growing + delta.replace("\r", "")).split("\n")
        *wrapped, self._growing = wrap_line(growing, self.screen.width)
        for line in (*complete, *wrapped):
            self._print(line)
        self.show_live(self._growing, self._style)

    def _print(self, text: str) -> None:
        self.screen.line((text, self._style), wrap=False)

    def _draw_healing(self, message: AssistantMessage) -> None:
        """A request that was changed and sent again is always reported."""
        for each in message.diagnostics:
            if each.type == REPORT and each.message:
                self.line((one_line(f"↻ {each.message}"), "yellow"))

    def _draw_state(self, event: CallState) -> None:
        call = event.call
        if call.id not in self.states:
            self._numbers[call.id] = number = len(self._numbers) + 1
            self.line(("→ ", "yellow"), (f"{number} ", "dim"), *call_parts(call), indent=2)
        self.states[call.id] = event

    def _draw_result(self, result: ToolResultMessage) -> None:
        mark, style = ("✗ ", "red") if result.is_error else ("✓ ", "green")
        number = self._numbers.get(result.tool_call_id)
        title = one_line(f"{number} {result.tool_name}" if number is not None else result.tool_name)
        self.line((mark, style), (title, "dim"), (f"\n{_result_text(result)}", ""), indent=2)


def _result_text(result: ToolResultMessage) -> str:
    parts = []
    for block in result.content:
        match block:
            case TextContent():
                parts.append(shorten(block.text.strip("\n"), RESULT_LINES))
            case ImageContent():
                parts.append(f"▣ {block.mime_type or block.url}")
            case FileContent():
                parts.append(f"▤ {block.name or block.mime_type}")
            case _:
                assert_never(block)
    return "\n".join(parts) or "(no text)"
