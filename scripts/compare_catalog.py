"""Compare the catalog, field by field, with the data of a library that is not one of its sources.

    make compare            or: python scripts/compare_catalog.py PI [--before models.json] [--rows]

PI is the folder of the npm package `@earendil-works/pi-ai` (`npm pack`, then `tar xzf`). Its providers have a file each
in `dist/providers/data`. For every field, the command prints how many of the rows that both have differ, before and
after; ``--rows`` lists them, with the side that is believed: ``BELIEVED`` gives the reasons.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROWS = Path(__file__).parent.parent / "src" / "segue" / "catalog" / "models.json"

PROVIDERS = {
    "cloudflare-workers-ai": "cloudflare",
    "moonshotai": "moonshot",
    "moonshotai-cn": "moonshot-cn",
    "vercel-ai-gateway": "vercel",
}
"""Our names of pi's providers, where they differ."""

Row = Mapping[str, Any]
FIELDS = ("window", "output", "image", "reasoning", "input price", "output price", "cache read", "cache write", "steps")

BELIEVED = {
    "window": "the smaller one. pi caps OpenAI's windows at the price step of 272,000 on purpose; segue has the total",
    "output": "the smaller one: a larger limit is refused, a smaller one only clamps `Options.max_tokens`",
    "image": "neither is known; litellm and models.dev agree with segue",
    "reasoning": "segue, where its sources state it",
    "input price": "the higher one. OpenRouter's prices change by upstream; elsewhere litellm and genai-prices agree",
    "output price": "as for the input",
    "cache read": "as for the input",
    "cache write": "segue: pi writes zero where no price is known",
    "steps": "segue: litellm lists a step where pi has none",
}


def pi_rows(folder: Path) -> Iterator[tuple[str, Row]]:
    """Yield pi's models by our name, in the form of ``fields``."""
    for path in sorted((folder / "dist" / "providers" / "data").glob("[!.]*.json")):
        ours = PROVIDERS.get(path.stem, path.stem)
        for models in json.loads(path.read_text(encoding="utf-8")).values():
            for model in models.values():
                if model.get("type", "chat") == "chat":
                    yield f"{ours}/{model['id']}", _pi_fields(model)


def _pi_fields(model: Mapping[str, Any]) -> Row:
    cost = model["cost"]
    return {
        "window": model["contextWindow"],
        "output": model["maxTokens"],
        "image": "image" in model["input"],
        "reasoning": model["reasoning"],
        "input price": cost["input"],
        "output price": cost["output"],
        "cache read": cost.get("cacheRead") or None,
        "cache write": cost.get("cacheWrite") or None,
        "steps": [(tier["inputTokensAbove"], tier["input"], tier["output"]) for tier in cost.get("tiers") or []],
    }


def our_fields(row: Mapping[str, Any]) -> Row:
    """A row of models.json in the same form."""
    cost = row.get("cost", {})
    return {
        "window": row["context_window"],
        "output": row["max_tokens"],
        "image": "image" in row["input"],
        "reasoning": bool(row.get("reasoning")),
        "input price": cost.get("input"),
        "output price": cost.get("output"),
        "cache read": cost.get("cache_read") or None,
        "cache write": cost.get("cache_write") or None,
        "steps": [(step["above"], step.get("input"), step.get("output")) for step in cost.get("steps", [])],
    }


def read_rows(path: Path) -> dict[str, Row]:
    """Read a models.json."""
    models = json.loads(path.read_text(encoding="utf-8"))["models"]
    rows = models if isinstance(models, list) else models.values()  # a list before 2026-11-18
    return {f"{row['provider']}/{row['id']}": our_fields(row) for row in rows}


def differing(ours: Mapping[str, Row], theirs: Mapping[str, Row]) -> dict[str, list[str]]:
    """The names of rows that differ, by field."""
    found: dict[str, list[str]] = defaultdict(list)
    for ref in sorted(ours.keys() & theirs.keys()):
        for field in FIELDS:
            if ours[ref][field] != theirs[ref][field]:
                found[field].append(ref)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compare the catalog with the data of pi.")
    parser.add_argument("pi", type=Path, help="the folder of the npm package @earendil-works/pi-ai")
    parser.add_argument("--before", type=Path, help="an earlier models.json, for a second column")
    parser.add_argument("--rows", action="store_true", help="list the rows that differ")
    args = parser.parse_args(argv)
    theirs = dict(pi_rows(args.pi))
    after = read_rows(ROWS)
    before = read_rows(args.before) if args.before else after
    both = {ref: row for ref, row in theirs.items() if ref in before and ref in after}
    now, then = differing(after, both), differing(before, both)
    print(f"{len(both)} rows in both; of pi's {len(theirs)}, {len(theirs.keys() - after.keys())} have no row here")
    for field in FIELDS:
        print(f"{field:13} {len(then[field]):4} {len(now[field]):4}   believed: {BELIEVED[field]}")
    if args.rows:
        for field in FIELDS:
            for ref in now[field]:
                print(f"{field}: {ref} segue {after[ref][field]} | pi {theirs[ref][field]}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
