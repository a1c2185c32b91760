"""Everything in a Converse body except the messages: system prompt, tools, and options (mapped, or left out and
reported)."""

import re
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from ...dialects import BedrockConverse, valid_name
from ...dialects.bedrock_converse import ReasoningSwitch
from ...types import Model, Options, ReasoningLevel, ToolDefinition
from ..common.binding import BETA, add_binding
from ..common.options import (
    BUDGETS,
    NO_LIMIT,
    NOT_FORCED,
    Mode,
    ToolChoice,
    add_cache_key,
    limited_tokens,
    nearest_level,
    number_within,
    one_call_at_a_time,
    tool_choice,
)
from ..common.outgoing import Outgoing
from ..common.output_schema import ANTHROPIC, closed_schema, wanted_format

Out = Outgoing[BedrockConverse]
Fields = dict[str, Any]

ROOM_TO_ANSWER = 8_192
# requestMetadata: 1 to 16 entries of at most 256 of these characters (botocore 1.44.0).
METADATA = re.compile(r"[a-zA-Z0-9\s:_@$#=/+,\-.]{0,256}")


def complete(out: Out, turns: list[Any], thinks: bool, replays: bool) -> dict[str, Any]:
    """The body around ``turns``. The model's id is in the path, not in the body.

    ``thinks``: all answers since the last user message begin with thinking; ``replays``: some answer contains thinking.
    """
    body: dict[str, Any] = {"messages": turns}
    _add_system(out, body)
    config = _limits(out)
    fields = _reasoning(out, config, turns[-1].role == "assistant", thinks)
    if out.dialect.prefix_bound and out.dialect.anthropic_backend and add_binding(out, fields, replays):
        # "pass the beta value and thinking.block_binding through additionalModelRequestFields" (docs.aws.amazon.com,
        # "Preserved thinking", 2026-11)
        fields["anthropic_beta"] = [BETA]
    _add_sampling(out, config, fields)
    _add_top_p(out, config, fields)
    if config:
        body["inferenceConfig"] = config
    _add_tools(out, body, fields)
    if fields:
        body["additionalModelRequestFields"] = fields
    _add_format(out, body)
    _add_metadata(out, body)
    add_cache_key(out, body)
    _mark_cache(out, body)
    if out.options.stream and not streams(out.model, out.options, out.dialect.tools and bool(out.tools)):
        out.drop_option("stream", "this model cannot stream when the request has tools")  # BED-14
    return body


def conversation(out: Out, turns: Any) -> dict[str, Any]:
    """The turns, the system prompt and the tools."""
    body: dict[str, Any] = {"messages": turns.turns}
    _add_system(out, body)
    if out.tools:
        body["toolConfig"] = {"tools": out.each_tool(_tool)}
    return body


def _add_system(out: Out, body: dict[str, Any]) -> None:
    if out.system is not None and out.dialect.system_prompt:
        body["system"] = [{"text": out.system}]


def streams(model: Model, options: Options, tools: bool) -> bool:
    """Whether the answer is streamed: some models do not stream when the request has tools (BED-14)."""
    dialect = model.dialect
    return options.stream and not (tools and isinstance(dialect, BedrockConverse) and not dialect.tools_while_streaming)


def _limits(out: Out) -> dict[str, Any]:
    config: dict[str, Any] = {}
    wanted = limited_tokens(out, out.model.max_tokens)  # ANT-49
    if wanted is not None:  # the default is the model's limit (botocore 1.44.0)
        config["maxTokens"] = wanted
    # Empty ones are not allowed (botocore 1.44.0), and Claude does not accept blank ones.
    stops = [text for text in out.options.stop if text.strip()]
    if stops and not out.dialect.stop:  # BED-24
        out.drop_option("stop", "this model accepts no stop sequences")
    elif stops:
        config["stopSequences"] = stops
    if len(stops) < len(out.options.stop):
        out.drop_option("stop", "a stop sequence must not be blank")
    return config


def _add_sampling(out: Out, config: dict[str, Any], fields: Fields) -> None:
    wanted = out.options.temperature
    if wanted is None:
        return
    if not out.dialect.sampling:  # BED-24, ANT-48
        out.drop_option("temperature", "this model does not accept it")
    elif wanted != 1 and fields.get("thinking", {}).get("type") in ("enabled", "adaptive"):  # ANT-48
        out.drop_option("temperature", "it must be 1 while the model thinks")
    else:
        config["temperature"] = min(max(wanted, 0), 1)  # from 0 to 1 (botocore 1.44.0)
        if config["temperature"] != wanted:
            out.drop_option("temperature", f"{wanted} is not between 0 and 1")


