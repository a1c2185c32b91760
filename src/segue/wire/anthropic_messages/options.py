"""Map each option of a request, or leave it out and report that.

Messages are not changed here, except for cache markers on their blocks.
"""

from typing import Any

from msgspec import to_builtins

from ...dialects import AnthropicMessages
from ...types.text import scrub
from ..common.binding import add_binding
from ..common.options import (
    BUDGETS,
    NOT_FORCED,
    ToolChoice,
    add_cache_key,
    forbid_stub,
    limited_tokens,
    nearest_level,
    one_call_at_a_time,
    tool_choice,
)
from ..common.outgoing import Outgoing
from ..common.output_schema import ANTHROPIC, closed_schema, wanted_format

Out = Outgoing[AnthropicMessages]
Body = dict[str, Any]

DEFAULT_MAX_TOKENS = 8_192
# SDK anthropic 2.8.0 refuses to wait for more than this without a stream: "Streaming is required for operations that
# may take longer than 10 minutes" (128,000 tokens an hour).
MOST_WITHOUT_STREAM = 21_333
LEAST_BUDGET = 1_024  # ANT-41: a budget is at least this, and below max_tokens


def max_tokens(out: Out) -> int:
    """``max_tokens`` is required and limited by the model (ANT-49). Thinking is output, so it adds to the default."""
    limit = out.model.max_tokens
    wanted = limited_tokens(out, limit)
    if wanted is not None:
        return wanted
    default = DEFAULT_MAX_TOKENS + _expected_thinking(out)
    return min(default, limit) if out.options.stream else min(default, limit, MOST_WITHOUT_STREAM)


def _expected_thinking(out: Out) -> int:
    level, modes = out.options.reasoning, out.dialect.thinking
    if not modes or (level in (None, "off") and "disabled" in modes):
        return 0
    return BUDGETS["medium" if level in (None, "off") else level]


def add_options(out: Out, body: Body, prefilled: bool, thinks: bool, replays: bool) -> None:
    """Add all options. The order matters: thinking has priority over a forced tool.

    ``prefilled``: the last turn is an answer to be continued; ``thinks``: all answers of the running tool loop begin
    with thinking; ``replays``: some answer contains thinking.
    """
    _add_thinking(out, body, prefilled, thinks)
    if out.dialect.prefix_bound:
        add_binding(out, body, replays)
    _add_tool_choice(out, body)
    _add_format(out, body, prefilled)
    _drop_sampling(out)
    _add_stops(out, body)
    _add_metadata(out, body)
    add_cache_key(out, body)
    if out.options.stream:
        body["stream"] = True
    _mark_cache(out, body)


# -- thinking --------------------------------------------------------------------------------------------------------


def _add_thinking(out: Out, body: Body, prefilled: bool, thinks: bool) -> None:
    level, modes = out.options.reasoning, out.dialect.thinking
    if level is None:
        return
    if level == "off":
        if "disabled" in modes:
            body["thinking"] = {"type": "disabled"}
        elif modes:
            out.drop_option("reasoning", "this model always thinks")
    elif not modes or modes == ("disabled",):
        out.drop_option("reasoning", "this model does not think")
    elif prefilled:
        # ANT-14, ANT-38: a prefill and thinking exclude each other, and messages do not depend on options.
        out.drop_option("reasoning", "the answer to be continued began without thinking")
    elif "adaptive" in modes:
        body["thinking"] = {"type": "adaptive"}
        effort = nearest_level(level, out.dialect.effort)  # ANT-41: "This model does not support effort level 'xhigh'."
        if effort is not None:
            body["output_config"] = {"effort": effort}
    else:
        _add_budget(out, body, BUDGETS[level], thinks)


def _add_budget(out: Out, body: Body, budget: int, thinks: bool) -> None:
    if not thinks:
        # ANT-38: "When `thinking` is enabled, a final `assistant` message must start with a thinking block".
        out.drop_option("reasoning", "the running tool loop began without thinking")
    elif body["max_tokens"] <= LEAST_BUDGET:
        out.drop_option("reasoning", "max_tokens leaves no room for thinking")
    else:
        room = max(body["max_tokens"] - LEAST_BUDGET, LEAST_BUDGET)
        body["thinking"] = {"type": "enabled", "budget_tokens": min(budget, room)}


