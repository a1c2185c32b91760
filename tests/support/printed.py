"""Run the code of a page as it is printed, in an empty folder, with stand-ins in place of the providers.

A catalog file and environment variables point segue and the providers' SDKs at the stand-ins, so that the printed code
is what users type. What a provider answers is in a comment of the page, as JSON:

    <!-- answers of anthropic: ["18 degrees.", {"call": "weather", "arguments": {"city": "Paris"}}] -->

An answer is a text, a call, a list of these, or a failure: `{"fault": "overloaded"}`. Without such a comment the
answers are "Answer 1." and so on. A block that cannot run is preceded by a comment with the reason: `<!-- not run: it
serves until it is stopped -->`.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from segue.testing import Fault, Reply, StandIn
from segue.types import AssistantContent, TextContent, ToolCall

ROOT = Path(__file__).parents[2]
PROVIDERS: dict[str, dict[str, str]] = {
    "anthropic": {"ANTHROPIC_API_KEY": "{key}", "ANTHROPIC_BASE_URL": "{url}"},
    "openai": {"OPENAI_API_KEY": "{key}", "OPENAI_BASE_URL": "{url}"},
    "google": {"GEMINI_API_KEY": "{key}", "GOOGLE_GEMINI_BASE_URL": "{url}"},
    "mistral": {"MISTRAL_API_KEY": "{key}"},
    "deepseek": {"DEEPSEEK_API_KEY": "{key}"},
    "moonshot": {"MOONSHOT_API_KEY": "{key}"},
    "groq": {"GROQ_API_KEY": "{key}", "GROQ_BASE_URL": "{url}"},
    "amazon-bedrock": {
        "AWS_ACCESS_KEY_ID": "{key}",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "{url}",
    },
}
"""The providers that pages use, with the variables that hold the key and tell an SDK the address."""


class Block(NamedTuple):
    """A block of code; ``not_run`` is the reason why it cannot run."""

    language: str
    code: str
    not_run: str = ""


_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<why>[^\n]*?) -->\n+)?```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^```",
    re.DOTALL | re.MULTILINE,
)
_ANSWERS = re.compile(r"<!-- answers of ([\w-]+): (.*?) -->", re.DOTALL)


def blocks(page: Path, *languages: str) -> list[Block]:
    """The blocks of a page in these languages, in order."""
    found = [Block(match["language"], match["code"], match["why"] or "") for match in _BLOCK.finditer(page.read_text())]
    return [block for block in found if block.language in languages]


def answers(page: Path) -> dict[str, list[Any]]:
    """What the providers of a page answer."""
    return {provider: json.loads(script) for provider, script in _ANSWERS.findall(page.read_text())}


def as_reply(answer: Any) -> Reply | Fault:
    """An answer in the notation of pages, or one of a script."""
    if isinstance(answer, Reply | Fault):
        return answer
    if isinstance(answer, dict) and "fault" in answer:
        return Fault(answer["fault"])
    return Reply([_as_block(block) for block in (answer if isinstance(answer, list) else [answer])])


def _as_block(block: Any) -> AssistantContent:
    return TextContent(block) if isinstance(block, str) else ToolCall("", block["call"], block.get("arguments", {}))


@contextmanager
def environment(folder: Path, scripts: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, str]]:
    """The environment of a user whose keys are set, in an empty home, with stand-ins in place of the providers."""
    (folder / "examples").symlink_to(ROOT / "examples")
    catalog = folder / "catalog.toml"
    basic = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "SEGUE_"))}
    variables = basic | {"HOME": str(folder), "SEGUE_CATALOG": str(catalog), "COLUMNS": "100"}
    rows = []
    with ExitStack() as stack:
        for provider, settings in PROVIDERS.items():
            script = [as_reply(answer) for answer in scripts.get(provider, ())]
            server = stack.enter_context(StandIn(provider, script=script))
            rows.append(f'[providers.{provider}]\nbase_url = "{server.url}"\n')
            variables |= {name: text.format(key=server.key, url=server.url) for name, text in settings.items()}
        catalog.write_text("\n".join(rows))
        yield variables


def run(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run a command with no input."""
    return subprocess.run(
        command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def run_python(code: str, folder: Path, variables: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    return run([sys.executable, "-W", "error::SyntaxWarning", "-c", code], folder, variables)
