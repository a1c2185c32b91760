"""Write options as parameters of a Responses request; leave out and report those that the target refuses (OAR-15)."""

from typing import Any

from ...dialects import OpenAIResponses
from ..common.options import (
    add_cache_key,
    limited_tokens,
    nearest_level,
    number_within,
    one_call_at_a_time,
    tool_choice,
)
from ..common.outgoing import Outgoing
from ..common.output_schema import OPENAI, named_format, wanted_format

Out = Outgoing[OpenAIResponses]
Body = dict[str, Any]

# "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16"
MIN_TOKENS = 16
# SDK openai 3.49.0: 16 pairs, keys of at most 64 and values of at most 512 characters; safety_identifier at most 128.
MAX_PAIRS, MAX_KEY, MAX_VALUE, MAX_USER = 16, 64, 512, 128
_HIGHEST = {"temperature": 2, "top_p": 1}
_TTL = {"short": "30m", "long": "12h"}


def add_options(out: Out, body: Body) -> None:
    """Add all options to the body, in a fixed order."""
    _add_max_tokens(out, body)
    _add_reasoning(out, body)
    _add_tool_choice(out, body)
    _add_sampling(out, body)
    _add_format(out, body)
    if out.options.stop:
        out.drop_option("stop", "the protocol has no stop sequences")
    _add_cache(out, body)
    add_cache_key(out, body)
    _add_metadata(out, body)
    if out.options.stream:
        body["stream"] = True


def _add_max_tokens(out: Out, body: Body) -> None:
    wanted = out.options.max_tokens
    if wanted is not None and wanted < MIN_TOKENS:
        out.drop_option("max_tokens", f"{wanted} is less than the minimum of {MIN_TOKENS}")
        body["max_output_tokens"] = MIN_TOKENS
    elif (limited := limited_tokens(out, out.model.max_tokens)) is not None:
        body["max_output_tokens"] = max(MIN_TOKENS, limited)


def _add_reasoning(out: Out, body: Body) -> None:
    level, known = out.options.reasoning, out.dialect.effort if out.model.reasoning else ()
    if level == "off":
        if "none" in known:
            body["reasoning"] = {"effort": "none"}
        elif known:
            out.drop_option("reasoning", "this model always reasons")
    elif level is not None:
        effort = nearest_level(level, known)
        if effort is None:
            out.drop_option("reasoning", "this model is not known to reason")
        else:
            body["reasoning"] = {"effort": effort}
    if out.model.reasoning and out.dialect.own_reasoning != "none":
        # OAR-09: without it, outdated endpoints (AZU-01) return reasoning that cannot be sent back.
        body["include"] = ["reasoning.encrypted_content"]


def _add_tool_choice(out: Out, body: Body) -> None:
    choice = tool_choice(out, bool(out.tools))  # OAR-14
    if choice is not None:
        kinds = {tool.name: tool.kind for tool in out.tools}
        named = {"type": kinds.get(choice.name or "") or "function", "name": choice.name}
        body["tool_choice"] = choice.mode if choice.name is None else named
    if one_call_at_a_time(out, bool(out.tools)):
        body["parallel_tool_calls"] = False


def _add_sampling(out: Out, body: Body) -> None:
    for option, highest in _HIGHEST.items():
        wanted: float | None = getattr(out.options, option)
        if wanted is None:
            continue
        if not out.dialect.sampling:
            out.drop_option(option, "this model does not accept it")
        elif number_within(out, option, 0, highest) is not None:
            body[option] = wanted


def _add_format(out: Out, body: Body) -> None:
    wanted = wanted_format(out, bool(out.tools))
    if wanted is not None:
        body["text"] = {"format": {"type": "json_schema"} | named_format(out, wanted, OPENAI)}


def _add_cache(out: Out, body: Body) -> None:
    """Caching is automatic; only some models let the request choose how long it lasts."""
    retention, setting = out.options.cache, out.dialect.cache
    if retention is None:
        return
    if setting == "options":
        # "If there are no explicit breakpoints, the request does not use prompt caching." (SDK openai 3.49.0)
        body["prompt_cache_options"] = {"mode": "explicit"} if retention == "none" else {"ttl": _TTL[retention]}
    elif retention == "none":
        out.drop_option("cache", "the model always caches")
    elif retention == "long" and setting == "retention":
        body["prompt_cache_retention"] = "24h"
    elif retention == "long":
        out.drop_option("cache", "a request cannot choose how long this model caches")


def _add_metadata(out: Out, body: Body) -> None:
    kept: dict[str, str] = {}
    for name, value in out.options.metadata.items():
        if name == "user_id" and len(value) <= MAX_USER:
            body[out.dialect.user_field] = value
        elif len(kept) < MAX_PAIRS and len(name) <= MAX_KEY and len(value) <= MAX_VALUE:
            kept[name] = value
        else:
            limits = f"{MAX_PAIRS} pairs of {MAX_KEY} and {MAX_VALUE} characters"
            out.drop_option("metadata", f"{name[:MAX_KEY]!r} exceeds the limit of {limits}")
    if kept:
        body["metadata"] = kept
