"""Run the recipes of examples/recipes, each with its framework in an environment of its own.

`make recipes` installs the frameworks at the versions of requirements/frameworks into .venv/NAME, and compares what
each recipe prints with examples/recipes/NAME.txt, which the pages show. `--write` writes these files.
`--installed FOLDER` uses environments that exist.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECIPES, REQUIREMENTS = ROOT / "examples" / "recipes", ROOT / "requirements" / "frameworks"
SHOWN = ("without segue:", "with segue:", "segue's log:", "history:")
"""The first words of the lines that recipes print themselves; frameworks print more."""
QUIET = {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OTEL_SDK_DISABLED": "true",
    "SEGUE_LEARN": "off",
}
"""Nothing is sent to anybody, and what an earlier run learnt is not used."""


def names() -> list[str]:
    """The recipes."""
    return sorted(path.stem.removeprefix("with_") for path in RECIPES.glob("with_*.py"))


def install(name: str, folder: Path) -> None:
    """Install a framework and this project into an environment; packages of npm beside it."""
    if not folder.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    subprocess.run([*pip, "-r", str(REQUIREMENTS / f"{name}.txt"), "--editable", str(ROOT)], check=True)
    packages = REQUIREMENTS / f"{name}.npm"
    if packages.exists():
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder)]
        subprocess.run([*npm, *packages.read_text().split()], check=True)


def run(name: str, folder: Path) -> tuple[bool, str]:
    """Whether a recipe did what it shows, and the lines that it printed."""
    program = RECIPES / f"with_{name}.py"
    variables = {**os.environ, **QUIET, "NODE_FOLDER": str(folder)}
    done = subprocess.run(
        [str(folder / "bin" / "python"), str(program)], env=variables, capture_output=True, text=True, timeout=300
    )
    shown = [line for line in done.stdout.splitlines() if line.startswith(SHOWN)]
    if done.returncode:
        print(done.stderr, file=sys.stderr)
    return done.returncode == 0, "\n".join(shown) + "\n"


def main() -> int:
    """Run the recipes, and return 1 if one failed or printed something else."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(names())} (default: all)")
    parser.add_argument("--write", action="store_true", help="write what is printed to examples/recipes/NAME.txt")
    parser.add_argument("--installed", type=Path, help="a folder with an environment for each framework")
    args = parser.parse_args()
    failed = []
    for name in args.names or names():
        folder = (args.installed or ROOT / ".venv") / name
        if args.installed is None:
            install(name, folder)
        worked, shown = run(name, folder)
        output = RECIPES / f"{name}.txt"
        if args.write and worked:
            output.write_text(shown)
        if not worked or shown != output.read_text():
            failed.append(name)
        print(f"{name}: {'failed' if name in failed else 'ok'}\n{shown}", flush=True)
    print(f"failed: {', '.join(failed)}" if failed else "all recipes did what their pages show")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
