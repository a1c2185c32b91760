"""Tool schemas by model: what single models refuse or misread, and what they get instead. (The forms themselves:
``tests/wire/common/test_schema.py``.)"""

from collections.abc import Iterator
from typing import Any

import pytest
from support.targets import built_in

import segue
from segue import Context
from segue.types import ToolDefinition, UserMessage

SCHEMA = {
    "type": "object",
    "properties": {
        "place": {"$ref": "#/$defs/Place", "description": "where"},
        "pair": {"type": "array", "items": [{"type": "number"}, {"type": "string"}]},
        "unit": {"type": "string", "anyOf": [{"type": "string"}, {"type": "null"}]},
        "anything": {"description": "free"},
        "kind": {"const": "now"},
        "days": {"type": "integer", "exclusiveMinimum": 0},
        "size": {"type": "integer", "enum": [1, 2]},
        "one": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    },
    "$defs": {"Place": {"type": "object", "properties": {"city": {"type": "string"}}}},
}
CONTEXT = Context(messages=[UserMessage("Go")], tools=[ToolDefinition("weather", "Weather", SCHEMA)])


def below(value: Any) -> Iterator[dict[str, Any]]:
    """All objects in a value."""
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from below(each)


def sent(name: str) -> list[dict[str, Any]]:
    """All objects in the tools that a model gets. The stored schema stays, and the change is reported."""
    made = segue.encode(CONTEXT, built_in().resolve(name))
    assert "schema-adapted" in [change.code for change in made.changes]
    assert CONTEXT.tools[0].schema == SCHEMA
    return list(below(made.body.get("tools") or made.body["toolConfig"]))


@pytest.mark.parametrize("name", ["moonshot/kimi-k3", "openrouter/moonshotai/kimi-k3", "kimi-coding/k3"])
def test_kimi_gets_what_moonshot_accepts(name: str) -> None:
    objects = sent(name)
    assert not any("$ref" in each for each in objects)
    assert not any(isinstance(each.get("items"), list) for each in objects)
    assert not any("anyOf" in each and "type" in each for each in objects)
    [properties] = [each["properties"] for each in objects if "place" in each.get("properties", {})]
    assert all("type" in each or "anyOf" in each for each in properties.values())


def test_lint_refuses_the_stored_schema_in_moonshot_s_words() -> None:
    model = built_in().resolve("moonshot/kimi-k3")
    raw = segue.export(CONTEXT, "openai-completions").body | {"model": model.id}
    answers = [str(finding.answers) for finding in segue.lint(raw, model.protocol, model)]
    assert any("not a valid moonshot flavored json schema" in text for text in answers)


@pytest.mark.parametrize(
    "name",
    [
        "zai/glm-5.3",
        "together/zai-org/GLM-5.3",
        "fireworks/accounts/fireworks/models/glm-5p3",
        "mistral/zai-glm-5-3",
        "amazon-bedrock/global.zai.glm-5.3",
        "dashscope/qwen3-32b",
        "openrouter/meta-llama/llama-4-maverick",
        "azure/grok-4.3",
    ],
)
def test_definitions_are_inlined_for_models_that_refuse_or_misread_references(name: str) -> None:
    assert not any("$ref" in each or "$defs" in each for each in sent(name))


def test_gemini_on_openrouter_gets_the_subset() -> None:
    found = {key for each in sent("openrouter/google/gemini-3.6-flash") for key in each}
    assert not found & {"$ref", "$defs", "const", "oneOf", "exclusiveMinimum"}


@pytest.mark.parametrize(
    "name",
    ["openai/gpt-5.4", "google/gemini-3.6-flash", "amazon-bedrock/us.amazon.nova-pro-v1:0", "anthropic/claude-opus-5"],
)
def test_no_list_of_schemas_is_sent_as_items(name: str) -> None:
    assert not any(isinstance(each.get("items"), list) for each in sent(name))
