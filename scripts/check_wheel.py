"""Build the wheel and the sdist, and check them as a user would get them.

`make wheel`: both contain what they should and nothing else, pass `twine check`, and the wheel works in an empty
environment of every Python that is present, away from the source tree. `make release` also checks with `--resolve` that
every dependency, with all extras, has a wheel for each supported Python.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
DATA = {
    "segue/py.typed",
    "segue/catalog/compiled.json",
    "segue/catalog/families.toml",
    "segue/catalog/models.json",
    "segue/catalog/providers.toml",
    "segue/studio/assets/keys.js",
    "segue/studio/assets/live.js",
    "segue/studio/assets/studio.css",
    "segue/studio/assets/studio.js",
    "segue/testing/local.jinja",
    "segue/wire/anthropic_messages/shape.json",
    "segue/wire/bedrock_converse/shape.json",
    "segue/wire/google_generative_ai/shape.json",
    "segue/wire/mistral_chat/shape.json",
    "segue/wire/openai_completions/shape.json",
    "segue/wire/openai_completions/shape_cerebras.json",
    "segue/wire/openai_completions/shape_groq.json",
    "segue/wire/openai_responses/shape.json",
}
"""The files of the package that are not Python."""
ASSETS = "segue/studio/assets/"
MOST_OF_ASSETS = 60_000
"""Bytes of the studio's style and scripts."""
INFO = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
BESIDE = {".gitignore", "CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
"""The files of the sdist beside src/ and examples/."""
SMOKE = """
from pathlib import Path

import segue

home = Path(segue.__file__)
assert "site-packages" in home.parts, home
assert (home.parent / "py.typed").exists()
for name in segue.__all__:
    getattr(segue, name)
context = segue.Context.from_json(Path("conversation.json").read_bytes())
assert segue.Context.from_json(context.to_json()) == context
assert segue.get_model("anthropic/claude-sonnet-5").context_window > 0
"""
COMMANDS = (["--version"], ["show", "conversation.json"], ["models", "--json", "claude-sonnet-5"])


def package() -> set[str]:
    """The files that the wheel contains of the package: all its Python, and the data."""
    source = ROOT / "src"
    return DATA | {str(path.relative_to(source)) for path in source.rglob("*.py")}


def wheel_files(version: str) -> set[str]:
    """The files of the wheel."""
    return package() | {f"segue-{version}.dist-info/{name}" for name in INFO}


def sdist_files(version: str) -> set[str]:
    """The files of the sdist."""
    examples = {path.relative_to(ROOT) for path in (ROOT / "examples").rglob("*") if path.is_file()}
    shown = {str(path) for path in examples if "__pycache__" not in path.parts}
    return {f"segue-{version}/{name}" for name in BESIDE | shown | {f"src/{name}" for name in package()}}


def built(folder: Path) -> tuple[Path, Path]:
    """Build both into a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def differences(wheel: Path, sdist: Path) -> Iterator[str]:
    """What is missing in the two files, and what should not be there."""
    version = wheel.name.split("-")[1]
    with zipfile.ZipFile(wheel) as file:
        found = {wheel: (set(file.namelist()), wheel_files(version))}
        assets = sum(each.file_size for each in file.infolist() if each.filename.startswith(ASSETS))
    if assets >= MOST_OF_ASSETS:
        yield f"{wheel.name}: the studio's assets have {assets:,} bytes; fewer than {MOST_OF_ASSETS:,} are allowed"
    with tarfile.open(sdist) as archive:
        found[sdist] = ({each.name for each in archive.getmembers() if each.isfile()}, sdist_files(version))
    for path, (has, should) in found.items():
        yield from (f"{path.name}: {name} is missing" for name in sorted(should - has))
        yield from (f"{path.name}: {name} should not be there" for name in sorted(has - should))


def environment(python: str, folder: Path, *requirements: str) -> Path:
    """Make an environment and install requirements. Return its folder of programs."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    subprocess.run([*pip, *requirements], check=True)
    return folder / "bin"


def pythons() -> Iterator[tuple[str, str]]:
    """The supported versions of Python that are present, and their programs."""
    for version in PYTHONS:
        program = shutil.which(f"python{version}") or ""
        if program and subprocess.run([program, "-c", ""], capture_output=True).returncode == 0:
            yield version, program


def check_installed(wheel: Path, python: str, folder: Path) -> None:
    """Install the wheel with nothing but what it asks for, and use it."""
    programs = environment(python, folder, "--constraint", str(ROOT / "requirements" / "run.txt"), str(wheel))
    shutil.copy(ROOT / "examples" / "three-models.json", folder / "conversation.json")
    basic = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for arguments in COMMANDS:
        command = [str(programs / "segue"), *arguments]
        subprocess.run(command, cwd=folder, env=basic, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([str(programs / "python"), "-c", SMOKE], cwd=folder, env=basic, check=True)
    studio = [str(programs / "segue"), "studio", "--no-open"]
    done = subprocess.run(studio, cwd=folder, env=basic, capture_output=True, text=True, check=False)
    if done.returncode != 2 or "pip install 'segue[studio]'" not in done.stderr:
        raise SystemExit(f"without its extra, segue studio must say how to install it, not: {done.stderr}")


def resolve(wheel: Path, version: str, folder: Path) -> str:
    """Find wheels of all dependencies for a version of Python. Return an empty text, or pip's error."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--dry-run", "--quiet"]
    flags = ["--ignore-installed", "--only-binary=:all:", "--python-version", version, "--target", str(folder)]
    done = subprocess.run(
        [*command, *flags, f"{wheel}[{','.join(sorted(extras))}]"], capture_output=True, text=True, check=False
    )
    return done.stderr.strip() if done.returncode else ""


def main() -> int:
    """Check everything, and return 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resolve", action="store_true", help="also look for wheels of all dependencies")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, sdist = built(folder / "dist")
        faults = [*differences(wheel, sdist)]
        programs = environment(sys.executable, folder / "publish", "-r", str(ROOT / "requirements" / "publish.txt"))
        subprocess.run([str(programs / "twine"), "check", "--strict", str(wheel), str(sdist)], check=True)
        for version, program in pythons():
            check_installed(wheel, program, folder / version)
            print(f"the wheel works on Python {version}", flush=True)
        for version in PYTHONS if arguments.resolve else ():
            fault = resolve(wheel, version, folder / "target")
            faults += [f"Python {version}: {fault}"] if fault else []
            print(f"Python {version}: {fault or 'all dependencies have wheels, with all extras'}", flush=True)
    print("\n".join(faults) or f"{wheel.name} and {sdist.name} contain what they should")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
