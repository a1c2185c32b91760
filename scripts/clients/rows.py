"""The clients: one row each. What differs between them is here, and nowhere else.

The commands, variables and files are those that worked with the versions of the packages below (run 2026-11-18).
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

NODE = "node@22"
"""Most clients need it."""
LAST = "last"
"""The latest session of the directory."""
SHELLS = ("Bash", "bash", "shell", "exec_command", "shell_command", "run_shell_command")
"""Names of the tool that runs a command."""


class Family(NamedTuple):
    """A provider that a stand-in plays: the model that is asked, and the protocol that it speaks."""

    title: str
    model: str
    protocol: str

    @property
    def provider(self) -> str:
        return self.model.partition("/")[0]


FAMILIES = {
    "anthropic": Family("Anthropic", "anthropic/claude-sonnet-4-5", "anthropic-messages"),
    "openai": Family("OpenAI", "openai/gpt-5.1", "openai-responses"),
    "google": Family("Google", "google/gemini-2.5-pro", "google-generative-ai"),
    "deepseek": Family("DeepSeek", "deepseek/deepseek-v4-flash", "openai-completions"),
}
CHAT = Family("Qwen", "dashscope/qwen3.6-plus", "openai-completions")
"""Of the providers that speak Chat Completions, one whose models think and see."""
MODELS = (
    *(f"to-{name}" for name in FAMILIES),
    "moving",
    *(each.model.partition("/")[2] for each in (*FAMILIES.values(), CHAT)),
)
"""All names that clients ask for; some want to know them in advance."""


class Ask(NamedTuple):
    """One turn: the model's name, what is typed, the session to continue (its id, file or ``LAST``), an image."""

    model: str
    prompt: str
    session: str = ""
    image: str = ""


class Client(NamedTuple):
    """A client.

    ``own`` is the provider that it speaks to without a gateway, ``families`` are those that it is sent to through one.
    ``tool`` is the name of its format in ``segue.transcripts``, and ``sessions`` where it keeps them below its home.
    ``loses`` names what it does not store itself.
    """

    package: str
    tool: str
    own: Family
    families: tuple[str, ...]
    sessions: str
    command: Callable[[Ask], list[str]]
    variables: Callable[[str], dict[str, str]] = lambda url: {}
    files: Callable[[str], dict[str, str]] = lambda url: {}
    loses: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        return self.package.rpartition("@")[2]

    def prepare(self, home: Path, url: str) -> None:
        """Write its settings."""
        for name, text in self.files(url).items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def _session(ask: Ask, last: list[str], named: str) -> list[str]:
    """The options that continue a session."""
    return [] if not ask.session else last if ask.session == LAST else [named, ask.session]


def _mentioned(ask: Ask) -> str:
    """What is typed, for clients that look for files in it."""
    return f"{ask.prompt} @{ask.image}" if ask.image else ask.prompt


def _claude(ask: Ask) -> list[str]:
    more = _session(ask, ["-c"], "--resume")
    flags = ["--allowedTools", "Bash,Read", "--output-format", "json", "--model", ask.model]
    return ["claude", *more, "-p", _mentioned(ask), *flags]


def _codex(ask: Ask) -> list[str]:
    flags = ["--skip-git-repo-check", "--json", "--dangerously-bypass-approvals-and-sandbox", "-m", ask.model]
    more = ["resume", "--last" if ask.session == LAST else ask.session] if ask.session else []
    return ["codex", "exec", *more, *flags, ask.prompt, *(["-i", ask.image] if ask.image else [])]


def _codex_files(url: str) -> dict[str, str]:
    provider = f'[model_providers.gw]\nname = "gw"\nbase_url = "{url}/v1"\nenv_key = "GW_KEY"\nwire_api = "responses"\n'
    return {".codex/config.toml": f'model_provider = "gw"\n{provider}'}


def _gemini(ask: Ask) -> list[str]:
    more = _session(ask, ["--resume", "latest"], "--resume")
    return ["gemini", "--yolo", "--skip-trust", "-o", "json", "-m", ask.model, *more, "-p", _mentioned(ask)]


