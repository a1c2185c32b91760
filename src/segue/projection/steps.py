"""Steps of a conversation: a user message, an answer with the results of its calls, or a result without a call.

Results move to their calls here, and nowhere else. As long as the results of every answer directly follow it, in the
order of its calls, there is nothing to match; from the first exception on, ``pairing.py`` matches every result of the
conversation.
"""

from collections.abc import Sequence

from ..types import AssistantMessage, Message, ToolCall, ToolResultMessage
from .origin import same_origin
from .pairing import Pairing
from .policy import KEEPS, Policy
from .scan import CALLS, TORN, scan
from .step import NO_RESULT, Step, Target
from .strays import stray_step


class Steps:
    """Makes steps of ``messages``, which may grow."""

    def __init__(self, messages: Sequence[Message], target: Target) -> None:
        self._messages = messages
        self._target = target
        self._model = target.model

    def step(self, index: int, message: Message, has: int) -> Step | None:
        """The step of a message with these bits; an answer has the results of its calls. ``None`` for a result that
        answers a call, or is left out."""
        if type(message) is ToolResultMessage:
            kind = self.pairing.strays.get(index)
            return None if kind is None else stray_step(self._target, index, message, kind)
        if type(message) is not AssistantMessage:
            return Step(index, index + 1, message, message.content, has)
        own = same_origin(message, self._model)
        if not has & CALLS:
            return Step(index, index + 1, message, message.content, has, own=own)
        if not has & TORN and (step := self._followed(index, message, has, own)) is not None:
            return step
        return self._matched(index, message, has, own)

    def first_changed(self, kept: int, done: int) -> int:
        """The index of the first message that must be rendered (again), after ``done`` messages were rendered of which
        the first ``kept`` are unchanged: a new result may belong to an earlier call."""
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

    def _followed(self, index: int, message: AssistantMessage, has: int, own: bool) -> Step | None:
        """The step, if its results directly follow, one for each call; then no later result can belong to it."""
        messages, at, count = self._messages, index + 1, len(self._messages)
        calls: list[ToolCall] = []
        results: list[ToolResultMessage] = []
        for block in message.content:
            if type(block) is ToolCall:
                result = messages[at] if at < count else None
                if (
                    type(result) is not ToolResultMessage
                    or result.tool_call_id != block.id
                    or not block.id
                    or result.synthetic
                ):
                    return None
                has |= scan(result.content)
                if result.tool_name != block.name:
                    has |= TORN
                calls.append(block)
                results.append(result)
                at += 1
        if len(calls) > 1 and len({call.id for call in calls}) < len(calls):
            return None
        return Step(index, at, message, message.content, has, calls, results, range(index + 1, at), own)

    def _matched(self, index: int, message: AssistantMessage, has: int, own: bool) -> Step:
        """The step with the results that the pairing found, wherever they are stored."""
        batch = self.pairing.batches[index]
        results: list[ToolResultMessage] = []
        for source in batch.answers:
            result = self._messages[source] if source >= 0 else NO_RESULT
            assert type(result) is ToolResultMessage
            results.append(result)
            has |= scan(result.content)
        return Step(index, index + 1, message, message.content, has | TORN, batch.calls, results, batch.answers, own)
