"""Tokens of an answer, from the many places where members of the family count them."""

from typing import Any

from ...types import Usage

Object = dict[str, Any]


def read_usage(given: Object) -> Usage | None:
    """``prompt_tokens`` includes what was read from a cache and what was written to one (OpenAI's guide on prompt
    caching, 2026-11; OpenRouter measured in goose#11472), so both are taken out. None where nothing is counted, as in
    the chunks of MiniMax before the last (MiniMax-M2.5#2)."""
    if given.get("prompt_tokens") is None and given.get("completion_tokens") is None:
        return None
    prompt, made = _count(given, "prompt_tokens"), _count(given, "completion_tokens")
    details = given.get("prompt_tokens_details") or {}
    read = (
        _count(details, "cached_tokens")
        or _count(given, "prompt_cache_hit_tokens")  # DeepSeek
        or _count(given, "cached_tokens")  # Moonshot, in both spellings (bike4mind#1089)
        or _count(given, "cache_read_input_tokens")  # gateways that pass on Anthropic's
    )
    written = (
        _count(details, "cache_write_tokens")  # OpenAI since GPT-5.6, OpenRouter
        or _count(details, "cache_creation_input_tokens")  # Qwen, with explicit caching (Model Studio's page)
        or _count(given, "cache_creation_input_tokens")
    )
    total = _count(given, "total_tokens") or prompt + made
    reasoned = _count(given.get("completion_tokens_details") or {}, "reasoning_tokens")
    if reasoned and total == prompt + made + reasoned:
        # xAI: "reasoning token consumption will be counted separately from completion_tokens, but will be counted in
        # the total_tokens" (docs.x.ai, consumption and rate limits; vercel/ai#12425, 2026-02)
        made += reasoned
    return Usage(max(prompt - read - written, 0), made, read, written, total)


def _count(given: Object, name: str) -> int:
    return int(given.get(name) or 0)
