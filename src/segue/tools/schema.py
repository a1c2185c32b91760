"""The definition of a tool from a typed function: schema from the signature, descriptions from the docstring."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec

from ..errors import SettingError
from ..types import ToolDefinition
from ..types.type_schemas import add_enum_types, default_entry, schemas_of, why_no_schema

_UNSUPPORTED = {
    inspect.Parameter.POSITIONAL_ONLY: "is positional-only; a model passes arguments by name",
    inspect.Parameter.VAR_POSITIONAL: "accepts any number of values; use one parameter that is a list",
    inspect.Parameter.VAR_KEYWORD: "accepts any names; use one parameter that is a dict",
}


def describe_function(
    function: Callable[..., Any], name: str | None, description: str | None
) -> tuple[ToolDefinition, dict[str, Any]]:
    """Return the definition of a tool that calls ``function``, and the Python types of its parameters.

    ``name`` and ``description`` replace those of the function.
    """
    if not callable(function):
        raise SettingError(f"a tool is a function, not {type(function).__name__}")
    target = _target(function)
    name = name or _own_name(function, target)
    if name in ("", "<lambda>"):
        raise SettingError(f"{function!r} has no name that a model could call: pass one with name=")
    if inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target):
        raise SettingError(f"tool {name!r} yields; a tool returns one value, for example a list")
    text, parameter_texts = _read_docstring(target, function)
    parameters = _parameters(name, function)
    types = _types(name, target, parameters)
    schema = _schema(parameters, types, parameter_texts)
    return ToolDefinition(name, text if description is None else description, schema), types


def _target(function: Callable[..., Any]) -> Any:
    """The function that has the name, the docstring and the annotations."""
    while isinstance(function, partial):
        function = function.func
    if inspect.isroutine(function) or inspect.isclass(function):
        return inspect.unwrap(function)
    return inspect.unwrap(type(function).__call__)


def _own_name(function: Any, target: Any) -> str:
    name: str = getattr(target, "__name__", "")
    return type(function).__name__ if name == "__call__" else name


# -- descriptions ------------------------------------------------------------------------------------------------------


def _read_docstring(target: Any, function: Any) -> tuple[str, dict[str, str]]:
    """The description of the function, and those of its parameters by name."""
    is_object = getattr(target, "__name__", "") == "__call__"
    text = (inspect.getdoc(type(function)) if is_object and not target.__doc__ else inspect.getdoc(target)) or ""
    from docstring_parser import ParseError, parse

    try:
        parsed = parse(text)
    except ParseError:
        return text, {}
    text = "\n\n".join(part for part in (parsed.short_description, parsed.long_description) if part)
    return text, {each.arg_name.lstrip("*"): each.description or "" for each in parsed.params}


def _with_descriptions(annotation: Any) -> Any:
    """Replace ``Annotated[…, "text"]`` at every level by the form that msgspec writes into the schema."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        inner = _with_descriptions(annotation.__origin__)
        text = next((each for each in annotation.__metadata__ if isinstance(each, str)), "")
        metas = [each for each in annotation.__metadata__ if isinstance(each, msgspec.Meta)]
        if text and not any(meta.description for meta in metas):
            metas.append(msgspec.Meta(description=text))
        for meta in metas:
            inner = Annotated[inner, meta]
        return inner
    if origin not in (Union, UnionType, list, dict, tuple, set, frozenset):  # the arguments of a Literal are not types
        return annotation
    changed = tuple(map(_with_descriptions, arguments))
    if changed == arguments:
        return annotation
    return Union[changed] if origin in (Union, UnionType) else origin[changed]  # noqa: UP007, made of a tuple


# -- parameters --------------------------------------------------------------------------------------------------------


def _parameters(name: str, function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        parameters = inspect.signature(function).parameters
    except (ValueError, TypeError) as error:
        raise SettingError(f"tool {name!r} has no signature that can be read: {error}") from None
    for each in parameters.values():
        if each.kind in _UNSUPPORTED:
            raise SettingError(f"tool {name!r}: parameter {each.name!r} {_UNSUPPORTED[each.kind]}")
    bound = function.keywords if isinstance(function, partial) else {}  # set already, so not for the model to choose
    return {each.name: each for each in parameters.values() if each.name not in bound}


def _types(name: str, target: Any, parameters: Mapping[str, inspect.Parameter]) -> dict[str, Any]:
    annotated = target.__init__ if inspect.isclass(target) else target
    try:
        hints = get_type_hints(annotated, include_extras=True)
    except Exception as error:  # noqa: BLE001, evaluating annotations may raise anything
        raise SettingError(f"tool {name!r}: its annotations cannot be read: {error}") from None
    types = {each: _with_descriptions(hints.get(each, Any)) for each in parameters}
    for parameter, annotation in types.items():
        reason = why_no_schema(annotation)
        if reason is not None:
            raise SettingError(
                f"tool {name!r}: parameter {parameter!r}: {reason}; use the types of JSON, Literal, Enum, TypedDict, "
                f"a dataclass, or pass a definition with your own schema"
            )
    return types


def _schema(
    parameters: Mapping[str, inspect.Parameter], types: Mapping[str, Any], texts: Mapping[str, str]
) -> dict[str, Any]:
    schemas, shared = schemas_of(list(types.values()))
    properties = {}
    for parameter, schema in zip(parameters.values(), schemas, strict=True):
        if texts.get(parameter.name) and "description" not in schema:
            schema["description"] = texts[parameter.name]
        if parameter.default is not parameter.empty and parameter.default is not None:
            schema.update(default_entry(parameter.default))
        properties[parameter.name] = schema
    whole: dict[str, Any] = {"type": "object", "properties": properties}
    required = [each.name for each in parameters.values() if each.default is each.empty]
    if required:
        whole["required"] = required
    whole["additionalProperties"] = False
    if shared:
        whole["$defs"] = shared
    add_enum_types(whole)
    return whole
