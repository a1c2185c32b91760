"""Where a conversation may be cut: between whole interactions, so that no call is parted from its result."""

from itertools import accumulate

from ..projection.pairing import Pairing
from ..types import AssistantMessage, Message, ToolResultMessage, UserMessage
from .values import is_summary


class CutPoints:
    """The places between the messages before ``end``; a place is the index of the message that begins there."""

    def __init__(self, messages: list[Message], running_from: int | None) -> None:
        self.messages = messages
        self.end = len(messages) if running_from is None else running_from
        if not 0 <= self.end <= len(messages):
            raise ValueError(f"running_from is {running_from}, but there are {len(messages)} messages")
        self._crossed = _crossed(messages)

    def whole(self, at: int) -> bool:
        """Whether every result is on the side of its call, and every question on the side of its answer."""
        return not self._crossed[at]

    def begins(self, at: int) -> bool:
        """Whether a user message or an answer begins here, or what may be cut ends here."""
        return at == self.end or not isinstance(self.messages[at], ToolResultMessage)

    def begins_turn(self, at: int) -> bool:
        """Whether this is the first of the user's messages in a row."""
        if at == len(self.messages):
            return False
        before = self.messages[at - 1]
        return isinstance(self.messages[at], UserMessage) and (
            not isinstance(before, UserMessage) or is_summary(before)
        )

    def cuts(self) -> list[int]:
        """Every place to cut, in order. A summary alone is not summarised again: there must be an end to it."""
        first = 2 if self.messages and is_summary(self.messages[0]) else 1
        return [at for at in range(first, self.end + 1) if self.whole(at) and self.begins(at)]


def _crossed(messages: list[Message]) -> list[bool]:
    """For each place, whether something on one side of it belongs to something on the other."""
    pairing = Pairing(messages)
    steps = [0] * (len(messages) + 2)

    def tie(one: int, other: int) -> None:
        low, high = sorted((one, other))
        steps[low + 1] += 1
        steps[high + 1] -= 1

    nearest: dict[str, int] = {}  # by id: the last answer so far with such a call
    last: int | None = None
    for index, message in enumerate(messages):
        if index and isinstance(message, AssistantMessage) and isinstance(messages[index - 1], UserMessage):
            tie(index - 1, index)
        if index in pairing.batches:
            batch, last = pairing.batches[index], index
            nearest |= {call.id: index for call in batch.calls}
            for answer in batch.answers:
                if answer >= 0:
                    tie(index, answer)
        elif isinstance(message, ToolResultMessage) and pairing.strays.get(index) == "duplicate":
            # It is left out of what is rendered as long as its call is there; alone it would pass for another's.
            call = nearest.get(message.tool_call_id) if message.tool_call_id else last
            if call is None:  # stored before its call
                call = next(after for after in pairing.batches if after > index)
            tie(call, index)
    return [crossing > 0 for crossing in accumulate(steps)]
