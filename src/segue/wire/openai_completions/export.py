"""The history of a conversation in the form of this protocol, for ``export``.

Reasoning is in the fields of the family, as servers send it: OpenAI itself has none.
"""

from typing import Any

from ...dialects import OpenAICompletions
from ...types import ImageContent, ThinkingContent, ToolResultMessage
from ..common.chat import Content, Result
from ..common.dataurl import DataUrl
from ..common.outgoing import Outgoing
from ..common.results import failed_text
from ..protocol import ExportForm
from .reasoning import is_signature
from .tools import definition
from .turns import AUDIO, ChatTurns, Part


class ChatHistory(ChatTurns):
    """One message for each stored message. Texts stay apart, and results hold their images."""

    def add_result(self, message: ToolResultMessage) -> None:
        parts = self._parts(message.content, "")
        if message.is_error:
            first = next((part for part in parts if part["type"] == "text"), None)
            if first is None:
                parts.insert(0, first := _text(""))
            first["text"] = failed_text(self.note, first["text"])
        self.turns.append(Result(message.tool_call_id, message.tool_name, self._pack(parts)))

    def _pack(self, parts: list[Part]) -> Content:
        if len(parts) == 1 and parts[0]["type"] == "text":
            text: str = parts[0]["text"]
            return text
        return parts or ""

    def _joined_texts(self, texts: list[str]) -> Content:
        return self._pack([*map(_text, texts)])

    def _may_be_empty(self, thoughts: list[ThinkingContent]) -> bool:
        return True

    def _image(self, block: ImageContent, placeholder: str) -> Part:
        if block.url is not None:
            return super()._image(block, placeholder)
        return {"type": "image_url", "image_url": {"url": DataUrl(block.mime_type, block.data)}}


def _text(text: str) -> Part:
    return {"type": "text", "text": text}


def _conversation(out: Outgoing[OpenAICompletions], turns: ChatTurns) -> dict[str, Any]:
    """The system prompt, which is the first message, the turns and the tools."""
    body: dict[str, Any] = {"messages": [*turns.head, *turns.turns]}
    if out.tools:
        body["tools"] = out.each_tool(definition)
    return body


EXPORT_FORM = ExportForm(
    dialect=OpenAICompletions(
        alternate_roles=False,
        starts_with_user=False,
        user_after_tool=True,
        empty_content="null",
        tool_name_field=True,
        custom_tools=True,
        images_in_results=True,
        image_urls=True,
        files=("application/pdf", *AUDIO),
        files_in_results=("application/pdf", *AUDIO),
        schema_refs=None,
        own_reasoning="any",
        reasoning_field="reasoning_content",
        reasoning_accepts=("reasoning", "reasoning_text", "reasoning_details"),
    ),
    turns=ChatHistory,
    body=_conversation,
    holds_signature=is_signature,
    blank_texts=False,
)
