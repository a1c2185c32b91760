"""The history of a conversation in the form of this protocol, for ``export``."""

from ...dialects import OpenAIResponses
from ...types import AssistantMessage
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
        elif (
            start
            and _is_of_model(self.turns[start - 1])
            and _has_id(self.turns[start - 1]) == _has_id(self.turns[start])
        ):
            self.note("turns-merged", "with the answer before it")

    def _items(self, message: AssistantMessage) -> list[Item] | str:
        return items_of(message, {}, self.dialect.phase, reasoning_last=True)


def _has_id(item: Item) -> bool:
    return isinstance(item, dict)  # items without ids are structs


def _is_of_model(item: Item) -> bool:
    is_call = type(item) is FunctionCall or type(item) is CustomCall
    return _has_id(item) or is_call or (type(item) is Message and item.role == "assistant")


EXPORT_FORM = ExportForm(
    dialect=OpenAIResponses(custom_tools=True, namespaces=True),
    turns=ResponsesHistory,
    body=conversation,
    holds_signature=is_signature,
    unsigned_thinking=False,
    blank_texts=False,
)
