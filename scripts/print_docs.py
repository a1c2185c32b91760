"""Write the tables in docs/ that are printed from the code, between their markers.

Run it with `make docs`. A test checks that the tables are up to date.
"""

import re
from pathlib import Path

from segue.projection.pipeline import PASSES
from segue.projection.policy import PRESETS
from segue.projection.summary import PHRASES
from segue.router.rules import RULES as FAILURES
from segue.rules.overflow import FROM_ONE, LOOKALIKES, OVERFLOW, Phrase
from segue.types import LOSSY
from segue.wire.registry import PROTOCOLS, protocol_of

DOCS = Path(__file__).parent.parent / "docs"


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
    rows = ["| preset | failed_turns | orphan_results | missing_result | reasoning |", "|---|---|---|---|---|"]
    for name, policy in PRESETS.items():
        cells = [policy.failed_turns, policy.orphan_results, policy.missing_result, policy.reasoning]
        rows.append(f"| `{name}` | {' | '.join(cells) if policy.passes else 'no pass at all | | |'} |")
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


TABLES = {
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


if __name__ == "__main__":
    for page in sorted(DOCS.glob("*.md")):
        page.write_text(printed(page.read_text()))
