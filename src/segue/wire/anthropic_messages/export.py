"""The history of a conversation in the form of this protocol, for ``export``."""

from ...dialects import AnthropicMessages
from ...types import ToolResultMessage
from ..protocol import ExportForm, signs_thinking
from .encode import AnthropicTurns, Block, Result, State, Turn, conversation


class AnthropicHistory(AnthropicTurns):
    """Each message is a separate turn, except that the results of a batch share one."""

    def _add(self, role: str, blocks: list[Block], thinking: bool = False) -> None:
        if blocks:
            self.turns.append(Turn(role, blocks))
        else:
            self.note("empty-dropped", "the message is empty")
        self.state = State()  # nothing is joined to this turn

    def _thinking_alone(self, blocks: list[Block]) -> list[Block]:
        return blocks

    def _text_result(self, message: ToolResultMessage, content: list[Block]) -> Result:
        return Result(message.tool_call_id, content, message.is_error)


EXPORT_FORM = ExportForm(
    dialect=AnthropicMessages(),
    turns=AnthropicHistory,
    body=conversation,
    holds_signature=signs_thinking,
)
