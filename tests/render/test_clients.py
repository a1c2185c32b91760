"""Bodies of real clients are read completely: ``tests/cases/clients``, one recorded body per file.

Every field is mapped, or it is reported. ``silent`` lists those that ask for nothing that segue does not do anyway.
"""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.targets import built_in

import segue
from segue.errors import FormatError
from segue.types import Message, ProviderContent, ToolCall, UserMessage

FOLDER = Path(__file__).parent.parent / "cases" / "clients"
CASES = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
Place = tuple[str | int, ...]


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """The place of every field and entry of a body."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield (*at, key)
        yield from places(each, (*at, key))


def without(body: Any, at: Place) -> Any:
    changed = copy.deepcopy(body)
    holder = changed
    for key in at[:-1]:
        holder = holder[key]
    del holder[at[-1]]
    return changed


def shown(at: Place) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in at).removeprefix(".")


def read(body: Any, protocol: str) -> tuple[Any, list[str]] | None:
    """What was read, and the places that were reported; ``None`` if the body cannot be read."""
    try:
        request = segue.read_request(body, protocol, now=1)
    except FormatError:
        return None
    reported = [change.detail.partition(": ")[0] for change in request.changes]
    return (request.context.to_json(), request.options, request.model), reported


@pytest.mark.parametrize("name", CASES)
def test_every_field_is_mapped_or_reported(name: str) -> None:
    case = CASES[name]
    body, protocol = case["body"], case["protocol"]
    found = read(body, protocol)
    assert found is not None
    said, reported = found
    silent = set()
    for at in places(body):
        place = shown(at)
        if any(place == each or place.startswith((f"{each}.", f"{each}[")) for each in reported):
            continue
        changed = read(without(body, at), protocol)
        if changed is not None and changed[0] == said and not any(each.startswith(place) for each in reported):
            silent.add(re.sub(r"\[\d+\]", "[*]", place))
    assert sorted(silent) == case["silent"]
    assert sorted({re.sub(r"\[\d+\]", "[*]", each) for each in reported}) == case["reported"]


@pytest.mark.parametrize("name", CASES)
def test_the_body_is_recognised_and_its_conversation_fits_every_vendor(name: str) -> None:
    case = CASES[name]
    request = segue.read_request(case["body"])
    assert request.protocol == case["protocol"]
    for ref in ("anthropic/claude-opus-4-8", "openai/gpt-5.6-terra", "google/gemini-3-pro-preview"):
        model = built_in().resolve(ref)
        assert segue.lint(segue.encode(request.context, model).body, model.protocol, model=model) == [], ref


def messages(name: str) -> list[Message]:
    return segue.read_request(CASES[name]["body"], CASES[name]["protocol"]).context.messages


def test_system_text_in_mid_conversation_is_an_injected_user_message() -> None:
    second = messages("claude-code")[1]
    assert isinstance(second, UserMessage) and second.injected
    assert second.content[0].type == "text" and "of the system." in second.content[0].text


def test_searches_of_the_provider_are_kept() -> None:
    kinds = [block.kind for each in messages("claude-code") for block in each.content if type(block) is ProviderContent]
    assert kinds == ["server_tool_use", "web_search_tool_result"]


def test_free_text_tools_keep_their_grammar_and_namespaces_their_tools() -> None:
    patch = segue.read_request(CASES["codex-apply-patch"]["body"]).context.tools
    assert [(tool.name, tool.kind, (tool.format or {}).get("syntax")) for tool in patch if tool.kind] == [
        ("apply_patch", "custom", "lark")
    ]
    added = segue.read_request(CASES["codex-additional-tools"]["body"]).context.tools
    assert ("exec", "custom", "functions") in [(tool.name, tool.kind, tool.namespace) for tool in added]
    calls = [block for each in messages("codex-additional-tools") for block in each.content if type(block) is ToolCall]
    assert [(call.name, call.kind, call.namespace) for call in calls] == [("exec", "custom", "functions")]
