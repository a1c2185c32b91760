"""Each call gets exactly one result, placed directly after the message that made the call, in the order of calls.

Nothing that the user wrote is lost: what stood between a call and its result comes after the results.
"""

from typing import Literal

from msgspec.structs import replace

from ...types import (
    AssistantMessage,
    ImageContent,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ...types.text import in_label, scrub
from ..look import NAMED, TORN, look
from ..pairing import Pairing
from ..step import Pass, Step, Target

ORPHAN = "[Result of an earlier call to {}]"
EMPTY_RESULT = "(no output)"
IMAGES_BELOW = "(see the images below)"
ERROR = "Error: "


class ToolInteractions(Pass):
    minds = TORN

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self.pairing: Pairing | None = None
        """Whoever makes it tells of it; as long as nobody does, every result follows its call."""

    def answer(self, step: Step, message: AssistantMessage) -> None:
        self._report_moves(step)
        for number, result in enumerate(step.results):
            if result is None or result.tool_name != step.calls[number].name:
                self._settle(step)
                return

    def _settle(self, step: Step) -> None:
        places = [at for at, block in enumerate(step.content) if type(block) is ToolCall]
        for number, (at, call) in enumerate(zip(places, step.calls, strict=True)):
            result = step.results[number]
            if result is None:
                step.results[number] = self._stand_in(call)
                self.report.add("result-synthesized", step.index, at, f"no result of {call.name} was stored")
            elif result.tool_name != call.name:
                step.results[number] = replace(result, tool_name=call.name)
                detail = f"the result says {result.tool_name!r}, its call is of {call.name!r}"
                self.report.add("name-projected", step.sources[number], None, detail)

    def _stand_in(self, call: ToolCall) -> ToolResultMessage:
        says = TextContent(scrub(self.target.policy.missing_result))
        return ToolResultMessage(call.id, call.name, [says], is_error=True, synthetic=True)

    def _report_moves(self, step: Step) -> None:
        """A result has moved where anything that is rendered elsewhere stands between its place and where it is stored,
        or where it is stored before its place."""
        together = set(step.sources)
        strays = self.pairing.strays if self.pairing is not None else {}
        position = step.index
        elsewhere = position + 1  # the first message behind the position that is rendered elsewhere
        for source in step.sources:
            if source < 0:
                continue
            while elsewhere in together or strays.get(elsewhere) == "duplicate":
                elsewhere += 1
            if position <= source < elsewhere:
                position = source
            else:
                self.report.add("result-moved", source, None, f"to its call in message {step.index}")

    def stray(self, index: int, result: ToolResultMessage, kind: Literal["duplicate", "orphan"]) -> Step | None:
        """The step that a result without a call becomes, if it is kept."""
        if kind == "duplicate":
            self.report.add("result-duplicate", index, None, f"a result of {result.tool_name} is there already")
            return None
        choice = self.target.policy.orphan_results
        if choice == "drop":
            self.report.add("result-orphaned", index, None, f"no call of {result.tool_name}: dropped", lossy=True)
            return None
        if choice == "pair":
            self.report.add("call-reconstructed", index, None, f"a call of {result.tool_name} stands before its result")
            answer, call = _made_up(result)
            has = look(answer.content) | look(result.content) | TORN | NAMED
            return Step(index, answer, answer.content, has, [call], [result], [index], made_up=True)
        self.report.add("result-orphaned", index, None, f"no call of {result.tool_name}: shown as text of the user")
        images = [at for at, block in enumerate(result.content) if type(block) is ImageContent]
        texts = [at for at, block in enumerate(result.content) if type(block) is TextContent]
        self.report.keep(index, [*(texts[:1] or [0]), *images])
        said = UserMessage(_as_text(result))
        return Step(index, said, said.content, look(said.content))


def _made_up(result: ToolResultMessage) -> tuple[AssistantMessage, ToolCall]:
    call = ToolCall(result.tool_call_id, result.tool_name, {})
    return AssistantMessage(content=[call], protocol="", provider="", model="", stop_reason="toolUse"), call


def _as_text(result: ToolResultMessage) -> list[UserContent]:
    """A user message has no error flag, so the text says what the flag said."""
    text = "\n".join(block.text for block in result.content if type(block) is TextContent)
    images = [block for block in result.content if type(block) is ImageContent]
    if not text.strip():
        text = IMAGES_BELOW if images else EMPTY_RESULT
    if result.is_error and not text.startswith(ERROR):
        text = ERROR + text
    return [TextContent(f"{ORPHAN.format(in_label(result.tool_name))}\n{text}"), *images]
