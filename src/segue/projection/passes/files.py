"""Files and addresses that the target does not accept: a file of text becomes text, anything else a placeholder.

If a target accepts a file, but not inside tool results, its encoder moves it.
"""

from typing import assert_never

from msgspec.structs import replace

from ...types import AssistantMessage, FileContent, ImageContent, TextContent, UserContent, UserMessage
from ..attachments import accepts_file, accepts_place, file_as_text, image_as_text
from ..scan import FILES
from ..step import Pass, Step


class Files(Pass):
    concerns = FILES

    def user(self, step: Step, message: UserMessage) -> None:
        step.content = self._shown(step.index, message.content)

    def answer(self, step: Step, message: AssistantMessage) -> None:
        for number, result in enumerate(step.results):
            content = self._shown(step.sources[number], result.content)
            if content != result.content:
                step.results[number] = replace(result, content=content)

    def _shown(self, index: int, content: list[UserContent]) -> list[UserContent]:
        return [self._block(index, at, block) for at, block in enumerate(content)]

    def _block(self, index: int, at: int, block: UserContent) -> UserContent:
        dialect, kinds = self.target.dialect, self.target.model.input
        if type(block) is TextContent:
            return block
        if type(block) is ImageContent:
            if accepts_place(dialect, kinds, block):
                return block
            code, detail, text = image_as_text(block)
        elif type(block) is FileContent:
            if accepts_file(dialect, kinds, block):
                return block
            code, detail, text = file_as_text(block)
        else:
            assert_never(block)
        self.report.add(code, index, at, detail)
        return TextContent(text)
