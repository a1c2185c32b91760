"""Rules about thinking: its blocks in the history, and how a request asks for it."""

from ...rules import Rule
from ...types import Model
from .rules_messages import ENCODER, THOUGHTS, UNQUOTED, dialect
from .walk import Found, Json, Turn, kind, of_type, text, turns

OPTIONS = "wire/anthropic_messages/options.py"
REASONING = "projection/passes/reasoning.py"


def _mode(body: Json) -> str:
    thinking = body.get("thinking")
    return text(thinking, "type") if isinstance(thinking, dict) else ""


def _signed(body: Json, model: Model | None) -> Found:
    for path, block in of_type(body, "thinking"):
        if not text(block, "signature"):
            yield f"{path}.signature", "thinking must have a signature"
        if not isinstance(block.get("thinking"), str):
            yield f"{path}.thinking", "thinking must be a text"


def _redacted(body: Json, model: Model | None) -> Found:
    for path, block in of_type(body, "redacted_thinking"):
        if not text(block, "data"):
            yield f"{path}.data", "redacted thinking without its data"


def _loop(joined: list[Turn]) -> list[Turn]:
    """The answers of the running tool loop, oldest first."""
    answers: list[Turn] = []
    for turn in reversed(joined):
        if turn.role == "assistant":
            answers.append(turn)
        elif not any(kind(block) == "tool_result" for _, block in turn.blocks):
            break
    return answers[::-1]


def _leading(body: Json, model: Model | None) -> Found:
    if _mode(body) != "enabled":
        return
    for turn in _loop(turns(body))[:1]:
        if turn.blocks and kind(turn.blocks[0][1]) not in THOUGHTS:
            yield turn.blocks[0][0], f"expected thinking, found {kind(turn.blocks[0][1])}"


def _off(body: Json, model: Model | None) -> Found:
    last = turns(body)[-1:]
    if _mode(body) in ("", "disabled") and last and last[0].role == "assistant":
        for path, block in last[0].blocks:
            if kind(block) in THOUGHTS:
                yield path, "the last answer contains thinking, and thinking is off"


def _binding(body: Json, model: Model | None) -> Found:
    """Check ``block_binding``. The header that it needs is not part of a body and cannot be checked."""
    thinking = body.get("thinking")
    if not isinstance(thinking, dict) or thinking.get("block_binding") is None:
        return
    asked, path = thinking["block_binding"], "thinking.block_binding"
    if _mode(body) not in ("adaptive", "enabled"):
        yield path, "allowed only if thinking is enabled or adaptive"
    elif not isinstance(asked, dict):
        yield path, "must be an object"
    else:
        for name in asked:
            if name != "prefix_mismatch_behavior":
                yield f"{path}.{name}", "unknown field"
        if asked.get("prefix_mismatch_behavior") not in (None, "drop_block", "error"):
            yield f"{path}.prefix_mismatch_behavior", "must be drop_block or error"


def _config(body: Json, model: Model | None) -> Found:
    mode, thinking = _mode(body), body.get("thinking")
    if mode == "enabled" and isinstance(thinking, dict):
        budget, limit = thinking.get("budget_tokens"), body.get("max_tokens")
        if not isinstance(budget, int) or budget < 1_024:
            yield "thinking.budget_tokens", "a budget must be at least 1024 tokens"
        elif isinstance(limit, int) and limit <= budget:
            yield "thinking.budget_tokens", "max_tokens must be greater than the budget"
    if model is None:
        return
    known = dialect(model)
    if mode in ("enabled", "adaptive", "disabled") and known.thinking and mode not in known.thinking:
        yield "thinking.type", f"{mode!r} is not supported for this model"
    if mode in ("enabled", "adaptive") and not known.thinking:
        yield "thinking", "this model does not think"
    output = body.get("output_config")
    effort = output.get("effort") if isinstance(output, dict) else None
    if effort is not None and effort not in known.effort:
        yield "output_config.effort", f"{effort!r} is not supported for this model"


THINKING: tuple[Rule, ...] = (
    Rule(
        number="ANT-35",
        title="Thinking has its signature.",
        answers="thinking.signature: Field required",
        source="opencode#25005; oh-my-pi#10486",
        prevented_by=REASONING,
        check=_signed,
    ),
    Rule(
        number="ANT-38",
        title="With thinking by budget, the running tool loop begins with thinking.",
        answers="When `thinking` is enabled, a final `assistant` message must start with a thinking block",
        source="opencode#3077; haystack-core-integrations#2146; mastra#7799; n8n#22550",
        prevented_by=OPTIONS,
        check=_leading,
    ),
    Rule(
        number="ANT-39",
        title="With thinking off, a final answer contains no thinking.",
        answers="When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`.",
        source="tailcallhq/forgecode#1853, 2025-11",
        prevented_by=ENCODER,
        check=_off,
    ),
    Rule(
        number="ANT-40",
        title="`block_binding` is set only in modes that think, with the header "
        "`anthropic-beta: thinking-binding-controls-2026-08-01`.",
        answers="block_binding: Extra inputs are not permitted",
        source="SDK anthropic 2.8.0, types/beta/beta_thinking_block_binding_param.py; sub2api#6677, 2026-09",
        prevented_by=OPTIONS,
        check=_binding,
    ),
    Rule(
        number="ANT-41",
        title="The model supports the requested thinking mode and effort.",
        answers='"thinking.type.enabled" is not supported for this model.',
        source="SDK anthropic 2.8.0, 2026-11; recorded answers of pydantic-ai, 2026",
        prevented_by=OPTIONS,
        check=_config,
        by_model=True,
    ),
    Rule(
        number="ANT-42",
        title="Redacted thinking has its data.",
        answers=UNQUOTED,
        source="SDK anthropic 2.8.0, 2026-11",
        prevented_by=REASONING,
        check=_redacted,
    ),
)
