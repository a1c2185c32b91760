"""`segue sessions check`: show a session as a model would receive it, with repairs and what would be refused."""

import argparse
from typing import TYPE_CHECKING

import msgspec

from ..catalog import Catalog, get_model
from ..projection import PRESETS
from ..session import open_store
from .lint import draw_findings
from .printable import one_line
from .session_names import named_session
from .terminal import Screen, write_json

if TYPE_CHECKING:
    from ..agent import SessionCheck


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION", help="its id, or the beginning of it")
    parser.add_argument(
        "--to", required=True, metavar="PROVIDER/MODEL", help="the model that would continue the session"
    )
    parser.add_argument("--policy", default="default", choices=PRESETS, help="the policy preset (default: default)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--catalog", metavar="FILE", help="your own catalog file")


def run(args: argparse.Namespace) -> int:
    from ..agent import check_session  # imports HTTP, which the other actions do not need

    model = get_model(args.to, catalog=Catalog.load(args.catalog) if args.catalog else None)
    with open_store(args.store, create=False) as store:
        found = check_session(store, named_session(store, args.session), model, args.policy)
    if args.json:
        write_json(msgspec.json.encode(found.document()) + b"\n")
    else:
        _draw(found)
    return 0 if found.ok else 1


def _draw(found: "SessionCheck") -> None:
    screen = Screen()
    head, *rest = found.preview.summary().splitlines()
    screen.line((f"session {one_line(found.session)}: {head}", "bold"))
    for line in rest:
        screen.line((f"  {line}", "red" if line.startswith(("over a limit", "does not")) else ""))
    if found.interrupted is not None:
        waiting, unknown = len(found.interrupted.not_started), len(found.interrupted.unknown)
        calls = f"{waiting} of its calls not started, {unknown} with an unknown outcome"
        screen.line((f"  a turn is not closed: {calls}", "yellow"))
    for change in found.preview.changes:
        number = found.entry_of(change)
        where = "    " if number is None else f"{number:>3} "
        detail = f"  {one_line(change.detail)}" if change.detail else ""
        screen.line((f"{where}~ {change.code}{detail}", "red" if change.lossy else "yellow"))
    draw_findings(found.findings)
