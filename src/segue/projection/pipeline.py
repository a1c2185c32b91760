"""The passes in their order, and the fold that takes a conversation through them.

A conversation is rendered step by step: a step (a user message, or an answer with the results of its calls) goes
through all passes that it concerns before the next one enters, so that each pass sees what was rendered before and
nothing else. One look at a step tells which passes these are.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from ..types import AssistantMessage, Message, Model, ToolDefinition, ToolResultMessage
from ..types.text import scrub
from .look import CALLS, FAILED, OPAQUE, UNSIGNED, look
from .origin import same_origin
from .pairing import Pairing
from .passes.failed_turns import FAILED_STOPS, FailedTurns
from .passes.ids import Ids
from .passes.images import Images
from .passes.names import Names
from .passes.reasoning import Reasoning, takes_signed
from .passes.text import Text
from .passes.tool_interactions import ToolInteractions
from .policy import Policy
from .prefix import Prefix
from .step import Pass, Report, Step, Target

_Act = Callable[[Step, Any], None]

PASSES: tuple[type[Pass], ...] = (FailedTurns, ToolInteractions, Images, Reasoning, Text, Names, Ids)

STUB_TOOL = ToolDefinition(
    "unavailable_tool",
    "Stands in for tools of this conversation that can no longer be called. Do not call it.",
    b'{"type":"object","properties":{}}',
)
"""For targets that refuse a history with calls when a request defines no tool."""


class Rendering:
    """One conversation on its way to one target: what was rendered, and what was changed."""

    def __init__(
        self,
        system_prompt: str | None,
        messages: Sequence[Message],
        tools: Sequence[ToolDefinition],
        model: Model,
        policy: Policy,
        checks_prefix: bool = True,
    ) -> None:
        self.report = Report()
        self.messages: list[Message] = []
        self.sources: list[int] = []
        """For each rendered message, the index of the one that it was made from."""
        self._target = Target(model, policy, self.report)
        self._pairing = Pairing(messages)
        self._names = Names(self._target)
        self._interactions = ToolInteractions(self._target, self._pairing)
        self.system_prompt = self._prompt(system_prompt)
        self.tools = self._tools(tools)
        if model.dialect.needs_tools and not self.tools and self._renders_calls(policy):
            self.tools = [STUB_TOOL]
            self.report.add("tools-stubbed", None, None, "the history has calls, and no tool is defined")
        if model.dialect.prefix_bound and checks_prefix:
            self._target.prefix = Prefix(self.system_prompt, self.tools)
        self._replays_signed = takes_signed(self._target)
        passes = [self._make(kind) for kind in PASSES if kind.concerns(model)]
        self._on_user = _Acts((each.minds, each.user) for each in passes if type(each).user is not Pass.user)
        self._on_answer = _Acts((each.minds, each.answer) for each in passes if type(each).answer is not Pass.answer)
        self._render(messages)

    @property
    def names(self) -> dict[str, str]:
        """The stored name behind each rendered tool name that differs."""
        return self._names.originals

    def _renders_calls(self, policy: Policy) -> bool:
        """Whether the rendering will have a call; known beforehand, because the tools are part of the prefix."""
        pairing = self._pairing
        if policy.orphan_results == "pair" and "orphan" in pairing.strays.values():
            return True
        return any(
            pairing.message(batch).stop_reason not in FAILED_STOPS
            or (policy.failed_turns != "drop-all" and pairing.has_real_result(batch))
            for batch in pairing.batches.values()
        )

    def _make(self, kind: type[Pass]) -> Pass:
        shared: dict[type[Pass], Pass] = {Names: self._names, ToolInteractions: self._interactions}
        return shared.get(kind) or kind(self._target)

    def _prompt(self, prompt: str | None) -> str | None:
        if prompt is None:
            return None
        clean = scrub(prompt)
        if clean is not prompt:
            self.report.add("text-sanitized", None, None, "half characters replaced in the system prompt")
        if clean.isspace():
            self.report.add("empty-dropped", None, None, "a system prompt without text")
            return None
        return clean

    def _tools(self, tools: Sequence[ToolDefinition]) -> list[ToolDefinition]:
        rendered: dict[str, ToolDefinition] = {}
        for tool in tools:
            name, description = self._names.rendered(tool.name), scrub(tool.description)
            if name in rendered:
                self.report.add("tool-duplicate", None, None, f"{tool.name!r} is defined twice; the first one counts")
                continue
            if name != tool.name:
                self.report.add("name-projected", None, None, f"tool {tool.name!r} is sent as {name!r}")
            if description is not tool.description:
                self.report.add("text-sanitized", None, None, f"half characters replaced in tool {name!r}")
            same = name == tool.name and description is tool.description
            rendered[name] = tool if same else ToolDefinition(name, description, tool.parameters)
        return list(rendered.values())

    def _render(self, messages: Sequence[Message]) -> None:
        batches, strays, prefix = self._pairing.batches, self._pairing.strays, self._target.prefix
        rendered, sources = self.messages, self.sources
        for index, message in enumerate(messages):
            if isinstance(message, ToolResultMessage):
                if index in strays:
                    self._take_stray(index, message, strays[index])
                continue
            has = look(message.content)
            if type(message) is AssistantMessage and message.stop_reason in FAILED_STOPS:
                has |= FAILED
            if has & CALLS:
                batch = batches[index]
                results: list[Any] = []
                for source in batch.answers:
                    results.append(messages[source] if source >= 0 else None)
                self._take(Step(index, message, has, batch.calls, results, batch.answers))
            elif has:
                self._take(Step(index, message, has))
            else:
                rendered.append(message)
                sources.append(index)
                if prefix is not None:
                    prefix.add(message)

    def _take_stray(self, index: int, result: ToolResultMessage, kind: Literal["duplicate", "orphan"]) -> None:
        step = self._interactions.stray(index, result, kind)
        if step is not None:
            self._take(step)

    def _take(self, step: Step) -> None:
        """Take one step through the passes and add what is left of it to what is rendered."""
        if type(step.message) is AssistantMessage:
            step.own = same_origin(step.message, self._target.model)
            has = step.has
            if step.own and self._replays_signed and not has & UNSIGNED:
                has &= ~OPAQUE
            for result in step.results:
                if result is not None:
                    has |= look(result.content)
            step.has = has
            acts = self._on_answer[has]
        else:
            acts = self._on_user[step.has]
        for act in acts:
            act(step, step.message)
            if step.message is None:
                return
        self.messages.append(step.message)  # type: ignore[arg-type]
        self.sources.append(step.index)
        if step.results:
            self.messages += step.results  # type: ignore[arg-type]
            stored = step.sources
            self.sources += stored if -1 not in stored else [step.index if at < 0 else at for at in stored]
        if self._target.prefix is not None:
            for message in self.messages[-1 - len(step.results) :]:
                self._target.prefix.add(message)


class _Acts(dict[int, list[_Act]]):
    """By what a step has, the acts of those passes that mind, in the order of the passes."""

    def __init__(self, acts: Iterable[tuple[int, _Act]]) -> None:
        self._all = list(acts)

    def __missing__(self, has: int) -> list[_Act]:
        acts = self[has] = [act for minds, act in self._all if minds & has]
        return acts
