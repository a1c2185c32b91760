"""A model that does not accept images gets placeholder text, one for each run of images.

A target that has refused an image for its size gets such a text for every image above its limits. If a target accepts
images, but not inside tool results, its encoder moves them.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from ...types import (
    AssistantMessage,
    Block,
    FileContent,
    ImageContent,
    Model,
    TextContent,
    UserContent,
    UserMessage,
    image_size,
)
from ...types.texts import IMAGE_OMITTED, IMAGE_TOO_LARGE, TOOL_IMAGE_OMITTED
from ..scan import IMAGES
from ..step import Pass, Step, Target


class Images(Pass):
    concerns = IMAGES

    @classmethod
    def applies_to(cls, model: Model) -> bool:
        return "image" not in model.input or model.dialect.enforced_image_limits

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._reads = "image" in target.model.input
        self._dialect = target.dialect

    def user(self, step: Step, message: UserMessage) -> None:
        if ImageContent in map(type, step.content):
            step.content = self._without_images(step.index, step.content, IMAGE_OMITTED)

    def answer(self, step: Step, message: AssistantMessage) -> None:
        for number, result in enumerate(step.results):
            if ImageContent in map(type, result.content):
                content = self._without_images(step.sources[number], result.content, TOOL_IMAGE_OMITTED)
                step.results[number] = replace(result, content=content)

    def _without_images(self, index: int, content: Sequence[Block], placeholder: str) -> list[UserContent]:
        kept: list[UserContent] = []
        positions: list[int] = []
        in_run = False
        for at, block in enumerate(content):
            if type(block) is ImageContent and not self._accepts(block):
                why = "shown as text" if not self._reads else "is larger than the target accepts, shown as text"
                self.report.add("image-downgraded", index, at, f"{block.mime_type} {why}")
                if not in_run:
                    kept.append(TextContent(IMAGE_TOO_LARGE if self._reads else placeholder))
                    positions.append(at)
                in_run = True
            elif type(block) is TextContent or type(block) is FileContent or type(block) is ImageContent:
                kept.append(block)
                positions.append(at)
                in_run = False
            else:
                raise AssertionError(f"{type(block).__name__} is not allowed here")
        self.report.keep(index, positions)
        return kept

    def _accepts(self, block: ImageContent) -> bool:
        """Whether the target reads images, and this one is within its limits."""
        if not self._reads:
            return False
        most, pixels = self._dialect.max_image_bytes, self._dialect.max_image_pixels
        if most is not None and len(block.data) * 3 // 4 > most:
            return False
        size = None if pixels is None else image_size(block.data)
        return size is None or pixels is None or max(size) <= pixels
