"""Compare the catalog, field by field, with the data of a library that is not one of its sources.

    make compare            or: python scripts/compare_catalog.py PI [--before models.json] [--rows] [--write]

PI is the folder of the npm package `@earendil-works/pi-ai` (`npm pack`, then `tar xzf`). Its providers have a file each
in `dist/providers/data`. For every field, the command prints how many of the rows that both have differ, before and
after. The remaining ones are divided into ``GROUPS``, each with the side that is believed and why; ``--rows`` lists
them, and ``--write`` writes the tables to docs/catalog.md.
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
CATALOG = ROOT / "src" / "segue" / "catalog"
PAGE = ROOT / "docs" / "catalog.md"

PROVIDERS = {
    "cloudflare-workers-ai": "cloudflare",
    "moonshotai": "moonshot",
    "moonshotai-cn": "moonshot-cn",
    "vercel-ai-gateway": "vercel",
}
"""Our names of pi's providers, where they differ."""
TAKEN = ("qwen-token-plan", "kimi-coding")
"""Providers whose rows were taken from pi, so that agreement says nothing."""
ROUTERS = re.compile(r"(openrouter|vercel|github-copilot|cloudflare-ai-gateway|opencode|opencode-go|huggingface)/")
"""Providers behind which others serve the models."""

Row = Mapping[str, Any]
FIELDS = ("window", "output", "image", "reasoning", "input price", "output price", "cache read", "cache write", "steps")
LIMITS, FLAGS = FIELDS[:2], FIELDS[2:4]
PRICES = FIELDS[4:]
SOURCES = {"window": "context_window", "output": "max_tokens", "image": "input", "reasoning": "reasoning"}
"""The fields of our rows, where they are not prices."""


class Pair(NamedTuple):
    """One field of a row that differs: ours and theirs."""

    ref: str
    field: str
    ours: Any
    theirs: Any
    row: Row
    their_row: Row


class Group(NamedTuple):
    """Pairs that differ for the same reason."""

    fields: tuple[str, ...]
    title: str
    holds: Callable[[Pair], bool]
    believed: str
    why: str


def _alike(pair: Pair) -> bool:
    return abs(pair.ours - pair.theirs) <= max(pair.ours, pair.theirs) // 20


def _assumed(pair: Pair) -> bool:
    return SOURCES.get(pair.field, "cost") in pair.row["unverified"]


def _any(pair: Pair) -> bool:
    return True


# The first group that holds has a pair.
GROUPS = (
    Group(LIMITS, "rounded: 1,000,000 and 1,048,576", _alike, "either", "the same number"),
    Group(
        ("window",),
        "272,000 for OpenAI's models",
        lambda pair: pair.theirs == 272_000,
        "segue",
        "pi stops at the price step on purpose; segue has the total, and the step as a step",
    ),
    Group(
        ("output",),
        "pi repeats the window",
        lambda pair: pair.theirs == pair.their_row["window"],
        "segue",
        "a copy means that the limit is not known; segue has the maker's, another host's, or a careful number",
    ),
    Group(
        (*LIMITS, *FLAGS),
        "an assumption here",
        _assumed,
        "pi",
        "no source of segue states it; the careful value stays, and the row marks it as unverified",
    ),
    Group(
        LIMITS,
        "smaller here",
        lambda pair: pair.ours < pair.theirs,
        "neither",
        "litellm or models.dev state it; the smaller number is the safe one",
    ),
    Group(
        LIMITS,
        "larger here, behind a router",
        lambda pair: bool(ROUTERS.match(pair.ref)),
        "neither",
        "it depends on the upstream that answers; segue has that of its sources",
    ),
    Group(LIMITS, "larger here", _any, "segue", "OpenAI's page of gpt-5-pro has it (2026)"),
    Group(
        FLAGS,
        "stated on both sides",
        _any,
        "neither",
        "litellm or models.dev against pi; where the name of a model decides it, a row by hand has the answer",
    ),
    Group(
        PRICES,
        "a plan, or unknown here",
        lambda pair: not pair.ours and pair.field != "steps",
        "neither",
        "a subscription has no price per token, and pi writes zero, or another endpoint's price; unknown stays unknown",
    ),
    Group(
        PRICES,
        "unknown at pi",
        lambda pair: not pair.theirs,
        "segue",
        "pi writes zero, or no step, where it has no price; litellm has one",
    ),
    Group(
        PRICES,
        "behind a router",
        lambda pair: bool(ROUTERS.match(pair.ref)),
        "neither",
        "it changes with the upstream; `segue models --refresh` brings the present one",
    ),
    Group(PRICES, "two prices here", _assumed, "neither", "the sources of segue disagree; it has the higher price"),
    Group(
        PRICES,
        "higher here",
        lambda pair: pair.field != "steps" and pair.ours > pair.theirs,
        "neither",
        "regional endpoints cost a tenth more, and currencies are converted; the higher price is the safe one",
    ),
    Group(
        PRICES,
        "lower here",
        _any,
        "segue",
        "the price of the plain endpoint, which litellm and genai-prices state; pi has a regional or a converted one",
    ),
)


