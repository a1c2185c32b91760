"""Steps, passes, and what passes share: the target and the report."""

from collections.abc import Sequence
from typing import Any, ClassVar

from msgspec import Struct

from ..dialects import Dialect, valid_name
from ..types import (
    LOSSY,
    AssistantMessage,
    Block,
    Change,
    ChangeCode,
    Model,
    TextContent,
    ToolCall,
    ToolKey,
    ToolResultMessage,
    UserMessage,
)
from ..types.text import scrub
from .pairing import Pairing
from .policy import Policy
from .prefix import Prefix

NO_RESULT = ToolResultMessage("", "", [TextContent("no result was stored")], synthetic=True)
"""In place of a result that was never stored, until a pass has made one."""


class Step(Struct, eq=False, gc=False):
    """A user message, or an answer with the results of its calls.

    ``index`` is the message's index in the input, ``end`` the index of the next step. ``content`` are its blocks as
    they are rendered so far, ``has`` the bits of ``scan``. ``calls`` are those of the answer, as stored; ``results``
    has one entry for each call, in their order, and ``sources`` the index of each in the input: ``NO_RESULT``, and -1,
    for one that was never stored. ``own``: the target itself made this answer; ``made_up``: its call was made up for a
    result; ``thinned``: the message has lost a block; ``dropped``: the step is left out.
    """

    index: int
    end: int
    message: UserMessage | AssistantMessage
    content: Sequence[Block]
    has: int
    calls: Sequence[ToolCall] = ()
    results: list[ToolResultMessage] = []
    sources: Sequence[int] = ()
    own: bool = False
    made_up: bool = False
    thinned: bool = False
    dropped: bool = False

    def put(self, at: int, block: Block) -> None:
        """Replace the block at ``at``. The stored message is not changed."""
        if self.content is self.message.content:
            self.content = list(self.content)
        assert isinstance(self.content, list)  # passes replace the content with a new list
        self.content[at] = block

    def places(self) -> list[int]:
        """The positions of the calls among the blocks."""
        return [at for at, block in enumerate(self.content) if type(block) is ToolCall]

    def block(self, at: int) -> int | None:
        """The position of a block in the input; ``None`` if the block was made up."""
        return None if self.made_up else at


MAX_SHOWN = 40
"""Ids longer than this are cut in reports."""

PendingChange = tuple[ChangeCode, int | None, int | None, str, tuple[Any, ...], bool | None]
"""A change that was not read yet: code, message, block, the detail and the values to put into it, and whether it loses
anything, if the code alone does not decide that."""


class Report:
    """The changes so far. Blocks are counted as in the input, even if some were dropped since.

    Most reports are never read, so the text of a change is made only when it is read.
    """

    __slots__ = ("kept", "pending")

    def __init__(self) -> None:
        self.pending: list[PendingChange] = []
        self.kept: dict[int, list[int]] = {}
        """By message of the current step that has lost a block: the positions in the input of those that are left."""

    def add(
        self,
        code: ChangeCode,
        message: int | None = None,
        block: int | None = None,
        detail: str = "",
        parts: tuple[Any, ...] = (),
        lossy: bool | None = None,
    ) -> None:
        """Add a change; ``parts`` are put into ``detail`` with ``str.format``."""
        if self.kept and block is not None and message in self.kept:
            block = self.kept[message][block]
        self.pending.append((code, message, block, detail, parts, lossy))

    @property
    def changes(self) -> list[Change]:
        """All changes, with their texts."""
        return [*map(spelled_out, self.pending)]

    def back(self, count: int) -> None:
        """Return to the first ``count`` changes. The list is replaced, because a request may share it."""
        if len(self.pending) > count:
            self.pending = self.pending[:count]

    def position(self, message: int, block: int) -> int:
        """The position in the input of a current block of ``message``."""
        return self.kept[message][block] if message in self.kept else block

    def keep(self, message: int, positions: list[int]) -> None:
        """Keep only the blocks at ``positions`` of the current blocks of ``message``."""
        before = self.kept.get(message)
        self.kept[message] = positions if before is None else [before[at] for at in positions]


