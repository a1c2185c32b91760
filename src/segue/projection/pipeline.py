"""The passes in their order, and the fold that applies them to a conversation.

A conversation is rendered step by step. A step is a user message, or an answer with the results of its calls. It goes
through all passes that it concerns before the next step begins, so a pass sees only what was rendered before. One scan
of a step finds which passes these are.
"""

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..types import (
    FAILED_STOPS,
    AssistantMessage,
    Change,
    Message,
    Model,
    ToolDefinition,
    ToolKey,
    UserMessage,
)
from .frame import Frame
from .passes.arguments import Arguments
from .passes.failed_turns import FailedTurns
from .passes.files import Files
from .passes.ids import Ids
from .passes.images import Images
from .passes.names import Names
from .passes.provider_content import ProviderBlocks
from .passes.reasoning import Reasoning
from .passes.text import Text
from .passes.tool_interactions import ToolInteractions
from .passes.tool_kinds import ToolKinds
from .policy import Policy
from .prefix import Prefix
from .scan import FAILED, TORN, scan
from .step import Pass, Step, Target
from .steps import Steps

PASSES: tuple[type[Pass], ...] = (
    FailedTurns,
    ToolInteractions,
    Files,
    Images,
    ProviderBlocks,
    Reasoning,
    Text,
    Arguments,
    ToolKinds,
    Names,
    Ids,
)


Apply = Callable[[Step, Any], None]


USER, OTHERS, OWN = 1 << 30, 2 << 30, 3 << 30
"""Kinds of steps, above the bits of ``scan``: user messages, answers of other models, answers of the target."""


class Mark(Struct, frozen=True):
    """A position in a rendering, to return to."""

    rendered: int
    changes: int
    passes: tuple[Any, ...]
    prefix: Prefix | None


