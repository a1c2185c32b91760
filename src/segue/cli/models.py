"""`segue models`: list the models of the catalog."""

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from ..catalog import Catalog, differing
from ..types import Model
from ..types.secret import shown_address, shown_headers
from ..types.text import count_of
from .keys import is_ready, key_text, keys_set
from .refresh import refresh
from .terminal import Screen, print_note, print_text, write_json

COLUMNS = ("model", "window", "output", "input", "reasoning", "$ in", "$ out", "$ read", "$ write", "until", "key")
"""Prices are in dollars per million tokens; those to read and to write are for the prompt cache. ``until`` is the last
day on which a model is served."""
LEFT = ("model", "input", "reasoning", "until", "key")
"""Columns that are aligned left; numbers are aligned right."""
OPTIONAL = ("$ write", "$ read", "until", "output", "reasoning", "input", "key", "$ out", "$ in")
"""Columns that a narrow terminal does not show, the least important first."""
MOST_NAMED = 5
"""If the table has no room for last days, so many models are named with theirs below it."""
UNITS = {"": 1, "k": 1_000, "m": 1_000_000}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="WORD", help="only models whose name contains all of these words")
    parser.add_argument("--provider", metavar="PROVIDER", help="only models of this provider")
    parser.add_argument("--images", action="store_true", help="only models that read images")
    parser.add_argument("--reasoning", action="store_true", help="only models that can think before they answer")
    parser.add_argument(
        "--window",
        metavar="N",
        type=tokens,
        help="only models with a window of at least N tokens, such as 200k",
    )
    parser.add_argument(
        "--max-price",
        metavar="DOLLARS",
        type=price,
        help="only models that cost at most this much per million tokens of input",
    )
    parser.add_argument(
        "--with-key", action="store_true", help="only models of providers whose key is set, or that run on this machine"
    )
    parser.add_argument("--catalog", metavar="FILE", help="your own catalog file, in TOML")
    parser.add_argument(
        "--refresh", action="store_true", help="bring newer windows, prices and dates from models.dev, then stop"
    )
    parser.add_argument(
        "--json", action="store_true", help="print a JSON array that includes the dialect of each model"
    )


def tokens(text: str) -> int:
    """Parse a number of tokens: ``200000``, ``200k`` or ``1m``."""
    found = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)([km]?)", text.strip().lower())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of tokens, such as 200000, 200k or 1m")
    return int(float(found[1]) * UNITS[found[2]])


def price(text: str) -> float:
    """Parse an amount of dollars."""
    found = re.fullmatch(r"\$?([0-9]{1,9}(?:\.[0-9]{1,9})?)", text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount of dollars, such as 0.5")
    return float(found[1])


def run(args: argparse.Namespace) -> int:
    """Print the models that match. The exit status is 1 if there are none."""
    if args.refresh:
        return refresh()
    catalog = Catalog.load(args.catalog) if args.catalog else Catalog.default()
    models = matching(catalog, args)
    if args.json:
        _print_json(catalog, models)
    elif models:
        rows = [_cells(catalog, model) for model in models]
        shown = Screen().table(COLUMNS, rows, LEFT, optional=OPTIONAL, breaks="model")
        if "until" not in shown:
            _note_last_days(models)
        if "key" not in shown:
            providers = dict.fromkeys(model.provider for model in models)
            print_note("keys: " + ", ".join(key_text(catalog.provider(each)) for each in providers))
        print_note(f"{count_of(len(models), 'model')}; prices in dollars per million tokens")
    if not models:
        print_note("no model matches; segue models lists all of them")
        return 1
    return 0


def matching(catalog: Catalog, args: argparse.Namespace) -> list[Model]:
    """The models that pass all filters."""
    provider = catalog.provider(args.provider).id if args.provider else None
    words = [word.lower() for word in args.words]
    ready = {each.id for each in catalog.providers.values() if is_ready(each)}
    named = [
        catalog.resolve(ref)
        for ref, row in catalog.models.items()
        if provider in (None, row.provider)
        and (not args.with_key or row.provider in ready)
        and all(word in f"{ref} {row.name}".lower() for word in words)
    ]
    return [model for model in named if all(passes(model) for passes in _filters(args))]


def _filters(args: argparse.Namespace) -> list[Callable[[Model], bool]]:
    filters: list[tuple[object, Callable[[Model], bool]]] = [
        (args.images, lambda model: "image" in model.input),
        (args.reasoning, lambda model: model.reasoning),
        (args.window, lambda model: model.context_window >= args.window),
        (args.max_price is not None, lambda model: model.cost.input is not None and model.cost.input <= args.max_price),
    ]
    return [passes for wanted, passes in filters if wanted]


def _print_json(catalog: Catalog, models: Sequence[Model]) -> None:
    if not models:
        print_text("[]")
        return
    document = msgspec.json.format(msgspec.json.encode([_as_json(catalog, model) for model in models]), indent=1)
    write_json(document + b"\n")


def _as_json(catalog: Catalog, model: Model) -> dict[str, Any]:
    shown = replace(model, base_url=shown_address(model.base_url), headers=shown_headers(model.headers))
    fields: dict[str, Any] = msgspec.to_builtins(shown)
    provider = catalog.provider(model.provider)
    keys = {"keys": provider.keys, "keySet": bool(keys_set(provider))}
    return {**fields, **keys, "dialect": differing(model.dialect)}


def _note_last_days(models: Sequence[Model]) -> None:
    days = [f"{model.ref} {model.retires}" for model in models if model.retires is not None]
    if len(days) > MOST_NAMED:
        print_note(f"{len(days):,} of them have a last day; a wider terminal shows it, and --json")
    elif days:
        print_note(f"until: {', '.join(days)}")


def _cells(catalog: Catalog, model: Model) -> tuple[str, ...]:
    prices = (model.cost.input, model.cost.output, model.cost.cache_read, model.cost.cache_write)
    return (
        model.ref,
        f"{model.context_window:,}",
        f"{model.max_tokens:,}",
        "+".join(model.input),
        "yes" if model.reasoning else "no",
        *map(_price, prices),
        model.retires or "-",
        key_text(catalog.provider(model.provider)),
    )


def _price(amount: float | None) -> str:
    """A price: cents, and more digits if it has them; ``-`` if it is not known."""
    if amount is None:
        return "-"
    whole, _, decimals = f"{amount:.6f}".rstrip("0").partition(".")
    return f"{int(whole):,}.{decimals:0<2}"
