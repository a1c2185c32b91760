"""The definition of a tool from a typed function: its signature gives the schema, its docstring the descriptions.

msgspec knows the schema of an annotation; what is added here are names, descriptions, defaults and clear complaints.
"""

import inspect
import pathlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec

from ..errors import SettingError
from ..types import ToolDefinition

_WHY_NOT = {
    inspect.Parameter.POSITIONAL_ONLY: "is positional-only; a model gives arguments by name",
    inspect.Parameter.VAR_POSITIONAL: "takes any number of values; use one parameter that is a list",
    inspect.Parameter.VAR_KEYWORD: "takes any names; use one parameter that is a dict",
}
_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}
_PATHS = (pathlib.Path, pathlib.PurePath)


def described(
    function: Callable[..., Any], name: str | None, description: str | None
) -> tuple[ToolDefinition, dict[str, Any]]:
    """The definition of the tool that ``function`` is, and the Python types of its parameters."""
    if not callable(function):
        raise SettingError(f"a tool is a function, not {type(function).__name__}")
    target = _target(function)
    called = name or _own_name(function, target)
    if called in ("", "<lambda>"):
        raise SettingError(f"{function!r} has no name that a model could call: give it one with name=")
    _returns(called, target)
    text, by_name = _documentation(target, function)
    parameters = _parameters(called, function)
    types = _types(called, target, parameters)
    schema = _schema(called, parameters, types, by_name)
    return ToolDefinition(called, text if description is None else description, schema), types


def _target(function: Callable[..., Any]) -> Any:
    """The function whose name, docstring and annotations count."""
    while isinstance(function, partial):
        function = function.func
    if inspect.isroutine(function) or inspect.isclass(function):
        return inspect.unwrap(function)
    return inspect.unwrap(type(function).__call__)


def _own_name(function: Any, target: Any) -> str:
    name: str = getattr(target, "__name__", "")
    return type(function).__name__ if name == "__call__" else name


def _returns(name: str, target: Any) -> None:
    """Refuse a function that gives its values one by one."""
    if inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target):
        raise SettingError(f"tool {name!r} yields; a tool returns one value, for example a list")


# -- descriptions ------------------------------------------------------------------------------------------------------


def _documentation(target: Any, function: Any) -> tuple[str, dict[str, str]]:
    """What the docstring says of the function, and of its parameters by name."""
    is_object = getattr(target, "__name__", "") == "__call__"
    written = (inspect.getdoc(type(function)) if is_object and not target.__doc__ else inspect.getdoc(target)) or ""
    from docstring_parser import ParseError, parse

    try:
        parsed = parse(written)
    except ParseError:
        return written, {}
    text = "\n\n".join(part for part in (parsed.short_description, parsed.long_description) if part)
    return text, {each.arg_name.lstrip("*"): each.description or "" for each in parsed.params}


def _own_description(annotation: Any) -> str:
    """What ``Annotated[…, "text"]`` says."""
    if get_origin(annotation) is not Annotated:
        return ""
    return next((each for each in annotation.__metadata__ if isinstance(each, str)), "")


# -- parameters --------------------------------------------------------------------------------------------------------


