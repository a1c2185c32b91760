"""Lone surrogates are replaced everywhere. Empty texts are dropped, and so are messages that become empty.

A tool result is never dropped: an empty one gets a placeholder text. Values that JSON cannot represent are refused.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from ...errors import FormatError
from ...types import (
    AssistantMessage,
    Block,
    FileContent,
    ImageContent,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    refuse_non_finite,
)
from ...types.codec import encode
from ...types.text import scrub, scrub_json
from ...types.texts import EMPTY_RESULT
from ..scan import ODD, OPAQUE, UNSIGNED, scan
from ..step import Pass, Step, Target

B = TypeVar("B", bound=Block)


class Text(Pass):
    concerns = ODD | OPAQUE  # thinking that the pass before shows as text may be blank

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        if target.returns_signed:
            self.concerns_own = ODD | UNSIGNED

    def user(self, step: Step, message: UserMessage) -> None:
        self._clean(step, self._unsigned(step.index, step.content))

    def answer(self, step: Step, message: AssistantMessage) -> None:
        if not step.has & ODD:
            return
        if scan(step.content) & ODD:
            self._clean(step, step.content)
        for number, result in enumerate(step.results):
            if scan(result.content) & ODD:
                step.results[number] = self._result(step.sources[number], result)

    def _clean(self, step: Step, content: Sequence[Block]) -> None:
        clean = self._cleaned(step.index, content)
        step.thinned = step.thinned or len(clean) < len(content)
        if not clean:
            self.report.add("empty-dropped", step.index, None, "nothing is left in this message")
            step.dropped = True
        elif clean != step.content:
            step.content = clean

    def _result(self, index: int, result: ToolResultMessage) -> ToolResultMessage:
        content = self._cleaned(index, self._unsigned(index, result.content))
        if not content:
            self.report.add("empty-filled", index, None, f"an empty result is sent as {EMPTY_RESULT!r}")
            content = [TextContent(EMPTY_RESULT)]
        return result if content == result.content else replace(result, content=content)

    def _unsigned(self, index: int, content: Sequence[Block]) -> Sequence[Block]:
        """Only texts of answers have signatures; anywhere else a signature has no meaning."""
        blocks = list(content)
        for at, block in enumerate(content):
            if type(block) is TextContent and block.text_signature is not None:
                self.report.add("signature-dropped", index, at, "only texts of answers have signatures")
                blocks[at] = TextContent(block.text)
        return blocks

    def _cleaned(self, index: int, content: Sequence[Block]) -> list[Block]:
        kept: list[Block] = []
        positions: list[int] = []
        for at, block in enumerate(content):
            try:
                clean = _CLEANERS[type(block)](block)
            except FormatError as error:
                place = f"messages[{index}].content[{self.report.position(index, at)}].arguments"
                path = ".".join(part for part in (place, error.path) if part)
                raise FormatError(error.reason, path=path) from None
            if clean is None:
                self.report.add("empty-dropped", index, at, "a text without text")
                continue
            if clean is not block:
                self.report.add("text-sanitized", index, at, "half characters replaced")
            kept.append(clean)
            positions.append(at)
        if len(kept) < len(content):
            self.report.keep(index, positions)
        return kept


# For each block: the block itself if it is clean, a clean copy, or None if it is dropped.


def _text(block: TextContent) -> TextContent | None:
    # A signature that is still here is the target's own, and is kept even without text.
    if block.text_signature is None and (not block.text or block.text.isspace()):
        return None
    return _scrubbed(block, "text", "text_signature")


def _image(block: ImageContent) -> ImageContent:
    return _scrubbed(block, "data", "mime_type", "url")


def _file(block: FileContent) -> FileContent:
    return _scrubbed(block, "data", "mime_type", "url", "name")


def _provider(block: ProviderContent) -> ProviderContent:
    return _scrubbed(block, "kind", "text")  # `raw` is clean


def _thinking(block: ThinkingContent) -> ThinkingContent:
    return _scrubbed(block, "thinking", "thinking_signature")


def _call(block: ToolCall) -> ToolCall | None:
    try:
        written = encode(block.arguments)
    except UnicodeEncodeError:
        clean = replace(_scrubbed(block, "thought_signature", "namespace"), arguments=scrub_json(block.arguments))
        _call(clean)  # refuses anything else that JSON cannot represent
        return clean
    except RecursionError:
        raise FormatError("nested too deeply to be sent") from None
    except (TypeError, OverflowError, ValueError) as error:
        raise FormatError(f"cannot be sent as JSON: {error}") from None
    if b"null" in written:  # the encoder writes NaN and infinities as null
        refuse_non_finite(block.arguments)
    if block.thought_signature is None and block.namespace is None:
        return block
    return _scrubbed(block, "thought_signature", "namespace")


def _scrubbed(block: B, *names: str) -> B:
    changes = {}
    for name in names:
        value = getattr(block, name)
        if value is not None and (clean := scrub(value)) is not value:
            changes[name] = clean
    return replace(block, **changes) if changes else block


_CLEANERS: dict[type[Block], Callable[[Any], Block | None]] = {
    TextContent: _text,
    ImageContent: _image,
    FileContent: _file,
    ProviderContent: _provider,
    ThinkingContent: _thinking,
    ToolCall: _call,
}
