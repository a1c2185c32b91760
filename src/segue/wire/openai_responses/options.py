"""Write options as parameters of a Responses request; leave out and report those that the target refuses (OAR-15)."""

from typing import Any

from ...dialects import OpenAIResponses
from ..common.outgoing import Outgoing

Out = Outgoing[OpenAIResponses]
Body = dict[str, Any]

LEVELS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
# "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16"
LEAST_TOKENS = 16
# SDK openai 3.49.0: 16 pairs, keys of at most 64 and values of at most 512 characters; safety_identifier at most 128.
MAX_PAIRS, MAX_KEY, MAX_VALUE, MAX_USER = 16, 64, 512, 128
_TTL = {"short": "30m", "long": "12h"}


def add_options(out: Out, body: Body) -> None:
    """Add all options to the body, in a fixed order."""
    _add_max_tokens(out, body)
    _add_reasoning(out, body)
    _add_tool_choice(out, body)
    _add_temperature(out, body)
    if out.options.stop:
        out.drop_option("stop", "the protocol has no stop sequences")
    _add_cache(out, body)
    _add_metadata(out, body)
    if out.options.stream:
        body["stream"] = True


def _add_max_tokens(out: Out, body: Body) -> None:
    wanted, limit = out.options.max_tokens, out.model.max_tokens
    if wanted is None:
        return
    if wanted < LEAST_TOKENS:
        out.drop_option("max_tokens", f"{wanted} is less than the least, {LEAST_TOKENS}")
    elif wanted > limit:
        out.drop_option("max_tokens", f"{wanted} is more than the model's {limit}")
    body["max_output_tokens"] = max(LEAST_TOKENS, min(wanted, limit))


def _add_reasoning(out: Out, body: Body) -> None:
    level, known = out.options.reasoning, out.dialect.effort
    if level == "off":
        if "none" in known:
            body["reasoning"] = {"effort": "none"}
        elif known:
            out.drop_option("reasoning", "this model always thinks")
    elif level is not None:
        effort = _nearest(level, known)
        if effort is None:
            out.drop_option("reasoning", "this model is not known to think")
        else:
            body["reasoning"] = {"effort": effort}
    if out.model.reasoning and out.dialect.own_reasoning != "none":
        # OAR-09: without it, endpoints that lag behind (AZU-01) return reasoning that can never go back.
        body["include"] = ["reasoning.encrypted_content"]


def _nearest(wanted: str, known: tuple[str, ...]) -> str | None:
    """The highest level that is not above the wanted one, or else the lowest."""
    levels = [level for level in LEVELS[1:] if level in known]
    below = [level for level in levels if LEVELS.index(level) <= LEVELS.index(wanted)]
    return below[-1] if below else levels[0] if levels else None


def _add_tool_choice(out: Out, body: Body) -> None:
    choice = out.options.tool_choice
    if choice is None:
        return
    if not out.tools:
        out.drop_option("tool_choice", "no tool is defined")  # OAR-14
    elif choice in ("auto", "none", "required"):
        body["tool_choice"] = choice
    elif (name := out.forced_tool()) is not None:
        body["tool_choice"] = {"type": "function", "name": name}
    else:
        out.drop_option("tool_choice", f"no tool is called {choice!r}")


def _add_temperature(out: Out, body: Body) -> None:
    temperature = out.options.temperature
    if temperature is None:
        return
    if not out.dialect.sampling:
        out.drop_option("temperature", "the model does not take one")
    elif not 0 <= temperature <= 2:
        out.drop_option("temperature", f"{temperature} is not between 0 and 2")
    else:
        body["temperature"] = temperature


def _add_cache(out: Out, body: Body) -> None:
    """Caching is automatic; only some models let the request choose how long it lasts."""
    retention, way = out.options.cache, out.dialect.cache
    if retention is None:
        return
    if way == "options":
        # "If there are no explicit breakpoints, the request does not use prompt caching." (SDK openai 3.49.0)
        body["prompt_cache_options"] = {"mode": "explicit"} if retention == "none" else {"ttl": _TTL[retention]}
    elif retention == "none":
        out.drop_option("cache", "the model always caches")
    elif retention == "long" and way == "retention":
        body["prompt_cache_retention"] = "24h"
    elif retention == "long":
        out.drop_option("cache", "how long this model caches cannot be asked for")


def _add_metadata(out: Out, body: Body) -> None:
    kept: dict[str, str] = {}
    for name, value in out.options.metadata.items():
        if name == "user_id" and len(value) <= MAX_USER:
            body[out.dialect.user_field] = value
        elif len(kept) < MAX_PAIRS and len(name) <= MAX_KEY and len(value) <= MAX_VALUE:
            kept[name] = value
        else:
            limits = f"{MAX_PAIRS} pairs of {MAX_KEY} and {MAX_VALUE} characters"
            out.drop_option("metadata", f"{name[:MAX_KEY]!r} is beyond {limits}")
    if kept:
        body["metadata"] = kept
