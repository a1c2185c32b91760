"""The history of a conversation in the form of this protocol, for ``export``."""

from ...dialects import AnthropicMessages
from ...types import AssistantContent, TextContent, ToolResultMessage
from ..protocol import ExportForm, signs_thinking
from .encode import AnthropicTurns, Block, Result, Turn, conversation
from .replay import cited


class AnthropicHistory(AnthropicTurns):
    """Each message is a separate turn, except that the results of a batch share one."""

    def _add(self, role: str, blocks: list[Block], thinking: bool = False) -> None:
        if blocks:
            self.turns.append(Turn(role, blocks))
        else:
            self.note("empty-dropped", "the message is empty")
        self.role, self.answered, self.running, self.paused = "", False, (), False  # nothing is joined to this turn

    def _drop_running(self) -> None:
        """Calls of server tools stay, also without a result."""

    def _thinking_alone(self, blocks: list[Block]) -> list[Block]:
        return blocks

    def _text_result(self, message: ToolResultMessage, content: list[Block]) -> Result:
        return Result(message.tool_call_id, content, message.is_error)


def _holds_signature(block: AssistantContent, signature: str) -> bool:
    return signs_thinking(block, signature) or (type(block) is TextContent and cited(block) is not None)


EXPORT_FORM = ExportForm(
    dialect=AnthropicMessages(),
    turns=AnthropicHistory,
    body=conversation,
    holds_signature=_holds_signature,
)
