"""Nothing that a request says is silent: every field of the SDKs' request types is mapped, or reported by its path."""

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.mutations import Examples, Place

import segue
from segue.errors import FormatError
from segue.rules.shape import Node, load
from segue.types import FileContent, ProviderContent
from segue.wire.common.requests import SHOWN_AS_TEXT
from segue.wire.registry import PROTOCOLS

WIRE = Path(segue.__file__).parent / "wire"


def read(body: Any, protocol: str) -> segue.ReadRequest | None:
    """Everything in the body; ``None`` if it is refused."""
    try:
        return segue.read_request(copy.deepcopy(body), protocol, now=1)
    except FormatError:
        return None


def said(request: segue.ReadRequest) -> tuple[Any, ...]:
    return request.context, request.model, request.options


def shown(at: Place) -> str:
    """A place as a path."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in at).removeprefix(".")


def is_reported(request: segue.ReadRequest, path: str) -> bool:
    """Whether the field at ``path`` is reported, or an object that it is in, or everything in it."""
    paths = [change.detail.partition(": ")[0] for change in request.changes]
    return any(path == each or path.startswith((f"{each}.", f"{each}[")) or each.startswith(path) for each in paths)


def without(body: Any, at: Place) -> Any:
    changed = copy.deepcopy(body)
    holder = changed
    for key in at[:-1]:
        holder = holder[key]
    del holder[at[-1]]
    return changed


def with_value(body: Any, at: Place, value: Any) -> Any:
    changed = copy.deepcopy(body)
    holder = changed
    for key in at[:-1]:
        holder = holder[key]
    holder[at[-1]] = value
    return changed


def values(node: Node, example: Any) -> list[Any]:
    """Values of a field: all words, both flags, two numbers."""
    found = [example]
    if node.text is not None:
        found += node.text.values or ["another"]
    if node.flag:
        found += [True, False]
    if node.number is not None:
        found += [1, 2]
    return found


BASES: dict[str, dict[str, Any]] = {
    # Bodies need a conversation.
    "openai-responses": {"input": "Hi"},
    "google-generative-ai": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    "bedrock-converse": {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]},
}
ROLES = {"google-generative-ai": ("user", "model"), "bedrock-converse": ("user", "assistant")}


def variants(body: Any, protocol: str) -> Iterator[Any]:
    """The body with a conversation, and with a turn of each role around what it has, if the table does not decide."""
    turns = "contents" if "contents" in body else "messages"
    if protocol not in ROLES or turns not in body:
        yield BASES.get(protocol, {}) | body
        return
    for role in ROLES[protocol]:
        yield body | {turns: [turn | {"role": role} for turn in body[turns]]}


def is_empty(value: Any) -> bool:
    """Whether a value says nothing: what is in an optional object is tried field by field."""
    return value in ({}, [], [{}], None, "")


def silent_fields(protocol: str) -> set[str]:
    """Every field and value that makes no difference and is not reported."""
    table = load(WIRE / protocol.replace("-", "_") / "shape.json")
    found = set()
    for name, at, example in FullerExamples(table).bodies():
        record, _, field = name.rpartition(".")
        for body in variants(example, protocol):
            base = read(without(body, at), protocol)
            for value in values(table.records[record].fields[field], _get(body, at)):
                request = read(with_value(body, at, value), protocol)
                if request is None or is_reported(request, shown(at)) or (is_empty(value) and name not in PRESENT):
                    continue
                if base is None or said(base) != said(request):
                    continue
                found.add(f"{name} = {value!r}")
    return found


PRESENT = {f"Tool.{kind}" for kind in ("googleSearch", "codeExecution", "urlContext", "googleMaps")}
"""Fields that say something even if they are empty."""

HARMLESS: tuple[tuple[str, str], ...] = (
    # Fields and values that may be silent, and why.
    (r"[\w.]+\.type = .+", "the kind of an object, which is also implied by its place or its other fields"),
    (r"Body\.(stream|store|background|logprobs|safe_prompt) = False", "what happens without it"),
    (r"CitationsConfig\.enabled = False", "the default"),
    (r"Body\.n = 1|GenerationConfig\.candidateCount = 1", "one answer, as without it"),
    (r"Body\.truncation = 'disabled'|Body\.service_tier = 'auto'|Body\.modalities = \['text'\]", "the default"),
    (r"\w*ToolChoice\w*\.disable_parallel_tool_use = False", "the default"),
    (r"GenerationConfig\.responseLogprobs = False|AssistantMessage\.prefix = False", "the default"),
    (r"ThinkingConfig\.includeThoughts = False", "no thoughts are asked for, as without it"),
    (r"FunctionCallingConfig\.mode = 'MODE_UNSPECIFIED'", "no choice"),
    (r"[\w.]*(ToolFunction|FunctionToolParam)\.strict = False", "the default of segue's own tools"),
    (r"(ImageURL|ResponseInputFile\w*)\.detail = 'auto'|\w+\.status = '(completed|success)'", "the default"),
    (r"BetaToolResultBlockParam\.is_error = False|Part\.thought = False", "the default"),
    (r"Body\.response_format = {'type': 'text'}|ResponseTextConfigParam\.format = {'type': 'text'}", "plain text"),
    (r"ChatCompletionStreamOptionsParam\.include_usage = True", "segue always asks for the usage"),
    (r"[\w.]*PromptCacheBreakpoint\.\w+ = .*|BetaCacheControl\w+\.ttl = '5m'|CachePointBlock\.ttl = '5m'", "a marker"),
    (r"BetaPlainTextSourceParam\.media_type = 'text/plain'", "the only type of such a document"),
    (r"BetaThinkingConfig\w+\.block_binding = .*|BetaThinkingBlockBinding\w+\.\w+ = .*", "segue decides on it"),
    (r"[\w.]*(JSONSchema|JSONSchemaConfigParam)\.strict = True", "segue always asks for it"),
    (r"Body\.anthropic_version = .*", "a header, in the body on Bedrock and Vertex"),
    (r"ToolCall\.index = \d|ThinkChunk\.closed = .*", "part of a streamed answer; it means nothing in a request"),
    (
        r"Message\.id = .*|ResponseReasoningItemParam\.(id|status) = .*",
        "refers to stored items; there are none",
    ),
    (r"AdditionalTools\.role = .*|Content\.role = .*|Body\.systemInstruction = {'role': .*", "a role without content"),
)
FULLER: dict[str, dict[str, Any]] = {
    # Values without which a field has no meaning.
    "JSONSchema": {"schema": {"type": "object"}},
    "ResponseFormatTextJSONSchemaConfigParam": {"schema": {"type": "object"}},
    "JsonSchemaDefinition": {"schema": '{"type": "object"}'},
}


class FullerExamples(Examples):
    def smallest(self, name: str, *more: str) -> dict[str, Any]:
        return super().smallest(name, *more) | FULLER.get(name, {})


def _get(body: Any, at: Place) -> Any:
    for key in at:
        body = body[key]
    return body


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_field_of_the_sdk_is_mapped_or_reported(protocol: str) -> None:
    found = silent_fields(protocol)
    assert {each for each in found if not any(re.fullmatch(pattern, each) for pattern, _ in HARMLESS)} == set()


def test_no_row_of_the_harmless_values_is_superfluous() -> None:
    found = {each for protocol in PROTOCOLS for each in silent_fields(protocol)}
    assert [pattern for pattern, _ in HARMLESS if not any(re.fullmatch(pattern, each) for each in found)] == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_carried_is_not_reported_as_text(protocol: str) -> None:
    """The table of fields in ``read.py`` follows the reader in ``ingest.py``."""
    table = load(WIRE / protocol.replace("-", "_") / "shape.json")
    for name, _, example in FullerExamples(table).bodies():
        for body in variants(example, protocol):
            request = read(body, protocol)
            if request is not None and any(SHOWN_AS_TEXT in change.detail for change in request.changes):
                blocks = [block for message in request.context.messages for block in message.content]
                assert not [block for block in blocks if isinstance(block, FileContent | ProviderContent)], name


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_unknown_field_is_reported_wherever_it_is(protocol: str) -> None:
    table = load(WIRE / protocol.replace("-", "_") / "shape.json")
    for name, at, example in FullerExamples(table).bodies():
        for body in variants(example, protocol):
            known = read(body, protocol)
            request = None if known is None else read(with_value(body, (*at[:-1], "x_new"), 7), protocol)
            if known is None or request is None or request.context != known.context:  # the block is kept as it is
                continue
            assert is_reported(request, shown((*at[:-1], "x_new"))), name
