"""Arguments of calls without empty keys, for targets that refuse them. Everything else is kept, at any depth."""

from msgspec.structs import replace

from ...types import AssistantMessage, Model, ToolCall
from ...types.text import scrub_json
from ..scan import ODD, has_empty_key
from ..step import Pass, Step


class Arguments(Pass):
    concerns = ODD

    @classmethod
    def applies_to(cls, model: Model) -> bool:
        return not model.dialect.empty_keys

    def answer(self, step: Step, message: AssistantMessage) -> None:
        for at, block in enumerate(step.content):
            if type(block) is ToolCall and has_empty_key(block.arguments):
                detail = f"entries of {block.name} with an empty key are left out"
                self.report.add("arguments-adapted", step.index, step.block(at), detail)
                step.put(at, replace(block, arguments=scrub_json(block.arguments, str, empty_keys=False)))
