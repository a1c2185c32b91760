"""`segue bulk`: check, convert or measure many conversations, in JSONL and Parquet files."""

import argparse
from collections.abc import Callable

from ..bulk import Command, Engine, Line, Progress, Report, Settings, count_cores, on_this_machine, run as run_bulk
from ..catalog import Catalog, get_model
from ..errors import SettingError
from ..projection import PRESETS
from ..types import LOSSY, Options
from ..types.text import count_of
from ..wire import PROTOCOLS
from .terminal import Screen, print_note, progress_of_rows, write_json

COMMANDS: dict[Command, str] = {
    "lint": "list what a provider would refuse in the conversations, as they are stored",
    "convert": "write every conversation for a model, or in the form of a protocol",
    "stats": "count messages, calls, tokens and forms",
}


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    for name, purpose in COMMANDS.items():
        action = actions.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        action.add_argument("inputs", nargs="+", metavar="IN", help="a JSONL or Parquet file, or a directory of them")
        action.add_argument("--out", required=True, metavar="DIR", help="the directory for the results")
        if name != "stats":
            target = action.add_mutually_exclusive_group(required=name == "convert")
            target.add_argument("--to", metavar="PROVIDER/MODEL", help="the model that the conversations are for")
            target.add_argument("--as", dest="protocol", choices=PROTOCOLS, help="the protocol that they are for")
            action.add_argument("--protocol", dest="speaks", help="the protocol, if the provider speaks more than one")
            action.add_argument("--catalog", metavar="FILE", help="your own catalog file")
        if name == "convert":
            action.add_argument("--policy", default="default", choices=PRESETS, help="the policy preset")
            action.add_argument("--max-tokens", type=int, metavar="N", help="the longest answer, in tokens")
            action.add_argument("--check", action="store_true", help="check every result, as lint does (slower)")
        action.add_argument("--column", metavar="NAME", help="the column with the conversations (default: found)")
        action.add_argument("--limit", type=_positive, metavar="N", help="work on the first N rows only")
        action.add_argument("--drop-duplicates", action="store_true", help="keep only the first of equal conversations")
        action.add_argument("--workers", type=_positive, metavar="N", help="processes (default: one per core)")
        action.add_argument(
            "--ray", nargs="?", const="", metavar="ADDRESS", help="run on a Ray cluster (default: one on this machine)"
        )
        action.add_argument("--json", action="store_true", help="print the report as JSON")
        action.set_defaults(command=name)


def run(args: argparse.Namespace) -> int:
    settings = _settings(args)
    with progress_of_rows() as advance:
        report = run_bulk(
            settings, args.inputs, args.out, limit=args.limit, engine=_engine(args), progress=_advanced(advance)
        )
    if args.json:
        with open(f"{args.out}/report.json", "rb") as file:
            write_json(file.read())
    else:
        draw(report)
    print_note(f"{count_of(report.rows, 'row')}, {report.rejected} rejected; results are in {args.out}")
    return 1 if report.rejected or (report.command == "lint" and report.faulty) else 0


def _settings(args: argparse.Namespace) -> Settings:
    named = vars(args)
    model = None
    if to := named.get("to"):
        catalog = Catalog.load(args.catalog) if args.catalog else None
        model = get_model(to, protocol=args.speaks, catalog=catalog)
    return Settings(
        command=args.command,
        model=model,
        protocol=named.get("protocol"),
        policy=named.get("policy", "default"),
        options=Options(max_tokens=named.get("max_tokens")),
        column=args.column,
        check=named.get("check", False),
        drops_duplicates=args.drop_duplicates,
    )


def _engine(args: argparse.Namespace) -> Engine:
    if args.ray is None:
        return on_this_machine(args.workers or count_cores())
    if args.workers is not None:
        raise SettingError("--workers is for this machine; a Ray cluster has its own number of processes")
    from ..bulk import on_ray

    return on_ray(args.ray or None)


def _advanced(advance: Callable[[int, int, int], None]) -> Callable[[Progress], None]:
    return lambda each: advance(each.rows, each.size, each.total)


def draw(report: Report) -> None:
    """Print the counts, and a table of codes with example rows."""
    screen = Screen()
    counts = {
        "fine": report.fine,
        "changed": report.changed,
        "with a loss": report.lost,
        "with findings": report.faulty,
        "rejected": report.rejected,
        "duplicates": report.duplicates,
        "dropped": report.dropped,
    }
    shown = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    screen.line((f"{report.rows:,} rows: {shown or 'nothing to report'}", "bold"))
    if report.forms:
        screen.line(("; ".join(f"{rows:,} × {form}" for form, rows in report.forms.items()), ""))
    if report.sizes is not None:
        sizes = {name: getattr(report.sizes, name) for name in report.sizes.__struct_fields__}
        rows = [
            (name, f"{sum_:,}", f"{sum_ / max(report.rows - report.rejected, 1):,.1f}") for name, sum_ in sizes.items()
        ]
        screen.table(("what", "all", "per row"), rows, ("what",))
    rows_of_codes = [
        *_rows("rejected", report.reasons),
        *_rows("finding", report.findings),
        *_rows("change", report.changes),
    ]
    if rows_of_codes:
        screen.table(
            ("what", "code", "rows", "times", "for example"),
            rows_of_codes,
            ("what", "code", "for example"),
            cuts="code",
        )


def _rows(kind: str, lines: dict[str, Line]) -> list[tuple[str, ...]]:
    ordered = sorted(lines.items(), key=lambda item: (-item[1].rows, item[0]))
    return [
        (
            f"{kind}, lossy" if code in LOSSY else kind,
            code,
            f"{line.rows:,}",
            f"{line.times:,}",
            ", ".join(f"{example.file}:{example.row}" for example in line.examples[:1]),
        )
        for code, line in ordered
    ]


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number
