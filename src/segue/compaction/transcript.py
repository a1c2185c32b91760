"""Write messages as text for a model: user messages, answers, calls, and the results of tools, each with a mark.

Every mark contains a word that does not occur in the text, so that the output of a tool cannot fake a mark.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import assert_never

from msgspec import Struct

from ..projection import Pairing
from ..types import (
    AssistantMessage,
    FileContent,
    ImageContent,
    Message,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultContent,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ..types.codec import encode
from ..types.text import in_label, scrub, scrub_json
from .values import is_summary, text_of_summary

MARK_LENGTH = 8
"""Letters of the word in the marks."""
MIN_TEXT = 48
"""Bytes that are left of each text at least; if that is too much, the whole is cut instead."""
NOTE = "\n[{word} {left_out:,} characters left out here]\n"
NOTE_BYTES = len(NOTE) + MARK_LENGTH + 10


class Piece(Struct, frozen=True):
    """A text with its label. ``bulky``: calls, results and thinking, which are cut more than messages."""

    label: str
    text: str
    bulky: bool = False

    def render(self, word: str, limit: int | None = None) -> str:
        """The text with its mark, cut in the middle if it exceeds ``limit`` bytes."""
        text = self.text if limit is None else cut_in_the_middle(self.text, self.limit(limit), word)
        return f"[{word} {self.label}]\n{text}\n"

    def limit(self, limit: int) -> int:
        """The limit for this text: messages may have four times as much."""
        return limit if self.bulky else 4 * limit

    def size(self, limit: int | None = None) -> int:
        """The upper limit for the bytes of ``render``."""
        text = byte_length(self.text)
        if limit is not None and text > self.limit(limit):
            text = self.limit(limit) + NOTE_BYTES
        return byte_length(self.label) + MARK_LENGTH + 5 + text


class Transcript:
    """A conversation in pieces. Calls are numbered, so that the label of a result can name its call."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._pairing = Pairing(messages)
        self._first_calls: dict[int, int] = {}  # by index of an answer: the number of its first call
        self._answered_calls: dict[int, int] = {}  # by index of a result: the number of its call
        number = 1
        for index, batch in self._pairing.batches.items():
            self._first_calls[index] = number
            self._answered_calls |= {answer: number + at for at, answer in enumerate(batch.answers) if answer >= 0}
            number += len(batch.calls)

    def pieces(self, start: int, end: int) -> list[Piece]:
        """The pieces of the messages from ``start`` to ``end`` (exclusive)."""
        return [piece for index in range(start, end) for piece in self._message(index)]

    def _message(self, index: int) -> Iterator[Piece]:
        message = self._messages[index]
        match message:
            case UserMessage():
                if is_summary(message):
                    yield Piece("summary of what came before", scrub(text_of_summary(message)))
                else:
                    label = "user, written by a program" if message.injected else "user"
                    yield from _blocks(label, message.content, bulky=message.injected)
            case AssistantMessage():
                yield from self._answer(index, message)
            case ToolResultMessage():
                blocks = message.content or [TextContent("(no output)")]
                yield from _blocks(self._result_label(index, message), blocks, bulky=True)
            case _:
                assert_never(message)

    def _answer(self, index: int, message: AssistantMessage) -> Iterator[Piece]:
        who = "assistant"
        if message.failed:
            who += f", broken off ({message.stop_reason})"
        at = 0
        for block in message.content:
            match block:
                case TextContent():
                    if block.text.strip():
                        yield Piece(who, scrub(block.text))
                case ThinkingContent():
                    if block.thinking.strip() and not block.redacted:
                        yield Piece(f"{who}, thinking", scrub(block.thinking), bulky=True)
                case ToolCall():
                    missing = ", without a result" if self._pairing.batches[index].answers[at] < 0 else ""
                    label = f"{who}, call {self._first_calls[index] + at} of tool {_plain(block.name)}{missing}"
                    yield Piece(label, _arguments(block), bulky=True)
                    at += 1
                case ProviderContent():
                    if block.text.strip():
                        yield Piece(f"{who}, {_plain(block.kind)}", scrub(block.text), bulky=True)
                case _:
                    assert_never(block)

    def _result_label(self, index: int, result: ToolResultMessage) -> str:
        name, number = _plain(result.tool_name), self._answered_calls.get(index)
        if number is not None:
            label = f"tool result of call {number} ({name})"
        elif self._pairing.strays.get(index) == "duplicate":
            label = f"tool result that came once more ({name})"
        else:
            label = f"tool result of an earlier call ({name})"
        if result.synthetic:
            label += ", standing in for one that never came"
        return label + (", an error" if result.is_error else "")


def marking_word(pieces: Sequence[Piece], *others: str) -> str:
    """A word for the marks that occurs in none of the texts. It is a digest: the same texts give the same word."""
    texts = [text for piece in pieces for text in (piece.label, piece.text)] + list(others)
    digest = blake2b(digest_size=MARK_LENGTH // 2)
    for text in texts:
        digest.update(text.encode("utf-8", "replace"))
    while any(digest.hexdigest() in text for text in texts):
        digest.update(b"again")
    return digest.hexdigest()


def render_pieces(pieces: Sequence[Piece], word: str, budget: int) -> str:
    """All pieces in at most ``budget`` bytes: the longest texts are cut in the middle, all to the same length."""
    if sum(piece.size() for piece in pieces) <= budget:
        return "".join(piece.render(word) for piece in pieces)
    low, high = MIN_TEXT, max(budget, MIN_TEXT)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(piece.size(middle) for piece in pieces) <= budget:
            low = middle
        else:
            high = middle - 1
    # If the marks alone are too long, the middle of the whole is cut.
    return cut_in_the_middle("".join(piece.render(word, low) for piece in pieces), budget, word)


def cut_in_the_middle(text: str, limit: int, word: str) -> str:
    """Cut the middle out of ``text``, with a note, if it has more than ``limit`` bytes."""
    if byte_length(text) <= limit:
        return text
    data, half = text.encode("utf-8", "replace"), max(limit - NOTE_BYTES, 0) // 2
    head = data[:half].decode("utf-8", "ignore")
    tail = data[len(data) - half :].decode("utf-8", "ignore")
    return head + NOTE.format(word=word, left_out=len(text) - len(head) - len(tail)) + tail


def byte_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _blocks(label: str, blocks: Sequence[UserContent | ToolResultContent], *, bulky: bool) -> Iterator[Piece]:
    for block in blocks:
        match block:
            case TextContent():
                yield Piece(label, scrub(block.text), bulky)
            case ImageContent():
                yield Piece(f"{label}, an image", f"({_plain(block.mime_type)}, {_place(block)}, not shown)", bulky)
            case FileContent():
                name = _plain(block.name or block.mime_type)
                text = block.text
                shown = f"({name}, {_place(block)}, not shown)" if text is None else scrub(text)
                yield Piece(f"{label}, a file" if text is None else f"{label}, file {name}", shown, bulky=True)
            case _:
                assert_never(block)


def _place(block: ImageContent | FileContent) -> str:
    return f"{block.size:,} bytes" if block.url is None else f"at {scrub(block.url)}"


def _arguments(call: ToolCall) -> str:
    for arguments in (call.arguments, scrub_json(call.arguments)):
        try:
            return encode(arguments).decode()
        except (TypeError, ValueError, OverflowError, RecursionError):
            continue
    return "(arguments that cannot be written)"


def _plain(name: str) -> str:
    return in_label(name) or "no name"
