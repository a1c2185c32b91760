"""Map options to ``generationConfig``, ``toolConfig`` and, on Vertex, ``labels``."""

import re
from typing import Any

from ...dialects import GoogleGenerativeAI
from ...types import ReasoningLevel
from ..common.options import (
    NO_LIMIT,
    Mode,
    add_cache_key,
    limited_tokens,
    nearest_level,
    number_within,
    one_call_at_a_time,
    tool_choice,
)
from ..common.outgoing import Outgoing
from ..common.output_schema import note_changes, wanted_format
from ..common.schema import adapt, shape_of
from .schema import to_openapi

Out = Outgoing[GoogleGenerativeAI]

# Tokens of thinking for each level. Flash accepts 0 to 24576, Flash-Lite at least 512, Pro 128 to 32768
# (ai.google.dev/gemini-api/docs/thinking, 2026).
BUDGETS: dict[ReasoningLevel, int] = {
    "minimal": 512,
    "low": 2_048,
    "medium": 8_192,
    "high": 16_384,
    "xhigh": 24_576,
    "max": 24_576,
}
# At most five by the API's reference (unverified); google-genai 3.1.0 names no number.
MAX_STOPS = 5
MODES: dict[Mode, str] = {"auto": "AUTO", "none": "NONE", "required": "ANY", "tool": "ANY"}
# The usual form of labels on Google Cloud (unverified for this request): lower case, at most 63 characters.
_LABEL = re.compile(r"[a-z][a-z0-9_-]{0,62}").fullmatch
_LABEL_VALUE = re.compile(r"[a-z0-9_-]{0,63}").fullmatch


def add_options(out: Out, body: dict[str, Any]) -> None:
    """Add the options that the target accepts, and report the others."""
    _add_tool_choice(out, body)
    config: dict[str, Any] = {}
    _add_max_tokens(out, config)
    _add_temperature(out, config)
    _add_top_p(out, config)
    _add_stop(out, config)
    _add_thinking(out, config)
    _add_format(out, config)
    if config:
        body["generationConfig"] = config
    _add_labels(out, body)
    add_cache_key(out, body)
    if out.options.cache == "long":
        # Prefixes are cached automatically; a cache with a lifetime needs a separate request (GEM-25).
        out.drop_option("cache", "prefixes are cached automatically, and their lifetime cannot be set")


def _add_max_tokens(out: Out, config: dict[str, Any]) -> None:
    wanted = limited_tokens(out, out.model.max_tokens)
    if wanted is not None:
        config["maxOutputTokens"] = wanted


def _add_temperature(out: Out, config: dict[str, Any]) -> None:
    if out.options.temperature is not None and not out.dialect.sampling:
        out.drop_option("temperature", "this model does not accept it any more")
        return
    temperature = number_within(out, "temperature", 0, 2)
    if temperature is not None:
        config["temperature"] = temperature


def _add_top_p(out: Out, config: dict[str, Any]) -> None:
    if out.options.top_p is not None and not out.dialect.sampling:
        out.drop_option("top_p", "this model does not accept it any more")
    elif (top_p := number_within(out, "top_p", 0, 1)) is not None:
        config["topP"] = top_p


def _add_stop(out: Out, config: dict[str, Any]) -> None:
    stops = [text for text in out.options.stop if text]
    if len(stops) < len(out.options.stop):
        out.drop_option("stop", "a stop sequence must not be empty")
    if len(stops) > MAX_STOPS:
        out.drop_option("stop", f"at most {MAX_STOPS} stop sequences are accepted")
    if stops:
        config["stopSequences"] = stops[:MAX_STOPS]


def _add_thinking(out: Out, config: dict[str, Any]) -> None:
    wanted, switch = out.options.reasoning, out.dialect.reasoning_switch
    if wanted is None:
        return
    if switch == "none" or not out.model.reasoning:
        if wanted != "off":
            out.drop_option("reasoning", "this model does not think, or its level cannot be set")
    elif switch == "thinkingBudget":
        config["thinkingConfig"] = _budget(out, wanted)
    else:
        config["thinkingConfig"] = _level(out, wanted)


def _budget(out: Out, wanted: ReasoningLevel) -> dict[str, Any]:
    if wanted != "off":
        return {"thinkingBudget": max(BUDGETS[wanted], out.dialect.least_budget), "includeThoughts": True}
    if out.dialect.least_budget:
        out.drop_option("reasoning", "this model always thinks; the lowest level is set")
    return {"thinkingBudget": out.dialect.least_budget}


def _level(out: Out, wanted: ReasoningLevel) -> dict[str, Any]:
    nearest = nearest_level("minimal" if wanted == "off" else wanted, out.dialect.effort)
    thoughts: dict[str, Any] = {} if wanted == "off" else {"includeThoughts": True}
    if wanted == "off":
        out.drop_option("reasoning", "this model always thinks; the lowest level is set")
    return ({} if nearest is None else {"thinkingLevel": nearest.upper()}) | thoughts


def _add_format(out: Out, config: dict[str, Any]) -> None:
    wanted = wanted_format(out, bool(out.tools))
    if wanted is None:
        return
    if out.tools and not out.dialect.json_with_tools:
        # "Function calling with a response mime type: 'application/json' is unsupported" (ai-manus#101)
        out.drop_option("response_format", "this model does not accept it together with tools")
        return
    config["responseMimeType"] = "application/json"
    if out.dialect.schema_form != "gemini-subset":
        config["responseJsonSchema"] = wanted.schema
        return
    adapted = adapt(wanted.schema, shape_of(out.dialect))
    config["responseSchema"] = to_openapi(adapted.schema)
    if adapted.text is not None:
        note_changes(out, [adapted.text])


def _add_tool_choice(out: Out, body: dict[str, Any]) -> None:
    choice = tool_choice(out, bool(out.tools))
    if choice is not None:
        config: dict[str, Any] = {"mode": MODES[choice.mode]}
        if choice.name is not None:
            config["allowedFunctionNames"] = [choice.name]
        body["toolConfig"] = {"functionCallingConfig": config}
    if one_call_at_a_time(out, bool(out.tools)):
        out.drop_option("parallel_tool_calls", NO_LIMIT)


def _add_labels(out: Out, body: dict[str, Any]) -> None:
    metadata = out.options.metadata
    if not metadata:
        return
    if out.dialect.surface != "vertex":  # GEM-24
        out.drop_option("metadata", "the Gemini API does not accept it")
        return
    labels = {name: value for name, value in metadata.items() if _LABEL(name) and _LABEL_VALUE(value)}
    if labels:
        body["labels"] = labels
    others = [name for name in metadata if name not in labels]
    if others:
        out.drop_option("metadata", f"not valid as labels: {', '.join(others)}")
