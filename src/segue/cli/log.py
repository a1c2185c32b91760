"""A session drawn from its log: the conversation, and between its messages what happened besides."""

from typing import assert_never

from ..session import (
    AnyEntry,
    CallStarted,
    Compacted,
    Failed,
    MessageAdded,
    ModelChosen,
    Prompted,
    SessionInfo,
    Stored,
    TurnBegun,
    TurnEnded,
    TurnRenewed,
)
from ..types import Context
from .printable import flat
from .show import Picture
from .terminal import Screen

THEN = {
    "retry": "tried again",
    "next": "went to the next model",
    "compact": "compacted first",
    "give-up": "gave up",
}
"""What was done about a failed attempt, in words."""


class LogPicture(Picture):
    """The conversation of a session, numbered as its log is: these are the numbers that a fork is made at."""

    def __init__(self, screen: Screen, info: SessionInfo, log: list[Stored], *, thinking: bool, full: bool) -> None:
        said = [(stored.number, stored.entry.message) for stored in log if isinstance(stored.entry, MessageAdded)]
        super().__init__(screen, Context(messages=[message for _, message in said]), thinking=thinking, full=full)
        self.info = info
        self.log = log
        self.numbers = [number for number, _ in said]
        self.keys = {stored.entry.key: stored.number for stored in log}

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
                self._draw_mark(stored.number, stored.entry)
        self.draw_foot()

    def draw_head(self) -> None:
        info = self.info
        origin = f"from {info.parent}, entry {info.parent_entry}" if info.parent is not None else ""
        about = "  ".join(part for part in (info.title, origin) if part)
        self.line(0, ("session ", "bold"), (flat(info.id), "bold"), (f"  {flat(about)}" if about else "", "dim"))

    def _draw_mark(self, number: int, entry: AnyEntry) -> None:
        match entry:
            case ModelChosen():
                self._mark(number, "⇄", "bold yellow", f"from the next turn on {entry.model}", f"({entry.protocol})")
            case Failed():
                status = f", HTTP {entry.status}" if entry.status is not None else ""
                then = THEN.get(entry.then, entry.then)
                self._mark(number, "✗", "red", f"{entry.model} failed: {entry.kind}{status}; {then}", entry.text)
            case Compacted():
                first = self.keys.get(entry.first)
                before = f"what stands before entry {first}" if first is not None else "what stands before"
                self._mark(number, "≡", "bold magenta", f"compacted by {entry.model}: {before} is now this summary")
                self._draw_blocks(entry.summary.content, 6, "dim")
            case TurnEnded() if entry.how != "done":
                self._mark(number, "■", "red", f"the turn ended: {entry.how}", entry.reason or "")
            case Prompted():
                self._mark(number, "§", "bold", "system prompt", "" if entry.system_prompt else "none from here on")
                self.line(6, (self._fold(entry.system_prompt or ""), "dim"))
            case TurnBegun() | TurnRenewed() | TurnEnded() | CallStarted():
                pass  # what they say is seen on the messages
            case MessageAdded():
                raise AssertionError("a message is no mark")
            case _:
                assert_never(entry)

    def _mark(self, number: int, sign: str, style: str, text: str, more: str = "") -> None:
        self.screen.line()
        self.line(
            0,
            (f"{number:>3} ", "dim"),
            (f"{sign} {flat(text)}", style),
            (f"  {self._fold(more)}" if more else "", "dim"),
        )
