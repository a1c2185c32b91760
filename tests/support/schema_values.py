"""Generated schemas, generated values for a schema, and schemas as pydantic generates them."""

from enum import Enum
from typing import Annotated, Any, Literal

from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

Json = st.SearchStrategy[Any]

SCALARS: Json = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from([0.5, 2.0, -1.5])
    | st.sampled_from(["", "a", "ab", "cat", "x1"])
)
ANY: Json = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "kind"]), inner, max_size=3),
    max_leaves=6,
)


def values(schema: Any, root: Any = None, depth: int = 0) -> Json:
    """Values of which many satisfy the schema; not all do."""
    root = schema if root is None else root
    if not isinstance(schema, dict) or depth > 6:
        return ANY
    if "$ref" in schema:
        return values(_target(root, schema["$ref"]), root, depth + 1)
    for keyword in ("anyOf", "oneOf"):
        if schema.get(keyword):
            rest = {name: value for name, value in schema.items() if name != keyword}
            branches = [values(_over(rest, branch, root), root, depth + 1) for branch in schema[keyword]]
            return st.one_of(branches)
    if "allOf" in schema:
        merged = {name: value for name, value in schema.items() if name != "allOf"}
        for part in schema["allOf"]:
            merged = _over(merged, part, root)
        return values(merged, root, depth + 1)
    if "const" in schema:
        return st.just(schema["const"])
    if schema.get("enum"):
        return st.sampled_from(schema["enum"])
    kinds = schema.get("type", "any")
    return st.one_of([_OF_KIND[kind](schema, root, depth) for kind in ([kinds] if isinstance(kinds, str) else kinds)])


def _over(outer: Any, inner: Any, root: Any) -> Any:
    if isinstance(inner, dict) and "$ref" in inner:
        inner = _over(_target(root, inner["$ref"]), {name: inner[name] for name in inner if name != "$ref"}, root)
    if not isinstance(inner, dict) or not isinstance(outer, dict):
        return inner if isinstance(inner, dict) else outer
    merged = outer | inner
    if "properties" in outer and "properties" in inner:
        merged["properties"] = outer["properties"] | inner["properties"]
    if "required" in outer and "required" in inner:
        merged["required"] = [*outer["required"], *inner["required"]]
    return merged


def _target(root: Any, reference: str) -> Any:
    found = root
    for step in reference.removeprefix("#").split("/")[1:]:
        found = found[step]
    return found


def _array(schema: Any, root: Any, depth: int) -> Json:
    if "prefixItems" in schema:
        return st.tuples(*[values(each, root, depth + 1) for each in schema["prefixItems"]]).map(list)
    if isinstance(schema.get("items"), list):
        return st.tuples(*[values(each, root, depth + 1) for each in schema["items"]]).map(list)
    least = int(schema.get("minItems", 0))
    return st.lists(values(schema.get("items", True), root, depth + 1), min_size=least, max_size=least + 2)


def _object(schema: Any, root: Any, depth: int) -> Json:
    properties = schema.get("properties", {})
    required = [name for name in schema.get("required", []) if name in properties]
    fixed = {name: values(properties[name], root, depth + 1) for name in required}
    free = {name: values(each, root, depth + 1) for name, each in properties.items() if name not in required}
    others = schema.get("additionalProperties", True)
    known: Json = st.fixed_dictionaries(fixed, optional=free)
    if others is False:
        return known
    more = st.dictionaries(st.sampled_from(["extra", "b"]), values(others, root, depth + 1), max_size=1)
    return st.tuples(more, known).map(lambda both: both[0] | both[1])


_OF_KIND: dict[str, Any] = {
    "any": lambda *_: ANY,
    "null": lambda *_: st.none(),
    "boolean": lambda *_: st.booleans(),
    "integer": lambda *_: st.integers(-5, 12),
    "number": lambda *_: st.integers(-5, 12) | st.sampled_from([0.5, 3.25]),
    "string": lambda *_: st.sampled_from(["", "a", "cat", "dog", "x1", "2026-11-18", "a longer text"]),
    "array": _array,
    "object": _object,
}


# -- schemas ---------------------------------------------------------------------------------------------------------

_LEAVES: Json = st.sampled_from(
    [
        {},
        True,
        {"type": "string"},
        {"type": "string", "minLength": 1, "pattern": "^[a-z]"},
        {"type": "string", "pattern": "(?=a).+"},
        {"type": "integer", "exclusiveMinimum": 1},
        {"type": "number", "minimum": 0, "multipleOf": 2},
        {"type": ["string", "null"]},
        {"type": ["integer", "string"], "default": 1},
        {"enum": ["a", 1, None]},
        {"type": "string", "enum": ["", "cat"]},
        {"const": 1},
        {"const": "cat"},
        {"type": "array"},
        {"type": "boolean", "description": "A flag"},
        {"type": "object"},
        {"$ref": "#/$defs/one"},
        {"$ref": "#/$defs/one", "description": "one of them"},
        {"$ref": "#/$defs/loop"},
        {"$ref": "#/$defs/loop", "title": "a loop"},
    ]
)


