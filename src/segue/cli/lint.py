"""`segue lint`: list what a provider would refuse in a request body, and why."""

import argparse

import msgspec

from ..catalog import Catalog, get_model
from ..errors import FormatError
from ..render import lint
from ..rules import Finding, Severity
from ..wire import PROTOCOLS
from .files import read_bytes, source_name
from .printable import one_line
from .terminal import Screen, print_note, write_json


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a request body as JSON; - for standard input")
    parser.add_argument("--as", dest="protocol", choices=PROTOCOLS, help="the protocol (default: detected)")
    parser.add_argument("--model", metavar="PROVIDER/MODEL", help="also check the rules that apply only to this model")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--catalog", metavar="FILE", help="your own catalog file")


def run(args: argparse.Namespace) -> int:
    catalog = Catalog.load(args.catalog) if args.catalog else None
    model = get_model(args.model, protocol=args.protocol, catalog=catalog) if args.model else None
    try:
        findings = lint(read_bytes(args.file), args.protocol or (model.protocol if model else None), model)
    except FormatError as error:
        raise error.at(source_name(args.file)) from None
    if args.json:
        write_json(msgspec.json.encode(findings) + b"\n")
    else:
        draw_findings(findings)
    return 1 if any(finding.severity == "error" for finding in findings) else 0


def draw_findings(findings: list[Finding]) -> None:
    """Print each finding, with the provider's own error message and its source."""
    screen = Screen()
    for finding in findings:
        screen.line((f"{finding.severity} {finding.rule}  {one_line(finding.path)}", _STYLES[finding.severity]))
        screen.line((f"    {one_line(finding.message)}", ""))
        if finding.answers:
            screen.line((f"    the provider answers: {one_line(finding.answers)}", "dim"))
        screen.line((f"    source: {finding.source}; prevented by {finding.prevented_by}", "dim"))
    errors = sum(finding.severity == "error" for finding in findings)
    print_note(f"{errors} errors, {len(findings) - errors} warnings")


_STYLES: dict[Severity, str] = {"error": "bold red", "warning": "yellow"}
