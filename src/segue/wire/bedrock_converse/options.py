"""What stands in a Converse body beside the messages: the system prompt, tools, and every option, mapped or told."""

import re
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from ...dialects import BedrockConverse
from ...dialects.bedrock_converse import ReasoningSwitch
from ...types import Model, Options, ToolDefinition
from ..common.binding import BETA, UNBOUND_OFF
from ..common.outgoing import Outgoing

Out = Outgoing[BedrockConverse]
Fields = dict[str, Any]

# Tokens of thinking for each level, on models that think by budget (ANT-41: at least 1024, below max_tokens).
BUDGETS = {"minimal": 1_024, "low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 32_768, "max": 32_768}
ROOM_TO_ANSWER = 8_192
LEVELS = ("minimal", "low", "medium", "high", "xhigh", "max")
# requestMetadata: 1 to 16 entries of at most 256 of these characters (botocore 1.44.0).
METADATA = re.compile(r"[a-zA-Z0-9\s:_@$#=/+,\-.]{0,256}")


def complete(out: Out, turns: list[Any], thinks: bool, replays: bool) -> dict[str, Any]:
    """The body around ``turns``. The model's id goes into the path, not into the body.

    ``thinks``: the answers since the user's last words all begin with thinking; ``replays``: some answer holds any.
    """
    body: dict[str, Any] = {"messages": turns}
    if out.system is not None and out.dialect.system_prompt:
        body["system"] = [{"text": out.system}]
    config = _limits(out)
    fields = _reasoning(out, config, turns[-1].role == "assistant", thinks)
    if out.dialect.prefix_bound and out.dialect.anthropic_backend:
        _add_binding(out, fields, replays)
    _add_sampling(out, config, fields)
    if config:
        body["inferenceConfig"] = config
    _add_tools(out, body, fields)
    if fields:
        body["additionalModelRequestFields"] = fields
    _add_metadata(out, body)
    _mark_cache(out, body)
    if out.options.stream and not streams(out.model, out.options, out.dialect.tools and bool(out.tools)):
        out.drop_option("stream", "this model uses tools only in whole answers")  # BED-14
    return body


def streams(model: Model, options: Options, tools: bool) -> bool:
    """Whether the answer will be streamed: some models do not stream where the request has tools (BED-14)."""
    dialect = model.dialect
    return options.stream and not (tools and isinstance(dialect, BedrockConverse) and not dialect.tools_while_streaming)


def _limits(out: Out) -> dict[str, Any]:
    config: dict[str, Any] = {}
    wanted, limit = out.options.max_tokens, out.model.max_tokens
    if wanted is not None:  # left out, it is the most that the model can write (botocore 1.44.0)
        if wanted > limit:  # ANT-49
            out.drop_option("max_tokens", f"{wanted} is more than the model's {limit}")
        config["maxTokens"] = min(wanted, limit)
    # No empty one (botocore 1.44.0), and behind it Claude wants more than white space.
    stops = [text for text in out.options.stop if text.strip()]
    if stops and not out.dialect.stop:  # BED-24
        out.drop_option("stop", "this model takes no stop sequences")
    elif stops:
        config["stopSequences"] = stops
    if len(stops) < len(out.options.stop):
        out.drop_option("stop", "a stop sequence must hold more than white space")
    return config


def _add_sampling(out: Out, config: dict[str, Any], fields: Fields) -> None:
    wanted = out.options.temperature
    if wanted is None:
        return
    if not out.dialect.sampling:  # BED-24, ANT-48
        out.drop_option("temperature", "this model takes none")
    elif wanted != 1 and fields.get("thinking", {}).get("type") in ("enabled", "adaptive"):  # ANT-48
        out.drop_option("temperature", "it can only be 1 while the model thinks")
    else:
        config["temperature"] = min(max(wanted, 0), 1)  # from 0 to 1 (botocore 1.44.0)
        if config["temperature"] != wanted:
            out.drop_option("temperature", f"{wanted} is not between 0 and 1")


# -- reasoning: fields that go to the model as they are (BED-24) -----------------------------------------------------

_Switch = Callable[[Out, str, dict[str, Any], bool, bool], Fields]


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


def _no_switch(out: Out, level: str, config: dict[str, Any], prefilled: bool, thinks: bool) -> Fields:
    out.drop_option(
        "reasoning", "this model decides itself how it thinks" if out.model.reasoning else "this model does not think"
    )
    return {}


def _budget(out: Out, level: str, config: dict[str, Any], prefilled: bool, thinks: bool) -> Fields:
    room = config.get("maxTokens", min(BUDGETS[level] + ROOM_TO_ANSWER, out.model.max_tokens))
    if prefilled:
        # Thinking and an answer begun by the caller exclude each other (Anthropic's documentation of thinking).
        out.drop_option("reasoning", "an answer that is to be continued cannot begin with thinking")
    elif not thinks:
        # ANT-38: "When `thinking` is enabled, a final `assistant` message must start with a thinking block".
        out.drop_option("reasoning", "the running tool loop began without thinking")
    elif room <= 1_024:
        out.drop_option("reasoning", "max_tokens leaves no room for thinking")
    else:
        config["maxTokens"] = room
        return {"thinking": {"type": "enabled", "budget_tokens": min(BUDGETS[level], max(room - 1_024, 1_024))}}
    return {}


def _adaptive(out: Out, level: str, config: dict[str, Any], prefilled: bool, thinks: bool) -> Fields:
    effort = _nearest(level, out.dialect.effort)
    return {"thinking": {"type": "adaptive"}} | ({} if effort is None else {"output_config": {"effort": effort}})


def _add_binding(out: Out, fields: Fields, replays: bool) -> None:
    """ANT-40, as on Anthropic's own API: "pass the beta value and thinking.block_binding through
    additionalModelRequestFields" (docs.aws.amazon.com, "Preserved thinking", 2026-11)."""
    thinking = fields.setdefault("thinking", {"type": "adaptive"})
    if thinking["type"] == "disabled":
        if not replays:
            return
        out.drop_option("reasoning", UNBOUND_OFF)
        thinking = fields["thinking"] = {"type": "adaptive"}
    thinking["block_binding"] = {"prefix_mismatch_behavior": out.dialect.prefix_mismatch}
    fields["anthropic_beta"] = [BETA]


def _named(field: str) -> _Switch:
    def ask(out: Out, level: str, config: dict[str, Any], prefilled: bool, thinks: bool) -> Fields:
        effort = _nearest(level, out.dialect.effort)
        return {} if effort is None else {field: effort}

    return ask


def _nearest(wanted: str, known: tuple[str, ...]) -> str | None:
    """The highest known level that is not above the wanted one, else the lowest."""
    below = [level for level in LEVELS[: LEVELS.index(wanted) + 1] if level in known]
    return below[-1] if below else known[0] if known else None


_SWITCHES: dict[ReasoningSwitch, _Switch] = {
    "none": _no_switch,
    "thinking-budget": _budget,
    "thinking-adaptive": _adaptive,
    "reasoning_config": _named("reasoning_config"),
    "reasoning_effort": _named("reasoning_effort"),
}


# -- tools -----------------------------------------------------------------------------------------------------------


def _add_tools(out: Out, body: dict[str, Any], fields: Fields) -> None:
    choice = out.options.tool_choice
    if not out.tools or not out.dialect.tools:
        if out.tools and not out.stubbed:
            out.drop_option("tools", "this model has no tools")  # BED-14
        if choice not in (None, "none"):
            out.drop_option("tool_choice", "no tool is defined")
        return
    body["toolConfig"] = {"tools": out.each_tool(_tool)}
    if choice is not None:
        chosen = _tool_choice(out, choice, fields)
        if chosen is not None:
            body["toolConfig"]["toolChoice"] = chosen


def _tool_choice(out: Out, choice: str, fields: Fields) -> dict[str, Any] | None:
    forced = out.forced_tool()
    kind = "auto" if choice == "auto" else "any" if choice == "required" else "tool"
    if out.stubbed:
        out.drop_option("tool_choice", "no tool is defined")
    elif choice == "none":
        out.drop_option("tool_choice", "the protocol cannot forbid calls")  # BED-12
    elif kind == "tool" and forced is None:
        out.drop_option("tool_choice", f"no tool is called {choice!r}")  # BED-13
    elif kind not in out.dialect.tool_choice:  # BED-13: "This model doesn't support the toolConfig.toolChoice.… field."
        out.drop_option("tool_choice", "this model does not let itself be forced to call a tool")
    elif kind != "auto" and fields.get("thinking", {}).get("type") == "enabled":
        # ANT-27: "Thinking may not be enabled when tool_choice forces tool use."
        out.drop_option("tool_choice", "a model that thinks by budget cannot be forced to call a tool")
    else:
        return {kind: {} if forced is None else {"name": forced}}
    return None


def _tool(_: BedrockConverse, tool: ToolDefinition) -> tuple[dict[str, Any], str | None]:
    schema = tool.schema
    adapted = _object_schema(schema)
    # BED-11, ANT-55
    why = None if adapted == schema else "the root of a schema is an object, without alternatives"
    entry: dict[str, Any] = {"name": tool.name}
    if tool.description.strip():  # BED-10: at least one character
        entry["description"] = tool.description
    return {"toolSpec": entry | {"inputSchema": {"json": adapted}}}, why


def _object_schema(schema: Any) -> dict[str, Any]:
    if not isinstance(schema, dict):
        return {"type": "object", "properties": {}}
    adapted = {key: value for key, value in schema.items() if key not in ("oneOf", "anyOf", "allOf")}
    adapted["type"] = "object"
    if not isinstance(adapted.get("properties", {}), dict):
        adapted["properties"] = {}
    return adapted


# -- the rest --------------------------------------------------------------------------------------------------------


def _add_metadata(out: Out, body: dict[str, Any]) -> None:
    items = list(out.options.metadata.items())
    fit = {name: text for name, text in items if name and METADATA.fullmatch(name) and METADATA.fullmatch(text)}
    kept = dict(list(fit.items())[:16])
    if kept:
        body["requestMetadata"] = kept
    lost = [name for name, _ in items if name not in kept]
    if lost:
        out.drop_option("metadata", f"at most 16 short entries of plain characters, not {', '.join(lost)}")


def _mark_cache(out: Out, body: dict[str, Any]) -> None:
    """Markers at the end of the system prompt (which covers the tools) and of what the user said last (BED-21)."""
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
        out.drop_option("cache", "this model keeps it for five minutes")
    if "system" in body:
        body["system"].append({"cachePoint": point})
    turns = body["messages"]
    at = len(turns) - (1 if turns[-1].role == "user" else 2)  # roles alternate
    turns[at] = replace(turns[at], content=[*turns[at].content, {"cachePoint": point}])
