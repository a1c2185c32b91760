"""The passes in their order, and the fold that takes a conversation through them.

A conversation is rendered step by step: a step (a user message, or an answer with the results of its calls) goes
through all passes that it concerns before the next one enters, so that each pass sees what was rendered before and
nothing else. One look at a step tells which passes these are.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

from msgspec.structs import replace

from ..types import (
    AssistantMessage,
    Change,
    Message,
    Model,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from ..types.text import scrub
from .look import CALLS, FAILED, FAILED_STOPS, LATE, NAMED, ODD, OPAQUE, TORN, UNSIGNED, is_plain, look
from .origin import same_origin
from .pairing import Pairing
from .passes.arguments import Arguments
from .passes.failed_turns import FailedTurns
from .passes.ids import Ids
from .passes.images import Images
from .passes.names import Names
from .passes.reasoning import Reasoning, takes_signed
from .passes.text import Text
from .passes.tool_interactions import ToolInteractions
from .policy import Policy
from .prefix import Prefix
from .step import Pass, Report, Step, Target, Told

_Act = Callable[[Step, Any], None]

PASSES: tuple[type[Pass], ...] = (FailedTurns, ToolInteractions, Images, Reasoning, Text, Arguments, Names, Ids)

STUB_TOOL = ToolDefinition(
    "unavailable_tool",
    "Stands in for tools of this conversation that can no longer be called. Do not call it.",
    b'{"type":"object","properties":{}}',
)
"""For targets that refuse a history with calls when a request defines no tool."""


class Mark(NamedTuple):
    """How far a rendering was, for going back there."""

    stored: int
    rendered: int
    changes: int
    ids: int
    broken: bool
    prefix: Prefix | None


class Rendering:
    """One conversation on its way to one target: what was rendered, and what was changed.

    It goes on where it stopped: ``extend`` renders what is new. ``mark`` says where it is, and ``back`` returns there.
    """

    short_way: ClassVar[bool] = True
    """Whether answers in which no pass would find anything may go past the passes. A test turns it off to compare."""

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
        self._stored = messages
        self.passes = policy.passes
        """Whether there are any. After them no text is blank, unless a signature is kept with it, and only answers have
        signatures; without them, messages are rendered as they are stored, whatever is in them."""
        self._target = target = Target(model, policy, self.report)
        self._pairing: Pairing | None = None
        """Which result answers which call, from the first time on that they do not simply follow each other."""
        self._names = Names(target)
        self._ids = Ids(target)
        self._reasoning = Reasoning(target)
        self._interactions = ToolInteractions(target)
        self.about_frame = Report()
        self.system_prompt = self._prompt(system_prompt)
        self._about_prompt = len(self.about_frame.told)
        self.set_tools(tools)
        if model.dialect.prefix_bound and checks_prefix and policy.passes:
            target.prefix = Prefix(self.system_prompt, self.tools)
        # Bits of `look` that call for the passes, in an answer of the target itself and in one of another; and those
        # that do so beyond thinking and ids, which are all that changes in most answers of others. Where all goes into
        # a prefix, or texts are cut short, there is no short way.
        bound = target.prefix is not None or not self.short_way
        self._minds_own = ~0 if bound else ~(CALLS | OPAQUE | LATE if takes_signed(target) else CALLS)
        self._minds_others = ~0 if bound else ~CALLS
        self._minds_beyond = ~0 if bound or self._reasoning.shortens else ~(CALLS | OPAQUE | UNSIGNED)

    # Most conversations need no pass, and so they are not made before a step needs one.

    @cached_property
    def _each_pass(self) -> list[Pass]:
        shared: dict[type[Pass], Pass] = {
            type(each): each for each in (self._names, self._ids, self._reasoning, self._interactions)
        }
        model = self._target.model
        return [shared.get(kind) or kind(self._target) for kind in PASSES if kind.concerns(model)]

    @cached_property
    def _on_user(self) -> "_Acts":
        return _Acts((each.minds, each.user) for each in self._each_pass if type(each).user is not Pass.user)

    @cached_property
    def _on_answer(self) -> "_Acts":
        return _Acts((each.minds, each.answer) for each in self._each_pass if type(each).answer is not Pass.answer)

    # -- going on, and going back ------------------------------------------------------------------------------------

    def pair(self, kept: int, done: int) -> int:
        """Match calls and results of the stored messages, of which ``done`` were rendered and the first ``kept`` are
        what they were. From which one on they have to be rendered."""
        if self._pairing is not None:
            return self._pairing.extend(kept)
        if kept == done:
            return kept  # so far every call has its result
        stored, at = self._stored, kept
        while at and type(stored[at - 1]) is ToolResultMessage:
            at -= 1
        return max(at - 1, 0)  # the answer before them, if it is one

    def _paired(self) -> Pairing:
        if self._pairing is None:
            self._pairing = self._interactions.pairing = Pairing(self._stored)
        return self._pairing

    @property
    def bound(self) -> bool:
        """Whether messages are rendered in view of what stands before them all."""
        return self._target.prefix is not None

    @property
    def changes(self) -> list[Change]:
        """All changes so far."""
        return [*self.about_frame.changes, *self.report.changes]

    def set_tools(self, tools: Sequence[ToolDefinition]) -> None:
        """The tools that go with the messages, of which no message depends, unless this is ``bound``."""
        report = self.about_frame = Report(self.about_frame.told[: self._about_prompt])
        self.tools_as: dict[Any, tuple[list[dict[str, Any]], list[Told]]] = {}
        """What encoders make of the tools, and what they tell of it."""
        self.tools = self._tools(tools)
        self.stubbed = self.wants_stub(tools)
        if self.stubbed:
            self.tools = [STUB_TOOL]
            report.add("tools-stubbed", None, None, "the history has calls, and no tool is defined")

    def wants_stub(self, tools: Sequence[ToolDefinition]) -> bool:
        """Whether something has to stand in for tools that are not defined."""
        needs = self.passes and self._target.dialect.needs_tools
        return not tools and needs and self._renders_calls(self._target.policy)

    def mark(self, stored: int) -> Mark:
        prefix = self._target.prefix
        return Mark(
            stored,
            len(self.messages),
            len(self.report.told),
            len(self._ids.taken),
            self._reasoning.prefix_broken,
            None if prefix is None else prefix.copy(),
        )

    def back(self, mark: Mark) -> None:
        """To where ``mark`` was taken. Lists are replaced, not cut: somebody may still hold what they were."""
        self.messages, self.sources = self.messages[: mark.rendered], self.sources[: mark.rendered]
        self.report.back(mark.changes)
        self._ids.back(mark.ids)
        self._reasoning.prefix_broken = mark.broken
        self._target.prefix = None if mark.prefix is None else mark.prefix.copy()

    # -- the rendering -----------------------------------------------------------------------------------------------

    @property
    def names(self) -> dict[str, str]:
        """The stored name behind each rendered tool name that differs."""
        return self._names.originals

    def _renders_calls(self, policy: Policy) -> bool:
        """Whether the rendering will have a call; known beforehand, because the tools are part of the prefix."""
        if self._ids.taken:
            return True
        if self._pairing is None and self.messages:
            return False
        pairing = self._paired()
        if policy.orphan_results == "pair" and "orphan" in pairing.strays.values():
            return True
        return any(
            pairing.message(batch).stop_reason not in FAILED_STOPS
            or (policy.failed_turns != "drop-all" and pairing.has_real_result(batch))
            for batch in pairing.batches.values()
        )

    def _prompt(self, prompt: str | None) -> str | None:
        if prompt is None or not self.passes:
            return prompt
        clean = scrub(prompt)
        if clean is not prompt:
            self.about_frame.add("text-sanitized", None, None, "half characters replaced in the system prompt")
        if clean.isspace():
            self.about_frame.add("empty-dropped", None, None, "a system prompt without text")
            return None
        return clean

    def _tools(self, tools: Sequence[ToolDefinition]) -> list[ToolDefinition]:
        if not self.passes:
            return list(tools)
        rendered: dict[str, ToolDefinition] = {}
        for tool in tools:
            name, description = self._names.rendered(tool.name), scrub(tool.description)
            if name in rendered:
                self.about_frame.add(
                    "tool-duplicate", None, None, f"{tool.name!r} is defined twice; the first one counts"
                )
                continue
            if name != tool.name:
                self.about_frame.add("name-projected", None, None, f"tool {tool.name!r} is sent as {name!r}")
            if description is not tool.description:
                self.about_frame.add("text-sanitized", None, None, f"half characters replaced in tool {name!r}")
            same = name == tool.name and description is tool.description
            rendered[name] = tool if same else ToolDefinition(name, description, tool.parameters)
        return list(rendered.values())

    def extend(self, start: int, stop: int) -> int:
        """Render the stored messages from ``start`` on, up to the end of the step at ``stop``, which is returned."""
        if not self.passes:
            self.messages += self._stored[start:stop]
            self.sources += range(start, stop)
            return stop
        if self._pairing is None and self.short_way:
            start = self._go_straight(start, stop)
        if start < stop:
            self._go_by_pairs(start, stop)
        return max(start, stop)

    def _go_straight(self, at: int, stop: int) -> int:
        """Render as long as every result follows its call: there is nothing to match then, and whatever comes later
        cannot answer these calls again. Returns where that ends."""
        stored, rendered, model, prefix = self._stored, self.messages, self._target.model, self._target.prefix
        since = at  # from here on, every message has become one, and their sources are not told yet
        while at < stop:
            message: Any = stored[at]
            kind = type(message)
            if kind is AssistantMessage:
                content = message.content
                has = FAILED if message.stop_reason in FAILED_STOPS else 0
            elif kind is UserMessage:
                content = message.content
                has = 0
            else:
                break
            if not (  # all that most users say, and most answers
                len(content) == 1
                and type(block := content[0]) is TextContent
                and block.text_signature is None
                and (((text := block.text).isascii() and text >= "!") or is_plain(text))
            ):
                calls: list[ToolCall] = []
                has |= look(content, calls)
            if not has:
                rendered.append(message)
                if prefix is not None:
                    prefix.add(message)
                at += 1
            elif not has & CALLS:
                self.sources += range(since, at)
                self._take(Step(at, message, content, has))
                at = since = at + 1
            elif has & FAILED:
                break
            else:
                behind = at + 1 + len(calls)
                results: list[Any] = stored[at + 1 : behind]  # type: ignore[assignment]
                bits = self._look_at_results(calls, results)
                if bits < 0:
                    break
                has |= bits
                own = message.model == model.id and same_origin(message, model)
                if not has & (self._minds_own if own else self._minds_others) and self._ids.take(calls, own):
                    # No pass would find anything, as nearly always.
                    rendered.append(message)
                    rendered += results
                elif own or has & self._minds_beyond:
                    self.sources += range(since, at)
                    self._pass(Step(at, message, content, has, calls, results, range(at + 1, behind), own))
                    since = behind
                else:
                    # Of another's answer, thinking and ids are all that changes, as nearly always.
                    rendered.append(self._sent_to_others(at, message, results))
                    rendered += results
                at = behind
        self.sources += range(since, at)
        return at

    def _sent_to_others(self, index: int, message: Any, results: list[Any]) -> Any:
        """What another's answer becomes; in ``results``, what those of its calls become."""
        reasoning = self._reasoning
        keeps_signed = reasoning.may_keep and reasoning.keeps_signed(message)
        blocks: list[Any] = []
        number = 0
        for at, block in enumerate(message.content):
            kind = type(block)
            if kind is ThinkingContent:
                block = reasoning.foreign(index, at, block, keeps_signed)
                if block is None:
                    continue
            elif kind is ToolCall:
                block = self._ids.sent(call := block, message, False, index, at)
                if block is not call:
                    results[number] = replace(results[number], tool_call_id=block.id)
                number += 1
            blocks.append(block)
        return message if blocks == message.content else replace(message, content=blocks)

    def _look_at_results(self, calls: list[ToolCall], results: list[Any]) -> int:
        """The bits of these results, if each is that of the call at its place and nothing that comes later can be; else
        less than nothing."""
        has, kept, count = 0, self._names.kept, len(calls)
        if len(results) != count or (count > 1 and len({call.id for call in calls}) < count):
            return -1
        for at, call in enumerate(calls):
            result, name = results[at], call.name
            if (
                type(result) is not ToolResultMessage
                or result.tool_call_id != call.id
                or not call.id
                or result.synthetic
            ):
                return -1
            if name not in kept:
                has |= NAMED
            if result.tool_name != name:
                has |= TORN
            content = result.content
            if not (len(content) == 1 and type(block := content[0]) is TextContent and block.text_signature is None):
                has |= look(content)
            elif not ((text := block.text).isascii() and text >= "!") and not is_plain(text):
                has |= ODD
        return has

    def _go_by_pairs(self, start: int, stop: int) -> None:
        pairing = self._paired()
        for index, message in enumerate(self._stored[start:stop], start):
            if type(message) is ToolResultMessage:
                if index in pairing.strays:
                    self._take_stray(index, message, pairing.strays[index])
                continue
            has = look(message.content)
            if type(message) is AssistantMessage and message.stop_reason in FAILED_STOPS:
                has |= FAILED
            if has & CALLS:
                batch = pairing.batches[index]
                results = [self._stored[source] if source >= 0 else None for source in batch.answers]
                has |= TORN | NAMED
                for result in results:
                    if result is not None:
                        has |= look(result.content)
                self._take(Step(index, message, message.content, has, batch.calls, results, batch.answers))  # type: ignore[arg-type]
            elif has:
                self._take(Step(index, message, message.content, has))  # type: ignore[arg-type]
            else:
                self._add(Step(index, message, message.content, has))  # type: ignore[arg-type]

    def _take_stray(self, index: int, result: ToolResultMessage, kind: Literal["duplicate", "orphan"]) -> None:
        step = self._interactions.stray(index, result, kind)
        if step is not None:
            self._take(step)
        self.report.settle()

    def _take(self, step: Step) -> None:
        if type(step.message) is AssistantMessage:
            step.own = same_origin(step.message, self._target.model)
        self._pass(step)

    def _pass(self, step: Step) -> None:
        """Take one step through the passes and add what is left of it to what is rendered."""
        if type(step.message) is AssistantMessage:
            if step.own and not self._minds_own & OPAQUE and not step.has & UNSIGNED:
                step.has &= ~OPAQUE
            acts = self._on_answer[step.has]
        else:
            acts = self._on_user[step.has]
        for act in acts:
            act(step, step.message)
            if step.message is None:
                break
        else:
            self._add(step)
        self.report.settle()

    def _add(self, step: Step) -> None:
        message = step.message
        assert message is not None
        self.messages.append(message if step.content is message.content else replace(message, content=step.content))
        self.sources.append(step.index)
        if step.results:
            self.messages += step.results  # type: ignore[arg-type]
            stored = step.sources
            self.sources += stored if -1 not in stored else [step.index if at < 0 else at for at in stored]
        if self._target.prefix is not None:
            for rendered in self.messages[-1 - len(step.results) :]:
                self._target.prefix.add(rendered)


class _Acts(dict[int, list[_Act]]):
    """By what a step has, the acts of those passes that mind, in the order of the passes."""

    def __init__(self, acts: Iterable[tuple[int, _Act]]) -> None:
        self._all = list(acts)

    def __missing__(self, has: int) -> list[_Act]:
        acts = self[has] = [act for minds, act in self._all if minds & has]
        return acts
