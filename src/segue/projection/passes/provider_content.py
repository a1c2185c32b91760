"""Content that only its provider can read goes back to it unchanged; another model gets its text, or nothing."""

from ...types import AssistantMessage, Block, ProviderContent, plain_text
from ..attachments import accepts_provider_content, provider_content_as_text
from ..scan import PROVIDER
from ..step import Pass, Step


class ProviderBlocks(Pass):
    concerns = PROVIDER

    def answer(self, step: Step, message: AssistantMessage) -> None:
        kept: list[Block] = []
        positions: list[int] = []
        for at, block in enumerate(step.content):
            if type(block) is not ProviderContent or (
                step.own and accepts_provider_content(self.target.dialect, block)
            ):
                kept.append(block)
            else:
                code, detail, text = provider_content_as_text(block, self.target.policy.provider_content == "drop")
                self.report.add(code, step.index, at, detail)
                if not text:
                    continue
                kept.append(plain_text(text))
            positions.append(at)
        if kept != step.content:
            self.report.keep(step.index, positions)
            step.content = kept
            step.thinned = True  # other blocks may refer to it
