"""The passes in their order, and the fold that takes a conversation through them.

A conversation is rendered step by step: a step (a user message, or an answer with the results of its calls) goes
through all passes before the next one enters, so that each pass sees what was rendered before and nothing else.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ..types import AssistantMessage, Message, Model, ToolDefinition, UserMessage
from ..types.text import scrub
from .origin import same_origin
from .pairing import Pairing
from .passes.failed_turns import FAILED, FailedTurns
from .passes.ids import Ids
from .passes.images import Images
from .passes.names import Names
from .passes.reasoning import Reasoning
from .passes.text import Text
from .passes.tool_interactions import ToolInteractions
from .policy import Policy
from .prefix import Prefix
from .step import Pass, Report, Step, Target

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
        passes = [self._make(kind) for kind in PASSES if kind.concerns(model)]
        self._on_user = [each.user for each in passes if type(each).user is not Pass.user]
        self._on_calls = [each.answer for each in passes if type(each).answer is not Pass.answer]
        self._on_answer = [act for act in self._on_calls if not act.__self__.calls_only]  # type: ignore[attr-defined]
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
            pairing.message(batch).stop_reason not in FAILED
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
        batches, strays, model = self._pairing.batches, self._pairing.strays, self._target.model
        for index, message in enumerate(messages):
            if type(message) is UserMessage:
                self._take(Step(index, message, [], []), self._on_user)
            elif type(message) is AssistantMessage:
                batch, own = batches.get(index), same_origin(message, model)
                if batch is None:
                    self._take(Step(index, message, [], [], own), self._on_answer)
                else:
                    results: list[Any] = [messages[source] if source >= 0 else None for source in batch.answers]
                    self._take(Step(index, message, results, batch.answers, own), self._on_calls)
            elif index in strays:
                stray = self._interactions.stray(index, message, strays[index])  # type: ignore[arg-type]
                if stray is not None:
                    self._take(stray, self._on_calls if stray.results else self._on_user)

    def _take(self, step: Step, acts: Sequence[Callable[[Step, Any], None]]) -> None:
        """Take one step through the passes and add what is left of it to what is rendered."""
        for act in acts:
            act(step, step.message)
            if step.message is None:
                return
        self.messages.append(step.message)  # type: ignore[arg-type]
        self.sources.append(step.index)
        if step.results:
            self.messages += step.results  # type: ignore[arg-type]
            self.sources += [source if source >= 0 else step.index for source in step.sources]
        if self._target.prefix is not None:
            for message in self.messages[-1 - len(step.results) :]:
                self._target.prefix.add(message)