def pi_rows(folder: Path) -> Iterator[tuple[str, Row]]:
    """Yield pi's models by our name, in the form of ``our_fields``."""
    for path in sorted((folder / "dist" / "providers" / "data").glob("[!.]*.json")):
        ours = PROVIDERS.get(path.stem, path.stem)
        for models in json.loads(path.read_text(encoding="utf-8")).values():
            for model in models.values():
                if model.get("type", "chat") == "chat" and ours not in TAKEN:
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
        "window": row.get("context_window"),
        "output": row.get("max_tokens"),
        "image": "image" in row.get("input", ()),
        "reasoning": bool(row.get("reasoning")),
        "input price": cost.get("input"),
        "output price": cost.get("output"),
        "cache read": cost.get("cache_read") or None,
        "cache write": cost.get("cache_write") or None,
        "steps": [(step["above"], step.get("input"), step.get("output")) for step in cost.get("steps", [])],
        "unverified": row.get("unverified", ()),
    }


def read_rows(path: Path) -> dict[str, Row]:
    """Read a models.json."""
    models = json.loads(path.read_text(encoding="utf-8"))["models"]
    rows = models if isinstance(models, list) else models.values()  # a list before 2026-11-18
    return {f"{row['provider']}/{row['id']}": our_fields(row) for row in rows}


def differing(ours: Mapping[str, Row], theirs: Mapping[str, Row]) -> dict[str, list[Pair]]:
    """The pairs that differ, by field. A limit that a row leaves to its provider is not compared."""
    found: dict[str, list[Pair]] = defaultdict(list)
    for ref in sorted(ours.keys() & theirs.keys()):
        row, their_row = ours[ref], theirs[ref]
        for field in FIELDS:
            if row[field] != their_row[field] and not (field in LIMITS and row[field] is None):
                found[field].append(Pair(ref, field, row[field], their_row[field], row, their_row))
    return found


def group_of(pair: Pair) -> Group:
    """The group that a pair belongs to."""
    return next(group for group in GROUPS if pair.field in group.fields and group.holds(pair))


def tables(
    now: Mapping[str, Sequence[Pair]], everywhere: Mapping[str, Sequence[Pair]], then: Mapping[str, Sequence[Pair]]
) -> Iterator[str]:
    """The lines of the tables: fields, then groups."""
    yield "| field | before | now | in all rows |"
    yield "|---|---|---|---|"
    for field in FIELDS:
        yield f"| {field} | {len(then[field])} | {len(now[field])} | {len(everywhere[field])} |"
    yield ""
    yield "| rows that still differ | number, by field | believed | why |"
    yield "|---|---|---|---|"
    counted: dict[Group, Counter[str]] = {group: Counter() for group in GROUPS}
    for field in FIELDS:
        for pair in everywhere[field]:
            counted[group_of(pair)][field] += 1
    for group, numbers in counted.items():
        if numbers:
            listed = ", ".join(f"{field} {number}" for field, number in numbers.items())
            yield f"| {group.title} | {listed} | {group.believed} | {group.why} |"


def write(lines: Sequence[str]) -> None:
    """Replace the tables in the documentation."""
    text = PAGE.read_text(encoding="utf-8")
    made = "<!-- compared -->\n" + "\n".join(lines) + "\n<!-- /compared -->"
    PAGE.write_text(
        re.sub(r"<!-- compared -->.*<!-- /compared -->", lambda _: made, text, flags=re.DOTALL), encoding="utf-8"
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compare the catalog with the data of pi.")
    parser.add_argument("pi", type=Path, help="the folder of the npm package @earendil-works/pi-ai")
    parser.add_argument("--before", type=Path, help="an earlier models.json, for the column before")
    parser.add_argument("--rows", action="store_true", help="list the rows that differ")
    parser.add_argument("--write", action="store_true", help="write the tables to docs/catalog.md")
    args = parser.parse_args(argv)
    theirs = dict(pi_rows(args.pi))
    after = {**read_rows(CATALOG / "models.json"), **read_rows(CATALOG / "compiled.json")}
    before = read_rows(args.before) if args.before else after
    both = {ref: row for ref, row in theirs.items() if ref in before and ref in after}
    number = json.loads((args.pi / "package.json").read_text(encoding="utf-8"))["version"]
    everywhere, shared = differing(after, theirs), after.keys() & theirs.keys()
    lines = [
        f"Against pi {number}: {len(both)} models are in both, and were before; {len(shared)} are in both now; of pi's "
        f"{len(theirs)}, {len(theirs) - len(shared)} have no row here.",
        "",
        *tables(differing(after, both), everywhere, differing(before, both)),
    ]
    print(*lines, sep="\n")
    if args.write:
        write(lines)
    if args.rows:
        for field in FIELDS:
            for pair in everywhere[field]:
                print(f"{field}: {pair.ref} segue {pair.ours} | pi {pair.theirs} ({group_of(pair).title})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
