"""Write the options of a request as the target names them; leave out and report those that it refuses."""

from collections.abc import Callable
from typing import Any

from ...dialects import OpenAICompletions
from ...dialects.openai_completions import ReasoningSwitch
from ...types import ReasoningLevel
from ..common.chat import RoleMessage
from ..common.options import (
    BUDGETS,
    add_cache_key,
    limited_tokens,
    nearest_level,
    number_within,
    one_call_at_a_time,
)
from ..common.outgoing import Outgoing
from ..common.output_schema import OPENAI, named_format, wanted_format
from .shapes import Turn, last_user

Out = Outgoing[OpenAICompletions]
Body = dict[str, Any]


def add_options(out: Out, body: Body) -> None:
    """Add everything other than messages and tools to the body."""
    _add_reasoning(out, body)
    _add_limits(out, body)
    _add_format(out, body)
    _add_user(out, body)
    _add_cache(out, body)
    add_cache_key(out, body)
    if out.options.stream:
        body["stream"] = True
        if "tools" in body and out.dialect.tool_stream:
            body["tool_stream"] = True
        if out.dialect.stream_usage:  # OAC-15
            body["stream_options"] = {"include_usage": True}


def _add_format(out: Out, body: Body) -> None:
    wanted = wanted_format(out, "tools" in body)
    if wanted is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": named_format(out, wanted, OPENAI)}


# -- reasoning -------------------------------------------------------------------------------------------------------


def _add_reasoning(out: Out, body: Body) -> None:
    level = out.options.reasoning
    if out.dialect.parsed_reasoning:  # GRQ-06
        body["reasoning_format"] = "parsed"
    if "tools" in body and not out.dialect.tools_with_reasoning:
        # OAC-13: "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
        body["reasoning_effort"] = "none"
        if level not in (None, "off"):
            out.drop_option("reasoning", "with this protocol, the model accepts tools only with reasoning off")
    elif level is not None:
        switch = _SWITCHES[out.dialect.reasoning_switch] if out.model.reasoning else _no_switch
        switch(out, body, level)
    if out.model.reasoning:
        _add_defaults(out, body)


def _add_defaults(out: Out, body: Body) -> None:
    """Add what a request needs whether it sets a level or not."""
    level, dialect = out.options.reasoning, out.dialect
    if dialect.thinking_streams_only and not out.options.stream:  # QWN-06
        if level not in (None, "off"):
            out.drop_option("reasoning", "this target thinks only if the answer is streamed")
        body.pop("thinking_budget", None)
        body["enable_thinking"] = False
    elif level == "off":
        return
    elif dialect.keeps_thinking == "clear_thinking":
        body.setdefault("thinking", {"type": "enabled"})["clear_thinking"] = False
    elif dialect.keeps_thinking == "preserve_thinking":
        body["preserve_thinking"] = True


def _no_switch(out: Out, body: Body, level: str) -> None:
    if level != "off":
        out.drop_option(
            "reasoning", "the switch for it is not known" if out.model.reasoning else "this model does not reason"
        )
    elif out.model.reasoning:
        out.drop_option("reasoning", "it cannot be switched off")


def _effort(out: Out, body: Body, level: str) -> None:
    known = out.dialect.effort
    effort = nearest_level(level, known) if level != "off" else "none" if "none" in known else None
    if effort is None:
        out.drop_option("reasoning", f"this model has only {', '.join(known)}" if known else "this model has no levels")
    else:
        body["reasoning_effort"] = effort


def _effort_object(out: Out, body: Body, level: str) -> None:
    effort = "none" if level == "off" else nearest_level(level, out.dialect.effort)
    body["reasoning"] = {"enabled": True} if effort is None else {"effort": effort}


def _thinking(out: Out, body: Body, level: str) -> None:
    body["thinking"] = {"type": "disabled" if level == "off" else "enabled"}  # KIM-02: without reasoning_effort


def _thinking_and_effort(out: Out, body: Body, level: str) -> None:
    _thinking(out, body, level)
    effort = None if level == "off" else nearest_level(level, out.dialect.effort)
    if effort is not None:
        body["reasoning_effort"] = effort


def _enable_thinking(out: Out, body: Body, level: ReasoningLevel) -> None:
    body["enable_thinking"] = level != "off"
    if level != "off" and out.dialect.thinking_budget:
        body["thinking_budget"] = BUDGETS[level]


def _enabled_object(out: Out, body: Body, level: str) -> None:
    body["reasoning"] = {"enabled": level != "off"}


_SWITCHES: dict[ReasoningSwitch, Callable[[Out, Body, ReasoningLevel], None]] = {
    "none": _no_switch,
    "reasoning_effort": _effort,
    "thinking": _thinking,
    "thinking-and-effort": _thinking_and_effort,
    "enable_thinking": _enable_thinking,
    "reasoning-effort-object": _effort_object,
    "reasoning-enabled-object": _enabled_object,
}


# -- the rest --------------------------------------------------------------------------------------------------------


def _add_limits(out: Out, body: Body) -> None:
    options, dialect = out.options, out.dialect
    max_tokens = limited_tokens(out, out.model.max_tokens)
    if max_tokens is not None:
        body[dialect.max_tokens_field] = max_tokens  # OAC-14
    if options.temperature is not None:
        if dialect.sampling:
            body["temperature"] = options.temperature
        else:
            out.drop_option("temperature", "this model has a fixed temperature")  # OAC-14, KIM-09
    if options.top_p is not None and not dialect.sampling:
        out.drop_option("top_p", "this model does not accept it")  # OAC-14
    elif (top_p := number_within(out, "top_p", 0, 1)) is not None:
        body["top_p"] = top_p
    if one_call_at_a_time(out, "tools" in body):
        body["parallel_tool_calls"] = False
    stops = [text for text in options.stop if text][: dialect.max_stops]
    if stops and not dialect.stop:
        out.drop_option("stop", "this model accepts no stop sequences")  # OAC-14, XAI-03
    elif stops:
        body["stop"] = stops
        if len(stops) < len(options.stop):
            out.drop_option("stop", f"at most {dialect.max_stops} sequences, none of them empty")


def _add_user(out: Out, body: Body) -> None:
    metadata, field = out.options.metadata, out.dialect.user_field
    if field is not None and "user_id" in metadata:
        body[field] = metadata["user_id"]
    others = [name for name in metadata if name != "user_id" or field is None]
    if others:
        out.drop_option("metadata", f"there is no field for {', '.join(others)}")


def _add_cache(out: Out, body: Body) -> None:
    wanted, caching = out.options.cache, out.dialect.caching
    if wanted in (None, "none"):
        return
    if caching == "markers":
        _mark(body["messages"], {"type": "ephemeral"} | ({"ttl": "1h"} if wanted == "long" else {}))
    elif wanted == "long" and caching == "24h":
        body["prompt_cache_retention"] = "24h"
    elif wanted == "long":
        out.drop_option("cache", "the target decides how long it caches")


def _mark(turns: list[Turn], marker: dict[str, str]) -> None:
    """Mark the system prompt and the last user message for caching. Marked turns are replaced, not changed."""
    last = last_user(turns)
    for at, turn in enumerate(turns):
        if isinstance(turn, RoleMessage) and (at == last or turn.role != "user"):
            content = turn.content
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
            parts[-1] = parts[-1] | {"cache_control": marker}
            turns[at] = RoleMessage(turn.role, parts)
