"""`segue doctor`: show which keys are set, which servers answer, where things are stored, and what is installed."""

import argparse
import asyncio
import os
import platform
import re
import sys
from importlib import metadata
from typing import Any

import msgspec

from .. import __version__
from ..catalog import Catalog, Provider, user_file
from ..errors import SegueError
from ..session import STORE_VARIABLE, default_path, open_store
from ..types.secret import shown_address
from ..types.text import count_of
from . import model_choice
from .keys import is_local, keys_set
from .local_servers import models_at
from .terminal import Screen, busy, write_json

SET, NOT_SET = "✓", "–"


class Row(msgspec.Struct, frozen=True):
    """One thing that was looked at. ``ok``: it is set, answers, or exists."""

    name: str
    ok: bool
    detail: str


Report = dict[str, list[Row]]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the report. The exit status is 0, whatever is missing: nothing in it is required."""
    with busy("looking around"):
        report = asyncio.run(examine())
    if args.json:
        write_json(msgspec.json.encode(_as_json(report)) + b"\n")
    else:
        _draw(report)
    return 0


async def examine() -> Report:
    """Look at everything."""
    report: Report = {"segue": _versions()}
    try:
        catalog = Catalog.default()
        report["catalog"] = [_catalog(catalog)]
    except SegueError as error:
        catalog = Catalog.load()
        report["catalog"] = [Row("catalog", False, f"not used, because it has faults: {error.for_shell()}")]
    providers = list(catalog.providers.values())
    report["keys"] = [_key(each) for each in providers if not is_local(each)]
    report["local servers"] = list(await asyncio.gather(*(_server(each) for each in providers if is_local(each))))
    report["sessions"] = [_sessions()]
    report["installed"] = _extras()
    report["chat"] = [await _choice()]
    return report


def _versions() -> list[Row]:
    return [
        Row("segue", True, f"{__version__}, in {os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}"),
        Row("Python", True, f"{platform.python_version()}, {sys.executable}"),
        Row("system", True, platform.platform()),
    ]


def _catalog(catalog: Catalog) -> Row:
    size = f"{count_of(len(catalog.names), 'model')} of {count_of(len(catalog.providers), 'provider')}"
    file = user_file()
    where = (
        f"your file {file} included" if file else "no file of yours (SEGUE_CATALOG, or ~/.config/segue/catalog.toml)"
    )
    return Row("catalog", True, f"{size}; {where}")


def _key(provider: Provider) -> Row:
    found = keys_set(provider)
    names = " or ".join(provider.keys)
    more = "" if provider.needs_key else "; credentials of this machine may be enough"
    return Row(provider.name, bool(found), f"{found[0]} is set" if found else f"{names} is not set{more}")


async def _server(provider: Provider) -> Row:
    models = await models_at(provider)
    address = shown_address(provider.base_url)
    if not models:
        return Row(provider.name, False, f"no answer at {address}")
    return Row(provider.name, True, f"{count_of(len(models), 'model')} at {address}, such as {models[0].ref}")


def _sessions() -> Row:
    named = os.environ.get(STORE_VARIABLE, "")
    # An address may contain a password, so only paths are shown.
    where = named if named and not re.search(r"://|=", named) else f"the store in {STORE_VARIABLE}"
    where = where if named else str(default_path())
    if not named and not default_path().exists():
        return Row("sessions", False, f"none yet; they will be in {where}")
    try:
        with open_store(None, create=False) as store:
            return Row("sessions", True, f"{count_of(len(store.sessions()), 'session')} in {where}")
    except (SegueError, OSError) as error:
        return Row("sessions", False, error.for_shell() if isinstance(error, SegueError) else str(error))


def _extras() -> list[Row]:
    """The extras of the package, from its own metadata."""
    needed: dict[str, list[str]] = {}
    for requirement in metadata.requires("segue") or []:
        name, _, extra = requirement.partition("extra == ")
        if extra and (found := re.match(r"[\w.-]+", name)):
            needed.setdefault(extra.strip("'\" "), []).append(found[0])
    return [_extra(extra, names) for extra, names in sorted(needed.items())]


def _extra(extra: str, names: list[str]) -> Row:
    missing = [name for name in names if not _is_installed(name)]
    return Row(extra, not missing, f"pip install 'segue[{extra}]'" if missing else ", ".join(names))


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


async def _choice() -> Row:
    try:
        choice = await model_choice.choose(None)
    except SegueError as error:
        return Row("segue chat", False, error.for_shell())
    why = f": {choice.why}" if choice.why else ""
    return Row("segue chat", True, f"{choice.model.ref} would answer{why}")


# -- output -----------------------------------------------------------------------------------------------------------


def _as_json(report: Report) -> dict[str, Any]:
    return {
        section: {row.name: {"ok": row.ok, "detail": row.detail} for row in rows} for section, rows in report.items()
    }


def _draw(report: Report) -> None:
    screen = Screen()
    width = max(len(row.name) for rows in report.values() for row in rows)
    for number, (section, rows) in enumerate(report.items()):
        if number:
            screen.line()
        screen.line((section, "bold"))
        for row in rows:
            mark = (f"{SET} ", "green") if row.ok else (f"{NOT_SET} ", "dim")
            screen.line(mark, (f"{row.name:<{width}}  ", ""), (row.detail, "" if row.ok else "dim"), indent=2)
