"""An answer that ended in ``error`` or ``aborted`` is not sent: it may contain incomplete thinking or calls.

Calls that have a real result are kept, because that work was done.
"""

from typing import assert_never

from msgspec.structs import replace

from ...types import AssistantContent, AssistantMessage, ProviderContent, TextContent, ThinkingContent, ToolCall
from ..policy import KEEPS
from ..scan import FAILED
from ..step import Pass, Step


class FailedTurns(Pass):
    concerns = FAILED

    def answer(self, step: Step, message: AssistantMessage) -> None:
        calls, text = KEEPS[self.target.policy.failed_turns]
        answered = [not result.synthetic for result in step.results]
        keeps_calls = calls and any(answered)
        keeps_text = keeps_calls or text
        kept: list[AssistantContent] = []
        positions: list[int] = []
        call = 0
        for at, block in enumerate(message.content):
            stays: AssistantContent | None = None
            if type(block) is TextContent:
                stays = replace(block, text_signature=None) if keeps_text else None
            elif type(block) is ToolCall:
                stays = replace(block, thought_signature=None) if keeps_calls and answered[call] else None
                call += 1
            elif type(block) is ThinkingContent or type(block) is ProviderContent:
                pass  # it may be incomplete
            else:
                assert_never(block)
            if stays is not None:
                kept.append(stays)
                positions.append(at)
        if kept:
            self._trim(step, message, kept, positions, answered if keeps_calls else [False] * len(answered))
        else:
            self._drop(step, message)

    def _trim(
        self,
        step: Step,
        message: AssistantMessage,
        kept: list[AssistantContent],
        positions: list[int],
        answered: list[bool],
    ) -> None:
        if kept != message.content:
            gone = len(message.content) - len(kept)
            detail = f"the turn ended in {message.stop_reason}: {len(kept)} of {len(kept) + gone} blocks stay, unsigned"
            self.report.add("failed-turn-trimmed", step.index, None, detail)
        for source, stays in zip(step.sources, answered, strict=True):
            if source >= 0 and not stays:
                self.report.add("failed-turn-trimmed", source, None, f"a placeholder for a result of turn {step.index}")
        self.report.keep(step.index, positions)
        step.calls = [call for call, stays in zip(step.calls, answered, strict=True) if stays]
        step.results = [result for result, stays in zip(step.results, answered, strict=True) if stays]
        step.sources = [source for source, stays in zip(step.sources, answered, strict=True) if stays]
        stop = "toolUse" if step.results else "stop"
        step.message = replace(message, stop_reason=stop, error_message=None)
        step.content = kept

    def _drop(self, step: Step, message: AssistantMessage) -> None:
        self.report.add("failed-turn-dropped", step.index, None, f"the turn ended in {message.stop_reason}")
        for source in step.sources:
            if source >= 0:
                self.report.add("failed-turn-dropped", source, None, f"a result of the failed turn {step.index}")
        step.dropped = True
