"""A model that does not accept images gets placeholder text, one for each run of images.

If a target accepts images, but not inside tool results, its encoder moves them.
"""

from typing import assert_never

from msgspec.structs import replace

from ...types import AssistantMessage, ImageContent, Model, TextContent, UserContent, UserMessage
from ...types.texts import IMAGE_OMITTED, TOOL_IMAGE_OMITTED
from ..scan import IMAGES
from ..step import Pass, Step


class Images(Pass):
    concerns = IMAGES

    @classmethod
    def applies_to(cls, model: Model) -> bool:
        return "image" not in model.input

    def user(self, step: Step, message: UserMessage) -> None:
        step.content = self._without_images(step.index, message.content, IMAGE_OMITTED)

    def answer(self, step: Step, message: AssistantMessage) -> None:
        for number, result in enumerate(step.results):
            if ImageContent in map(type, result.content):
                content = self._without_images(step.sources[number], result.content, TOOL_IMAGE_OMITTED)
                step.results[number] = replace(result, content=content)

    def _without_images(self, index: int, content: list[UserContent], placeholder: str) -> list[UserContent]:
        kept: list[UserContent] = []
        positions: list[int] = []
        in_run = False
        for at, block in enumerate(content):
            if type(block) is ImageContent:
                self.report.add("image-downgraded", index, at, f"{block.mime_type} shown as text")
                if not in_run:
                    kept.append(TextContent(placeholder))
                    positions.append(at)
                in_run = True
            elif type(block) is TextContent:
                kept.append(block)
                positions.append(at)
                in_run = False
            else:
                assert_never(block)
        self.report.keep(index, positions)
        return kept