def _add_top_p(out: Out, config: dict[str, Any], fields: Fields) -> None:
    wanted = out.options.top_p
    if wanted is None:
        return
    if not out.dialect.sampling:  # BED-24, ANT-48
        out.drop_option("top_p", "this model does not accept it")
    elif fields.get("thinking", {}).get("type") in ("enabled", "adaptive"):
        # "Thinking isn't compatible with temperature or top_k modifications"; top_p only from 0.95 on
        # (platform.claude.com, "Extended thinking", 2026-11)
        out.drop_option("top_p", "it cannot be set while the model thinks")
    elif out.dialect.anthropic_backend and "temperature" in config:
        # "`temperature` and `top_p` cannot both be specified for this model" (Claude from Opus 4.1 on)
        out.drop_option("top_p", "this model accepts either a temperature or top_p")
    elif (top_p := number_within(out, "top_p", 0, 1)) is not None:
        config["topP"] = top_p


# -- reasoning: fields that are passed to the model (BED-24) ---------------------------------------------------------

_Switch = Callable[[Out, ReasoningLevel, dict[str, Any], bool, bool], Fields]


def _reasoning(out: Out, config: dict[str, Any], prefilled: bool, thinks: bool) -> Fields:
    level = out.options.reasoning
    if level is None:
        return {}
    if level != "off":
        return _SWITCHES[out.dialect.reasoning_switch](out, level, config, prefilled, thinks)
    if out.dialect.reasoning_off == "disabled":
        return {"thinking": {"type": "disabled"}}
    if out.dialect.reasoning_off == "none" and out.model.reasoning:
        out.drop_option("reasoning", "this model's thinking cannot be turned off")
    return {}


def _no_switch(out: Out, level: ReasoningLevel, config: dict[str, Any], prefilled: bool, thinks: bool) -> Fields:
    out.drop_option(
        "reasoning", "this model decides how much it thinks" if out.model.reasoning else "this model does not think"
    )
    return {}


def _budget(out: Out, level: ReasoningLevel, config: dict[str, Any], prefilled: bool, thinks: bool) -> Fields:
    room = config.get("maxTokens", min(BUDGETS[level] + ROOM_TO_ANSWER, out.model.max_tokens))
    if prefilled:
        # Thinking and a prefill exclude each other (Anthropic's documentation of thinking).
        out.drop_option("reasoning", "the answer to be continued began without thinking")
    elif not thinks:
        # ANT-38: "When `thinking` is enabled, a final `assistant` message must start with a thinking block".
        out.drop_option("reasoning", "the running tool loop began without thinking")
    elif room <= 1_024:
        out.drop_option("reasoning", "max_tokens leaves no room for thinking")
    else:
        config["maxTokens"] = room
        return {"thinking": {"type": "enabled", "budget_tokens": min(BUDGETS[level], max(room - 1_024, 1_024))}}
    return {}


def _adaptive(out: Out, level: ReasoningLevel, config: dict[str, Any], prefilled: bool, thinks: bool) -> Fields:
    effort = nearest_level(level, out.dialect.effort)
    return {"thinking": {"type": "adaptive"}} | ({} if effort is None else {"output_config": {"effort": effort}})


