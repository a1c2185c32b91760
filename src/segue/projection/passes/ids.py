"""One identity maps to one id, different identities to different ids, call and result to the same id.

Only what comes before may play a part, so that appending never changes an id that was rendered already.
"""

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from msgspec.structs import replace

from ...dialects import ID_SHAPES, IdForm
from ...errors import ProjectionError
from ...types import AssistantMessage, ToolCall
from ..look import CALLS
from ..policy import IdFunction
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
        self._ask = target.policy.tool_call_id
        # The target takes more kinds back than it is given by others.
        self._own = _WANTED[form, True]
        self._others = _WANTED[form, False]
        self.taken: dict[str, tuple[str, int] | None] = {}
        """In their order, so that the last ones can be given back; for each that was minted, the stored id and the
        attempt at which the search for it began."""
        self._attempts: dict[str, int] = {}
        """By stored id, the first attempt that may be free: without it, an id that every turn uses would be looked for
        from the first attempt on, each time."""

    def take(self, calls: list[ToolCall], own: bool) -> bool:
        """Take the ids of these calls, which differ; none, if one of them is taken or does not fit."""
        taken, wanted = self.taken, self._own if own else self._others
        before = len(taken)
        for call in calls:
            stored = call.id
            if stored in taken or wanted[stored] != stored:
                self.back(before)
                return False
            taken[stored] = None
        return True

    def back(self, count: int) -> None:
        """Give back all but the first ``count`` ids."""
        while len(self.taken) > count:
            _, minted = self.taken.popitem()
            if minted is not None:
                stored, self._attempts[stored] = minted

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
        sent = (self._own if own else self._others)[stored]
        if sent is None or sent in taken or self._ask is not None:
            sent = self._rendered(call, message, sent == stored)
        else:
            taken[sent] = None
        if sent == stored:
            return call
        self.report.add("id-projected", index, at, "{!r} is sent as {}", (stored, sent))
        return replace(call, id=sent)

    def _rendered(self, call: ToolCall, message: AssistantMessage, fits: bool) -> str:
        """An id that is not taken yet, and is from now on."""
        stored, taken = call.id, self.taken
        if self.shape.counted:
            given = f"{self.shape.prefix}{call.name}:{len(taken)}"
        elif self._ask is not None:
            given = stored if fits and stored not in taken else self._asked(self._ask, stored, message)
        else:
            return self._minted(stored)
        taken[given] = None
        return given

    def _minted(self, stored: str) -> str:
        first = attempt = self._attempts.get(stored, 0)
        while (minted := fresh_id(stored, self.form, attempt)) in self.taken:
            attempt += 1
        self._attempts[stored] = attempt + 1
        self.taken[minted] = stored, first
        return minted

    def _asked(self, ask: IdFunction, stored: str, message: AssistantMessage) -> str:
        given = ask(stored, self.target.model, message)
        if not isinstance(given, str) or not re.fullmatch(self.shape.form, given):
            raise ProjectionError(
                f"tool_call_id of the policy gave {given!r} for {stored!r}; {self.target.model.ref} accepts ids that "
                f"match {self.shape.form}"
            )
        if given in self.taken:
            raise ProjectionError(f"tool_call_id of the policy gave {given!r} twice; every call needs an id of its own")
        return given


def fresh_id(stored: str, form: IdForm, attempt: int = 0) -> str:
    """An id of the form, derived from the identity alone; ``attempt`` is the way out of collisions."""
    shape = ID_SHAPES[form]
    number = int.from_bytes(blake2b(f"{attempt}:{stored}".encode("utf-8", "surrogatepass"), digest_size=24).digest())
    pairs = []
    for _ in range(0, shape.digits, 2):
        number, pair = divmod(number, len(_PAIRS))
        pairs.append(_PAIRS[pair])
    return shape.prefix + "".join(pairs)[: shape.digits]


class _Wanted(dict[str, str | None]):
    """By stored id, the one that a target wants: the same, if it matches ``pattern``, else a fresh one of ``form``;
    none, if ids of that form are counted, for then it depends on what stands before.

    Requests ask for the ids of the whole history again and again, so they are kept, as long as they are not too many.
    """

    MOST = 16_384

    def __init__(self, form: IdForm, pattern: str) -> None:
        self._form: IdForm = form
        self._pattern = pattern

    def __missing__(self, stored: str) -> str | None:
        if len(self) >= self.MOST:
            self.clear()
        wanted = None
        if not ID_SHAPES[self._form].counted:
            wanted = stored if re.fullmatch(self._pattern, stored) else fresh_id(stored, self._form)
        self[stored] = wanted
        return wanted


_WANTED = {
    (form, accepted): _Wanted(form, shape.accepts if accepted else shape.form)
    for form, shape in ID_SHAPES.items()
    for accepted in (False, True)
}
