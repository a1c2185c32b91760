"""The history of a conversation in the form of this protocol, for ``export``."""

from collections.abc import Iterable
from itertools import takewhile

from ...dialects import OpenAIResponses
from ...types import AssistantMessage, ImageContent
from ..common.images import kind_of
from ..protocol import ExportForm
from .encode import CustomCall, FunctionCall, Item, Message, ResponsesTurns, conversation
from .replay import is_signature, items_of


class ResponsesHistory(ResponsesTurns):
    """The items of all messages, with their ids. An item does not state which answer it belongs to, so two answers in
    a row cannot be told apart, unless only one of them has ids."""

    def add_answer(self, message: AssistantMessage) -> None:
        start = len(self.turns)
        super().add_answer(message)
        if start == len(self.turns):
            self.note("empty-dropped", "the message is empty")
        elif start and _is_of_model(self.turns[start - 1]) and self._continues(start):
            self.note("turns-merged", "with the answer before it")

    def _continues(self, start: int) -> bool:
        """Whether a reader takes the items from ``start`` on for more of the answer before them: all items of an answer
        have ids, or none; a few may be without one beside others."""
        earlier = (self.turns[at] for at in range(start - 1, -1, -1))
        before, after = _ids(takewhile(_is_of_model, earlier)), _ids(self.turns[start:])
        return before is None or after is None or before == after

    def _items(self, message: AssistantMessage) -> list[Item] | str:
        return items_of(message, {}, self.dialect.phase, reasoning_last=True)

    def _media_type(self, block: ImageContent) -> str | None:
        return kind_of(block.data) or block.mime_type


def _ids(items: Iterable[Item]) -> bool | None:
    """Whether the items have ids, by the first one that shows it: those without ids are structs."""
    return next((isinstance(item, dict) for item in items if not isinstance(item, dict) or item.get("id")), None)


def _is_of_model(item: Item) -> bool:
    is_call = type(item) is FunctionCall or type(item) is CustomCall
    return isinstance(item, dict) or is_call or (type(item) is Message and item.role == "assistant")


EXPORT_FORM = ExportForm(
    dialect=OpenAIResponses(custom_tools=True, namespaces=True),
    turns=ResponsesHistory,
    body=conversation,
    holds_signature=is_signature,
    unsigned_thinking=False,
    blank_texts=False,
)
