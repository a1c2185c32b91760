"""`make bench`: every figure of the documentation, in one run. `python -m bench SECTION…`: some of them."""

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
    "Printed by `make bench`, which installs the peers into an environment of its own and measures all in one run: "
    "several rounds, interleaved. A figure is the median, with the quartiles in brackets; processor time, unless it "
    "says otherwise. A ratio is the median of the ratios in each round. Compare figures of one run with each other: "
    "another machine has other figures.",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("section", nargs="*", metavar="SECTION", help=f"any of: {', '.join(SECTIONS)} (default: all)")
    parser.add_argument(
        "--out",
        type=Path,
        help="the folder for page and plots (default: docs/, if all are run); sections that are not run stay there",
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
    """All that a section finds; tables are printed as they come."""
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
    """Write the page and its plots. Where only some sections were run, the others stay as they are on the page."""
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
    titles = [f"## {section.title}" for section in SECTIONS.values()]
    page.write_text("\n\n".join([head, *(texts[title] for title in titles if title in texts)]) + "\n")
    print(f"\nwritten: {page}")


def machine() -> str:
    return f"{os.cpu_count()} cores, {platform.python_implementation()} {platform.python_version()}"


def packages() -> str:
    return ", ".join(f"{name} {version(name)}" for name in ("segue", "msgspec", "pydantic"))


if __name__ == "__main__":
    main()
