"""`make bench`: measure everything that docs/benchmarks.md shows, in one run. `python -m bench SECTION…` runs some."""

import argparse
import os
import platform
import re
from importlib.metadata import version
from pathlib import Path
from textwrap import fill

from . import (
    accepted,
    bulk,
    codec,
    corpora,
    decoding,
    encoding,
    gateway,
    growing,
    memory,
    painting,
    plots,
    projection,
    sending,
    sessions,
    starting,
    talking,
    telemetry,
    transcripts,
    transporting,
    versions,
)
from .report import Part, Section, Table, as_markdown, as_text

SECTIONS = {
    module.SECTION.name: module.SECTION
    for module in (
        accepted,
        growing,
        encoding,
        versions,
        sending,
        transporting,
        telemetry,
        projection,
        codec,
        decoding,
        talking,
        sessions,
        bulk,
        corpora,
        transcripts,
        memory,
        starting,
        gateway,
        painting,
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
        help="the folder for pages and plots; other sections of a page are kept (default: docs/, if all are run; "
        "sections with a page of their own are always written there)",
    )
    args = parser.parse_args()
    if unknown := set(args.section) - set(SECTIONS):
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    print(f"{machine()}; {packages()}")
    found = {name: measure(SECTIONS[name]) for name in args.section or SECTIONS}
    own = {name: parts for name, parts in found.items() if SECTIONS[name].page}
    for name, parts in own.items():
        write_page(SECTIONS[name], parts, args.out or DOCS)
    folder = args.out or (None if args.section else DOCS)
    if folder is not None and len(own) < len(found):
        write({name: parts for name, parts in found.items() if name not in own}, folder)


def measure(section: Section) -> list[Part]:
    """Run a section and return its results. Tables are printed as soon as they are ready."""
    print(f"\n── {section.title} ──")
    if section.about:
        print("\n" + "\n\n".join(fill(paragraph, 120) for paragraph in section.about.split("\n\n")))
    parts = []
    for part in section.run():
        parts.append(part)
        if isinstance(part, Table):
            print(as_text(part), flush=True)
    return parts


def write_page(section: Section, parts: list[Part], folder: Path) -> None:
    """Write the page of a section that has its own, and its plots."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = [f"# {section.title}", section.about, *map(as_markdown, parts)]
    (folder / section.page).write_text("\n\n".join(texts) + "\n")
    draw(parts, folder)
    print(f"\nwritten: {folder / section.page}")


def draw(parts: list[Part], folder: Path) -> None:
    for part in parts:
        if not isinstance(part, Table):
            plots.write(part, folder)


def write(found: dict[str, list[Part]], folder: Path) -> None:
    """Write the page and its plots. If only some sections were run, the others are kept as the page has them."""
    folder.mkdir(parents=True, exist_ok=True)
    page, measured = folder / PAGE, f"{machine()}; {packages()}."
    head, texts, note = "\n\n".join([*INTRODUCTION, measured]), dict[str, str](), []
    if page.exists() and len(found) < sum(not section.page for section in SECTIONS.values()):
        head, *sections = re.split(r"\n\n(?=## )", page.read_text().rstrip())
        texts = {section.partition("\n")[0]: section for section in sections}
        note = [f"Measured apart from the other sections: {measured}"]
    for name, parts in found.items():
        section = SECTIONS[name]
        title = f"## {section.title}"
        texts[title] = "\n\n".join([title, *note, *filter(None, [section.about]), *map(as_markdown, parts)])
        draw(parts, folder)
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
