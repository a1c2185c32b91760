"""A tool name that the target refuses is replaced by one that depends only on the name, in tools and history alike."""

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
        kept = self._kept
        places: list[int] = []  # of the calls; found when the first one is renamed
        for number, call in enumerate(step.calls):
            if call.name in kept or (name := self._names.rendered(call.name)) == call.name:
                continue
            places = places or step.places()
            at, result = places[number], step.results[number]
            self.report.add("name-projected", step.index, step.block(at), f"{call.name!r} is sent as {name!r}")
            step.put(at, replace(step.content[at], name=name))
            step.results[number] = replace(result, tool_name=name)
