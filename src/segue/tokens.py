"""Estimates of how many tokens a conversation has: measured where an answer reported its usage, guessed elsewhere.

Most models have no public tokenizer, so a guess counts bytes. It may be off by about a third, so every estimate states
its basis and its margin.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, assert_never

from msgspec import Struct

from .types import (
    AssistantMessage,
    Block,
    Context,
    FileContent,
    FileKind,
    ImageContent,
    Message,
    Model,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
)
from .types.codec import encode
from .types.media import is_base64, is_text_type, kind_of
from .wire import image_size

BYTES_PER_TOKEN = 3.7
PIXELS_PER_TOKEN = 750  # documented by Anthropic; the others are of the same order
TOKENS_PER_IMAGE = (85, 1_600)
TOKENS_PER_MESSAGE = 4
# Documents: 1,500 to 3,000 tokens for each page of a PDF (Anthropic, "PDF support", 2026-11), of some 60 kB. Sound: 32
# tokens a second, video: about 300 (Gemini API, "Understand and count tokens", 2026-11), at 128 kbit/s and 1 Mbit/s.
BYTES_PER_FILE_TOKEN: dict[FileKind, float] = {"document": 30, "audio": 500, "video": 400}
LONGEST_TEXT = 4_096  # longer texts in provider content may be the data of an image or a file
TOKENS_PER_ADDRESS = 5_000  # a file of a few pages

Basis = Literal["measured", "measured elsewhere", "guessed"]
# How far off the measured part and the guessed part may be, as a share of each.
MARGINS: dict[Basis, tuple[float, float]] = {
    "measured": (0.02, 0.35),
    "measured elsewhere": (0.25, 0.35),
    "guessed": (0.35, 0.35),
}


class Estimate(Struct, frozen=True, kw_only=True, rename="camel"):
    """A number of tokens between ``low`` and ``high``.

    ``basis``: most of it was measured by the target (``measured``), by another model with its own tokenizer
    (``measured elsewhere``), or not at all (``guessed``).
    """

    tokens: int
    low: int
    high: int
    basis: Basis


def estimate(stored: Context, rendered: Context, model: Model) -> Estimate:
    """Estimate the tokens of ``rendered``, which was made from ``stored`` for ``model``."""
    return estimate_from_guesses(stored.messages, guess_context(stored), guess_context(rendered), model)


def estimate_from_guesses(messages: list[Message], stored: float, rendered: float, model: Model) -> Estimate:
    """Estimate the tokens of a rendering of ``messages`` from two guesses: for the stored messages (``stored``) and for
    the rendered ones (``rendered``)."""
    guess = rendered
    last = _last_measured(messages)
    if last is None:
        return _estimate(0, guess, "guessed")
    at, answer = last
    usage = answer.usage
    measured = usage.input + usage.cache_read + usage.cache_write + usage.output
    since = guess_messages(messages[at + 1 :])
    changed = guess - stored
    own = (answer.provider, answer.model) == (model.provider, model.id)
    # Most of what was measured is still there, whatever the difference of the guesses is.
    new = max(since + changed, guess / 2 - measured)
    return _estimate(measured, new, "measured" if own else "measured elsewhere")


def _estimate(measured: float, guess: float, basis: Basis) -> Estimate:
    for_measured, for_guess = MARGINS[basis]
    tokens = max(measured + guess, 1.0)
    margin = measured * for_measured + abs(guess) * for_guess
    return Estimate(tokens=round(tokens), low=max(round(tokens - margin), 1), high=round(tokens + margin), basis=basis)


def _last_measured(messages: list[Message]) -> tuple[int, AssistantMessage] | None:
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if isinstance(message, AssistantMessage) and not message.failed:
            usage = message.usage
            if usage.input + usage.cache_read + usage.cache_write > 0:
                return at, message
    return None


def guess_context(context: Context) -> float:
    """Guess the tokens of a conversation from its length."""
    return guess_frame(context.system_prompt, context.tools) + guess_messages(context.messages)


def guess_frame(system_prompt: str | None, tools: Iterable[ToolDefinition]) -> float:
    """Guess the tokens of the system prompt and the tools."""
    schemas = sum(len(tool.name) + _bytes(tool.description) + len(bytes(tool.parameters)) for tool in tools)
    return (_bytes(system_prompt or "") + schemas) / BYTES_PER_TOKEN


def guess_messages(messages: Iterable[Message]) -> float:
    """Guess the tokens of messages."""
    return sum(TOKENS_PER_MESSAGE + sum(_guessed_block(block) for block in message.content) for message in messages)


def _guessed_block(block: Block) -> float:
    match block:
        case TextContent():
            return _bytes(block.text) / BYTES_PER_TOKEN
        case ThinkingContent():
            return _bytes(block.thinking) / BYTES_PER_TOKEN
        case ToolCall():
            return (len(block.name) + _json_bytes(block)) / BYTES_PER_TOKEN
        case ImageContent():
            least, most = TOKENS_PER_IMAGE
            size = image_size(block.data) if block.url is None else None
            return most if size is None else min(max(size[0] * size[1] / PIXELS_PER_TOKEN, least), most)
        case FileContent():
            return _guessed_file(block)
        case ProviderContent():
            return _guessed_provided(block)
        case _:
            assert_never(block)


def _guessed_provided(block: ProviderContent) -> float:
    """Guess the tokens of provider content, which may contain images and files, such as those that a model made."""
    length = len(bytes(block.raw))
    if length < LONGEST_TEXT:
        return length / BYTES_PER_TOKEN
    held = list(_media_in(block.value))
    text = length - sum(len(media.data) for media in held)
    return text / BYTES_PER_TOKEN + sum(map(_guessed_block, held))


def _media_in(value: Any, label: str = "") -> Iterator[ImageContent | FileContent]:
    """The data in a JSON value that is of a known type: by its first bytes, or by a label beside it."""
    if isinstance(value, Mapping):
        found = value.get("mimeType") or value.get("media_type")
        for each in value.values():
            yield from _media_in(each, found if isinstance(found, str) else "")
    elif isinstance(value, list):
        for each in value:
            yield from _media_in(each)
    elif isinstance(value, str) and len(value) >= LONGEST_TEXT and is_base64(value):
        mime_type = kind_of(value) or label
        if mime_type.startswith("image/"):
            yield ImageContent(value, mime_type)
        elif mime_type and not is_text_type(mime_type):
            yield FileContent(value, mime_type)


def _guessed_file(file: FileContent) -> float:
    if file.url is not None:
        return TOKENS_PER_ADDRESS
    per_token = BYTES_PER_TOKEN if is_text_type(file.mime_type) else BYTES_PER_FILE_TOKEN[file.kind]
    return file.size / per_token


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _json_bytes(call: ToolCall) -> int:
    try:
        return len(encode(call.arguments))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return 0  # a call that is stored but cannot be sent
