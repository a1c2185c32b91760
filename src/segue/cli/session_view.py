"""A stored session as it is printed: its conversation and, between the messages, the other entries of its log."""

from typing import assert_never

from ..compaction import is_summary, text_of_summary
from ..session import (
    AnyEntry,
    AttemptFailed,
    CallStarted,
    Compacted,
    MessageAdded,
    ModelChosen,
    SessionInfo,
    Stored,
    SystemPromptSet,
    TurnBegun,
    TurnEnded,
    TurnRenewed,
)
from ..types import Context, UserMessage
from .conversation_view import ConversationView
from .formatting import text_of
from .printable import one_line
from .terminal import Screen

NEXT_STEPS = {
    "retry": "tried again",
    "next": "went to the next model",
    "compact": "compacted first",
    "give-up": "gave up",
}
"""What was done after a failed attempt, in words."""


class SessionView(ConversationView):
    """Draws a session. Messages have the numbers of their entries, which ``sessions fork --at`` accepts."""

    def __init__(self, screen: Screen, info: SessionInfo, log: list[Stored], *, thinking: bool, full: bool) -> None:
        messages = [(stored.number, stored.entry.message) for stored in log if isinstance(stored.entry, MessageAdded)]
        super().__init__(screen, Context(messages=[message for _, message in messages]), thinking=thinking, full=full)
        self.info = info
        self.log = log
        self.numbers = [number for number, _ in messages]
        self.numbers_by_key = {stored.entry.key: stored.number for stored in log}

    def number(self, index: int) -> int:
        return self.numbers[index]

    def draw(self) -> None:
        self.draw_head()
        index = 0
        for stored in self.log:
            if isinstance(stored.entry, MessageAdded):
                self.draw_message(index, stored.entry.message)
                index += 1
            else:
                self._draw_entry(stored.number, stored.entry)
        self.draw_foot()

    def draw_head(self) -> None:
        info = self.info
        origin = f"from {info.parent}, entry {info.parent_entry}" if info.parent is not None else ""
        about = "  ".join(part for part in (info.title, origin) if part)
        details = f"  {one_line(about)}" if about else ""
        self.line(0, ("session ", "bold"), (one_line(info.id), "bold"), (details, "dim"))

    def _draw_entry(self, number: int, entry: AnyEntry) -> None:
        match entry:
            case ModelChosen():
                self._mark(number, "⇄", "bold yellow", f"from the next turn on {entry.model}", f"({entry.protocol})")
            case AttemptFailed():
                status = f", HTTP {entry.status}" if entry.status is not None else ""
                then = NEXT_STEPS.get(entry.then, entry.then)
                self._mark(number, "✗", "red", f"{entry.model} failed: {entry.kind}{status}; {then}", entry.text)
            case Compacted():
                first = self.numbers_by_key.get(entry.first)
                before = f"everything before entry {first}" if first is not None else "everything before"
                self._mark(number, "≡", "bold magenta", f"compacted by {entry.model}: {before} is now this summary")
                self.line(6, (self.shortened(_summary_text(entry.summary)), "dim"))
            case TurnEnded() if entry.how != "done":
                self._mark(number, "■", "red", f"the turn ended: {entry.how}", entry.reason or "")
            case SystemPromptSet():
                self._mark(number, "§", "bold", "system prompt", "" if entry.system_prompt else "none from here on")
                self.line(6, (self.shortened(entry.system_prompt or ""), "dim"))
            case TurnBegun() | TurnRenewed() | TurnEnded() | CallStarted():
                pass  # the messages show what they record
            case MessageAdded():
                raise AssertionError("messages are drawn by draw_message")
            case _:
                assert_never(entry)

    def _mark(self, number: int, sign: str, style: str, text: str, details: str = "") -> None:
        self.screen.line()
        self.line(
            0,
            (f"{number:>3} ", "dim"),
            (f"{sign} {one_line(text)}", style),
            (f"  {self.shortened(details)}" if details else "", "dim"),
        )


def _summary_text(summary: UserMessage) -> str:
    """The text of a summary, without the words around it that are for the model."""
    return text_of_summary(summary) if is_summary(summary) else text_of(summary)
