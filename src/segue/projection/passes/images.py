"""A model that does not take images gets placeholder text, one for a run of images.

Where a target takes images but not inside tool results, its encoder moves them.
"""

from msgspec.structs import replace

from ...types import AssistantMessage, ImageContent, Model, TextContent, UserContent, UserMessage
from ..look import IMAGES
from ..step import Pass, Step

IN_USER = "(image omitted: model does not support images)"
IN_RESULT = "(tool image omitted: model does not support images)"


class Images(Pass):
    minds = IMAGES

    @classmethod
    def concerns(cls, model: Model) -> bool:
        return "image" not in model.input

    def user(self, step: Step, message: UserMessage) -> None:
        step.content = self._without_images(step.index, message.content, IN_USER)

    def answer(self, step: Step, message: AssistantMessage) -> None:
        for number, result in enumerate(step.results):
            if result is not None and ImageContent in map(type, result.content):
                content = self._without_images(step.sources[number], result.content, IN_RESULT)
                step.results[number] = replace(result, content=content)

    def _without_images(self, index: int, content: list[UserContent], placeholder: str) -> list[UserContent]:
        kept: list[UserContent] = []
        positions: list[int] = []
        in_run = False
        for at, block in enumerate(content):
            if type(block) is not ImageContent:
                kept.append(block)
                positions.append(at)
            else:
                self.report.add("image-downgraded", index, at, f"{block.mime_type} shown as text")
                if not in_run:
                    kept.append(TextContent(placeholder))
                    positions.append(at)
            in_run = type(block) is ImageContent
        self.report.keep(index, positions)
        return kept
