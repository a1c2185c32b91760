"""Rules about reasoning blocks and about asking for reasoning."""

from collections.abc import Iterator
from typing import Any

from ...rules import Rule
from ...types import Model
from ..common.binding import BETA
from ..common.checks import shown
from ..common.images import is_base64
from .dialect import claude, dialect_of, where
from .shapes import Turn, of_kind, part, turns

Found = Iterator[tuple[str, str]]
Body = dict[str, Any]
ENCODER = "wire/bedrock_converse/encode.py"
OPTIONS = "wire/bedrock_converse/options.py"
THINKING_TYPES = {"thinking-budget": ("enabled", "disabled"), "thinking-adaptive": ("adaptive",)}


def _misplaced(body: Body, model: Model | None) -> Found:
    for turn in turns(body):
        for path, reasoning in turn.of("reasoningContent"):
            if turn.role != "assistant":
                yield path, "reasoning is allowed in assistant messages only"
            text = reasoning.get("reasoningText")
            if isinstance(text, dict) and not isinstance(text.get("text"), str):
                yield f"{path}.reasoningText.text", "the text is required, even if it is empty"
        if turn.role == "assistant":
            yield from _late(turn)


def _late(turn: Turn) -> Found:
    """Check that reasoning is not the last block and does not come after the last call."""
    kinds = turn.kinds()
    if kinds[-1:] == ["reasoningContent"]:
        yield f"{turn.path}.content[{len(kinds) - 1}]", "reasoning must not be the last block"
        return
    for at in range(len(kinds) - 1, -1, -1) if "toolUse" in kinds else ():
        if kinds[at] == "toolUse":
            return
        if kinds[at] == "reasoningContent":
            yield f"{turn.path}.content[{at}]", "reasoning must come before the calls"


def _blobs(body: Body, model: Model | None) -> Found:
    for path, data in _redacted(body):
        whole = is_base64(data) if isinstance(data, str) else isinstance(data, bytes | bytearray) and bool(data)
        if not whole:
            yield path, "redacted reasoning must be base64 of at least one byte"


def _any_redacted(body: Body, model: Model | None) -> Found:
    return ((path, "redacted reasoning, which this model does not accept") for path, _ in _redacted(body))


def _redacted(body: Body) -> Iterator[tuple[str, Any]]:
    for placed, reasoning in of_kind(body, "reasoningContent"):
        if "redactedContent" in reasoning:
            yield f"{placed.path}.reasoningContent.redactedContent", reasoning["redactedContent"]


def _unsigned(body: Body, model: Model | None) -> Found:
    for path, text in _texts(body):
        if not text.get("signature"):
            yield path, "reasoning without a signature"


def _signed(body: Body, model: Model | None) -> Found:
    for path, text in _texts(body):
        if "signature" in text:
            yield f"{path}.signature", "a signature, which this model does not accept"


def _texts(body: Body) -> Iterator[tuple[str, dict[str, Any]]]:
    for turn in turns(body):
        for path, reasoning in turn.of("reasoningContent"):
            if isinstance(reasoning.get("reasoningText"), dict):
                yield f"{path}.reasoningText", reasoning["reasoningText"]


def _asked(body: Body) -> dict[str, Any]:
    return part(body, "additionalModelRequestFields", "thinking")


def _binding(body: Body, model: Model | None) -> Found:
    path = "additionalModelRequestFields.thinking.block_binding"
    if _asked(body).get("block_binding") is None:
        return
    betas = body["additionalModelRequestFields"].get("anthropic_beta")
    if not isinstance(betas, list) or BETA not in betas:
        yield path, f"anthropic_beta must contain {BETA}"
    if _asked(body).get("type") not in ("adaptive", "enabled"):
        yield path, "allowed only if thinking is enabled or adaptive"


def _loop_without_thinking(body: Body, model: Model | None) -> Found:
    """Check that all answers since the last user message begin with thinking, if it is enabled."""
    if _asked(body).get("type") != "enabled":
        return
    for turn in reversed(turns(body)):
        kinds = [kind for kind in turn.kinds() if kind != "cachePoint"]
        if turn.role != "assistant":
            if any(kind != "toolResult" for kind in kinds):
                return
        elif kinds and kinds[0] != "reasoningContent":
            yield f"{turn.path}.content[0]", f"expected reasoning, but found {kinds[0] or 'something else'}"
            return


def _thought_at_the_end(body: Body, model: Model | None) -> Found:
    if _asked(body).get("type") in ("enabled", "adaptive"):
        return
    for turn in turns(body)[-1:]:
        if turn.role == "assistant" and "reasoningContent" in turn.kinds():
            yield f"{turn.path}.content", "the last answer contains thinking, but thinking is off"


def _modes(body: Body, model: Model | None) -> Found:
    dialect, asked = dialect_of(model), _asked(body)
    known = THINKING_TYPES.get(dialect.reasoning_switch, ())
    if dialect.reasoning_off != "none":
        known = (*known, "disabled")
    if dialect.reasoning_switch == "thinking-adaptive" and dialect.sampling:
        known = (*known, "enabled")  # 4.6: deprecated, but still accepted
    kind = asked.get("type")
    if asked and kind not in known:
        yield "additionalModelRequestFields.thinking.type", f"{kind!r} is not supported for this model"


