"""Thinking and signatures: those of the target go back unchanged, those of another model are shown as text or dropped.

This is independent of the pairing of calls and results; neither can break the other.
"""

from fnmatch import fnmatchcase
from typing import assert_never

from msgspec.structs import replace

from ...dialects import REASONING_FIELDS
from ...types import AssistantMessage, Block, ChangeCode, TextContent, ThinkingContent, ToolCall, plain_text
from ...types.texts import REASONING
from ..origin import same_account
from ..scan import ODD, OPAQUE, UNSIGNED
from ..step import Pass, Step, Target

SHOWN = "thinking shown as text"


class Reasoning(Pass):
    concerns = OPAQUE

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._details = target.dialect.signatures == "details"
        if target.returns_signed:
            self.concerns_own = UNSIGNED
        self._prefix_broken = False  # an earlier answer lost its thinking because messages before it were edited
        choice = target.policy.reasoning
        self._may_keep = choice == "auto" and target.dialect.foreign_reasoning == "keep-signed"
        if choice == "auto":
            choice = "drop" if target.dialect.foreign_reasoning == "drop" else "labelled"
        self._limit = target.policy.reasoning_limit
        self._label = REASONING if choice == "labelled" else ""
        self._not_as_text: str | None = None  # the reason, if thinking is not shown as text
        if choice == "drop":
            self._not_as_text = "by policy"
        elif choice != "labelled" and choice != "text":
            assert_never(choice)
        elif not target.dialect.reasoning_as_text:
            self._not_as_text = "thinking shown as text is known to confuse this model"

    def mark(self) -> bool:
        """Whether the prefix is broken."""
        return self._prefix_broken

    def back(self, mark: bool) -> None:
        self._prefix_broken = mark

    def answer(self, step: Step, message: AssistantMessage) -> None:
        if not step.own:
            self._render(step, self._may_keep and self._keeps_signed(message))
            return
        thoughts = [block for block in step.content if type(block) is ThinkingContent]
        if thoughts:
            bound = self._still_bound(message)
            if not bound or not all([self._is_signed(block) for block in thoughts]):
                self._render(step, bound)

    def _render(self, step: Step, goes_back: bool) -> None:
        """Replace blocks that cannot go back unchanged; ``goes_back``: signed thinking can."""
        blocks: list[Block] = []
        dropped: set[int] = set()
        changed = False
        thinking = self._own if step.own else self._foreign
        for at, block in enumerate(step.content):
            shown: Block | None = block
            if type(block) is ThinkingContent:
                shown = thinking(step.index, at, block, goes_back)
            elif not step.own:
                shown = self._unsigned(step.index, at, block)
            if shown is not block:
                changed = True
            if shown is None:
                dropped.add(at)
            else:
                blocks.append(shown)
        if dropped:
            self.report.keep(step.index, [at for at in range(len(step.content)) if at not in dropped])
            step.thinned = True
        if changed:
            step.content = blocks
        if not blocks or self._limit is not None:
            step.has |= ODD  # the first few characters may be blank

    # -- the target's own thinking -------------------------------------------------------------------------------------

    def _is_signed(self, block: ThinkingContent) -> bool:
        """Whether the block can be verified and goes back byte for byte."""
        signature = block.thinking_signature
        if signature is None or signature in REASONING_FIELDS:
            return False
        return not self._details or signature[0] in "[{"

    def _still_bound(self, message: AssistantMessage) -> bool:
        """Whether everything before this answer is unchanged since the answer was made, if the target checks that."""
        prefix = self.target.prefix
        if prefix is None:
            return True
        if message.prefix_digest is None:
            return not self._prefix_broken
        if message.prefix_digest == prefix.digest():
            return True
        self._prefix_broken = True
        return False

    def _own(self, index: int, at: int, block: ThinkingContent, bound: bool) -> Block | None:
        if not bound:
            return self._drop(index, at, "messages before it were edited, and it is bound to them")
        if self._is_signed(block):
            return block
        if block.redacted or not block.thinking.strip():
            return self._drop_empty(index, at, block)
        if self.target.dialect.own_reasoning == "any":
            return block if self._details else self._without_name(index, at, block)
        if self.target.dialect.own_reasoning == "none":
            return self._drop(index, at, "the model does not accept its own thinking")
        return self._as_text(index, at, block.thinking)

    def _without_name(self, index: int, at: int, block: ThinkingContent) -> ThinkingContent:
        """The block without the name of a field in place of a signature, which the target would try to verify
        (openclaw#91205, 2026)."""
        if block.thinking_signature is None:
            return block
        self.report.add("signature-dropped", index, at, "it is the name of a field")
        return replace(block, thinking_signature=None)

    # -- thinking of another model -------------------------------------------------------------------------------------

    def _foreign(self, index: int, at: int, block: ThinkingContent, keeps_signed: bool) -> Block | None:
        if block.redacted:
            return self._drop(index, at, "redacted: only the model that made it can read it")
        thinking = block.thinking
        if not thinking or thinking.isspace():
            return self._drop_empty(index, at, block)
        if keeps_signed and self._is_signed(block):
            return block
        return self._as_text(index, at, thinking)

    def _keeps_signed(self, message: AssistantMessage) -> bool:
        """Whether the target reads thinking that another model of the same account signed; only under `auto`."""
        return (
            same_account(message, self.target.model)
            and any(fnmatchcase(message.model, glob) for glob in self.target.dialect.reads_thinking_of)
            and self._still_bound(message)
        )

    def _unsigned(self, index: int, at: int, block: Block) -> Block:
        """The block without its signature, which does not go to another model."""
        if type(block) is TextContent and block.text_signature is not None:
            code: ChangeCode = "citations-dropped" if block.citations else "signature-dropped"
            self.report.add(code, index, at, "of another origin")
            return replace(block, text_signature=None)
        if type(block) is ToolCall and block.thought_signature is not None:
            self.report.add("signature-dropped", index, at, "of another origin")
            return replace(block, thought_signature=None)
        return block

    def _as_text(self, index: int, at: int, thinking: str) -> TextContent | None:
        """Readable thinking that cannot go back as thinking, shown as the policy chooses."""
        if self._not_as_text is not None:
            return self._drop(index, at, self._not_as_text)
        limit = self._limit
        if limit is None or len(thinking) <= limit:
            self.report.add("thinking-as-text", index, at, SHOWN)
        else:
            detail = f"{SHOWN}, the first {limit} of {len(thinking)} characters"
            self.report.add("thinking-as-text", index, at, detail, lossy=True)
            thinking = thinking[:limit]
        return plain_text(self._label + thinking)

    def _drop(self, index: int, at: int, why: str) -> TextContent | None:
        self.report.add("thinking-dropped", index, at, why)
        return None

    def _drop_empty(self, index: int, at: int, block: ThinkingContent) -> TextContent | None:
        if block.thinking_signature is not None or block.redacted:
            return self._drop(index, at, "it has no text, and only its origin can read what is signed")
        self.report.add("empty-dropped", index, at, "thinking without text")
        return None
