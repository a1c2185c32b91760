"""Run the steps of the Dockerfile without Docker, in a temporary folder, and ask the gateway whether it is alive.

`make image` needs Python 3.13, as the image does, and port 4000. Copying and installing are real. Commands that would
change this machine (`useradd`, `install`) are only logged, so it does not show that the image's user may write where it
has to.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOGGED = ("useradd", "install")
CONFIG = """
[gateway]
listen = "127.0.0.1:4000"
store = "{folder}/gateway.db"
master_key = "sk-for-this-run"

[[keys]]
name = "me"
key = "sk-mine"
"""


def steps() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, with their arguments."""
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ")
    return [(name, rest.strip()) for name, rest in re.findall(r"^([A-Z]+) (.*)$", whole, re.MULTILINE)]


def prepare(folder: Path, version: str) -> dict[str, str]:
    """Make what the base image has: a Python of that version, and programs that are only logged."""
    python = shutil.which(f"python{version}")
    assert python, f"Python {version} is needed, as in the image"
    subprocess.run([python, "-m", "venv", str(folder / "python")], check=True)
    programs = folder / "python" / "bin"
    for name in LOGGED:
        (programs / name).write_text(f'#!/bin/sh\necho "not run: {name} $*"\n')
        (programs / name).chmod(0o755)
    basic = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return basic | {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder)}


def build(folder: Path, variables: dict[str, str]) -> None:
    """Copy and run, as the image would be built."""
    work = folder / "work"
    work.mkdir()
    for name, rest in steps():
        if name == "COPY":
            *sources, target = rest.split()
            for source in sources:
                path = work / target / Path(source).name if target.endswith("/") else work / target
                path.parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if (ROOT / source).is_dir() else shutil.copy)(ROOT / source, path)
        elif name == "RUN":
            print(f"RUN {rest}", flush=True)
            subprocess.run(rest, shell=True, cwd=work, env=variables, check=True)


def serve(folder: Path, variables: dict[str, str]) -> int:
    """Start the gateway as the image does, and run the health check once it listens."""
    found = dict(steps())
    config = folder / "segue.toml"
    config.write_text(CONFIG.format(folder=folder))
    command = [*json.loads(found["ENTRYPOINT"]), *json.loads(found["CMD"])]
    command = [str(config) if each.endswith("segue.toml") else each for each in command]
    check = json.loads(found["HEALTHCHECK"].removeprefix("CMD "))
    with subprocess.Popen(
        command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        timer = threading.Timer(60, process.kill)
        timer.start()
        listening = any("listens at" in line for line in process.stdout)
        status = subprocess.run(check, cwd=folder, env=variables).returncode if listening else 1
        process.kill()
        timer.cancel()
    return status


def main() -> int:
    """Build and serve. Return the status of the health check."""
    version = re.search(r"python:(\d+\.\d+)", dict(steps())["FROM"])
    assert version is not None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        variables = prepare(folder, version[1])
        build(folder, variables)
        status = serve(folder, variables)
    print("the gateway is alive" if status == 0 else "the gateway is not alive")
    return status


if __name__ == "__main__":
    sys.exit(main())
