"""A tool name that the target refuses is replaced by one that depends only on the name, in tools and history alike."""

from collections.abc import Sequence

from msgspec.structs import replace

from ...types import AssistantMessage
from ..scan import CALLS
from ..step import Pass, Step, Target


class Names(Pass):
    concerns = CALLS

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._names = target.names
        self._kept = target.names.kept

    def answer(self, step: Step, message: AssistantMessage) -> None:
        for call in step.calls:
            if call.name not in self._kept:
                self._rename(step)
                break

    def _rename(self, step: Step) -> None:
        places: Sequence[int] = ()  # of the calls; found when the first one is renamed
        for number, call in enumerate(step.calls):
            name = self._names.rendered(call.name)
            if name == call.name:
                continue
            places = places or step.places()
            at, result = places[number], step.results[number]
            self.report.add("name-projected", step.index, step.block(at), f"{call.name!r} is sent as {name!r}")
            step.put(at, replace(step.content[at], name=name))
            step.results[number] = replace(result, tool_name=name)
