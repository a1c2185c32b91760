"""Thinking and signatures: what the target made goes back as it was, what another made is shown, or left out.

Whether thinking is included is decided apart from the pairing of calls and results; neither can break the other.
"""

from operator import is_

from msgspec.structs import replace

from ...types import AssistantContent, AssistantMessage, TextContent, ThinkingContent, ToolCall
from ..origin import same_account
from ..prefix import Prefix
from ..signatures import SIGNED, has_signature
from ..step import Pass, Step, Target

LABEL = "[Reasoning] "


class Reasoning(Pass):
    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._is_signed = SIGNED.get(target.model.protocol, has_signature)
        self._prefix_broken = False  # an earlier turn lost its thinking because what stands before it was edited

    def answer(self, step: Step, message: AssistantMessage) -> None:
        content = message.content
        if step.own:
            if ThinkingContent not in map(type, content):
                return
            bound = self.target.prefix is None or self._still_bound(message, self.target.prefix)
            if bound:
                for block in content:
                    if type(block) is ThinkingContent and not self._is_signed(block):
                        break
                else:
                    return
            blocks = [self._own(step, at, block, bound) for at, block in enumerate(content)]
        elif all(map(_is_neutral, content)):
            return
        else:
            keeps = self._keeps_signed(message)
            blocks = [self._foreign(step, at, block, keeps) for at, block in enumerate(content)]
        if all(map(is_, blocks, content)):
            return
        kept = [(at, block) for at, block in enumerate(blocks) if block is not None]
        if len(kept) < len(content):
            self.report.keep(step.index, [at for at, _ in kept])
        step.message = replace(message, content=[block for _, block in kept])

    # -- the target's own --------------------------------------------------------------------------------------------

    def _still_bound(self, message: AssistantMessage, prefix: Prefix) -> bool:
        """Whether everything that stands before this answer is as it was when the answer was made."""
        if message.prefix_digest is None:
            return not self._prefix_broken
        if message.prefix_digest == prefix.digest():
            return True
        self._prefix_broken = True
        return False

    def _own(self, step: Step, at: int, block: AssistantContent, bound: bool) -> AssistantContent | None:
        if type(block) is not ThinkingContent:
            return block
        if not bound:
            return self._drop(step, at, "what stands before it was edited since, and it is bound to that")
        if self._is_signed(block):
            return block
        if block.redacted or not block.thinking.strip():
            return self._drop_empty(step, at, block)
        if self.target.dialect.own_reasoning == "any":
            return block
        if self.target.dialect.own_reasoning == "none":
            return self._drop(step, at, "the model does not take its own thinking back")
        return self._shown(step, at, block)

    # -- another's ---------------------------------------------------------------------------------------------------

    def _foreign(self, step: Step, at: int, block: AssistantContent, keeps_signed: bool) -> AssistantContent | None:
        if type(block) is TextContent:
            if block.text_signature is None:
                return block
            self.report.add("signature-dropped", step.index, at, "of another origin")
            return TextContent(block.text)
        if type(block) is ToolCall:
            if block.thought_signature is None:
                return block
            self.report.add("signature-dropped", step.index, at, "of another origin")
            return ToolCall(block.id, block.name, block.arguments)
        assert type(block) is ThinkingContent
        if block.redacted:
            return self._drop(step, at, "redacted: only the model that made it can read it")
        if not block.thinking.strip():
            return self._drop_empty(step, at, block)
        if keeps_signed and block.thinking_signature is not None:
            return block
        return self._shown(step, at, block)

    def _keeps_signed(self, message: AssistantMessage) -> bool:
        """Under `auto`, another model of the same account may read what this one signed."""
        return (
            self.target.policy.reasoning == "auto"
            and self.target.dialect.foreign_reasoning == "keep-signed"
            and same_account(message, self.target.model)
            and (self.target.prefix is None or self._still_bound(message, self.target.prefix))
        )

    def _shown(self, step: Step, at: int, block: ThinkingContent) -> TextContent | None:
        """Readable thinking that cannot go back as thinking, as the policy wants it."""
        dialect, choice = self.target.dialect, self.target.policy.reasoning
        if choice == "auto":
            choice = "drop" if dialect.foreign_reasoning == "drop" else "labelled"
        if choice == "drop":
            return self._drop(step, at, "by policy")
        if not dialect.reasoning_as_text:
            return self._drop(step, at, "shown as text it is known to do harm to this model")
        thinking, limit = block.thinking, self.target.policy.reasoning_limit
        detail = "thinking shown as text"
        if limit is not None and len(thinking) > limit:
            detail += f", the first {limit} of {len(thinking)} characters"
            self.report.add("thinking-as-text", step.index, at, detail, lossy=True)
            thinking = thinking[:limit]
        else:
            self.report.add("thinking-as-text", step.index, at, detail)
        return TextContent(LABEL + thinking if choice == "labelled" else thinking)

    def _drop(self, step: Step, at: int, why: str) -> TextContent | None:
        self.report.add("thinking-dropped", step.index, at, why)
        return None

    def _drop_empty(self, step: Step, at: int, block: ThinkingContent) -> TextContent | None:
        if block.thinking_signature is not None or block.redacted:
            return self._drop(step, at, "it has no text, and nobody else can read what is signed")
        self.report.add("empty-dropped", step.index, at, "thinking without text")
        return None


def _is_neutral(block: AssistantContent) -> bool:
    """Whether a block of another origin has nothing that only its origin understands."""
    if type(block) is TextContent:
        return block.text_signature is None
    return type(block) is ToolCall and block.thought_signature is None
