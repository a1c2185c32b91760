"""Thinking and signatures: what the target made goes back as it was, what another made is shown, or left out.

Whether thinking is included is decided apart from the pairing of calls and results; neither can break the other.
"""

from fnmatch import fnmatchcase
from typing import Any

from msgspec.structs import replace

from ...types import AssistantContent, AssistantMessage, TextContent, ThinkingContent, ToolCall
from ...types.content import plain_text
from ..look import ODD, OPAQUE
from ..origin import same_account
from ..prefix import Prefix
from ..signatures import SIGNED, has_signature
from ..step import Pass, Step, Target

LABEL = "[Reasoning] "
SHOWN = "thinking shown as text"


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
        self.may_keep = choice == "auto" and target.dialect.foreign_reasoning == "keep-signed"
        if choice == "auto":
            choice = "drop" if target.dialect.foreign_reasoning == "drop" else "labelled"
        self._limit = target.policy.reasoning_limit
        self.shortens = self._limit is not None
        """Whether texts may be cut short."""
        self._label = LABEL if choice == "labelled" else ""
        self._not_as_text: str | None = None  # why thinking is not shown as text, where it is not
        if choice == "drop":
            self._not_as_text = "by policy"
        elif not target.dialect.reasoning_as_text:
            self._not_as_text = "shown as text it is known to do harm to this model"

    def answer(self, step: Step, message: AssistantMessage) -> None:
        step.content = self.rendered(step.index, message, step.content, step.own, bool(step.has & ODD))
        if not step.content or self.shortens:
            step.has |= ODD  # the first few characters may be blank

    def rendered(
        self, index: int, message: AssistantMessage, content: list[Any], own: bool, signed: bool = False
    ) -> list[Any]:
        """What becomes of the blocks of an answer: the same list, if nothing does. ``signed``: texts and calls may have
        signatures, too."""
        if own:
            thoughts = [block for block in content if type(block) is ThinkingContent]
            if not thoughts:
                return content
            goes_back = self.target.prefix is None or self._still_bound(message, self.target.prefix)
            if goes_back and all(map(self._is_signed, thoughts)):
                return content
        else:
            goes_back = self.may_keep and self.keeps_signed(message)
        blocks = list(content)
        changed = gone = False
        for at, block in enumerate(content):
            if type(block) is ThinkingContent:
                shown = self._own(index, at, block, goes_back) if own else self.foreign(index, at, block, goes_back)
            elif signed and not own:
                shown = self._unsigned(index, at, block)
            else:
                continue
            if shown is not block:
                blocks[at], changed = shown, True
                gone = gone or shown is None
        if gone:
            positions = [at for at, block in enumerate(blocks) if block is not None]
            self.report.keep(index, positions)
            return [block for block in blocks if block is not None]
        return blocks if changed else content

    # -- the target's own --------------------------------------------------------------------------------------------

    def _still_bound(self, message: AssistantMessage, prefix: Prefix) -> bool:
        """Whether everything that stands before this answer is as it was when the answer was made."""
        if message.prefix_digest is None:
            return not self.prefix_broken
        if message.prefix_digest == prefix.digest():
            return True
        self.prefix_broken = True
        return False

    def _own(self, index: int, at: int, block: ThinkingContent, bound: bool) -> AssistantContent | None:
        if not bound:
            return self._drop(index, at, "what stands before it was edited since, and it is bound to that")
        if self._is_signed(block):
            return block
        if block.redacted or not block.thinking.strip():
            return self._drop_empty(index, at, block)
        if self.target.dialect.own_reasoning == "any":
            return block
        if self.target.dialect.own_reasoning == "none":
            return self._drop(index, at, "the model does not take its own thinking back")
        return self._shown(index, at, block.thinking)

    # -- another's ---------------------------------------------------------------------------------------------------

    def foreign(self, index: int, at: int, block: ThinkingContent, keeps_signed: bool) -> AssistantContent | None:
        if block.redacted:
            return self._drop(index, at, "redacted: only the model that made it can read it")
        thinking = block.thinking
        if not thinking or thinking.isspace():
            return self._drop_empty(index, at, block)
        if keeps_signed and block.thinking_signature is not None:
            return block
        return self._shown(index, at, thinking)

    def _unsigned(self, index: int, at: int, block: TextContent | ToolCall) -> TextContent | ToolCall:
        name = "text_signature" if type(block) is TextContent else "thought_signature"
        if getattr(block, name) is None:
            return block
        self.report.add("signature-dropped", index, at, "of another origin")
        return replace(block, **{name: None})

    def keeps_signed(self, message: AssistantMessage) -> bool:
        """Under `auto`, another model of the same account may read what this one signed, if its row says so."""
        return (
            same_account(message, self.target.model)
            and any(fnmatchcase(message.model, glob) for glob in self.target.dialect.reads_thinking_of)
            and (self.target.prefix is None or self._still_bound(message, self.target.prefix))
        )

    def _shown(self, index: int, at: int, thinking: str) -> TextContent | None:
        """Readable thinking that cannot go back as thinking, as the policy wants it."""
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
            return self._drop(index, at, "it has no text, and nobody else can read what is signed")
        self.report.add("empty-dropped", index, at, "thinking without text")
        return None
