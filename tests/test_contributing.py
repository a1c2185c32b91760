"""The worked example of CONTRIBUTING.md works as it is written."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[1]
LINT = """
import json, sys, warnings
import segue
warnings.simplefilter("ignore")
case = json.load(sys.stdin)
model = segue.get_model(case["model"])
print(*[finding.rule for finding in segue.lint(case["body"], model.protocol, model) if finding.severity == "error"])
body = segue.encode(segue.ingest(case["body"]), model).body
print(*[len(message["tool_calls"]) for message in body["messages"] if message.get("tool_calls")])
"""


def block(language: str) -> str:
    page = (ROOT / "CONTRIBUTING.md").read_text()
    found = re.search(rf"^ *```{language}\n(.*?)^ *```", page, re.DOTALL | re.MULTILINE)
    assert found is not None
    return dedent(found[1])


def linted(source: Path) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", LINT],
        input=block("json"),
        env={"PYTHONPATH": str(source), "SEGUE_LEARN": "off"},
        capture_output=True,
        text=True,
        check=True,
    )
    rules, calls = done.stdout.splitlines()
    return rules, calls


def test_one_row_teaches_the_catalog_a_quirk(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src" / "segue", tmp_path / "segue", ignore=shutil.ignore_patterns("__pycache__"))
    assert linted(tmp_path) == ("", "2"), "without the row, the request is fine"
    with (tmp_path / "segue" / "catalog" / "families.toml").open("a") as families:
        families.write(f"\n{block('toml')}")
    script = [sys.executable, str(ROOT / "scripts" / "compile_catalog.py")]
    subprocess.run(script, env={"PYTHONPATH": str(tmp_path)}, check=True, capture_output=True)
    rule = json.loads(block("json"))["rule"]
    assert linted(tmp_path) == (rule, "1 1"), "with it, it is refused, and segue sends one call at a time"
