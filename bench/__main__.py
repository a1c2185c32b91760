"""`make bench`: measure everything that docs/benchmarks.md shows, in one run. `python -m bench SECTION…` runs some."""

import argparse
import os
import platform
from importlib.metadata import version
from pathlib import Path
from textwrap import fill

from . import (
    bulk,
    codec,
    decoding,
    encoding,
    growing,
    memory,
    plots,
    projection,
    sending,
    sessions,
    starting,
    talking,
)
from .report import Part, Section, Table, as_markdown, as_text

SECTIONS = {
    module.SECTION.name: module.SECTION
    for module in (growing, encoding, sending, projection, codec, decoding, talking, sessions, bulk, memory, starting)
}
DOCS = Path(__file__).parent.parent / "docs"
PAGE = "benchmarks.md"
INTRODUCTION = (
    "# Benchmarks",
    "Written by `make bench`, which installs the other libraries into their own environment and measures everything "
    "in one run, in several interleaved rounds. Each value is the median, with the quartiles in brackets, of CPU time "
    "unless stated otherwise. A ratio is the median of the ratios of each round. Compare only values of the same run: "
    "they depend on the machine.",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("section", nargs="*", metavar="SECTION", help=f"any of: {', '.join(SECTIONS)} (default: all)")
    parser.add_argument("--out", type=Path, help="the folder for page and plots (default: docs/, if all are run)")
    args = parser.parse_args()
    if unknown := set(args.section) - set(SECTIONS):
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    print(f"{machine()}; {versions()}")
    found = {name: measure(SECTIONS[name]) for name in args.section or SECTIONS}
    folder = args.out or (None if args.section else DOCS)
    if folder is not None:
        write(found, folder)


def measure(section: Section) -> list[Part]:
    """Run a section and return its results. Tables are printed as soon as they are ready."""
    print(f"\n── {section.title} ──")
    if section.about:
        print(f"\n{fill(section.about, 120)}")
    parts = []
    for part in section.run():
        parts.append(part)
        if isinstance(part, Table):
            print(as_text(part), flush=True)
    return parts


def write(found: dict[str, list[Part]], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    texts = [*INTRODUCTION, f"{machine()}; {versions()}."]
    for name, parts in found.items():
        section = SECTIONS[name]
        texts += [f"## {section.title}", *filter(None, [section.about]), *map(as_markdown, parts)]
        for part in parts:
            if not isinstance(part, Table):
                plots.write(part, folder)
    (folder / PAGE).write_text("\n\n".join(texts) + "\n")
    print(f"\nwritten: {folder / PAGE}")


def machine() -> str:
    return f"{os.cpu_count()} cores, {platform.python_implementation()} {platform.python_version()}"


def versions() -> str:
    return ", ".join(f"{name} {version(name)}" for name in ("segue", "msgspec", "pydantic"))


if __name__ == "__main__":
    main()
