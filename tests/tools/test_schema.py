"""A typed function becomes a tool: schema from the signature, descriptions from the docstring."""

import asyncio
import enum
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pydantic
import pytest
from support.batches import ran
from support.providers import MODELS

import segue
from segue.tools import Scheduler, Tool, as_tool, tool


class Unit(enum.Enum):
    CELSIUS = "c"
    FAHRENHEIT = "f"


@dataclass
class Place:
    """A place on earth."""

    city: str
    country: str = "DE"


class Window(TypedDict, total=False):
    first: int
    last: int


class Tree(msgspec.Struct):
    name: str
    children: "list[Tree]" = []


def weather(
    place: Place,
    unit: Unit = Unit.CELSIUS,
    days: Annotated[int, "How many days"] = 1,
    *,
    how: Literal["fast", "slow"] | None = None,
) -> str:
    """Tell the weather.

    It is often wrong.

    Args:
        place: Where.
        days: Not this text.
        how: In what way.

    Returns:
        A text.
    """
    return f"{place.city} {unit.name} {days} {how}"


def test_the_schema_of_a_function_has_types_descriptions_defaults_and_required_names() -> None:
    made = tool(weather)
    assert made.name == "weather"
    assert made.definition.description == "Tell the weather.\n\nIt is often wrong."
    assert made.definition.schema == {
        "type": "object",
        "properties": {
            "place": {"$ref": "#/$defs/Place", "description": "Where."},
            "unit": {"$ref": "#/$defs/Unit", "default": "c"},
            "days": {"description": "How many days", "type": "integer", "default": 1},
            "how": {
                "anyOf": [{"enum": ["fast", "slow"], "type": "string"}, {"type": "null"}],
                "description": "In what way.",
            },
        },
        "required": ["place"],
        "additionalProperties": False,
        "$defs": {
            "Place": {
                "title": "Place",
                "description": "A place on earth.",
                "type": "object",
                "properties": {"city": {"type": "string"}, "country": {"type": "string", "default": "DE"}},
                "required": ["city"],
            },
            "Unit": {"title": "Unit", "enum": ["c", "f"], "type": "string"},
        },
    }