def _parameters(name: str, function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        parameters = inspect.signature(function).parameters
    except (ValueError, TypeError) as error:
        raise SettingError(f"tool {name!r} has no signature that can be read: {error}") from None
    for each in parameters.values():
        if each.kind in _WHY_NOT:
            raise SettingError(f"tool {name!r}: parameter {each.name!r} {_WHY_NOT[each.kind]}")
    bound = function.keywords if isinstance(function, partial) else {}  # decided already, not for the model to set
    return {each.name: each for each in parameters.values() if each.name not in bound}


def _types(name: str, target: Any, parameters: Mapping[str, inspect.Parameter]) -> dict[str, Any]:
    holder = target.__init__ if inspect.isclass(target) else target
    try:
        hints = get_type_hints(holder, include_extras=True)
    except Exception as error:  # noqa: BLE001, annotations are code: they may raise anything
        raise SettingError(f"tool {name!r}: its annotations cannot be read: {error}") from None
    return {each: _with_descriptions(hints.get(each, Any)) for each in parameters}


def _with_descriptions(annotation: Any) -> Any:
    """The annotation with ``Annotated[…, "text"]`` in a form that the schema shows, however deep it stands."""
    arguments = get_args(annotation)
    if get_origin(annotation) is Annotated:
        inner = _with_descriptions(annotation.__origin__)
        text = _own_description(annotation)
        metas = [each for each in annotation.__metadata__ if isinstance(each, msgspec.Meta)]
        if text and not any(meta.description for meta in metas):
            metas.append(msgspec.Meta(description=text))
        for meta in metas:
            inner = Annotated[inner, meta]
        return inner
    origin = get_origin(annotation)
    if origin not in (Union, UnionType, list, dict, tuple, set, frozenset):  # the arguments of a Literal are no types
        return annotation
    changed = tuple(map(_with_descriptions, arguments))
    if changed == arguments:
        return annotation
    return Union[changed] if origin in (Union, UnionType) else origin[changed]  # noqa: UP007, made of a tuple


# -- the schema --------------------------------------------------------------------------------------------------------


def _schema(
    name: str, parameters: Mapping[str, inspect.Parameter], types: Mapping[str, Any], by_name: Mapping[str, str]
) -> dict[str, Any]:
    for each, annotation in types.items():
        _check_type(name, each, annotation)
    schemas, shared = _components(list(types.values()))
    properties = {}
    for parameter, schema in zip(parameters.values(), schemas, strict=True):
        if by_name.get(parameter.name) and "description" not in schema:
            schema["description"] = by_name[parameter.name]
        if parameter.default is not parameter.empty and parameter.default is not None:
            schema.update(_default(parameter.default))
        properties[parameter.name] = schema
    made: dict[str, Any] = {"type": "object", "properties": properties}
    required = [each.name for each in parameters.values() if each.default is each.empty]
    if required:
        made["required"] = required
    made["additionalProperties"] = False
    if shared:
        made["$defs"] = shared
    _name_types(made)
    return made


def _components(annotations: list[Any]) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    """The schemas of annotations, and what they share."""
    shared: dict[str, Any] = {}

    def custom(kind: type) -> dict[str, Any]:
        if issubclass(kind, _PATHS):
            return {"type": "string"}
        if hasattr(kind, "model_json_schema"):  # as pydantic's models have it
            made: dict[str, Any] = kind.model_json_schema(ref_template="#/$defs/{model}")
            shared.update(made.pop("$defs", {}))
            return made
        raise NotImplementedError

    schemas, known = msgspec.json.schema_components(annotations, schema_hook=custom, ref_template="#/$defs/{name}")
    return schemas, {**shared, **known}


def _check_type(name: str, parameter: str, annotation: Any) -> None:
    """Complain of an annotation that has no schema, with the parameter that has it."""
    try:
        _components([annotation])
    except Exception as error:  # noqa: BLE001, whatever the types of others raise
        reason = str(error).partition("\n")[0].rstrip(":") or type(error).__name__
        if isinstance(error, TypeError) and "custom types" in reason:
            reason = f"{_shown(annotation)} has no JSON schema"
        raise SettingError(
            f"tool {name!r}: parameter {parameter!r}: {reason}; use the types of JSON, Literal, Enum, TypedDict, "
            f"a dataclass, or give a definition with a schema of your own"
        ) from None


def _shown(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def made_of(kind: type, value: Any) -> Any:
    """A value of a type that msgspec does not know."""
    if issubclass(kind, _PATHS) and isinstance(value, str):
        return kind(value)
    if hasattr(kind, "model_validate"):
        return kind.model_validate(value)
    raise NotImplementedError


def _default(value: Any) -> dict[str, Any]:
    """The default as the schema shows it, if JSON can hold it."""
    try:
        return {"default": msgspec.json.decode(msgspec.json.encode(value, enc_hook=_plain_path))}
    except Exception:  # noqa: BLE001, a default may be any object; the function knows it anyway
        return {}


def _plain_path(value: Any) -> Any:
    if isinstance(value, _PATHS):
        return str(value)
    raise NotImplementedError


def _name_types(schema: dict[str, Any]) -> None:
    """Say the type of every enumeration: some providers ask for it, and it helps a small model."""
    for each in _all_schemas(schema):
        values = each.get("enum")
        if isinstance(values, list) and "type" not in each:
            kinds = {_JSON_TYPES.get(type(value)) for value in values}
            if len(kinds) == 1 and None not in kinds:
                each["type"] = kinds.pop()


def _all_schemas(value: Any) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield item
            waiting += [child for key, child in item.items() if key not in ("enum", "default", "const", "examples")]
        elif isinstance(item, list):
            waiting += item
