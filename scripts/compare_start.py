"""Compare what the catalog costs with an earlier version, in one run: imports, the first model, any model, the list.

    python scripts/compare_start.py OLD [--rounds 15]

OLD is a commit, whose sources are taken from the history of this repository. Both versions run in processes of their
own that take turns, with the same interpreter and dependencies. Figures are processor time: the median of all rounds,
and the smallest.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent

PROBE = """
import json, sys
from time import process_time
began = process_time()
import segue
imported = process_time()
segue.get_model("anthropic/claude-sonnet-4-5")
first = process_time()
segue.get_model("anthropic/claude-sonnet-4-5")
again = process_time()
names = segue.list_models()
listed = process_time()
others = [name for name in sorted(names) if name.split("/")[0] in ("anthropic", "openai", "google")][::5][:50]
started = process_time()
for name in others:
    segue.get_model(name)
many = process_time()
for _ in range(2000):
    segue.get_model("anthropic/claude-sonnet-4-5")
warm = process_time()
for _ in range(10):
    segue.list_models()
lists = process_time()
print(json.dumps({
    "import segue, ms": (imported - began) * 1e3,
    "the first get_model, ms": (first - imported) * 1e3,
    "another get_model, µs": (many - started) / len(others) * 1e6,
    "the same get_model again, µs": (warm - many) / 2000 * 1e6,
    "the first list_models, ns per row": (listed - again) / len(names) * 1e9,
    "list_models, ns per row": (lists - warm) / 10 / len(names) * 1e9,
    "rows": len(names),
}))
"""


def checked_out(commit: str, folder: Path) -> Path:
    """The sources of a commit."""
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", commit, "src"], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder


def probed(root: Path, home: str) -> dict[str, float]:
    """The figures of one process with the sources under ``root``, without files of the user."""
    environment = os.environ | {"PYTHONPATH": str(root / "src"), "HOME": home, "XDG_CONFIG_HOME": home}
    run = subprocess.run([sys.executable, "-c", PROBE], env=environment, capture_output=True, check=True, cwd=home)
    found: dict[str, float] = json.loads(run.stdout)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compare what the catalog costs with an earlier version.")
    parser.add_argument("old", help="a commit")
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args(argv)
    with TemporaryDirectory() as folder:
        versions = {args.old: checked_out(args.old, Path(folder)), "now": ROOT}
        for root in versions.values():  # so that both have their bytecode
            probed(root, folder)
        rounds = [{name: probed(root, folder) for name, root in versions.items()} for _ in range(args.rounds)]
    print(f"{'':34} {args.old:>10} {'smallest':>10} {'now':>10} {'smallest':>10}")
    for figure in rounds[0]["now"]:
        found = {name: [each[name][figure] for each in rounds] for name in versions}
        shown = [f"{number:10.1f}" for values in found.values() for number in (median(values), min(values))]
        print(f"{figure:34} {' '.join(shown)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
