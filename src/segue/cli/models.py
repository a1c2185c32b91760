"""`segue models`: list the models of the catalog."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from ..catalog import Catalog, differing
from ..types import Model
from ..types.secret import shown_address, shown_headers
from .printable import one_line
from .terminal import Screen, is_terminal, print_note, print_text, write_json

COLUMNS = ("model", "window", "output", "input", "reasoning", "$ in", "$ out", "$ read", "$ write")
"""Prices are in dollars per million tokens; the last two are for the prompt cache."""
LEFT = ("model", "input", "reasoning")
"""Columns that are aligned left; numbers are aligned right."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", help="only models whose name contains all of these words")
    parser.add_argument("--provider", metavar="NAME", help="only models of this provider")
    parser.add_argument("--catalog", metavar="FILE", help="your own catalog file, in TOML")
    parser.add_argument(
        "--json", action="store_true", help="print a JSON array that includes the dialect of each model"
    )


def run(args: argparse.Namespace) -> int:
    """Print the models that match. The exit status is 1 if there are none."""
    catalog = Catalog.load(args.catalog) if args.catalog else Catalog.default()
    models = _matching(catalog, args.words, args.provider)
    if not models:
        wanted = " ".join([*args.words, *([args.provider] if args.provider else [])])
        print_note(f"no model matches: {wanted}")
        if args.json:
            print_text("[]")
        return 1
    _print_json(models) if args.json else _print_table([_cells(model) for model in models])
    return 0


def _matching(catalog: Catalog, words: Sequence[str], provider: str | None) -> list[Model]:
    only = catalog.provider(provider).id if provider else None
    wanted = [word.lower() for word in words]
    return [
        catalog.resolve(ref)
        for ref, row in catalog.models.items()
        if only in (None, row.provider) and all(word in f"{ref} {row.name}".lower() for word in wanted)
    ]


def _print_json(models: Sequence[Model]) -> None:
    document = json.dumps([_as_json(model) for model in models], indent=1, ensure_ascii=False)
    write_json(document.encode("utf-8", "replace") + b"\n")


def _as_json(model: Model) -> dict[str, Any]:
    shown = replace(model, base_url=shown_address(model.base_url), headers=shown_headers(model.headers))
    fields: dict[str, Any] = msgspec.to_builtins(shown)
    return {**fields, "dialect": differing(model.dialect)}


def _cells(model: Model) -> tuple[str, ...]:
    prices = (model.cost.input, model.cost.output, model.cost.cache_read, model.cost.cache_write)
    return (
        model.ref,
        f"{model.context_window:,}",
        f"{model.max_tokens:,}",
        "+".join(model.input),
        "yes" if model.reasoning else "no",
        *("-" if price is None else f"{price:g}" for price in prices),
    )


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    """Print a table on a terminal, and plain columns otherwise, so that other programs can read them."""
    if is_terminal():
        Screen().table(COLUMNS, rows, LEFT)
        return
    rows = [tuple(map(one_line, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(COLUMNS, *rows, strict=True)]
    for row in (COLUMNS, *rows):
        aligned = (
            cell.ljust(width) if name in LEFT else cell.rjust(width)
            for name, cell, width in zip(COLUMNS, row, widths, strict=True)
        )
        print_text("  ".join(aligned).rstrip())
