"""Vercel AI SDK: with_vercel_ai.mjs talks to Mistral directly, and then through the gateway."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from showing import show

from segue.testing import StandIn

FOLDER = Path(os.environ.get("NODE_FOLDER", "."))  # where `npm install ai @ai-sdk/openai-compatible` was run
PROGRAM = Path(__file__).with_suffix(".mjs")
CONFIG = """
[gateway]
listen = "127.0.0.1:0"
store = "{folder}/gateway.db"

[providers.mistral]
base_url = "{server.url}"
api_key = "{server.key}"
"""


@contextmanager
def gateway(server: StandIn) -> Iterator[str]:
    """Run `segue gateway`, and yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "segue.toml")
        config.write_text(CONFIG.format(folder=folder, server=server))
        command = [sys.executable, "-m", "segue", "gateway", "--config", str(config)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            assert process.stdout is not None
            yield next(found[0] for line in process.stdout if (found := re.search(r"http://\S+", line)))
            process.terminate()
            process.communicate()


def run(url: str, key: str | None) -> str:
    program = FOLDER / PROGRAM.name
    program.write_text(PROGRAM.read_text())
    command = ["node", str(program), f"{url}/v1", str(key)]
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ).stdout.strip()


def ask(server: StandIn, repaired: bool) -> str:
    if not repaired:
        return run(server.url, server.key)
    with gateway(server) as url:
        return run(url, "anything")


show(ask, PROGRAM.read_text())