def _bigger(inner: Json) -> Json:
    named = st.dictionaries(st.sampled_from(["a", "b", "kind"]), inner, max_size=3)
    names = st.lists(st.sampled_from(["a", "b", "zzz"]), unique=True, max_size=2)
    an_object = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": named},
        optional={"required": names, "additionalProperties": st.just(False) | st.just(True) | inner},
    )
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        an_object,
        st.builds(lambda each: {"type": "array", "items": each}, inner),
        st.builds(lambda each: {"type": "array", "prefixItems": each, "minItems": 1}, several),
        st.builds(lambda each, rest: {"type": "array", "items": each, "additionalItems": rest}, several, inner),
        st.builds(lambda each: {"type": "array", "prefixItems": each, "items": False}, several),
        st.builds(lambda each: {"anyOf": each}, several),
        st.builds(lambda each: {"oneOf": each, "description": "one"}, several),
        st.builds(lambda each, outer: outer | {"anyOf": each}, several, an_object),
        st.builds(lambda each, outer: outer | {"oneOf": each}, several, an_object),
        st.builds(lambda each: {"allOf": each}, several),
        st.builds(lambda each, outer: outer | {"not": each}, inner, an_object),
        st.builds(lambda a, b, outer: outer | {"if": a, "then": b}, inner, inner, an_object),
        st.builds(lambda each, outer: outer | {"patternProperties": {"^x": each}}, inner, an_object),
    )


SCHEMAS: Json = st.recursive(_LEAVES, _bigger, max_leaves=6)


def _tool(root: Any, one: Any, loop: Any) -> Any:
    outer = root if isinstance(root, dict) and root.get("type") == "object" else {"properties": {"a": root}}
    definitions = {"one": one, "loop": {"type": "object", "properties": {"next": {"$ref": "#/$defs/loop"}, "v": loop}}}
    return {"type": "object"} | outer | {"$defs": definitions}


_PLAIN = _LEAVES.filter(lambda leaf: not isinstance(leaf, dict) or "$ref" not in leaf)
TOOLS: Json = st.builds(_tool, SCHEMAS, _PLAIN | st.recursive(_PLAIN, _bigger, max_leaves=3), _PLAIN)
"""Schemas of tools: an object, with a definition and a recursive one."""


# -- pydantic --------------------------------------------------------------------------------------------------------


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Number(Enum):
    ONE = 1
    TWO = 2


class Point(BaseModel):
    """A point."""

    x: float = Field(ge=0, lt=100, description="to the right")
    y: float = 0.0


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str = Field(min_length=1, max_length=20, pattern="^[a-z]")


class Tree(BaseModel):
    name: str
    children: list["Tree"] = []
    parent: "Tree | None" = None


class Left(BaseModel):
    right: "Right | None" = None


class Right(BaseModel):
    left: Left | None = None
    points: list[Point] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(9, gt=0)


class Dog(BaseModel):
    kind: Literal["dog"]
    good: bool = True


class Nested(BaseModel):
    point: Point = Field(description="where")
    again: Point
    closed: Closed
    points: list[Point]
    by_name: dict[str, Point]


class Recursive(BaseModel):
    tree: Tree = Field(description="the tree")
    trees: list[Tree] = []
    left: Left


class Optionals(BaseModel):
    number: int | None = None
    point: Point | None = Field(None, description="maybe a point")
    color: Color | None = None
    size: Literal["s", "m", None] = None
    anything: Any = None


class Unions(BaseModel):
    either: int | str
    shapes: Point | list[Point] | str
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    plain: Cat | Dog
    color: Color
    number: Number
    mixed: Literal["a", 1, True]


class Tuples(BaseModel):
    pair: tuple[float, float]
    record: tuple[str, Point, bool]
    many: tuple[int, ...]
    maybe: tuple[int, str] | None = None
    unique: set[int] = set()


class Odd(BaseModel):
    anything: Any
    free: dict[str, Any]
    numbers: dict[str, list[int | None]]
    nothing: None
    large: Annotated[int, Field(gt=5, multiple_of=5)]


MODELS: dict[str, type[BaseModel]] = {
    model.__name__: model for model in (Nested, Recursive, Tree, Optionals, Unions, Tuples, Odd)
}
"""Nested, recursive (also at the root), optional and union types, and others."""
