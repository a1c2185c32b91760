"""Every call has its own id in a form that the target accepts, and its result has the same id.

An id depends only on what comes before it, so appending messages never changes an id that was rendered already.
"""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from ...dialects import ID_SHAPES, IdForm, fresh_id
from ...errors import ProjectionError
from ...types import AssistantMessage, ToolCall
from ..policy import IdFunction
from ..scan import CALLS
from ..step import Pass, Step, Target

CALL_SENT_AS = "{!r} is sent as {}"
RESULT_SENT_AS = "a result of {!r} is sent as one of {}"


class Ids(Pass):
    concerns = CALLS

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._form = form = target.dialect.id_form
        self._shape = ID_SHAPES[form]
        self._ask = target.policy.tool_call_id
        # The target accepts more kinds of ids that it made itself.
        self._own = _WANTED[form, True]
        self._others = _WANTED[form, False]
        self._taken: dict[str, tuple[str, int] | None] = {}
        """In their order, so that the last ones can be removed again. For each minted one: the stored id, and the
        attempt at which the search for it began."""
        self._attempts: dict[str, int] = {}
        """By stored id, the first attempt that may be free. Without it, the search for an id that every turn uses would
        begin with the first attempt each time."""

    def mark(self) -> int:
        """The number of ids that are taken."""
        return len(self._taken)

    def back(self, mark: int) -> None:
        """Remove all but the first ``mark`` ids."""
        while len(self._taken) > mark:
            _, minted = self._taken.popitem()
            if minted is not None:
                stored, self._attempts[stored] = minted

    def answer(self, step: Step, message: AssistantMessage) -> None:
        wanted, taken = self._own if step.own else self._others, self._taken
        places: Sequence[int] = ()  # of the calls; found when the first one is renamed
        for number, call in enumerate(step.calls):
            stored = call.id
            sent = wanted[stored]
            if sent is None or sent in taken or self._ask is not None:
                sent = self._another(call, message, sent == stored)
            else:
                taken[sent] = None
            if sent != stored:
                places = places or step.places()
                at = places[number]
                self.report.add("id-projected", step.index, step.block(at), CALL_SENT_AS, (stored, sent))
                step.put(at, replace(step.content[at], id=sent))
            result = step.results[number]
            if result.tool_call_id != sent:
                if result.tool_call_id != stored:
                    source = step.sources[number]
                    self.report.add("id-projected", source, None, RESULT_SENT_AS, (result.tool_call_id, sent))
                step.results[number] = replace(result, tool_call_id=sent)

    def _another(self, call: ToolCall, message: AssistantMessage, fits: bool) -> str:
        """Take another id, if the preferred one is taken or depends on what comes before."""
        stored, taken = call.id, self._taken
        if self._shape.counted:
            sent = self._shape.counted_id(self.target.names.rendered(call.name), len(taken))
        elif self._ask is not None:
            sent = stored if fits and stored not in taken else self._asked(self._ask, stored, message)
        else:
            return self._minted(stored)
        taken[sent] = None
        return sent

    def _minted(self, stored: str) -> str:
        first = attempt = self._attempts.get(stored, 0)
        while (minted := fresh_id(stored, self._form, attempt)) in self._taken:
            attempt += 1
        self._attempts[stored] = attempt + 1
        self._taken[minted] = stored, first
        return minted

    def _asked(self, ask: IdFunction, stored: str, message: AssistantMessage) -> str:
        sent = ask(stored, self.target.model, message)
        if not isinstance(sent, str) or not re.fullmatch(self._shape.form, sent):
            raise ProjectionError(
                f"tool_call_id of the policy returned {sent!r} for {stored!r}; {self.target.model.ref} accepts ids "
                f"that match {self._shape.form}"
            )
        if sent in self._taken:
            raise ProjectionError(f"tool_call_id of the policy returned {sent!r} twice; every call needs its own id")
        return sent


class _Wanted(dict[str, str | None]):
    """By stored id, the preferred id to send: the same if it matches ``pattern``, otherwise a fresh one of ``form``;
    ``None`` if ids are counted, because then the id depends on what comes before.

    Each rendering from scratch asks for the ids of the whole history again, so they are cached, up to a limit.
    """

    MAX_SIZE = 16_384

    def __init__(self, form: IdForm, pattern: str) -> None:
        self._form: IdForm = form
        self._pattern = pattern

    def __missing__(self, stored: str) -> str | None:
        if len(self) >= self.MAX_SIZE:
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
