"""The token usage of an answer, from the different fields that members of the family report it in."""

from typing import Any

from ...types import Usage

Object = dict[str, Any]


def read_usage(counts: Object) -> Usage | None:
    """Return the usage that ``counts`` reports, or ``None`` if it reports none, as in all but the last chunk of
    MiniMax (MiniMax-M2.5#2).

    ``prompt_tokens`` includes tokens that were read from a cache and written to one (OpenAI's guide on prompt caching,
    2026-11; OpenRouter measured in goose#11472), so both are subtracted.
    """
    if counts.get("prompt_tokens") is None and counts.get("completion_tokens") is None:
        return None
    prompt, output = _count(counts, "prompt_tokens"), _count(counts, "completion_tokens")
    details = counts.get("prompt_tokens_details") or {}
    read = (
        _count(details, "cached_tokens")
        or _count(counts, "prompt_cache_hit_tokens")  # DeepSeek
        or _count(counts, "cached_tokens")  # Moonshot, in both spellings (bike4mind#1089)
        or _count(counts, "cache_read_input_tokens")  # gateways that pass on Anthropic's field
    )
    written = (
        _count(details, "cache_write_tokens")  # OpenAI since GPT-5.6, OpenRouter
        or _count(details, "cache_creation_input_tokens")  # Qwen, with explicit caching (Model Studio's page)
        or _count(counts, "cache_creation_input_tokens")
    )
    total = _count(counts, "total_tokens") or prompt + output
    reasoned = _count(counts.get("completion_tokens_details") or {}, "reasoning_tokens")
    if reasoned and total == prompt + output + reasoned:
        # xAI: "reasoning token consumption will be counted separately from completion_tokens, but will be counted in
        # the total_tokens" (docs.x.ai, consumption and rate limits; vercel/ai#12425, 2026-02)
        output += reasoned
    return Usage(max(prompt - read - written, 0), output, read, written, total)


def _count(counts: Object, name: str) -> int:
    return int(counts.get(name) or 0)
