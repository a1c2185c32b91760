"""Estimates of the tokens in a conversation: measured up to the last answer with usage, guessed from length after it.

Most models have no public tokenizer, so the guess is based on bytes. It is accurate to about a third, which is why
every estimate has a basis and a range.
"""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from ..types import (
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    Model,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
)
from ..types.value import encode
from .images import image_size

BYTES_PER_TOKEN = 3.7
PIXELS_PER_TOKEN = 750  # from Anthropic's documentation; other providers are similar
TOKENS_PER_IMAGE = (85, 1_600)
TOKENS_PER_MESSAGE = 4

Basis = Literal["measured", "measured elsewhere", "guessed"]
# The margins of error of the measured part and of the guessed part, as a fraction of each.
MARGINS: dict[Basis, tuple[float, float]] = {
    "measured": (0.02, 0.35),
    "measured elsewhere": (0.25, 0.35),
    "guessed": (0.35, 0.35),
}


class Estimate(Struct, frozen=True, kw_only=True, rename="camel"):
    """A number of tokens between ``low`` and ``high``.

    ``basis``: most of it was measured by the target (``measured``) or by another model, with another tokenizer
    (``measured elsewhere``), or nothing was measured (``guessed``).
    """

    tokens: int
    low: int
    high: int
    basis: Basis


def estimate(stored: Context, rendered: Context, model: Model) -> Estimate:
    """Estimate the tokens of ``rendered``, the rendering of ``stored`` for ``model``."""
    return estimated(stored.messages, guessed(stored), guessed(rendered), model)


def estimated(messages: list[Message], stored: float, rendered: float, model: Model) -> Estimate:
    """Estimate the tokens of a rendering of ``messages``, from guesses for the stored and the rendered messages."""
    guess = rendered
    last = _last_measured(messages)
    if last is None:
        return _estimate(0, guess, "guessed")
    at, answer = last
    usage = answer.usage
    measured = usage.input + usage.cache_read + usage.cache_write + usage.output
    since = guessed_messages(messages[at + 1 :])
    changed = guess - stored
    own = (answer.provider, answer.model) == (model.provider, model.id)
    # The measured tokens are still there, so the total is at least half of the guess.
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


def guessed(context: Context) -> float:
    """A guess of the tokens, from length alone."""
    return guessed_frame(context.system_prompt, context.tools) + guessed_messages(context.messages)


def guessed_frame(system_prompt: str | None, tools: Iterable[ToolDefinition]) -> float:
    """A guess of the tokens of system prompt and tools."""
    schemas = sum(len(tool.name) + _bytes(tool.description) + len(bytes(tool.parameters)) for tool in tools)
    return (_bytes(system_prompt or "") + schemas) / BYTES_PER_TOKEN


def guessed_messages(messages: Iterable[Message]) -> float:
    """A guess of the tokens of messages."""
    return sum(TOKENS_PER_MESSAGE + sum(_guessed_block(block) for block in message.content) for message in messages)


def _guessed_block(block: TextContent | ImageContent | ThinkingContent | ToolCall) -> float:
    match block:
        case TextContent():
            return _bytes(block.text) / BYTES_PER_TOKEN
        case ThinkingContent():
            return _bytes(block.thinking) / BYTES_PER_TOKEN
        case ToolCall():
            return (len(block.name) + _json_bytes(block)) / BYTES_PER_TOKEN
        case ImageContent():
            least, most = TOKENS_PER_IMAGE
            size = image_size(block)
            return most if size is None else min(max(size[0] * size[1] / PIXELS_PER_TOKEN, least), most)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _json_bytes(call: ToolCall) -> int:
    try:
        return len(encode(call.arguments))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return 0  # arguments that cannot be written as JSON
