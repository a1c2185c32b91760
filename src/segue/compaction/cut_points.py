"""Find where a conversation can be cut: between whole interactions, so that calls and results stay together."""

from itertools import accumulate

from ..projection import Pairing
from ..types import AssistantMessage, Message, ToolResultMessage, UserMessage
from .values import is_summary


class CutPoints:
    """The positions up to ``end`` at which messages can be cut. A position is the index of the message after it."""

    def __init__(self, messages: list[Message], running_from: int | None) -> None:
        self.messages = messages
        self.end = len(messages) if running_from is None else running_from
        if not 0 <= self.end <= len(messages):
            raise ValueError(f"running_from is {running_from}, but there are {len(messages)} messages")
        self._splits_pair = _positions_in_pairs(messages)

    def is_between_interactions(self, at: int) -> bool:
        """Whether a cut here separates no result from its call, and no question from its answer."""
        return not self._splits_pair[at]

    def is_before_message(self, at: int) -> bool:
        """Whether a user message or an answer begins here, or ``end`` is here."""
        return at == self.end or not isinstance(self.messages[at], ToolResultMessage)

    def is_before_turn(self, at: int) -> bool:
        """Whether the first of the user's messages in a row begins here."""
        if at == len(self.messages):
            return False
        before = self.messages[at - 1]
        return isinstance(self.messages[at], UserMessage) and (
            not isinstance(before, UserMessage) or is_summary(before)
        )

    def cuts(self) -> list[int]:
        """Every position to cut, in order. A summary alone is not summarised again, so that compaction ends."""
        first = 2 if self.messages and is_summary(self.messages[0]) else 1
        return [
            at for at in range(first, self.end + 1) if self.is_between_interactions(at) and self.is_before_message(at)
        ]


def _positions_in_pairs(messages: list[Message]) -> list[bool]:
    """For each position, whether a message before it belongs to a message after it."""
    pairing = Pairing(messages)
    changes = [0] * (len(messages) + 2)  # of the number of pairs around each position

    def add_pair(one: int, other: int) -> None:
        low, high = sorted((one, other))
        changes[low + 1] += 1
        changes[high + 1] -= 1

    last_by_id: dict[str, int] = {}  # the last answer so far with a call of this id
    last: int | None = None
    for index, message in enumerate(messages):
        if index and isinstance(message, AssistantMessage) and isinstance(messages[index - 1], UserMessage):
            add_pair(index - 1, index)
        if index in pairing.batches:
            batch, last = pairing.batches[index], index
            last_by_id |= {call.id: index for call in batch.calls}
            for answer in batch.answers:
                if answer >= 0:
                    add_pair(index, answer)
        elif isinstance(message, ToolResultMessage) and pairing.strays.get(index) == "duplicate":
            # A duplicate is not rendered while its call is there; without the call it would look like another result.
            call = last_by_id.get(message.tool_call_id) if message.tool_call_id else last
            if call is None:  # stored before its call
                call = next(after for after in pairing.batches if after > index)
            add_pair(call, index)
    return [pairs > 0 for pairs in accumulate(changes)]
