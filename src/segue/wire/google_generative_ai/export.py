"""The history of a conversation in the form of this protocol, for ``export``."""

from typing import Any

from ...dialects import GoogleGenerativeAI
from ...types import AssistantMessage, FileContent, ImageContent, ToolResultMessage, UserMessage
from ..common.images import kind_of
from ..protocol import ExportForm
from .encode import GoogleTurns, Part, conversation
from .shapes import is_base64


class GoogleHistory(GoogleTurns):
    """Each message is a separate content, except that the results of a batch share one."""

    no_text = ""

    def add_user(self, message: UserMessage) -> None:
        self._add("user", self.shown(message.content))

    def add_answer(self, message: AssistantMessage) -> None:
        self._add("model", self._answer(message))

    def _add(self, role: str, parts: list[Part], in_batch: bool = False) -> None:
        if parts:
            super()._add(role, parts, in_batch)
        else:
            self.note("empty-dropped", "the message is empty")

    def _named(self, block: ImageContent | FileContent, data: dict[str, Any]) -> dict[str, Any]:
        if type(block) is FileContent and block.name is not None:
            return data | {"displayName": block.name}
        return data

    def _image_type(self, block: ImageContent) -> str | None:
        return kind_of(block.data) or block.mime_type

    def _fits_in_result(self, block: ImageContent | FileContent) -> bool:
        return True

    def _thinking_alone(self, parts: list[Part]) -> list[Part]:
        return parts

    def _note_order(self, message: ToolResultMessage, has_text: bool) -> None:
        if has_text:
            super()._note_order(message, has_text)


EXPORT_FORM = ExportForm(
    dialect=GoogleGenerativeAI(
        send_ids=True,
        dummy_signature=None,
        signature_required=False,
        image_urls=True,
        file_urls=("*",),
    ),
    turns=GoogleHistory,
    body=conversation,
    holds_signature=lambda block, signature: is_base64(signature),
    blank_texts=False,
)
