"""Steps of a conversation: a user message, an answer with the results of its calls, or a result without a call.

Results move to their calls here, and nowhere else. As long as each result simply follows its call, there is nothing to
match; from the first tear on, ``pairing.py`` matches every result of the conversation.
"""

from collections.abc import Sequence

from ..types import AssistantMessage, Message, ToolCall, ToolResultMessage, UserMessage
from .origin import same_origin
from .pairing import Pairing
from .policy import KEEPS, Policy
from .scan import CALLS, TORN, scan
from .step import Step, Target
from .strays import stray_step


class Steps:
    """Makes steps of ``messages``, which may grow."""

    def __init__(self, messages: Sequence[Message], target: Target) -> None:
        self._messages = messages
        self._target = target

    def step(self, index: int, message: UserMessage | AssistantMessage, has: int) -> Step:
        """The step of a message with these bits; an answer has the results of its calls."""
        end = index + 1
        if type(message) is not AssistantMessage:
            return Step(index, end, message, message.content, has)
        own = same_origin(message, self._target.model)
        if not has & CALLS:
            return Step(index, end, message, message.content, has, own=own)
        calls = [block for block in message.content if type(block) is ToolCall]
        step = Step(index, end, message, message.content, has, calls, own=own)
        if has & TORN or not self._follow(step):
            self._match(step)
        return step

    def stray(self, index: int, message: ToolResultMessage) -> Step | None:
        """The step of a result that answers no call; ``None`` if it answers one, or is left out."""
        kind = self.pairing.strays.get(index)
        return None if kind is None else stray_step(self._target, index, message, kind)

    def first_changed(self, kept: int, done: int) -> int:
        """The index from which on messages must be rendered (again), of which ``done`` were rendered and the first
        ``kept`` are as they were: a new result may belong to an earlier call."""
        if self._target.pairing is not None:
            return self._target.pairing.extend(kept)
        if kept == done:
            return kept  # so far every call has its result
        while kept and type(self._messages[kept - 1]) is ToolResultMessage:
            kept -= 1
        return max(kept - 1, 0)  # the answer before these results, if it is one

    def will_have_calls(self, policy: Policy) -> bool:
        """Whether calls will be rendered under this policy."""
        pairing = self.pairing
        if policy.orphan_results == "pair" and "orphan" in pairing.strays.values():
            return True
        keeps_calls, _ = KEEPS[policy.failed_turns]
        return any(
            not pairing.message(batch).failed or (keeps_calls and pairing.has_real_result(batch))
            for batch in pairing.batches.values()
        )

    @property
    def pairing(self) -> Pairing:
        """Which result answers which call."""
        if self._target.pairing is None:
            self._target.pairing = Pairing(self._messages)
        return self._target.pairing

    def _follow(self, step: Step) -> bool:
        """Add the results that follow, if they are those of the calls, one by one; no later result can be, then."""
        calls, has = step.calls, step.has
        end = step.end + len(calls)
        following = self._messages[step.end : end]
        if len(following) < len(calls) or (len(calls) > 1 and len({call.id for call in calls}) < len(calls)):
            return False
        results: list[ToolResultMessage | None] = []
        for call, result in zip(calls, following, strict=True):
            if (
                type(result) is not ToolResultMessage
                or result.tool_call_id != call.id
                or not call.id
                or result.synthetic
            ):
                return False
            results.append(result)
            has |= scan(result.content)
            if result.tool_name != call.name:
                has |= TORN
        step.has, step.results, step.sources, step.end = has, results, range(step.end, end), end
        return True

    def _match(self, step: Step) -> None:
        """Add the results that the pairing found, wherever they are stored."""
        step.has |= TORN
        step.sources = self.pairing.batches[step.index].answers
        for source in step.sources:
            result = self._messages[source] if source >= 0 else None
            assert result is None or type(result) is ToolResultMessage
            step.results.append(result)
            if result is not None:
                step.has |= scan(result.content)