def _opencode(ask: Ask) -> list[str]:
    more = _session(ask, ["-c"], "-s")
    image = ["-f", ask.image] if ask.image else []
    return ["opencode", "run", ask.prompt, "--format", "json", "-m", f"gw/{ask.model}", *more, *image]


def _opencode_files(url: str) -> dict[str, str]:
    model = {
        "reasoning": True,
        "attachment": True,
        "tool_call": True,
        "modalities": {"input": ["text", "image"], "output": ["text"]},
        "limit": {"context": 200_000, "output": 32_000},
    }
    provider = {
        "npm": "@ai-sdk/anthropic",
        "options": {"baseURL": f"{url}/v1", "apiKey": "k"},
        "models": {name: {"name": name, **model} for name in MODELS},
    }
    settings = {"autoupdate": False, "permission": "allow", "provider": {"gw": provider}}
    return {".config/opencode/opencode.json": json.dumps(settings)}


def _pi(ask: Ask) -> list[str]:
    more = _session(ask, ["-c"], "--session")
    image = [f"@{ask.image}"] if ask.image else []
    return ["pi", "--provider", "gw", "--model", ask.model, "--thinking", "high", *more, "-p", *image, ask.prompt]


def _pi_files(url: str) -> dict[str, str]:
    model = {"reasoning": True, "input": ["text", "image"], "contextWindow": 200_000, "maxTokens": 32_000}
    models = [{"id": name, "name": name, **model} for name in MODELS]
    compat = {
        "supportsStore": False,
        "supportsDeveloperRole": False,
        "supportsReasoningEffort": False,
        "maxTokensField": "max_tokens",
    }
    provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "k", "compat": compat, "models": models}
    return {".pi/agent/models.json": json.dumps({"providers": {"gw": provider}})}


def _qwen(ask: Ask) -> list[str]:
    more = _session(ask, ["--continue"], "--resume")
    return ["qwen", "--yolo", "--auth-type", "openai", "-o", "json", "-m", ask.model, *more, "-p", _mentioned(ask)]


CLIENTS: dict[str, Client] = {
    "Claude Code": Client(
        "@anthropic-ai/claude-code@2.1.326",
        "claude-code",
        FAMILIES["anthropic"],
        ("openai", "google", "deepseek"),
        ".claude/projects/*/*.jsonl",
        _claude,
        lambda url: {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "k", "DISABLE_AUTOUPDATER": "1"},
    ),
    "Codex": Client(
        "@openai/codex@0.169.0",
        "codex",
        FAMILIES["openai"],
        ("anthropic", "google", "deepseek"),
        ".codex/sessions/*/*/*/*.jsonl",
        _codex,
        lambda url: {"GW_KEY": "k"},
        _codex_files,
    ),
    "Gemini CLI": Client(
        "@google/gemini-cli@0.61.0",
        "gemini-cli",
        FAMILIES["google"],
        ("openai", "anthropic", "deepseek"),
        ".gemini/tmp/*/chats/*.jsonl",
        _gemini,
        lambda url: {
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_API_KEY": "k",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        lambda url: {".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'},
        ("thinking in one piece", "running calls"),  # it stores a call with its result, and pieces of thoughts
    ),
    "opencode": Client(
        "opencode-ai@1.18.33",
        "opencode",
        FAMILIES["anthropic"],
        ("openai", "google"),
        ".local/share/opencode/opencode.db",
        _opencode,
        lambda url: {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        _opencode_files,
    ),
    "pi": Client(
        "@earendil-works/pi-coding-agent@0.87.1",
        "pi",
        CHAT,
        ("anthropic", "google"),
        ".pi/agent/sessions/*/*.jsonl",
        _pi,
        lambda url: {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"},
        _pi_files,
    ),
    "Qwen Code": Client(
        "@qwen-code/qwen-code@0.24.4",
        "qwen-code",
        CHAT,
        ("anthropic", "google"),
        ".qwen/projects/*/chats/*.jsonl",
        _qwen,
        lambda url: {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "k"},
    ),
}