def _config(out: Out, level: ReasoningLevel, config: dict[str, Any], prefilled: bool, thinks: bool) -> Fields:
    effort = nearest_level(level, out.dialect.effort)
    return {} if effort is None else {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": effort}}


def _named(field: str) -> _Switch:
    def ask(out: Out, level: ReasoningLevel, config: dict[str, Any], prefilled: bool, thinks: bool) -> Fields:
        effort = nearest_level(level, out.dialect.effort)
        return {} if effort is None else {field: effort}

    return ask


_SWITCHES: dict[ReasoningSwitch, _Switch] = {
    "none": _no_switch,
    "thinking-budget": _budget,
    "thinking-adaptive": _adaptive,
    "reasoning_config": _named("reasoning_config"),
    "reasoning_effort": _named("reasoning_effort"),
    "reasoningConfig": _config,
}


# -- tools -----------------------------------------------------------------------------------------------------------


def _add_tools(out: Out, body: dict[str, Any], fields: Fields) -> None:
    wanted = out.options.tool_choice
    if not out.tools or not out.dialect.tools:
        if out.tools and not out.stubbed:
            out.drop_option("tools", "this model has no tools")  # BED-14
        if wanted not in (None, "none"):
            out.drop_option("tool_choice", "no tool is defined")
        return
    body["toolConfig"] = {"tools": out.each_tool(_tool)}
    if one_call_at_a_time(out, not out.stubbed):
        out.drop_option("parallel_tool_calls", NO_LIMIT)
    choice = tool_choice(out, not out.stubbed, lambda choice: _refusal(out, choice, fields))
    if choice is not None:
        kind = _CHOICES[choice.mode]
        body["toolConfig"]["toolChoice"] = {kind: {} if choice.name is None else {"name": choice.name}}


_CHOICES: dict[Mode, str] = {"auto": "auto", "none": "", "required": "any", "tool": "tool"}
"""The member of ``toolChoice`` for each mode; calls cannot be forbidden."""


def _refusal(out: Out, choice: ToolChoice, fields: Fields) -> str | None:
    """Why the target does not accept a choice."""
    if choice.mode == "none":
        return "the protocol cannot forbid calls"  # BED-12
    if _CHOICES[choice.mode] not in out.dialect.tool_choice:
        return NOT_FORCED  # BED-13: "This model doesn't support the toolConfig.toolChoice.… field."
    if choice.forces and fields.get("thinking", {}).get("type") == "enabled":
        # ANT-27: "Thinking may not be enabled when tool_choice forces tool use."
        return "no tool can be forced while the model thinks by budget"
    return None


def _tool(_: BedrockConverse, tool: ToolDefinition, schema: dict[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": tool.name}
    if tool.description.strip():  # BED-10: at least one character
        entry["description"] = tool.description
    return {"toolSpec": entry | {"inputSchema": {"json": schema}}}  # BED-11, ANT-55


# -- structured output -------------------------------------------------------------------------------------------------


def _add_format(out: Out, body: dict[str, Any]) -> None:
    """The schema is JSON text here (botocore 1.44.0). Bedrock refuses the constraints that Claude refuses (AWS, "Get
    validated JSON results from models", and pydantic-ai 2.66.0, providers/bedrock.py, 2026-11)."""
    wanted = wanted_format(out, "toolConfig" in body)
    schema = None if wanted is None else closed_schema(out, wanted, ANTHROPIC)
    if wanted is not None and schema is not None:
        definition = {"name": valid_name(wanted.name, "dashes"), "schema": msgspec.json.encode(schema).decode()}
        body["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": definition}}}


# -- the rest --------------------------------------------------------------------------------------------------------


def _add_metadata(out: Out, body: dict[str, Any]) -> None:
    items = list(out.options.metadata.items())
    fit = {name: text for name, text in items if name and METADATA.fullmatch(name) and METADATA.fullmatch(text)}
    kept = dict(list(fit.items())[:16])
    if kept:
        body["requestMetadata"] = kept
    lost = [name for name, _ in items if name not in kept]
    if lost:
        out.drop_option("metadata", f"at most 16 short entries of plain characters; left out: {', '.join(lost)}")


def _mark_cache(out: Out, body: dict[str, Any]) -> None:
    """Put cache points after the system prompt (which covers the tools) and the last two user turns (BED-21).

    Of these two, one reads what the previous request wrote, however many results were added since; the other one writes
    for the next request.
    """
    wanted, known = out.options.cache, out.dialect.cache_points
    if wanted in (None, "none"):
        return
    if known == "none":
        out.drop_option("cache", "this model has no cache points")
        return
    point: dict[str, Any] = {"type": "default"}
    if wanted == "long" and known == "1h":
        point["ttl"] = "1h"
    elif wanted == "long":  # "Extended TTL prompt caching is only supported for Anthropic models"
        out.drop_option("cache", "this model caches for five minutes only")
    if "system" in body:
        body["system"].append({"cachePoint": point})
    turns = body["messages"]
    users = [at for at in range(max(len(turns) - 4, 0), len(turns)) if turns[at].role == "user"]
    for at in users[-2:]:  # roles alternate
        content, end = turns[at].content, len(turns[at].content)
        while end and type(content[end - 1]) is dict and content[end - 1].keys() & _NO_POINT_AFTER:
            end -= 1
        if end:
            turns[at] = replace(turns[at], content=[*content[:end], {"cachePoint": point}, *content[end:]])


_NO_POINT_AFTER = frozenset({"document", "video", "audio"})
"""Blocks after which a cache point is refused (BED-21); not known of audio."""
