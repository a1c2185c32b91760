"""The tables of request fields: they are those of the SDKs, and a body is refused for its shape exactly where the types
of the SDK refuse it. The judges (support/type_judges.py) share no code with the tables."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from anthropic.types import message_create_params as stable
from support.journeys import CONVERSATIONS
from support.mutations import Examples, Mutant, mutants
from support.targets import built_in
from support.type_judges import JUDGES

import segue
from segue.errors import FormatError
from segue.rules import run, shape
from segue.rules.shape import Node, Table, faults, load
from segue.types import Model, Options
from segue.wire.registry import PROTOCOLS, protocol_of

ROOT = Path(__file__).parents[2]
WIRE = ROOT / "src" / "segue" / "wire"
RULE_CASES = ROOT / "tests" / "cases" / "rules"
# A command of the repository, not a package: it finds its neighbour the way a script does.
sys.path.insert(0, str(ROOT / "scripts"))
command = run_path(str(ROOT / "scripts" / "shapes.py"))


def table(name: str) -> Table:
    return load(WIRE / name)


@pytest.mark.parametrize("name", JUDGES)
def test_the_tables_are_those_of_the_pinned_sdks(name: str) -> None:
    """If an SDK was updated: make shapes, and read the difference."""
    assert command["written"](name) == (WIRE / name).read_text()


def test_every_table_is_judged() -> None:
    assert set(JUDGES) == set(command["TABLES"]) == {str(file.relative_to(WIRE)) for file in WIRE.rglob("shape*.json")}
    assert {name.partition("/")[0] for name in JUDGES} == {protocol.replace("-", "_") for protocol in PROTOCOLS}


# -- along the types -------------------------------------------------------------------------------------------------

EXCEPTIONS: tuple[tuple[str, str, str, str], ...] = (
    # Table, field, what was done to it ("given": nothing), and why table and types differ.
    ("anthropic_messages", r"Body\.(temperature|top_p|top_k)", "given", "gone from the types, older models have it"),
    ("anthropic_messages", r"Body\.anthropic_(version|beta)", "given", "in the body on Bedrock and Vertex"),
    ("anthropic_messages", r"Body\.model", "made ''", "the API wants a name, the types any text"),
    ("openai_completions/shape_groq", r"Body\.stream_options", "given", "sent by LangChain.js"),
    ("openai_responses", r"Body\.client_metadata", "given", "sent by Codex"),
    ("openai_responses", r"ResponseReasoningItemParam\.content", "made None", "sent by Codex"),
    ("openai_responses", r"OfAgents\.type", "given", "taken by the API, unknown to the SDK"),
    ("openai_responses", r"Message\.id", "given", "as the API lists messages"),
    ("openai_completions/shape.json", r"ChatCompletionAssistantMessageParam\.tool_calls", "made None", "as if absent"),
    ("openai_responses", r"(ResponseReasoningItemParam|LocalShellCall)\.id", "removed", "left out by Codex"),
    ("openai_responses", r"ResponseFunctionWebSearchParam\.id", "removed", "left out by Codex"),
    ("openai_responses", r"ResponseCustomToolCallParam\.status", "given", "sent by Codex"),
    ("openai_responses", r"ResponseInputImageParam\.detail", "removed", "left out by Codex"),
    ("openai_responses", r"ResponseOutputMessageParam\.id", "removed", "left out by Codex"),
    ("openai_responses", r"ResponseOutputMessageParam\.type", "removed", "left out by the AI SDK"),
    ("openai_responses", r"ResponseOutputMessageParam\.status", "removed", "left out by Codex"),
    ("openai_responses", r"ResponseOutputTextParam\.annotations", "removed", "left out by Codex"),
    ("openai_responses", r"FunctionToolParam\.parameters", "removed", "left out by clients"),
    ("openai_responses", r"FunctionToolParam\.strict", "removed", "left out by clients"),
    ("google_generative_ai", r"GenerationConfig\.(imageConfig|modelConfig)", "given", "written by the converters"),
    ("google_generative_ai", r"ImageConfig.*", "given", "written by the converters"),
    ("google_generative_ai", r"Body\.continuationToken", "of another form", "any text is bytes to pydantic"),
    ("google_generative_ai", r".*", r"made \{\}", "a single object will do for a list of them"),
    ("google_generative_ai", r"Interval\.(start|end)Time", "made 7", "pydantic reads a number as a time"),
    ("mistral_chat", r"Tool\.type", "removed", "`type` has a default"),
    ("mistral_chat", r"Prediction\.type", "removed", "`type` has a default"),
    ("mistral_chat", r"Body\.prediction", r"made \{\}", "`type` has a default"),
)  # fmt: skip


def is_exception(name: str, field: str, done: str) -> bool:
    return any(
        name.startswith(each) and re.fullmatch(where, field) and re.fullmatch(what, done)
        for each, where, what, _ in EXCEPTIONS
    )


# By the type of an object, the record that an exception names.
HOLDERS = {
    "openai_responses": {
        "reasoning": "ResponseReasoningItemParam",
        "message": "ResponseOutputMessageParam",
        "output_text": "ResponseOutputTextParam",
        "input_image": "ResponseInputImageParam",
        "function": "FunctionToolParam",
    },
    "mistral_chat": {"function": "Tool", "content": "Prediction"},
}


def field_at(name: str, body: Any, at: tuple[str | int, ...]) -> str:
    """The field at a place, with the record that its object is by its type."""
    for key in at[:-1]:
        body = body[key]
    tag = body.get("type") if isinstance(body, dict) else None
    holder = HOLDERS.get(name.partition("/")[0], {}).get(str(tag), "Body")
    return f"{holder}.{at[-1]}" if at else ""


@pytest.mark.parametrize("name", JUDGES)
def test_every_field_of_every_type_is_judged_as_by_the_types(name: str) -> None:
    """For each field of each object a body that has it; then the field removed, emptied, doubled, too long, of another
    kind, and with something unknown in it."""
    judge, known = JUDGES[name], table(name)
    wrong: list[str] = []
    tried = 0
    for field, at, body in Examples(known, command["TABLES"][name]()).bodies():
        assert not list(faults(body, known)), (field, body)
        if is_exception(name, field, "given"):
            assert judge(body), f"{field} is in the types by now: remove the exception"
            continue
        assert not judge(body), (field, body)
        for mutant in mutants(body, at):
            tried += 1
            ours, theirs = bool(list(faults(mutant.body, known))), bool(judge(mutant.body))
            place = field if mutant.at == at else field_at(name, body, mutant.at)
            if ours != theirs and not is_exception(name, place, mutant.done):
                wrong.append(f"{field} {mutant.done}: {'only we refuse it' if ours else 'only the types refuse it'}")
    assert wrong == []
    assert tried > 1_000


def test_whatever_the_stable_types_of_anthropic_have_the_table_has() -> None:
    """The table is made from the types of the beta."""
    kinds = (stable.MessageCreateParamsNonStreaming, stable.MessageCreateParamsStreaming)
    for field, _, body in Examples(command["typed_dicts"]("anthropic", *kinds)).bodies():
        assert not list(faults(body, table("anthropic_messages/shape.json"))), field


# -- bodies of the corpus --------------------------------------------------------------------------------------------

# By table: a model whose requests it describes.
MODELS = {
    "anthropic_messages/shape.json": "anthropic/claude-sonnet-4-5",
    "openai_completions/shape.json": "openai/gpt-4.1",
    "openai_completions/shape_groq.json": "groq/openai/gpt-oss-120b",
    "openai_completions/shape_cerebras.json": "cerebras/gpt-oss-120b",
    "openai_responses/shape.json": "openai/gpt-5.4",
    "google_generative_ai/shape.json": "google/gemini-3-pro-preview",
    "bedrock_converse/shape.json": "amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    "mistral_chat/shape.json": "mistral/magistral-medium-latest",
}


def model_of(name: str) -> Model:
    return built_in().resolve(MODELS[name], name.partition("/")[0].replace("_", "-"))


def encoded(name: str) -> Iterator[Any]:
    """What segue sends: histories of every origin, with options."""
    model = model_of(name)
    options = Options(max_tokens=5_000, stop=("END",), reasoning="low", cache="short", tool_choice="auto", stream=True)
    for context in CONVERSATIONS.values():
        yield json.loads(segue.encode(context, model, options).json())


def valid_cases(protocol: str) -> Iterator[tuple[Any, Model | None]]:
    for file in sorted((RULE_CASES / protocol).glob("*.json")):
        case = json.loads(file.read_text())
        yield case["good"], built_in().resolve(case["model"], protocol) if "model" in case else None


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_valid_body_is_accepted(protocol: str) -> None:
    for body, model in valid_cases(protocol):
        assert run(protocol_of(protocol).rules, body, model) == []


def kind_of_place(mutant: Mutant, body: Any) -> str:
    """What was done where, with items of lists named by their tags: each kind of place is tried once."""
    pieces = [mutant.done]
    for key in mutant.at:
        body = body[key]
        tags = [str(body.get(tag)) for tag in ("type", "role") if tag in body] if isinstance(body, dict) else []
        pieces.append(str(key) if isinstance(key, str) else ",".join(tags or list(body)[:1] if body else []))
    return "/".join(pieces)


@pytest.mark.parametrize("name", JUDGES)
def test_the_shape_rules_find_what_the_types_refuse_and_nothing_else(name: str) -> None:
    """Whole bodies with one place changed. What the types refuse has a finding that is an error; and a finding about
    the shape is there only where the types refuse."""
    judge, model = JUDGES[name], model_of(name)
    rules = protocol_of(model.protocol).rules
    shapes = [rule for rule in rules if rule.shape is not None and rule.check.__name__ == "_nothing"]
    seen: set[str] = set()
    wrong: list[str] = []
    for sent in encoded(name):
        body = {field: value for field, value in sent.items() if not is_exception(name, f"Body.{field}", "given")}
        assert judge(body) == []
        assert [finding for finding in run(rules, body, model) if finding.severity == "error"] == []
        for mutant in mutants(body):
            place = kind_of_place(mutant, body) if mutant.at else mutant.done
            if place in seen:
                continue
            seen.add(place)
            theirs = bool(judge(mutant.body))
            if is_exception(name, field_at(name, body, mutant.at), mutant.done):
                continue
            if theirs and not any(finding.severity == "error" for finding in run(rules, mutant.body, model)):
                wrong.append(f"{place}: only the types refuse it")
            if not theirs and run(shapes, mutant.body, model):
                wrong.append(f"{place}: only we refuse it")
    assert wrong == []
    assert len(seen) > 150


# -- anything else ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("body", [[], [{}], "text", 7, 7.5, True, None])
def test_a_body_that_is_not_an_object_is_a_finding(protocol: str, body: Any) -> None:
    for given in (body, json.dumps(body)) if not isinstance(body, str) else (json.dumps(body),):
        (finding,) = segue.lint(given, protocol)
        assert (finding.path, finding.severity) == ("", "error")
        assert "a request body is a JSON object" in finding.message
        with pytest.raises(FormatError):
            segue.lint(given)
        if not isinstance(body, list):  # a list of messages has no rules of a request, but it can be read
            with pytest.raises(FormatError):
                segue.ingest(given, protocol)


@pytest.mark.parametrize(
    ("protocol", "content", "path"),
    [
        ("bedrock-converse", [{"type": "text", "text": "hi"}], "messages[0].content[0].type"),
        ("openai-completions", [{"text": "hi"}], "messages[0].content[0].type"),
        ("mistral-chat", [{"text": "hi"}], "messages[0].content[0].type"),
        ("anthropic-messages", [{"text": "hi"}], "messages[0].content[0].type"),
    ],
)
def test_blocks_of_another_protocol_are_findings_if_the_protocol_is_named(
    protocol: str, content: Any, path: str
) -> None:
    body = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": content}]}
    found = {finding.path for finding in segue.lint(body, protocol) if finding.severity == "error"}
    assert path in found


def nodes(known: Table) -> Iterator[Node]:
    waiting = [node for record in known.records.values() for node in record.fields.values()]
    for node in waiting:
        yield node
        waiting += [inner.of for inner in (node.items, node.entries) if inner is not None]


@pytest.mark.parametrize("name", JUDGES)
def test_every_place_of_a_shape_accepts_some_value(name: str) -> None:
    assert all(node != Node() for node in nodes(table(name)))


@pytest.mark.parametrize("name", JUDGES)
def test_objects_without_distinct_tags_do_not_contain_themselves(name: str) -> None:
    """So that trying each of them costs a constant factor, however deep a body is."""
    records = table(name).records
    holds = {
        each: {inner for field in record.fields.values() for node in below(field) for inner in node.objects}
        for each, record in records.items()
    }
    for node in nodes(table(name)):
        for one in node.objects:
            twins = [other for other in node.objects if other != one and tags(records[one]) & tags(records[other])]
            assert not twins or one not in reachable(one, holds), (one, twins)


def below(node: Node) -> Iterator[Node]:
    yield node
    for inner in (node.items, node.entries):
        if inner is not None:
            yield from below(inner.of)


def tags(record: Any) -> set[Any]:
    field = record.fields.get("type")
    known = set() if field is None or field.text is None else set(field.text.values or ())
    return known if "type" in record.required else known | {None}


def reachable(start: str, holds: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [*holds[start]]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += holds[name]
    return found


def deep(depth: int) -> Any:
    schema: Any = {"type": "STRING", "nosuch": 1}
    for _ in range(depth):
        schema = {"type": "OBJECT", "properties": {"x": schema}}
    return {"contents": [], "tools": [{"functionDeclarations": [{"name": "f", "parameters": schema}]}]}


def test_nesting_costs_no_stack() -> None:
    """A schema may be nested without limit; faults at the bottom are found."""
    (fault,) = faults(deep(20_000), table("google_generative_ai/shape.json"))
    assert fault.sort == "unknown"
    assert fault.path.endswith(".nosuch")


def steps(body: Any, known: Table) -> int:
    """How many functions of the engine are called for a body."""
    counted = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal counted
        counted += event == "call" and frame.f_code.co_filename == shape.__file__

    sys.setprofile(count)
    try:
        list(faults(body, known))
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.parametrize("content", ["hi", [{"type": "nosuch", "x": [{}] * 3}], 7])
def test_the_work_grows_with_the_body_and_no_faster(content: Any) -> None:
    known = table("openai_responses/shape.json")
    small, large = (steps({"input": [{"role": "user", "content": content}] * size}, known) for size in (100, 1_000))
    assert large <= 10 * small
    known = table("google_generative_ai/shape.json")
    assert steps(deep(1_000), known) <= 11 * steps(deep(100), known)


@pytest.mark.parametrize("name", JUDGES)
def test_no_name_of_a_model_is_refused(name: str) -> None:
    """Types list the models of their day."""
    body = next(encoded(name))
    if "model" in table(name).records["Body"].fields:
        assert not list(faults(body | {"model": "a-model-of-tomorrow"}, table(name)))


# -- what real clients send ------------------------------------------------------------------------------------------

USER = {"role": "user", "content": "hi"}
CODEX = {
    "model": "gpt-5.4",
    "instructions": "You are Codex.",
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": None, "encrypted_content": "gAAAA"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "and?"}]},
    ],
    "store": False,
    "stream": True,
    "include": ["reasoning.encrypted_content"],
    "client_metadata": {"x-codex-installation-id": "1"},
}
GEMINI_CLI = {
    "contents": [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "look_1", "name": "look", "args": {}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "look_1", "name": "look", "response": {"output": "x"}}}],
        },
    ],
    "tools": [{"functionDeclarations": [{"name": "look", "parametersJsonSchema": {"type": "object"}}]}],
}


@pytest.mark.parametrize(
    ("body", "model", "numbers"),
    [
        (CODEX, "openai/gpt-5.4", set()),
        (GEMINI_CLI, "google/gemini-2.5-flash", set()),
        (GEMINI_CLI, "google-vertex/gemini-2.5-flash", {"GEM-13"}),
    ],
)
def test_bodies_of_codex_and_gemini_cli_are_accepted(body: Any, model: str, numbers: set[str]) -> None:
    """Codex 0.166 sends `client_metadata` and null for the content of reasoning, Gemini CLI 0.61 ids of calls."""
    found = segue.lint(body, model=segue.get_model(model))
    assert {finding.rule for finding in found} == numbers


# -- chat completions: who knows what --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "more", "refused"),
    [
        ("openai/gpt-4.1", {"messages": [USER | {"tool_calls": []}]}, {"messages[0].tool_calls"}),
        ("openai/gpt-4.1", {"messages": [USER | {"reasoning_content": "x"}]}, {"messages[0].reasoning_content"}),
        ("openai/gpt-4.1", {"store": True, "verbosity": "low"}, set()),
        ("fireworks/some-model", {"store": True}, {"store"}),
        ("groq/openai/gpt-oss-120b", {"store": True, "reasoning_format": "parsed"}, {"store"}),
        ("openai/gpt-4.1", {"reasoning_format": "parsed"}, {"reasoning_format"}),
        ("cerebras/gpt-oss-120b", {"reasoning_format": "parsed", "clear_thinking": True}, set()),
        ("moonshot/kimi-k2.5", {"thinking": {"type": "enabled"}, "anything": 1}, set()),
        ("vllm/some-model", {"messages": [USER], "chat_template_kwargs": {}, "top_k": 1}, set()),
    ],
)
def test_the_fields_that_a_member_of_the_family_knows_follow_its_dialect(
    model: str, more: Any, refused: set[str]
) -> None:
    body = {"model": "m", "messages": [USER], **more}
    target = built_in().resolve(model, "openai-completions")
    unknown = {"GRQ-01", "GRQ-02", "CER-01", "CER-02"}
    found = run(protocol_of("openai-completions").rules, body, target)
    assert {finding.path for finding in found if finding.rule in unknown} == refused
    assert all(finding.severity == "error" for finding in found if finding.rule in unknown)


def test_without_a_model_an_unknown_field_of_chat_completions_is_a_warning() -> None:
    found = segue.lint({"model": "m", "messages": [USER], "anything": 1}, "openai-completions")
    assert [(finding.rule, finding.severity) for finding in found] == [("CER-02", "warning")]
