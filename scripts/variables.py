"""The environment variables that segue reads, for docs/environment.md: segue's own, the keys, and those of others.

A test compares the tables with the code: every variable that is read in `src/segue` has a row.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from segue.catalog import get_provider, list_providers

SOURCE = Path(__file__).parent.parent / "src" / "segue"

OWN = {
    "SEGUE_MODEL": "the model of `segue chat` and `segue run`, if none is named",
    "SEGUE_SESSIONS": "where sessions are stored: a file for SQLite, or a `postgresql://` address",
    "SEGUE_CATALOG": "a file with [your own rows](catalog.md#your-own-rows) of providers and models",
    "SEGUE_CATALOG_URL": "where `segue models --refresh` reads newer rows; by default `https://models.dev/api.json`",
    "SEGUE_REFRESHED": "the file in which it keeps them",
    "SEGUE_LEARN": "what is done with facts that [refusals](healing.md) of providers teach: `off`, `use` or `on`",
    "SEGUE_LEARNT": "the file in which these facts are kept",
    "SEGUE_GATEWAY_KEY": "the master key of the gateway whose requests `segue studio --gateway` shows",
    "SEGUE_DEBUG": "at the shell: show where an internal error happened",
}
"""Variables of segue, and what they set."""

OTHERS = {
    "XDG_CONFIG_HOME": "the folder with `segue/catalog.toml`; by default `~/.config`",
    "XDG_DATA_HOME": "the folder with `segue/sessions.db` and refreshed rows; by default `~/.local/share`",
    "XDG_STATE_HOME": "the folder with what segue has learnt; by default `~/.local/state`",
    "LOCALAPPDATA": "the same on Windows",
    "CLAUDE_CONFIG_DIR": "the folder of Claude Code with its sessions; by default `~/.claude`",
    "CODEX_HOME": "the folder of Codex with its sessions; by default `~/.codex`",
    "OPENCODE_DB": "the database of opencode; by default in `$XDG_DATA_HOME/opencode`",
    "PI_CODING_AGENT_SESSION_DIR": "the folder with the sessions of pi",
    "PI_CODING_AGENT_DIR": "the folder of pi, with its `sessions`; by default `~/.pi/agent`",
    "GEMINI_CLI_HOME": "the folder with `.gemini`, where Gemini CLI keeps its sessions; by default the home folder",
    "QWEN_HOME": "the folder of Qwen Code with its sessions; by default `~/.qwen`",
    "KIMI_CODE_HOME": "the folder of Kimi Code with its sessions; by default `~/.kimi-code`",
    "SSL_CERT_FILE": "a file with the certificates that are trusted instead of the usual ones",
    "SSL_CERT_DIR": "a folder with such certificates",
    "AWS_REGION": "the region of Bedrock; also `AWS_DEFAULT_REGION`",
    "AWS_DEFAULT_REGION": "the region of Bedrock, if `AWS_REGION` is not set",
    "PROMETHEUS_MULTIPROC_DIR": "where the workers of a gateway put their metrics; `segue gateway --workers` sets it",
    "PGPASSWORD": "the password for sessions on PostgreSQL; libpq reads its other variables, too",
    "PGCONNECT_TIMEOUT": "seconds until a connection to PostgreSQL fails",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "whether [spans](telemetry.md) have content",
    "OTEL_SEMCONV_STABILITY_OPT_IN": "whether [metrics](telemetry.md#names) have their new names",
}
"""Variables that other programs define, and what segue uses them for."""

BASIC = {"PATH"}
"""Read, but not a setting."""


def own() -> list[str]:
    return ["| variable | |", "|---|---|", *(f"| `{name}` | {text} |" for name, text in OWN.items())]


def others() -> list[str]:
    return ["| variable | |", "|---|---|", *(f"| `{name}` | {text} |" for name, text in OTHERS.items())]


def keys() -> list[str]:
    rows = ["| provider | name in segue | key, the first that is set | also | |", "|---|---|---|---|---|"]
    for name in list_providers():
        row = get_provider(name)
        also = ", ".join(f"`{each}`" for each in in_address(row.base_url))
        need = "" if row.needs_key else NEEDS_NO_KEY.get(name, "needs no key")
        rows.append(f"| {row.name} | `{name}` | {', '.join(f'`{key}`' for key in row.keys)} | {also} | {need} |")
    return rows


NEEDS_NO_KEY = {
    "google-vertex": "a path; without it, the application default credentials of this machine "
    "(`pip install 'segue[vertex]'`)",
    "amazon-bedrock": "a Bedrock key; without one, requests are signed with the AWS credentials of this machine "
    "(`pip install 'segue[bedrock]'`)",
}
"""Providers without a key that have credentials of another kind."""


def in_address(address: str) -> list[str]:
    """The variables in the address of a provider."""
    return list(dict.fromkeys(re.findall(r"\{([A-Z_]+)\}", address)))


def read_in_code() -> set[str]:
    """The variables that the code reads by their names."""
    return {name for path in SOURCE.rglob("*.py") for name in _read_in(path.read_text())}


def _read_in(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    constants = {
        node.targets[0].id: node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("environ.get", "getenv")):
            argument: ast.expr = node.args[0]
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("environ"):
            argument = node.slice
        else:
            continue
        name = argument.value if isinstance(argument, ast.Constant) else constants.get(getattr(argument, "id", ""))
        if isinstance(name, str):
            yield name
