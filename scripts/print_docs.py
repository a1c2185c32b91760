"""Write what is printed in docs/: tables from the code, between their markers; the front page; the list for models.

Run it with `make docs`. A test checks that everything is up to date.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import error_index
import recipes
import variables
import yaml
from clients import results

from segue.cli import COMMANDS
from segue.projection.pipeline import PASSES
from segue.projection.policy import PRESETS
from segue.projection.summary import PHRASES
from segue.router.rules import RULES as FAILURES
from segue.rules.cures import CURES
from segue.rules.overflow import FROM_ONE, LOOKALIKES, OVERFLOW, Phrase
from segue.transcripts import REMARK_CODES, formats
from segue.types import LOSSY
from segue.wire.registry import PROTOCOLS, protocol_of

ROOT = Path(__file__).parent.parent
DOCS, README = ROOT / "docs", ROOT / "README.md"


def passes() -> list[str]:
    rows = ["| pass | what it does |", "|---|---|"]
    for kind in PASSES:
        purpose = " ".join((__import__(kind.__module__, fromlist=["__doc__"]).__doc__ or "").split())
        rows.append(f"| `{kind.__module__.rpartition('.')[2]}` | {purpose} |")
    return rows


def codes() -> list[str]:
    rows = ["| code | lossy | in words |", "|---|---|---|"]
    for code, (one, _) in PHRASES.items():
        lossy = "yes" if code in LOSSY else "when dropped" if code == "result-orphaned" else ""
        rows.append(f"| `{code}` | {lossy} | {one} |")
    return rows


def presets() -> list[str]:
    rows = [
        "| preset | failed_turns | orphan_results | missing_result | reasoning | provider_content |",
        "|---|---|---|---|---|---|",
    ]
    for name, policy in PRESETS.items():
        cells = [
            policy.failed_turns,
            policy.orphan_results,
            policy.missing_result,
            policy.reasoning,
            policy.provider_content,
        ]
        rows.append(f"| `{name}` | {' | '.join(cells) if policy.passes else 'no pass at all | | | |'} |")
    return rows


def rules() -> list[str]:
    lines: list[str] = []
    for protocol in PROTOCOLS:
        lines += [
            f"## {protocol}",
            "",
            "| rule | | the provider answers | source | prevented by |",
            "|---|---|---|---|---|",
        ]
        for rule in protocol_of(protocol).rules:
            title = (
                rule.title
                + (" *(some models)*" if rule.only else "")
                + (" *(warning)*" if rule.severity != "error" else "")
            )
            cells = [rule.number, title, rule.answers, rule.source, f"`{rule.prevented_by}`"]
            lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
        lines.append("")
    return lines[:-1]


def phrases(title: str, table: tuple[Phrase, ...]) -> list[str]:
    rows = [f"| {title} | for example | seen | in |", "|---|---|---|---|"]
    for row in table:
        example = f"`` {row.example} ``" if "`" in row.example else f"`{row.example}`"
        rows.append(f"| {row.who} | {example} | {row.seen} | {row.source} |")
    return rows


def cures() -> list[str]:
    rows = [
        "| cure | protocols | the provider's words, for example | what is changed | seen | in |",
        "|---|---|---|---|---|---|",
    ]
    for cure in CURES:
        cells = [cure.number, ", ".join(cure.protocols) or "all", cure.example, cure.title, cure.seen, cure.source]
        rows.append("| " + " | ".join(cell.replace("|", "\\|").replace("`", "") for cell in cells) + " |")
    return rows


STEPS = {
    "again": "the same member again",
    "other": "another member",
    "larger": "a member with a larger window",
    "compact": "compaction, once",
}
RESTS = {"rest": "for `rest`", "long_rest": "for `long_rest`", None: ""}


def failures() -> list[str]:
    rows = ["| failure | steps, in order, before giving up | the member rests | because |", "|---|---|---|---|"]
    for kind, rule in FAILURES.items():
        steps = ", then ".join(STEPS[step] for step in rule.steps) or "none"
        rows.append(f"| `{kind.__name__}` | {steps} | {RESTS[rule.rest]} | {rule.why} |")
    return rows


def commands() -> list[str]:
    rows = ["| command | |", "|---|---|"]
    return rows + [f"| `segue {name}` | {purpose} |" for name, purpose in COMMANDS.items()]


def transcripts() -> list[str]:
    rows = ["| format | name | written | verified | known from |", "|---|---|---|---|---|"]
    for each in formats():
        written = "resumed" if each.resumes else "yes" if each.write is not None else ""
        verified = "yes" if each.verified else ""
        rows.append(f"| {each.title} | `{each.name}` | {written} | {verified} | {each.source} |")
    return rows


def remarks() -> list[str]:
    return ["| code | |", "|---|---|", *(f"| `{code}` | {text} |" for code, text in REMARK_CODES.items())]


def program(path: Path) -> list[str]:
    language = {".py": "python", ".mjs": "js"}[path.suffix]
    return [
        "<!-- not run: it needs the framework; `make recipes` runs it -->",
        f"```{language}",
        path.read_text().rstrip(),
        "```",
    ]


def output(name: str) -> list[str]:
    """What a recipe printed, and with which versions."""
    files = [recipes.REQUIREMENTS / f"{name}.{kind}" for kind in ("npm", "txt")]
    pins = next(file for file in files if file.exists()).read_text().split("\n")
    versions = ", ".join(re.sub("==|(?<=.)@", " ", pin) for pin in pins if pin[:1] not in ("", "#") and pin != "pytest")
    shown = (recipes.RECIPES / f"{name}.txt").read_text().rstrip()
    run = (
        f"Printed by `make recipes` with {versions} (2026-11-18). A strict [stand-in](testing.md) plays the provider, "
        "as `examples/recipes/showing.py` starts it."
    )
    return ["```text", shown, "```", "", run]


TABLES: dict[str, Callable[[], list[str]]] = {
    **{
        f"program_{path.stem.removeprefix('with_')}": partial(program, path)
        for path in recipes.RECIPES.glob("with_*.py")
    },
    "program_vercel_ai_js": partial(program, recipes.RECIPES / "with_vercel_ai.mjs"),
    **{f"output_{name}": partial(output, name) for name in recipes.names()},
    "gateway_clients": lambda: results.table("gateway", "client"),
    "resumed_clients": lambda: results.table("resumed", "resumed by"),
    "transcripts": transcripts,
    "remarks": remarks,
    "commands": commands,
    "keys": variables.keys,
    "variables": variables.own,
    "others": variables.others,
    "errors": error_index.lines,
    "cures": cures,
    "passes": passes,
    "codes": codes,
    "presets": presets,
    "failures": failures,
    "rules": rules,
    "overflow": lambda: phrases("provider", (*OVERFLOW, *FROM_ONE.values())),
    "lookalikes": lambda: phrases("what it is", LOOKALIKES),
}


def printed(text: str) -> str:
    """``text`` with every table between markers replaced by the current one."""

    def table(match: re.Match[str]) -> str:
        return f"<!-- printed: {match[1]} -->\n" + "\n".join(TABLES[match[1]]()) + "\n<!-- /printed -->"

    return re.sub(r"<!-- printed: (\w+) -->\n.*?<!-- /printed -->", table, text, flags=re.DOTALL)


# -- the front page and the list for models ---------------------------------------------------------------------------

FRONT, FOR_MODELS = "index.md", "llms.txt"


def front_page() -> str:
    """The README as the front page of the site: its links are relative to the folder of the pages."""
    text = README.read_text()
    for name in ("ARCHITECTURE.md", "CHANGELOG.md"):
        text = text.replace(f"]({name})", f"]({name.lower()})")
    return "<!-- Printed from README.md by `make docs`. -->\n" + text.replace("](docs/", "](")


def for_models(nav: Sequence[Any]) -> str:
    """The pages with their first paragraphs, in the order of the navigation (llmstxt.org)."""
    title, summary = _start(README)
    lines = [f"# {title}", "", f"> {summary}"]
    for group in nav:
        for name, entries in group.items():
            if isinstance(entries, list):
                lines += ["", f"## {name}", ""]
                lines += [_entry(*pair) for entry in entries for pair in entry.items()]
    return "\n".join(lines) + "\n"


def _entry(name: str, file: str) -> str:
    folder, _, room = file.removesuffix(".md").rpartition("/")
    if folder:  # printed from docstrings, and not in git
        summary = " ".join((import_module(f"segue.{room}").__doc__ or "").partition("\n\n")[0].split())
    else:
        _, summary = _start(DOCS / file)
    return f"- [{name}]({file.removesuffix('.md')}/)" + (f": {summary}" if summary else "")


def _start(page: Path) -> tuple[str, str]:
    """The title of a page and its first paragraph, without links."""
    text = page.read_text()
    if included := re.match(r'--8<-- "(.*)"', text):
        text = (ROOT / included[1]).read_text()
    title, *rest = [part for part in text.split("\n\n") if not part.startswith("<!--")]
    first = next((part for part in rest if part[0].isalpha() or part[0] == "`"), "")
    first = "" if first.endswith(":") else first
    return title.removeprefix("# "), " ".join(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", first).split())


def navigation() -> list[Any]:
    """The navigation of the site."""
    found: list[Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    return found


def files() -> dict[Path, str]:
    """Every printed file and the text that it should have."""
    found = {page: printed(page.read_text()) for page in sorted(DOCS.glob("*.md"))}
    return found | {DOCS / FRONT: front_page(), DOCS / FOR_MODELS: for_models(navigation())}


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text)
