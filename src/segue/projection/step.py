"""What passes work on: one step at a time, in the order in which it will be rendered."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from msgspec import Struct

from ..types import LOSSY, AssistantMessage, Block, Change, ChangeCode, Model, ToolCall, ToolResultMessage, UserMessage
from ..types.text import scrub
from .policy import Policy
from .prefix import Prefix


class Step(Struct, eq=False, gc=False):
    """A user message, or an answer with the results of its calls.

    ``index`` is the message's index in the input; ``content`` are its blocks as they are rendered so far, ``has`` the
    bits of ``look``. ``calls`` are those of the answer, under their stored ids; ``results`` has one entry for each
    call, in their order, and ``sources`` the index of each in the input; ``None`` and -1 stand for a result that never
    came. ``own``: the target itself made this answer; ``made_up``: its call was made up for a result.
    """

    index: int
    message: UserMessage | AssistantMessage | None  # None: left out
    content: list[Any]
    has: int
    calls: list[ToolCall] = []
    results: list[ToolResultMessage | None] = []
    sources: Sequence[int] = ()
    own: bool = False
    made_up: bool = False

    def put(self, at: int, block: Block) -> None:
        """Let this block stand at ``at``. What is stored stays as it is."""
        if self.message is not None and self.content is self.message.content:
            self.content = list(self.content)
        self.content[at] = block

    def block(self, at: int) -> int | None:
        """Where a block of the answer stands in the input: nowhere, if it was made up."""
        return None if self.made_up else at


LONGEST = 40
"""So many characters of an id are told."""

Told = tuple[ChangeCode, int | None, int | None, str, tuple[Any, ...], bool | None]
"""A change before anybody has asked for it: code, message, block, the detail and what is to be put into it, and
whether it loses something, where the code does not say."""


class Report:
    """The changes so far. Blocks are counted as they stood in the input, however many have gone since.

    Most reports are never read, so that a change is spelled out only when somebody asks.
    """

    __slots__ = ("_kept", "told")

    def __init__(self, told: Iterable[Told] = ()) -> None:
        self.told: list[Told] = list(told)
        self._kept: dict[int, list[int]] = {}

    def add(
        self,
        code: ChangeCode,
        message: int | None = None,
        block: int | None = None,
        detail: str = "",
        parts: tuple[Any, ...] = (),
        lossy: bool | None = None,
    ) -> None:
        """Add a change; ``parts`` are put into ``detail`` as by ``str.format``."""
        if self._kept and block is not None and message in self._kept:
            block = self._kept[message][block]
        self.told.append((code, message, block, detail, parts, lossy))

    @property
    def changes(self) -> list[Change]:
        """All of them, spelled out."""
        return [*map(spelled, self.told)]

    def back(self, count: int) -> None:
        """To where there were ``count`` changes. The list is replaced: somebody may still hold what it was."""
        self.told = self.told[:count]

    def settle(self) -> None:
        """A step is done: no more blocks of it are counted."""
        if self._kept:
            self._kept.clear()

    def position(self, message: int, block: int) -> int:
        """Where a block that ``message`` has now stood in the input."""
        return self._kept[message][block] if message in self._kept else block

    def keep(self, message: int, positions: list[int]) -> None:
        """Of the blocks that ``message`` has now, only those at ``positions`` stay."""
        before = self._kept.get(message)
        self._kept[message] = positions if before is None else [before[at] for at in positions]


def spelled(told: Told) -> Change:
    """A change as it is read."""
    code, message, block, detail, parts, lossy = told
    text = detail.format(*map(_short, parts)) if parts else detail
    return Change(code, message, block, scrub(text), code in LOSSY if lossy is None else lossy)


def _short(part: Any) -> Any:
    return part if not isinstance(part, str) or len(part) <= LONGEST else part[: LONGEST - 1] + "…"


class Target:
    """What all passes share: whom to render for, under which policy, and where to report."""

    __slots__ = ("dialect", "model", "policy", "prefix", "report")

    def __init__(self, model: Model, policy: Policy, report: Report) -> None:
        self.model = model
        self.dialect = model.dialect
        self.policy = policy
        self.report = report
        self.prefix: Prefix | None = None  # kept only for targets that bind their thinking to it


class Pass:
    """One rule, as a fold over steps: it changes the step that it is given and keeps what little it must remember.

    A pass overrides ``user``, ``answer`` or both; what it does not override is not called.
    """

    minds: ClassVar[int]
    """The bits of ``look`` that concern it; steps with none of them are not shown to it."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.report = target.report

    @classmethod
    def concerns(cls, model: Model) -> bool:
        """Whether there is anything to do for this target at all."""
        return True

    def user(self, step: Step, message: UserMessage) -> None:
        """Change a step that is a user message."""
        raise NotImplementedError

    def answer(self, step: Step, message: AssistantMessage) -> None:
        """Change a step that is an answer with its results."""
        raise NotImplementedError
