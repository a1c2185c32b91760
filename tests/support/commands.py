"""Valid arguments for every command, and variants with another value for one of them."""

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import segue
from segue.cli import _parser
from segue.session import (
    AttemptFailed,
    CallStarted,
    Compacted,
    MessageAdded,
    ModelChosen,
    SystemPromptSet,
    TurnBegun,
    TurnEnded,
    TurnRenewed,
    export_session,
    open_store,
)
from segue.types import UserMessage
from support.kitchen import MODEL

TARGET = "mistral/mistral-large-latest"
USAGE = {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2}
TALK: dict[str, Any] = {
    "systemPrompt": "be brief",
    "tools": [{"name": "look", "description": "looks", "parameters": {"type": "object", "properties": {}}}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        {
            "role": "assistant",
            "provider": "openai",
            "model": "gpt-5.4",
            "api": "openai-responses",
            "stopReason": "error",
            "errorMessage": "it broke",
            "usage": USAGE,
            "content": [
                {"type": "thinking", "thinking": "hm", "thinkingSignature": "abcd"},
                {"type": "text", "text": "well"},
                {"type": "toolCall", "id": "c1", "name": "look", "arguments": {"where": "here", "how": ["well"]}},
            ],
        },
        {
            "role": "toolResult",
            "toolCallId": "c1",
            "toolName": "look",
            "isError": True,
            "content": [{"type": "text", "text": "seen"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}],
        },
        {
            "role": "toolResult",
            "toolCallId": "c9",
            "toolName": "other",
            "content": [{"type": "text", "text": "a stray"}],
        },
        {"role": "user", "content": "go on"},
    ],
}


def entries() -> list[Any]:
    messages = segue.Context.from_json(json.dumps(TALK)).messages
    messages_added = [MessageAdded(key=f"m{at}", time=1, message=message) for at, message in enumerate(messages)]
    return [
        SystemPromptSet(key="p", time=1, system_prompt="be brief"),
        ModelChosen(key="c", time=1, model="openai/gpt-5.4", protocol="openai-responses"),
        TurnBegun(key="b", time=1, model="openai/gpt-5.4", protocol="openai-responses", owner="here/1/0/x"),
        *messages_added,
        AttemptFailed(
            key="f", time=1, model="a/b", protocol="p", kind="server", text="it broke", then="retry", request_id="r"
        ),
        CallStarted(key="s", time=1, call="c1"),
        TurnRenewed(key="r", time=1),
        Compacted(key="k", time=1, summary=UserMessage("so far"), first="m4", model="a/b", details={"why": "long"}),
        TurnEnded(key="e", time=1, how="failed", reason="it broke"),
    ]


BASE: dict[str, Callable[[Path], list[str]]] = {
    "chat": lambda path: ["chat"],
    "run": lambda path: ["run", "hello", "--model", MODEL, "--store", str(path / "run.db")],
    "show": lambda path: ["show", str(path / "talk.json")],
    "models": lambda path: ["models"],
    "project": lambda path: ["project", str(path / "talk.json"), "--to", TARGET],
    "encode": lambda path: ["encode", str(path / "talk.json"), "--to", TARGET],
    "lint": lambda path: ["lint", str(path / "body.json")],
    "reproduce": lambda path: ["reproduce", str(path / "talk.json"), "--model", TARGET],
    "import": lambda path: ["import", str(path / "body.json")],
    "export": lambda path: ["export", str(path / "talk.json"), "--as", "mistral-chat"],
    "transcripts": lambda path: ["transcripts", "pi"],
    "transfer": lambda path: ["transfer", str(path / "pi.jsonl"), "codex", "--dry-run"],
    "studio": lambda path: ["studio", str(path / "talk.json"), "--no-open", "--port", "70000"],
    "bulk lint": lambda path: ["bulk", "lint", str(path / "talk.json"), "--out", str(path / "linted")],
    "bulk convert": lambda path: [
        *("bulk", "convert", str(path / "talk.json"), "--to", TARGET, "--out", str(path / "converted")),
    ],
    "bulk stats": lambda path: ["bulk", "stats", str(path / "talk.json"), "--out", str(path / "measured")],
    "learn": lambda path: ["learn", "openai/gpt-5.4", "--file", str(path / "learnt.toml")],
    "gateway": lambda path: ["gateway", "--port", "70000"],
    "standin": lambda path: ["standin", "anthropic"],
    "local": lambda path: ["local", "--port", "70000"],
    "doctor": lambda path: ["doctor"],
    "completion": lambda path: ["completion", "bash"],
    "sessions list": lambda path: ["sessions", "list", "--store", str(path / "s.db")],
    "sessions show": lambda path: ["sessions", "show", "one", "--store", str(path / "s.db")],
    "sessions check": lambda path: ["sessions", "check", "one", "--to", TARGET, "--store", str(path / "s.db")],
    "sessions fork": lambda path: ["sessions", "fork", "one", "--store", str(path / "s.db")],
    "sessions export": lambda path: ["sessions", "export", "one", "--store", str(path / "s.db")],
    "sessions import": lambda path: ["sessions", "import", str(path / "s.jsonl"), "--store", str(path / "s.db")],
    "sessions delete": lambda path: ["sessions", "delete", "nosuch", "--store", str(path / "s.db")],
}
"""Valid arguments for each command."""


def parser_of(command: str) -> argparse.ArgumentParser:
    """The parser of one command."""
    parser = _parser(command.split())
    for word in command.split():
        [subparsers] = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
        parser = subparsers.choices[word]
    return parser


def with_value(command: str, base: list[str], value: str) -> Iterator[list[str]]:
    """The arguments of a command, each time with another value for one option or positional argument."""
    depth = len(command.split())
    for action in parser_of(command)._actions:
        if action.option_strings and action.nargs != 0:
            yield [*base, f"{action.option_strings[-1]}={value}"]
        elif not action.option_strings and len(base) > depth and not base[depth].startswith("-"):
            yield [*base[:depth], value, *base[depth + 1 :]]
    yield [*base, value]
    yield [*base, f"--{value}"]
    yield [value, *base]


def make_files(tmp_path: Path) -> Path:
    """Create the files that the arguments name."""
    (tmp_path / "talk.json").write_text(json.dumps(TALK))
    body = segue.encode(segue.Context.from_json(json.dumps(TALK)), segue.get_model(TARGET)).json()
    (tmp_path / "body.json").write_bytes(body)
    stored = segue.transcripts.write(
        segue.Context.from_json(json.dumps(TALK)), "pi", directory=tmp_path / "pi", cwd="/tmp/x", now=1
    )
    stored.path.rename(tmp_path / "pi.jsonl")
    model = segue.Catalog.load().resolve("openai/gpt-5.4", "openai-completions")
    after = model.amended({"refused_keywords": ("pattern",)})
    segue.Facts(tmp_path / "learnt.toml").learn(model, after, ["refused_keywords"], "15b", "Failed")
    with open_store(str(tmp_path / "s.db")) as store:
        store.create("one", time=1)
        store.append("one", entries(), after=0)
        (tmp_path / "s.jsonl").write_bytes(b"".join(export_session(store, "one")))
    return tmp_path
