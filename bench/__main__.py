"""`make bench`: measure everything that docs/benchmarks.md shows, in one run. `python -m bench SECTION…` runs some."""

import argparse
import os
import platform
import re
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
    versions,
)
from .report import Part, Section, Table, as_markdown, as_text

SECTIONS = {
    module.SECTION.name: module.SECTION
    for module in (
        growing,
        encoding,
        versions,
        sending,
        projection,
        codec,
        decoding,
        talking,
        sessions,
        bulk,
        memory,
        starting,
    )
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
    parser.add_argument(
        "--out",
        type=Path,
        help="the folder for page and plots (default: docs/, if all are run); its other sections are kept",
    )
    args = parser.parse_args()
    if unknown := set(args.section) - set(SECTIONS):
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    print(f"{machine()}; {packages()}")
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
    """Write the page and its plots. If only some sections were run, the others are kept as the page has them."""
    folder.mkdir(parents=True, exist_ok=True)
    page, measured = folder / PAGE, f"{machine()}; {packages()}."
    head, texts, note = "\n\n".join([*INTRODUCTION, measured]), dict[str, str](), []
    if page.exists() and len(found) < len(SECTIONS):
        head, *sections = re.split(r"\n\n(?=## )", page.read_text().rstrip())
        texts = {section.partition("\n")[0]: section for section in sections}
        note = [f"Measured apart from the other sections: {measured}"]
    for name, parts in found.items():
        section = SECTIONS[name]
        title = f"## {section.title}"
        texts[title] = "\n\n".join([title, *note, *filter(None, [section.about]), *map(as_markdown, parts)])
        for part in parts:
            if not isinstance(part, Table):
                plots.write(part, folder)
    order = [f"## {section.title}" for section in SECTIONS.values()]
    known = [texts.pop(title) for title in order if title in texts]
    page.write_text("\n\n".join([head, *known, *texts.values()]) + "\n")
    print(f"\nwritten: {page}")


def machine() -> str:
    return f"{os.cpu_count()} cores, {platform.python_implementation()} {platform.python_version()}"


def packages() -> str:
    return ", ".join(f"{name} {version(name)}" for name in ("segue", "msgspec", "pydantic"))


if __name__ == "__main__":
    main()
