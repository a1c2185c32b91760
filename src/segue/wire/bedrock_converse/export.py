"""The history of a conversation in the form of this protocol, for ``export``."""

from ...dialects import BedrockConverse
from ...types import AssistantContent, TextContent
from ..protocol import ExportForm, signs_thinking
from .encode import BedrockTurns, Block, Turn
from .options import conversation
from .server_blocks import cited


class BedrockHistory(BedrockTurns):
    """Each message is a separate turn, except that the results of a batch share one."""

    def _add(self, role: str, blocks: list[Block], tools: bool = False, packed: bool = False) -> None:
        """``packed``: the block is a result."""
        if not blocks:
            self.note("empty-dropped", "the message is empty")
        elif packed and self.tools:
            self.last().content += blocks
        else:
            self.turns.append(Turn(role, blocks))
        self.role, self.tools = "", packed

    def _documents_alone(self, blocks: list[Block]) -> list[Block]:
        return blocks

    def _late_thinking(self, blocks: list[Block]) -> list[Block]:
        return blocks


_FILES = tuple(each for each in BedrockConverse().files if each != "audio/*")  # results cannot hold a sound


def _is_cited(block: AssistantContent) -> bool:
    return type(block) is TextContent and cited(block) is not None


EXPORT_FORM = ExportForm(
    dialect=BedrockConverse(
        schema_form="2020-12",
        own_reasoning="any",
        reasoning_signature=True,
        mixed_turns=True,
        starts_with_user=False,
        images_in_results=True,
        error_flag=True,
        files=_FILES,
        files_in_results=_FILES,
    ),
    turns=BedrockHistory,
    body=conversation,
    holds_signature=lambda block, signature: signs_thinking(block, signature) or _is_cited(block),
)
