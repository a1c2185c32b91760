"""The history of a conversation in the form of this protocol, for ``export``."""

from ...dialects import MistralChat
from ...types import ImageContent, ThinkingContent
from ..common.chat import Call
from ..common.images import kind_of
from ..protocol import ExportForm, signs_thinking
from .encode import Answer, Chunk, MistralTurns, conversation


class MistralHistory(MistralTurns):
    """One message for each stored message, also if it is empty or contains only thinking."""

    def _kept_thoughts(self, thoughts: list[ThinkingContent], has_content: bool) -> list[ThinkingContent]:
        return super()._kept_thoughts(thoughts, has_content=True)

    def _answer(self, content: str | list[Chunk] | None, calls: list[Call]) -> None:
        self.turns.append(Answer(content, calls or None))

    def _media_type(self, block: ImageContent) -> str | None:
        return kind_of(block.data) or block.mime_type


EXPORT_FORM = ExportForm(
    dialect=MistralChat(
        own_reasoning="any", user_after_tool=True, images_in_results=True, files_in_results=MistralChat().files
    ),
    turns=MistralHistory,
    body=conversation,
    holds_signature=signs_thinking,
)