class Rendering:
    """One conversation as it is rendered for one target, with a report of the changes.

    It can grow: ``extend`` renders new messages. ``mark`` records a position, and ``back`` returns to it.
    """

    def __init__(
        self,
        system_prompt: str | None,
        messages: Sequence[Message],
        tools: Sequence[ToolDefinition],
        model: Model,
        policy: Policy,
        checks_prefix: bool = True,
    ) -> None:
        self.messages: list[Message] = []
        self.sources: list[int] = []
        """For each rendered message, the index of the stored one that it was made from."""
        self.thinned: set[int] = set()
        """Indexes of rendered answers that have lost a block: their other blocks may refer to it."""
        self._stored = messages
        self.asked_prompt = system_prompt
        self._asked_tools = list(tools)
        self._target = target = Target(model, policy)
        self.report = target.report
        self._steps = Steps(messages, target)
        self._passes: list[Pass] = []  # made when the first step concerns one of them
        self._remembering: list[Pass] = []
        self._applies: dict[int, list[Apply]] = {}
        self.frame = self._new_frame()
        if model.dialect.prefix_bound and checks_prefix and policy.passes:
            target.prefix = Prefix(self.frame.system_prompt, self.frame.tools)

    @property
    def changes(self) -> list[Change]:
        """All changes so far."""
        return [*self.frame.report.changes, *self.report.changes]

    @property
    def names(self) -> dict[str, ToolKey]:
        """The stored tool behind each rendered name, where they differ."""
        return self._target.names.originals

    # -- the frame ---------------------------------------------------------------------------------------------------

    @property
    def bound(self) -> bool:
        """Whether the messages depend on the frame, because the target binds its thinking to it."""
        return self._target.prefix is not None

    def has_tools(self, tools: Sequence[ToolDefinition]) -> bool:
        """Whether the frame fits these tools and the current messages."""
        known = self._asked_tools
        return len(known) == len(tools) and all(map(is_, known, tools)) and self.frame.stubbed == self._needs_stub()

    def set_tools(self, tools: Sequence[ToolDefinition]) -> None:
        """Replace the tools of the frame. Not allowed for a rendering that is ``bound``."""
        self._asked_tools = list(tools)
        self.frame = self._new_frame()

    def _new_frame(self) -> Frame:
        return Frame(self.asked_prompt, self._asked_tools, self._target, needs_stub=self._needs_stub())

    def _needs_stub(self) -> bool:
        """Whether a stub must be defined because the history has calls and the request defines no tool. This has to be
        known before the messages are rendered, because the tools are part of the prefix."""
        policy = self._target.policy
        if self._asked_tools or not policy.passes or not self._target.dialect.needs_tools:
            return False
        return self._steps.will_have_calls(policy)

    # -- the messages ------------------------------------------------------------------------------------------------

    def first_changed(self, kept: int, done: int) -> int:
        """The index of the first stored message that must be rendered (again), after ``done`` messages were rendered of
        which the first ``kept`` are unchanged."""
        return self._steps.first_changed(kept, done) if self._target.policy.passes else kept

    def extend(self, at: int, stop: int) -> int:
        """Render the stored messages from ``at`` on, at least up to ``stop``. Returns the end of the last step."""
        stored, steps, prefix = self._stored, self._steps, self._target.prefix
        if not self._target.policy.passes:
            self.messages += stored[at:stop]
            self.sources += range(at, stop)
            return stop
        add_message, add_source = self.messages.append, self.sources.append
        while at < stop:
            message = stored[at]
            if type(message) is AssistantMessage:
                has = scan(message.content)
                if message.stop_reason in FAILED_STOPS:
                    has |= FAILED | TORN  # some of its results may be dropped
            elif type(message) is UserMessage:
                has = scan(message.content)
            else:
                has = TORN  # a result that does not follow its call
            if not has:  # it concerns no pass
                add_message(message)
                add_source(at)
                if prefix is not None:
                    prefix.add(message)
                at += 1
            elif (step := steps.step(at, message, has)) is not None:
                self._pass(step)
                at = step.end
            else:
                at += 1
        return at

    def _pass(self, step: Step) -> None:
        """Apply the passes that the step concerns, and append the result to the rendered messages."""
        kind = OWN if step.own else USER if type(step.message) is UserMessage else OTHERS
        applies = self._applies.get(kind | step.has)
        if applies is None:
            applies = self._concerned(kind, step.has)
        for apply in applies:
            apply(step, step.message)
            if step.dropped:
                break
        else:
            message, rendered, sources = step.message, self.messages, self.sources
            if step.thinned:
                self.thinned.add(len(rendered))
            if step.content is not message.content:
                message = replace(message, content=step.content)
            rendered.append(message)
            rendered += step.results
            sources.append(step.index)
            sources += [step.index if at < 0 else at for at in step.sources] if step.has & TORN else step.sources
            if self._target.prefix is not None:
                for each in (message, *step.results):
                    self._target.prefix.add(each)
        if self.report.kept:
            self.report.kept.clear()

    def _concerned(self, kind: int, has: int) -> list[Apply]:
        """The methods to apply to a step of this kind with these bits, in the order of the passes."""
        if not self._passes:
            self._passes = [each(self._target) for each in PASSES if each.applies_to(self._target.model)]
            self._remembering = [each for each in self._passes if each.remembers]
        found = self._applies[kind | has] = [
            each.user if kind == USER else each.answer
            for each in self._passes
            if (each.concerns_own if kind == OWN else each.concerns) & has
        ]
        return found

    # -- going back --------------------------------------------------------------------------------------------------

    def mark(self) -> Mark:
        """The current position."""
        prefix = self._target.prefix
        return Mark(
            len(self.messages),
            len(self.report.pending),
            tuple([each.mark() for each in self._remembering]),
            None if prefix is None else prefix.copy(),
        )

    def back(self, mark: Mark) -> None:
        """Return to a position. Lists are replaced, not cut, because a request may share them."""
        self.messages, self.sources = self.messages[: mark.rendered], self.sources[: mark.rendered]
        self.thinned = {at for at in self.thinned if at < mark.rendered}
        self.report.back(mark.changes)
        if len(mark.passes) < len(self._remembering):  # they were made later
            self._passes, self._remembering, self._applies = [], [], {}
        for each, state in zip(self._remembering, mark.passes, strict=True):
            each.back(state)
        self._target.prefix = None if mark.prefix is None else mark.prefix.copy()
