"""``Options.response_format`` accepts schemas and types, and ``parse`` reads answers or says what is wrong."""

from dataclasses import dataclass
from typing import Any, TypedDict

import msgspec
import pydantic
import pytest

import segue
from segue import AssistantMessage, FormatError, Options, ToolCall, parse


class City(msgspec.Struct):
    name: str
    people: int = 0


class Model(pydantic.BaseModel):
    name: str
    people: int = pydantic.Field(default=0, ge=0)


@dataclass
class Plain:
    name: str
    people: int = 0


class Typed(TypedDict):
    name: str


SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@pytest.mark.parametrize(
    "kind", [City, Model, Plain, Typed, SCHEMA], ids=lambda kind: getattr(kind, "__name__", "dict")
)
def test_types_and_schemas_are_formats_and_answers_are_read_as_them(kind: Any) -> None:
    wanted = Options(response_format=kind).response_format
    assert isinstance(wanted, segue.ResponseFormat)
    assert wanted.schema["type"] == "object" and "name" in wanted.schema["properties"]
    assert wanted.name == ("answer" if kind is SCHEMA else kind.__name__)
    value = parse(AssistantMessage('{"name": "Paris"}'), kind)
    assert (value["name"] if isinstance(value, dict) else value.name) == "Paris"
    assert Options(response_format=wanted).response_format == wanted


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"name": "Paris"}\n```',
        '```\n{"name": "Paris"}\n```\n',
        '\n```JSON \t\n{"name": "Paris"}```',
        ' {"name":"Paris"} ',
    ],
)
def test_json_in_a_block_of_code_is_read(text: str) -> None:
    assert parse(AssistantMessage(text), City) == City("Paris")


FAULTS: dict[str, tuple[str, Any, str]] = {
    "not JSON": ("Paris has 2 million people.", City, "the answer does not have the form: JSON is malformed"),
    "another type": ('{"name": 3}', City, "name: the answer does not have the form: Expected `str`, got `int`"),
    "a missing field": ("{}", City, "the answer does not have the form: Object missing required field `name`"),
    "a constraint": (
        '{"name": "x", "people": -1}',
        Model,
        "people: the answer does not have the form: Input",
    ),
    "pydantic, not JSON": ("Paris", Model, "the answer does not have the form: Invalid JSON"),
    "a schema": ('{"name": 3}', SCHEMA, 'name: the answer does not have the form: 3 is not of type "string"'),
    "a schema, not JSON": ("Paris", SCHEMA, "the answer does not have the form: JSON is malformed"),
    "nothing": ("", City, "the answer has no text"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_an_answer_without_the_form_raises_a_format_error(name: str) -> None:
    text, kind, message = FAULTS[name]
    with pytest.raises(FormatError) as wrong:
        parse(AssistantMessage(text), kind)
    assert str(wrong.value).startswith(message)


def test_the_error_says_if_the_answer_failed_was_cut_or_calls_a_tool() -> None:
    with pytest.raises(FormatError, match="the answer failed: overloaded"):
        parse(AssistantMessage("", stop_reason="error", error_message="overloaded"), City)
    with pytest.raises(FormatError, match="reached its limit of length, so its JSON is not complete"):
        parse(AssistantMessage('{"name": "Pa', stop_reason="length"), City)
    assert parse(AssistantMessage('{"name": "Paris"}', stop_reason="length"), City) == City("Paris")
    with pytest.raises(FormatError, match="the answer has no text; it calls weather"):
        parse(AssistantMessage([ToolCall("1", "weather", {})]), City)


WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "a list": (list[City], ValueError, "must describe an object; put any other value in a field of one"),
    "an array": ({"type": "array"}, ValueError, "must describe an object"),
    "of OpenAI": (
        {"type": "json_schema"},
        ValueError,
        "is the JSON schema itself",
    ),
    "a value": (3, TypeError, "option response_format: "),
    "a class without a schema": (object, TypeError, "object has no JSON schema"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_a_format_is_refused_at_once(name: str) -> None:
    wanted, error, text = WRONG[name]
    with pytest.raises(error, match=text):
        Options(response_format=wanted)
    with pytest.raises(TypeError, match="parse reads an AssistantMessage, not a str"):
        parse("{}", City)  # type: ignore[call-overload]


@pytest.mark.parametrize("filler", [" ", "\n", "\t", "```", "``` ", "```\n", "{", "\\"])
def test_a_long_text_that_is_no_json_is_refused_at_once(filler: str) -> None:
    """Expressions that find the end of a fence take hours for this."""
    for text in (filler * 1_000_000 + "x", "```json\n" + filler * 1_000_000 + "x", "```" + filler * 1_000_000 + "```"):
        with pytest.raises(FormatError):
            parse(AssistantMessage(text), City)