def _budgets(body: Body, model: Model | None) -> Found:
    asked, path = _asked(body), "additionalModelRequestFields.thinking.budget_tokens"
    if asked.get("type") != "enabled":
        return
    budget, limit = asked.get("budget_tokens"), part(body, "inferenceConfig").get("maxTokens")
    if not isinstance(budget, int) or budget < 1_024:
        yield path, "a budget must be at least 1024 tokens"
    elif isinstance(limit, int) and budget >= limit:
        yield path, f"maxTokens ({limit}) must be greater than the budget ({budget})"


def _levels(body: Body, model: Model | None) -> Found:
    dialect = dialect_of(model)
    fields = part(body, "additionalModelRequestFields")
    levels = {
        "reasoning_config": fields.get("reasoning_config"),
        "reasoning_effort": fields.get("reasoning_effort"),
        "output_config.effort": part(fields, "output_config").get("effort"),
    }
    for name, level in levels.items():
        if level is not None and level not in dialect.effort:
            known = ", ".join(dialect.effort) or "none"
            yield f"additionalModelRequestFields.{name}", f"{shown(level)!r} is not one of {known}"


THINKING = (
    Rule(
        number="BED-20",
        title="reasoning is in an answer, has a text, and is not at the end",
        answers="User messages cannot contain reasoning content. Please remove the reasoning content and try again.",
        source="vercel/ai#7034, #17591; bifrost#6342; claude-code#10199, as known 2026-11",
        prevented_by=ENCODER,
        check=_misplaced,
    ),
    Rule(
        number="BED-20b",
        title="reasoning is signed",
        answers="thinking.signature: Field required",
        source="oh-my-pi#10486, as known 2026-11",
        prevented_by="projection/passes/reasoning.py",
        check=_unsigned,
        only=claude,
    ),
    Rule(
        number="BED-20c",
        title="some models accept no signature",
        answers="This model doesn't support the reasoningContent.reasoningText.signature field.",
        source="bifrost's Bedrock provider, as known 2026-11",
        prevented_by=ENCODER,
        check=_signed,
        only=where(lambda dialect: not dialect.reasoning_signature),
    ),
    Rule(
        number="BED-20d",
        title="redacted reasoning is a blob",
        answers="Invalid base64 / The provided request is not valid",
        source="botocore 1.44.0, ReasoningContentBlock.redactedContent (blob), 2026-11; wording not seen",
        prevented_by=ENCODER,
        check=_blobs,
    ),
    Rule(
        number="BED-20e",
        title="some models accept no redacted reasoning",
        answers="This model doesn't support the reasoningContent.redactedContent field.",
        source="as for the signature: bifrost's Bedrock provider, as known 2026-11; wording not seen",
        prevented_by="projection/passes/reasoning.py",
        check=_any_redacted,
        only=where(lambda dialect: not dialect.reasoning_signature),
    ),
    Rule(
        number="BED-24c",
        title="models support different levels of reasoning",
        answers="This model does not support effort level",
        source="pydantic-ai models/bedrock.py; litellm 1.108.4, 2026-11; wording not seen",
        prevented_by=OPTIONS,
        check=_levels,
        only=where(lambda dialect: dialect.reasoning_switch != "thinking-budget"),
    ),
    Rule(
        number="ANT-38",
        title="a running tool loop begins with thinking, if thinking is enabled",
        answers="Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
        source="opencode#3077 (on Bedrock), haystack-core-integrations#2146, mastra#7799, as known 2026-11",
        prevented_by=OPTIONS,
        check=_loop_without_thinking,
        only=claude,
    ),
    Rule(
        number="ANT-39",
        title="with thinking off, a prefill contains no thinking",
        answers="When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`.",
        source="tailcallhq/forgecode#1853, as known 2026-11",
        prevented_by=ENCODER,
        check=_thought_at_the_end,
        only=claude,
    ),
    Rule(
        number="ANT-40",
        title="block_binding is set only with its beta and in modes that think",
        answers="thinking.adaptive.block_binding: Extra inputs are not permitted",
        source="docs.aws.amazon.com, Preserved thinking, 2026-11",
        prevented_by=OPTIONS,
        check=_binding,
        only=claude,
    ),
    Rule(
        number="ANT-41",
        title="models support different modes of thinking",
        answers='"thinking.type.enabled" is not supported for this model.',
        source="Anthropic's error text; AWS user guide on adaptive thinking, as known 2026-11",
        prevented_by=OPTIONS,
        check=_modes,
        only=claude,
    ),
    Rule(
        number="ANT-41b",
        title="a budget is at least 1024 and below maxTokens",
        answers="`max_tokens` must be greater than `thinking.budget_tokens`.",
        source="Anthropic's error text, behind Converse, as known 2026-11",
        prevented_by=OPTIONS,
        check=_budgets,
        only=claude,
    ),
)