# -- tools -----------------------------------------------------------------------------------------------------------


def _add_tool_choice(out: Out, body: Body) -> None:
    def refusal(choice: ToolChoice) -> str | None:
        if not choice.forces:
            return None
        if not out.dialect.forced_tool_choice:
            # ANT-27: 'tool_choice: type "tool" and "any" are not supported for this model.'
            return NOT_FORCED
        if body.get("thinking", {}).get("type") == "enabled":
            # ANT-27: "Thinking may not be enabled when tool_choice forces tool use."
            return "no tool can be forced while the model thinks by budget"
        return None

    # ANT-25: the placeholder tool is not to be called; ANT-27
    choice = forbid_stub(out) if out.stubbed else tool_choice(out, bool(out.tools), refusal)
    alone = one_call_at_a_time(out, bool(out.tools) and not out.stubbed)
    if choice is None and alone:
        choice = ToolChoice("auto")
    if choice is not None:
        kind = "any" if choice.mode == "required" else choice.mode
        body["tool_choice"] = {"type": kind} if choice.name is None else {"type": kind, "name": choice.name}
        if alone and kind != "none":
            body["tool_choice"]["disable_parallel_tool_use"] = True


# -- structured output -------------------------------------------------------------------------------------------------


def _add_format(out: Out, body: Body, prefilled: bool) -> None:
    wanted = wanted_format(out, bool(out.tools))
    if wanted is None:
        return
    if prefilled:
        # "Message prefilling: incompatible with JSON outputs" (platform.claude.com, "Structured outputs", 2026-11)
        out.drop_option("response_format", "the answer to be continued began without it")
        return
    schema = closed_schema(out, wanted, ANTHROPIC)
    if schema is not None:
        body.setdefault("output_config", {})["format"] = {"type": "json_schema", "schema": schema}


# -- the rest --------------------------------------------------------------------------------------------------------


def _drop_sampling(out: Out) -> None:
    for option in ("temperature", "top_p"):
        if getattr(out.options, option) is not None:
            # ANT-48: "temperature: Extra inputs are not permitted" from API version 2026-10-21 on.
            out.drop_option(option, "the newest API version does not have it")


def _add_stops(out: Out, body: Body) -> None:
    stops = [scrub(text) for text in out.options.stop if text.strip()]
    if len(stops) < len(out.options.stop):
        out.drop_option("stop", "a stop sequence must not be blank")
    if stops:
        body["stop_sequences"] = stops


def _add_metadata(out: Out, body: Body) -> None:
    metadata = out.options.metadata
    if "user_id" in metadata:
        body["metadata"] = {"user_id": scrub(metadata["user_id"])}
    others = [name for name in metadata if name != "user_id"]
    if others:
        out.drop_option("metadata", f"the API has user_id only, not {', '.join(others)}")  # ANT-05


def _mark_cache(out: Out, body: Body) -> None:
    """Put cache markers after tools and system, and after the last two user turns: three at most (ANT-46).

    Of the last two, one reads what the previous request wrote, however many results were added since; the other one
    writes for the next request. All have the same lifetime (ANT-47), and none is inside a result (ANT-28).
    """
    if out.options.cache in (None, "none"):
        return
    if not out.dialect.cache_markers:
        out.drop_option("cache", "the target refuses cache markers")
        return
    marker = {"type": "ephemeral"} | ({"ttl": "1h"} if out.options.cache == "long" else {})
    stable = body.get("system") or body.get("tools")
    if stable:
        stable[-1]["cache_control"] = marker
    turns = body["messages"]
    users = [at for at in range(max(len(turns) - 4, 0), len(turns)) if turns[at].role == "user"]
    for at in users[-2:]:  # roles alternate
        turns[at] = to_builtins(turns[at])
        turns[at]["content"][-1]["cache_control"] = marker
