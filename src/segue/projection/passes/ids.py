"""One identity maps to one id, different identities to different ids, call and result to the same id.

Only what comes before may play a part, so that appending never changes an id that was rendered already.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from msgspec.structs import replace

from ...dialects import ID_SHAPES, IdForm
from ...errors import ProjectionError
from ...types import AssistantMessage, ToolCall
from ..look import CALLS
from ..step import Pass, Step, Target

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PAIRS = [high + low for low in _DIGITS for high in _DIGITS]
"""Two digits of a number in base 62 at a time, the least significant first."""


RESULT_AS = "a result of {!r} is sent as one of {}"


class Ids(Pass):
    minds = CALLS

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self.form = form = target.dialect.id_form
        self.shape = ID_SHAPES[form]
        self.has_form = re.compile(self.shape.form).fullmatch
        self.is_accepted = re.compile(self.shape.accepts).fullmatch
        self.counts = form == "kimi"
        self.mints = not self.counts and target.policy.tool_call_id is None
        self.taken: dict[str, None] = {}  # in their order, so that the last ones can be given back
        self.attempts: dict[str, int] = {}  # by stored id, the first attempt that may not be taken

    def take(self, calls: list[ToolCall], own: bool) -> bool:
        """Take the ids of these calls, which differ; none, if one of them is taken or does not fit.

        The target takes more kinds back than it is given by others.
        """
        taken = self.taken
        fits = self.is_accepted if own or self.counts else self.has_form
        before = len(taken)
        for call in calls:
            if call.id in taken or not fits(call.id):
                self.back(before)
                return False
            taken[call.id] = None
        return True

    def back(self, count: int) -> None:
        """Give back all but the first ``count`` ids."""
        while len(self.taken) > count:
            self.taken.popitem()
        self.attempts.clear()  # they only spare us to try again what is taken

    def answer(self, step: Step, message: AssistantMessage) -> None:
        content = list(step.content)
        if self.rename(message, content, step.results, step.own, step.index, step.sources, step.made_up):
            step.content = content

    def rename(
        self,
        message: AssistantMessage,
        content: list[Any],
        results: list[Any],
        own: bool,
        index: int,
        sources: Sequence[int],
        made_up: bool = False,
    ) -> bool:
        """Give the calls of an answer and their results, in these lists, the ids by which they are sent; whether any
        call has another one now."""
        number, renamed = 0, False
        for at, block in enumerate(content):
            if type(block) is not ToolCall:
                continue
            call, result = self.sent(block, message, own, index, None if made_up else at), results[number]
            if call is not block:
                content[at], renamed = call, True
            if result is not None and result.tool_call_id != call.id:
                if result.tool_call_id != block.id:
                    self.report.add("id-projected", sources[number], None, RESULT_AS, (result.tool_call_id, call.id))
                results[number] = replace(result, tool_call_id=call.id)
            number += 1
        return renamed

    def sent(self, call: ToolCall, message: AssistantMessage, own: bool, index: int, at: int | None) -> ToolCall:
        """The call as it is sent: under an id that nobody has yet."""
        stored, taken = call.id, self.taken
        if own or not self.mints:
            fits = self.is_accepted if own or self.counts else self.has_form
            sent = stored if stored not in taken and fits(stored) else self._rendered(call, message)
        elif (sent := wanted_id(stored, self.form)) in taken:
            sent = self._rendered(call, message)
        taken[sent] = None
        if sent == stored:
            return call
        self.report.add("id-projected", index, at, "{!r} is sent as {}", (stored, sent))
        return replace(call, id=sent)

    def _rendered(self, call: ToolCall, message: AssistantMessage) -> str:
        if self.counts:
            return f"{self.shape.prefix}{call.name}:{len(self.taken)}"
        if self.target.policy.tool_call_id is not None:
            return self._asked(call.id, message)
        attempt, form = self.attempts.get(call.id, 0), self.form
        while (minted := fresh_id(call.id, form, attempt)) in self.taken:
            attempt = self.attempts[call.id] = attempt + 1
        return minted

    def _asked(self, stored: str, message: AssistantMessage) -> str:
        ask = self.target.policy.tool_call_id
        assert ask is not None
        given = ask(stored, self.target.model, message)
        if not isinstance(given, str) or not self.has_form(given):
            raise ProjectionError(
                f"tool_call_id of the policy gave {given!r} for {stored!r}; {self.target.model.ref} accepts ids that "
                f"match {self.shape.form}"
            )
        if given in self.taken:
            raise ProjectionError(f"tool_call_id of the policy gave {given!r} twice; every call needs an id of its own")
        return given


@lru_cache(maxsize=16384)
def wanted_id(stored: str, form: IdForm) -> str:
    """The id that a call of another has for targets of this form, unless it is taken: the stored one, if it may."""
    return stored if re.fullmatch(ID_SHAPES[form].form, stored) else fresh_id(stored, form)


@lru_cache(maxsize=16384)
def fresh_id(stored: str, form: IdForm, attempt: int = 0) -> str:
    """An id of the form, derived from the identity alone; ``attempt`` is the way out of collisions."""
    shape = ID_SHAPES[form]
    number = int.from_bytes(blake2b(f"{attempt}:{stored}".encode("utf-8", "surrogatepass"), digest_size=24).digest())
    pairs = []
    for _ in range(0, shape.digits, 2):
        number, pair = divmod(number, len(_PAIRS))
        pairs.append(_PAIRS[pair])
    return shape.prefix + "".join(pairs)[: shape.digits]