def spelled_out(change: PendingChange) -> Change:
    """The change with its text."""
    code, message, block, detail, parts, lossy = change
    text = detail.format(*map(_shortened, parts)) if parts else detail
    return Change(code, message, block, scrub(text), code in LOSSY if lossy is None else lossy)


def _shortened(part: Any) -> Any:
    return part if not isinstance(part, str) or len(part) <= MAX_SHOWN else part[: MAX_SHOWN - 1] + "…"


class NameMap:
    """Tools as the target accepts them, and the stored tools behind them."""

    __slots__ = ("_custom", "_form", "_namespaces", "fixed", "kept", "originals")

    def __init__(self, dialect: Dialect) -> None:
        self._form = dialect.name_form
        self._custom = dialect.custom_tools
        self._namespaces = dialect.namespaces
        self.fixed: frozenset[str] = frozenset()
        """Names that are sent as they are, whether the target accepts them or not."""
        self.kept: set[str] = set()
        """Names so far that the target accepts unchanged."""
        self.originals: dict[str, ToolKey] = {}
        """The stored tool behind each rendered name, where they differ."""

    def is_valid(self, name: str) -> bool:
        """Whether the target accepts this name."""
        return valid_name(name, self._form) == name

    def rendered(self, name: str) -> str:
        """The name of this tool for the target."""
        rendered = name if name in self.fixed else valid_name(name, self._form)
        if rendered == name:
            self.kept.add(name)
        else:
            self.originals.setdefault(rendered, ToolKey(name))
        return rendered

    def adapted(self, tool: ToolKey) -> ToolKey:
        """A free-text tool or a tool in a namespace as the target knows it, before its name is ``rendered``."""
        name, kind, namespace = tool
        if namespace is not None and not (self._namespaces and self.is_valid(namespace)):
            name, namespace = f"{namespace}__{name}", None
        adapted = ToolKey(name, kind if self._custom else None, namespace)
        if adapted != tool and name not in self.kept:
            self.originals.setdefault(valid_name(name, self._form), tool)
        return adapted


class Target:
    """What all passes share: the model to render for, the policy, the pairing of calls and results, and the report."""

    __slots__ = ("dialect", "model", "names", "pairing", "policy", "prefix", "report", "returns_signed")

    def __init__(self, model: Model, policy: Policy) -> None:
        self.model = model
        self.dialect = model.dialect
        self.policy = policy
        self.pairing: Pairing | None = None  # only if some results do not directly follow their calls
        self.report = Report()
        self.names = NameMap(self.dialect)
        self.prefix: Prefix | None = None  # only for targets that bind their thinking to it
        self.returns_signed = model.dialect.signatures != "details" and not model.dialect.prefix_bound
        """Whether everything that the target has signed goes back unchanged."""


class Pass:
    """One rule, as a fold over steps: it changes the current step and keeps as little state as possible.

    A pass overrides ``user``, ``answer`` or both. A pass with state also overrides ``mark`` and ``back``.
    """

    concerns: ClassVar[int]
    """The bits of ``scan`` that concern this pass; it is not called for steps that have none of them."""
    remembers: ClassVar[bool] = False
    """Whether the pass has state."""

    def __init_subclass__(cls) -> None:
        cls.remembers = cls.mark is not Pass.mark

    def __init__(self, target: Target) -> None:
        self.target = target
        self.report = target.report
        self.concerns_own = self.concerns
        """The same for the target's own answers."""

    @classmethod
    def applies_to(cls, model: Model) -> bool:
        """Whether this pass can have anything to do for this target."""
        return True

    def user(self, step: Step, message: UserMessage) -> None:
        """Change a step that is a user message."""

    def answer(self, step: Step, message: AssistantMessage) -> None:
        """Change a step that is an answer with its results."""

    def mark(self) -> Any:
        """The state of the pass, as a value for ``back``."""
        return None

    def back(self, mark: Any) -> None:
        """Restore the state that ``mark`` returned."""
