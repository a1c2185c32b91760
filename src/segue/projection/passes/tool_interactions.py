"""Each call has exactly one result, directly after the message that made the call, in the order of the calls.

User messages between a call and its result are kept: they follow the results.
"""

from msgspec.structs import replace

from ...types import AssistantMessage, TextContent, ToolCall, ToolResultMessage
from ...types.text import scrub
from ..scan import TORN
from ..step import NO_RESULT, Pass, Step


class ToolInteractions(Pass):
    concerns = TORN

    def answer(self, step: Step, message: AssistantMessage) -> None:
        self._report_moves(step)
        places = [at for at, block in enumerate(step.content) if type(block) is ToolCall]
        for number, (at, call) in enumerate(zip(places, step.calls, strict=True)):
            result = step.results[number]
            if result is NO_RESULT:
                step.results[number] = self._missing(call)
                self.report.add("result-synthesized", step.index, at, f"no result of {call.name} was stored")
            elif result.tool_name != call.name:
                step.results[number] = replace(result, tool_name=call.name)
                detail = f"the result is of {result.tool_name!r}, its call of {call.name!r}"
                self.report.add("name-projected", step.sources[number], None, detail)

    def _missing(self, call: ToolCall) -> ToolResultMessage:
        text = TextContent(scrub(self.target.policy.missing_result))
        return ToolResultMessage(call.id, call.name, [text], is_error=True, synthetic=True)

    def _report_moves(self, step: Step) -> None:
        """Report the results that have moved: those that are stored before their new position, and those with a message
        that is rendered elsewhere between both positions."""
        together, pairing = set(step.sources), self.target.pairing
        strays = pairing.strays if pairing is not None else {}
        position = step.index
        elsewhere = position + 1  # the first message after the position that is rendered elsewhere
        for source in step.sources:
            if source < 0:
                continue
            while elsewhere in together or strays.get(elsewhere) == "duplicate":
                elsewhere += 1
            if position <= source < elsewhere:
                position = source
            else:
                self.report.add("result-moved", source, None, f"to its call in message {step.index}")