ANNOTATIONS: list[tuple[Any, dict[str, Any]]] = [
    (str, {"type": "string"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (Any, {}),
    (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
    (list[str], {"type": "array", "items": {"type": "string"}}),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
    (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}),
    (Literal[1, 2], {"enum": [1, 2], "type": "integer"}),
    (Window, {"$ref": "#/$defs/Window"}),
    (Tree, {"$ref": "#/$defs/Tree"}),
    (Path, {"type": "string"}),
    (Annotated[int, msgspec.Meta(ge=1, description="A")], {"type": "integer", "minimum": 1, "description": "A"}),
    (list[Annotated[int, "Each"]], {"type": "array", "items": {"type": "integer", "description": "Each"}}),
    (Annotated[int, "Deep"] | None, {"anyOf": [{"type": "integer", "description": "Deep"}, {"type": "null"}]}),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "schema"), ANNOTATIONS, ids=str)
def test_each_annotation_has_its_schema(annotation: Any, schema: dict[str, Any]) -> None:
    def function(value: Any) -> None: ...

    function.__annotations__["value"] = annotation
    made = tool(function).definition.schema
    assert made["properties"]["value"] == schema
    assert made["required"] == ["value"]


def google(a: int, b: str) -> None:
    """Do it.

    Args:
        a: The first.
        b (str): The second,
            on two lines.
    """


def numpy(a: int, b: str) -> None:
    """Do it.

    Parameters
    ----------
    a : int
        The first.
    b : str
        The second,
        on two lines.
    """


def sphinx(a: int, b: str) -> None:
    """Do it.

    :param a: The first.
    :param str b: The second,
        on two lines.
    """


@pytest.mark.parametrize("function", [google, numpy, sphinx])
def test_the_usual_styles_of_docstrings_are_read(function: Callable[..., Any]) -> None:
    definition = tool(function).definition
    assert definition.description == "Do it."
    assert [each["description"].split() for each in definition.schema["properties"].values()] == [
        ["The", "first."],
        ["The", "second,", "on", "two", "lines."],
    ]


class Counter:
    """Counts."""

    def __call__(self, step: int) -> int:
        return step

    def method(self, step: int = 2) -> int:
        """Count by a method."""
        return step

    async def other(self, step: int) -> int:
        return step


async def later(step: int) -> int:
    """Count later."""
    return step


@functools.wraps(later)
async def wrapped(*args: Any, **kwargs: Any) -> Any:
    return await later(*args, **kwargs)


@pytest.mark.parametrize(
    ("function", "name", "description"),
    [
        (Counter(), "Counter", "Counts."),
        (Counter().method, "method", "Count by a method."),
        (Counter().other, "other", ""),
        (later, "later", "Count later."),
        (wrapped, "later", "Count later."),
        (functools.partial(later), "later", "Count later."),
    ],
)
def test_any_callable_can_be_a_tool(function: Any, name: str, description: str) -> None:
    definition = as_tool(function).definition
    assert (definition.name, definition.description) == (name, description)
    assert definition.schema["properties"]["step"]["type"] == "integer"


def test_arguments_bound_by_a_partial_are_not_in_the_schema() -> None:
    made = tool(functools.partial(weather, days=3), name="three_days")
    assert set(made.definition.schema["properties"]) == {"place", "unit", "how"}


def test_the_decorator_works_with_and_without_settings() -> None:
    @tool
    def bare() -> None: ...

    @tool(name="other", description="Something else.", alone=True, approval=True, timeout=3)
    def configured() -> None:
        """Not this."""

    assert isinstance(bare, Tool) and not (bare.alone or bare.approval or bare.process or bare.timeout)
    assert (
        isinstance(configured, Tool)
        and configured.name == "other"
        and configured.definition.description == "Something else."
    )
    assert configured.alone and configured.approval and configured.timeout == 3
    assert as_tool(configured) is configured


def of_any_number(*values: int) -> None: ...
def of_any_name(**values: int) -> None: ...
def by_position(value: int, /) -> None: ...
def of_no_schema(value: complex) -> None: ...
def of_no_type(value: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821
def that_yields() -> Any:
    yield 1


async def that_yields_later() -> Any:
    yield 1


REFUSED = [
    (of_any_number, "'values' accepts any number"),
    (of_any_name, "'values' accepts any names"),
    (by_position, "'value' is positional-only"),
    (of_no_schema, "complex has no JSON schema"),
    (of_no_type, "'Nowhere' is not defined"),
    (that_yields, "returns one value"),
    (that_yields_later, "returns one value"),
    (lambda: None, "name="),
    (3, "not int"),
]


@pytest.mark.parametrize(("function", "reason"), REFUSED)
def test_a_function_that_cannot_be_a_tool_is_refused_with_the_reason_on_one_line(function: Any, reason: str) -> None:
    with pytest.raises(segue.SettingError, match=reason) as caught:
        tool(function)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_a_timeout_must_be_positive(timeout: float) -> None:
    with pytest.raises(segue.SettingError, match="timeout"):
        tool(weather, timeout=timeout)


@pytest.mark.parametrize("limit", ["parallel", "timeout", "output", "images", "grace"])
def test_a_negative_limit_is_refused(limit: str) -> None:
    with pytest.raises(segue.SettingError, match=limit):
        segue.ToolLimits(**{limit: -1})


def test_a_worker_runs_only_functions_that_it_can_import() -> None:
    def local() -> None: ...

    for function in (local, later, Counter().method, functools.partial(weather)):
        with pytest.raises(segue.SettingError, match="worker"):
            tool(function, process=True)
        with pytest.raises(segue.SettingError, match="worker"):
            Tool(segue.ToolDefinition("x"), function, process=True)


@pytest.mark.parametrize("model", MODELS.values(), ids=list(MODELS))
def test_every_protocol_accepts_the_generated_schemas(model: segue.Model) -> None:
    def everything(tree: Tree, window: Window, unit: Unit = Unit.CELSIUS, free: Any = None) -> None:
        """Accept all kinds."""

    context = segue.Context(
        messages=[segue.UserMessage("Hello")], tools=[tool(weather).definition, tool(everything).definition]
    )
    request = segue.encode(context, model)
    assert not [each for each in segue.lint(request.body, model.protocol, model) if each.severity == "error"]


class Leaf(pydantic.BaseModel):
    size: int = pydantic.Field(ge=1)


class Branch(pydantic.BaseModel):
    """A branch."""

    leaves: list[Leaf]
    next: "Branch | None" = None


def test_pydantic_models_are_supported() -> None:
    def grow(branch: Branch, leaf: Leaf | None = None) -> Branch:
        assert isinstance(branch.next, Branch) and leaf == Leaf(size=2)
        return branch.next

    made = tool(grow)
    assert set(made.definition.schema["$defs"]) == {"Branch", "Leaf"}
    arguments = {"branch": {"leaves": [], "next": {"leaves": [{"size": "3"}]}}, "leaf": {"size": 2}}
    [good, bad] = ran(Scheduler([made]), ("grow", arguments), ("grow", {"branch": {"leaves": [{"size": 0}]}})).texts
    assert good == '{"leaves":[{"size":3}],"next":null}'
    assert "branch.leaves[0].size: 0 is less than the minimum of 1" in bad


def test_a_decorated_function_can_still_be_called() -> None:
    @segue.tool(name="forecast")
    def weather(city: str, days: int = 1) -> str:
        """The weather."""
        return f"{days} days in {city}"

    @segue.tool
    async def later(city: str) -> str:
        return city

    assert weather("Paris", days=2) == "2 days in Paris" and weather.name == "forecast"
    assert str(inspect.signature(weather)) == "(city: str, days: int = 1) -> str"
    assert asyncio.run(later("Rome")) == "Rome"


def test_tools_may_be_passed_to_a_conversation() -> None:
    @segue.tool
    def weather(city: str) -> str:
        return city

    context = segue.Context([segue.UserMessage("Hi")], tools=[weather, segue.ToolDefinition("other")])
    assert context.tools == [weather.definition, segue.ToolDefinition("other")]
