"""Compare the requests of two versions of segue: both must encode the same conversations to the same bytes.

    python scripts/compare_encodings.py OLD_CHECKOUT [--count 300000] [--jobs 2]

Each case is made from its number alone: a conversation (torn, clean, or of several origins), a target, a policy,
options, and whether it is encoded from scratch or by a renderer while it grows. Compared are bodies byte for byte,
changes by code, message, block and loss, and errors by class and path.

The targets are one model for each distinct dialect in the catalog of the old version, in turn. Both versions get these
models with all of their fields, so a change of the catalog alone makes no difference. A field or cell that only the new
version has keeps its default. Differences are printed by kind, each with its count and its first case.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).resolve().parents[1]
HALF = "half \ud83d character"
IDS = ["", "a", "a", "b", "call_0", "toolu_01", "functions.bash:0", "abcdefghi", "call|fc_1", "x" * 90, HALF]
NAMES = ["bash", "bash", "bash", "read", "", "my.tool", "1st", "ünïcode", "n" * 80, "read-file"]
TEXTS = ["hello", "world", "let me see", "", " ", "\n\t", "\u3000", HALF, "日本語", "Error: it broke"]
SIGNATURES = [None, None, None, "c2ln", "reasoning_content", '[{"type":"reasoning.text"}]', '{"id":"rs_1"}']
VALUES: list[Any] = [1, 1.5, None, True, "日本語", "x", HALF, [1, {"deep": HALF}], {HALF: {}}, float("nan")]
POLICIES = [None, None, None, "or", "alchemy", "phi-core", "llxprt", "off"]
OTHERS = [
    ("anthropic-messages", "anthropic", "claude-sonnet-4-5"),
    ("openai-responses", "openai", "gpt-5.4"),
    ("google-generative-ai", "google", "gemini-3-pro"),
    ("nobody", "knows", "this"),
]

FIELDS = ("id", "name", "provider", "protocol", "base_url", "reasoning", "context_window", "max_tokens")
"""The fields of a target beside its input and its dialect."""
TARGETS = -1
"""The worker that prints the targets."""


class Maker:
    """Makes random conversations from a seed."""

    def __init__(self, seed: int, model: Any) -> None:
        self.random, self.model, self.number = Random(seed), model, 0
        self.own = (model.protocol, model.provider, model.id)

    def conversation(self) -> list[Any]:
        """Messages: mostly well-formed turns, with tears at a rate that differs from conversation to conversation."""
        self.tears = self.random.choice([0.0, 0.0, 0.05, 0.3, 0.8])
        self.origins = self.random.choice([[self.own], [self.own, self.own, *OTHERS], OTHERS])
        return [message for _ in range(self.random.randint(1, 8)) for message in self.turn()]

    def turn(self) -> list[Any]:
        from segue import ToolResultMessage, UserMessage

        messages: list[Any] = []
        if not self.torn():
            messages.append(UserMessage(self.user_blocks()))
        for _ in range(self.random.randint(0, 2)):
            messages += self.answered()
        if self.torn():
            messages.append(ToolResultMessage(self.pick(IDS), self.pick(NAMES), self.user_blocks(), self.torn()))
        return messages

    def answered(self) -> list[Any]:
        from segue import AssistantMessage, ToolCall, ToolResultMessage

        protocol, provider, name = self.pick(self.origins)
        content = [self.block() for _ in range(self.random.randint(0 if self.torn() else 1, 4))]
        calls = [block for block in content if isinstance(block, ToolCall)]
        stop = self.pick(["error", "aborted", "length"]) if self.torn() else "toolUse" if calls else "stop"
        answer = AssistantMessage(
            content=content, protocol=protocol, provider=provider, model=name, stop_reason=stop,
            endpoint=self.pick(["here", "there"]) if self.torn() else None,
            prefix_digest="0" * 32 if self.torn() else None,
        )  # fmt: skip
        results = [
            ToolResultMessage(
                self.pick(IDS) if self.torn() else call.id,
                "other" if self.torn() else call.name,
                self.user_blocks(),
                is_error=self.random.random() < 0.1,
                synthetic=self.torn() and self.torn(),
            )
            for call in calls
            if not self.torn()
        ]
        if self.torn():
            self.random.shuffle(results)
        return [answer, *results]

    def block(self) -> Any:
        from segue import TextContent, ThinkingContent, ToolCall

        kind = self.random.random()
        if kind < 0.3:
            return TextContent(self.text(), self.pick(SIGNATURES) if self.torn() else None)
        if kind < 0.55:
            redacted = self.random.random() < 0.1
            return ThinkingContent(self.text(), self.pick(SIGNATURES), redacted=redacted)
        self.number += 1
        arguments = {self.pick(["path", "n", "ü"]): self.pick(VALUES if self.torn() else VALUES[:6])}
        if self.torn():
            return ToolCall(self.pick(IDS), self.pick(NAMES), {HALF: 1, **arguments}, self.pick(SIGNATURES))
        made = self.pick([f"toolu_{self.number:024}", f"call_{self.number:024}", f"{self.number:09}", "call_0"])
        return ToolCall(made, self.pick(NAMES[:4]), arguments, self.pick(SIGNATURES[:4]))

    def user_blocks(self) -> list[Any]:
        from segue import ImageContent, TextContent

        image = ImageContent("iVBORw0KGgo=", "image/bmp" if self.torn() else "image/png")
        count = self.random.randint(0, 3) if self.torn() else self.pick([1, 1, 1, 2])
        return [image if self.random.random() < 0.15 else TextContent(self.text()) for _ in range(count)]

    def text(self) -> str:
        return str(self.pick(TEXTS)) if self.torn() else str(self.pick(TEXTS[:3]))

    def torn(self) -> bool:
        return self.random.random() < self.tears

    def pick(self, values: list[Any]) -> Any:
        return self.random.choice(values)


def targets() -> list[dict[str, Any]]:
    """One model for each distinct dialect of the catalog, as data that another version can read."""
    from msgspec import to_builtins

    from segue.catalog import Catalog

    found: dict[Any, Any] = {}
    for model in Catalog.load(None).resolve_all():
        found.setdefault((model.protocol, model.dialect, "image" in model.input, model.reasoning), model)
    models = sorted(found.values(), key=lambda model: (model.protocol, model.ref))
    return [{name: to_builtins(getattr(model, name)) for name in model.__struct_fields__} for model in models]


def read_target(stored: dict[str, Any]) -> Any:
    """A model of the old version as one of this version."""
    from msgspec import convert

    from segue import Model
    from segue.dialects import DIALECTS

    dialect = DIALECTS[stored["protocol"]]
    cells = {name: cell for name, cell in stored["dialect"].items() if name in dialect.__struct_fields__}
    known = {name: value for name, value in stored.items() if name in FIELDS}
    return Model(**known, input=tuple(stored["input"]), dialect=convert(cells, dialect))


def outcomes(models: list[Any], first: int, step: int, count: int) -> Iterator[dict[str, Any]]:
    """The encodings of the cases by this version; several for a growing conversation."""
    from segue import Context, Options, Renderer, ToolDefinition, encode

    options = [None, Options(stream=True, cache="short", reasoning="high"), Options(cache="long", max_tokens=2_000)]
    done, case = 0, first
    while done < count:
        model = models[case % len(models)]
        maker = Maker(case, model)
        messages, random = maker.conversation(), maker.random
        policy, asked = random.choice(POLICIES), random.choice(options)
        tools = [ToolDefinition(name, "does it", {"type": "object"}) for name in random.choice([[], NAMES[:4], NAMES])]
        prompt = random.choice([None, "Be brief.", " ", HALF])
        if random.random() < 0.5:
            contexts, make = [messages], lambda context: encode(context, model, asked, policy)  # noqa: B023
        else:
            cuts = sorted(random.sample(range(len(messages) + 1), min(4, len(messages) + 1)))
            contexts = [messages[:cut] for cut in cuts]
            renderer = Renderer(model, policy)
            make = lambda context: renderer.request(context, asked)  # noqa: B023, E731
        for at, part in enumerate(contexts):
            found = outcome(lambda: make(Context(system_prompt=prompt, messages=part, tools=tools)))  # noqa: B023
            yield {"case": case, "at": at, "protocol": model.protocol, "model": model.ref, "policy": policy, **found}
            done += 1
        case += step


def outcome(make: Any) -> dict[str, Any]:
    """The body and the changes; or the error."""
    try:
        request = make()
        body = request.json().decode()
        changes = [(change.code, change.message, change.block, change.lossy) for change in request.changes]
        return {"body": body, "changes": changes, "path": request.path}
    except Exception as error:  # noqa: BLE001  (errors are compared, too)
        return {"error": type(error).__name__, "path": getattr(error, "path", "")}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("old", type=Path)
    parser.add_argument("--count", type=int, default=300_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--worker", type=int, default=None, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker == TARGETS:
        print(json.dumps(targets()))
        return
    if args.worker is not None:
        models = [read_target(each) for each in json.load(sys.stdin)]
        for found in outcomes(models, args.worker, args.jobs, args.count // args.jobs):
            sys.stdout.write(json.dumps(found, sort_keys=True) + "\n")
        return
    models, _ = start(args.old, TARGETS, args).communicate()
    compared, kinds, first = 0, Counter[str](), {}
    for worker in range(args.jobs):
        sides = [start(root, worker, args) for root in (args.old, HERE)]
        for side in sides:
            side.stdin.write(models)
            side.stdin.close()
        for lines in zip(*(side.stdout for side in sides), strict=True):
            compared += 1
            if lines[0] != lines[1]:
                old, new = map(json.loads, lines)
                kind = f"{old['protocol']}: {'; '.join(differences(old, new))}"
                kinds[kind] += 1
                first.setdefault(kind, f"case {old['case']}, part {old['at']}, {old['model']}, policy {old['policy']}")
        if any(side.wait() for side in sides):
            raise SystemExit("a worker failed")
    for kind, count in kinds.most_common():
        print(f"{count} x {kind} ({first[kind]})")
    print(f"{compared} encodings compared, {kinds.total()} different")
    raise SystemExit(kinds.total() > 0)


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """In which fields two outcomes differ, and which changes only one of them reports."""
    if "error" in old or "error" in new:
        return [f"error {old.get('error')}, now {new.get('error')}"]
    found = sorted({*paths(json.loads(old["body"]), json.loads(new["body"]))})[:6]
    reported, now = (Counter(map(tuple, side["changes"])) for side in (old, new))
    found += sorted(
        {f"no longer {code}" for code, *_ in reported - now} | {f"also {code}" for code, *_ in now - reported}
    )
    return found or ["another order"]


def paths(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """The places where two JSON values differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in {**old, **new}:
            if name in old and name in new:
                yield from paths(old[name], new[name], f"{path}.{name}")
            else:
                yield f"{path}.{name} {'is missing' if name in old else 'is new'}"
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for before, after in zip(old, new, strict=True):
            yield from paths(before, after, f"{path}[]")
    elif old != new:
        yield path


def start(root: Path, worker: int, args: argparse.Namespace) -> Any:
    command = [sys.executable, __file__, str(args.old), "--worker", str(worker)]
    command += ["--jobs", str(args.jobs), "--count", str(args.count)]
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "PYTHONHASHSEED": "0"}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


if __name__ == "__main__":
    main()
