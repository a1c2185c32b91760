"""Run the real clients: through the gateway to strict stand-ins of other families, and with sessions of each other.

`make clients` installs them from npm, at the versions of `rows.py`, into a cache directory. Results are kept there,
too: a run that was interrupted continues where it stopped. `--again` starts from the beginning, `--save` writes the
results to the docs. No provider and no key is needed.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from typing import Any

from clients import resumed, through_gateway
from clients.homes import CACHE, install
from clients.results import PRINTED, Results
from clients.rows import CLIENTS, FAMILIES, Client

GATEWAY, RESUMED = "gateway", "resumed"


def title(name: str) -> str:
    return f"{name} {CLIENTS[name].version}"


def through(name: str, results: Results) -> None:
    """Run a client through the gateway to each of its families."""
    for family in CLIENTS[name].families:
        row = f"{title(name)} → {FAMILIES[family].title}"
        if any(results.get(GATEWAY, row, case) is None for case in through_gateway.CASES):
            through_gateway.run(
                CLIENTS[name], family, lambda case, found, row=row: put(results, GATEWAY, row, case, found)
            )


def resume(name: str, results: Results) -> None:
    """Let a client resume the sessions of all others."""
    for other in CLIENTS:
        if other != name and results.get(RESUMED, title(name), other) is None:
            found = made(other, CLIENTS[other], results) or resumed.resume(CLIENTS[other], CLIENTS[name])
            put(results, RESUMED, title(name), other, found)


def made(name: str, client: Client, results: Results) -> str:
    """Let a client make a session, unless it has."""
    found = results.get("made", title(name), "session")
    if found is None:
        found = resumed.make(client)
        put(results, "made", title(name), "session", found)
    return f"{name} did not make a session: {found}" if found else ""


def put(results: Results, table: str, row: str, column: str, found: str) -> None:
    print(f"{table}: {row}: {column}: {found or 'yes'}", file=sys.stderr, flush=True)
    results.put(table, row, column, found)


def shown(results: Results) -> dict[str, Any]:
    """The results of the current versions, in the order of the tables."""
    names = {title(name): name for name in CLIENTS}
    through = [
        f"{each} → {FAMILIES[family].title}" for each, name in names.items() for family in CLIENTS[name].families
    ]
    return {
        "date": results.tables["date"],
        GATEWAY: _sorted(results.tables.get(GATEWAY, {}), through, through_gateway.CASES),
        RESUMED: _sorted(results.tables.get(RESUMED, {}), names, CLIENTS),
    }


def _sorted(table: dict[str, Any], rows: Iterable[str], columns: Iterable[str]) -> dict[str, Any]:
    columns = list(columns)
    return {row: {each: table[row].get(each) for each in columns} for row in rows if row in table}


def main() -> int:
    """Run what has no result yet."""
    parser = argparse.ArgumentParser(prog="make clients", description=__doc__)
    parser.add_argument("clients", nargs="*", help=f"of {', '.join(CLIENTS)} (default: all)")
    parser.add_argument("--only", choices=(GATEWAY, RESUMED), help="only one of the two tables")
    parser.add_argument("--again", action="store_true", help="forget the results of earlier runs")
    parser.add_argument("--save", action="store_true", help="write the results to docs/")
    args = parser.parse_args()
    install([each.package for each in CLIENTS.values()])
    kept = CACHE / "results.json"
    if args.again:
        kept.unlink(missing_ok=True)
    results = Results(kept)
    for name in args.clients or CLIENTS:
        if args.only != RESUMED:
            through(name, results)
        if args.only != GATEWAY:
            resume(name, results)
    if args.save:
        PRINTED.write_text(json.dumps(shown(results), indent=1, ensure_ascii=False) + "\n")
    tables = [table for name, table in shown(results).items() if name != "date"]
    return 1 if any(outcome for rows in tables for row in rows.values() for outcome in row.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
