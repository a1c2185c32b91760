"""Thinking and signatures: what the target made goes back as it was, what another made is shown, or left out.

Whether thinking is included is decided apart from the pairing of calls and results; neither can break the other.
"""

from typing import TypeVar

from msgspec.structs import replace

from ...types import AssistantContent, AssistantMessage, TextContent, ThinkingContent, ToolCall
from ...types.content import plain_text
from ..look import ODD, OPAQUE
from ..origin import same_account
from ..prefix import Prefix
from ..signatures import SIGNED, has_signature
from ..step import Pass, Step, Target

LABEL = "[Reasoning] "
B = TypeVar("B", TextContent, ToolCall)


def takes_signed(target: Target) -> bool:
    """Whether thinking of the target itself that has a signature always goes back as it is."""
    return target.prefix is None and target.model.protocol not in SIGNED


class Reasoning(Pass):
    minds = OPAQUE

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._is_signed = SIGNED.get(target.model.protocol, has_signature)
        self.prefix_broken = False  # an earlier turn lost its thinking because what stands before it was edited
        choice = target.policy.reasoning
        self._may_keep = choice == "auto" and target.dialect.foreign_reasoning == "keep-signed"
        if choice == "auto":
            choice = "drop" if target.dialect.foreign_reasoning == "drop" else "labelled"
        self._limit = target.policy.reasoning_limit
        self._label = LABEL if choice == "labelled" else ""
        self._not_as_text: str | None = None  # why thinking is not shown as text, where it is not
        if choice == "drop":
            self._not_as_text = "by policy"
        elif not target.dialect.reasoning_as_text:
            self._not_as_text = "shown as text it is known to do harm to this model"

    def answer(self, step: Step, message: AssistantMessage) -> None:
        if not step.own:
            self._show(step, self._may_keep and self._keeps_signed(message))
            return
        thoughts = [block for block in step.content if type(block) is ThinkingContent]
        if not thoughts:
            return
        bound = self.target.prefix is None or self._still_bound(message, self.target.prefix)
        if not bound or not all(map(self._is_signed, thoughts)):
            self._keep(step, [self._own(step, at, block, bound) for at, block in enumerate(step.content)])

    def _keep(self, step: Step, blocks: list[AssistantContent | None]) -> None:
        """Put what has become of each block in its place; ``None`` is left out."""
        positions = [at for at, block in enumerate(blocks) if block is not None]
        if len(positions) < len(blocks):
            self.report.keep(step.index, positions)
            blocks = [blocks[at] for at in positions]
            if not blocks:
                step.has |= ODD
        step.content = blocks

    # -- the target's own --------------------------------------------------------------------------------------------

    def _still_bound(self, message: AssistantMessage, prefix: Prefix) -> bool:
        """Whether everything that stands before this answer is as it was when the answer was made."""
        if message.prefix_digest is None:
            return not self.prefix_broken
        if message.prefix_digest == prefix.digest():
            return True
        self.prefix_broken = True
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
        return self._shown(step, at, block.thinking)

    # -- another's ---------------------------------------------------------------------------------------------------

    def _show(self, step: Step, keeps_signed: bool) -> None:
        blocks: list[AssistantContent | None] = []
        gone = False
        for at, block in enumerate(step.content):
            kind = type(block)
            if kind is ThinkingContent:
                block = self._thinking(step, at, block, keeps_signed)
                if block is None:
                    gone = True
            elif kind is TextContent:
                if block.text_signature is not None:
                    block = self._unsigned(step, at, block, "text_signature")
            elif block.thought_signature is not None:
                block = self._unsigned(step, at, block, "thought_signature")
            blocks.append(block)
        if gone:
            self._keep(step, blocks)
        else:
            step.content = blocks

    def _thinking(self, step: Step, at: int, block: ThinkingContent, keeps_signed: bool) -> AssistantContent | None:
        if block.redacted:
            return self._drop(step, at, "redacted: only the model that made it can read it")
        thinking = block.thinking
        if not thinking or thinking.isspace():
            return self._drop_empty(step, at, block)
        if keeps_signed and block.thinking_signature is not None:
            return block
        return self._shown(step, at, thinking)

    def _unsigned(self, step: Step, at: int, block: B, signature: str) -> B:
        self.report.add("signature-dropped", step.index, at, "of another origin")
        return replace(block, **{signature: None})

    def _keeps_signed(self, message: AssistantMessage) -> bool:
        """Under `auto`, another model of the same account may read what this one signed."""
        return same_account(message, self.target.model) and (
            self.target.prefix is None or self._still_bound(message, self.target.prefix)
        )

    def _shown(self, step: Step, at: int, thinking: str) -> TextContent | None:
        """Readable thinking that cannot go back as thinking, as the policy wants it."""
        if self._not_as_text is not None:
            return self._drop(step, at, self._not_as_text)
        limit = self._limit
        if limit is None or len(thinking) <= limit:
            self.report.add("thinking-as-text", step.index, at, "thinking shown as text")
        else:
            detail = f"thinking shown as text, the first {limit} of {len(thinking)} characters"
            self.report.add("thinking-as-text", step.index, at, detail, lossy=True)
            thinking = thinking[:limit]
            step.has |= ODD  # the first few may be blank
        return plain_text(self._label + thinking)

    def _drop(self, step: Step, at: int, why: str) -> TextContent | None:
        self.report.add("thinking-dropped", step.index, at, why)
        return None

    def _drop_empty(self, step: Step, at: int, block: ThinkingContent) -> TextContent | None:
        if block.thinking_signature is not None or block.redacted:
            return self._drop(step, at, "it has no text, and nobody else can read what is signed")
        self.report.add("empty-dropped", step.index, at, "thinking without text")
        return None
