"""Check the arguments of a call against the schema of its tool, and convert them to the types of its function."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from ..errors import SettingError
from ..types import refuse_non_finite
from ..types.text import copy_json, scrub, scrub_json
from ..types.type_schemas import convert_custom_type
from .coercion import Coercion
from .tool import Tool

MAX_FAULTS = 10
"""Faults that are reported for one call."""
MAX_FAULT_LENGTH = 300
MAX_EXPLAINED_DEPTH = 10
"""Deeper arguments get no detailed report if the schema has unions: each level doubles the number of branches."""


class InvalidArguments(Exception):
    """Arguments that do not fit the schema. ``faults`` lists everything that is wrong, each with its path."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        super().__init__("; ".join(faults))


class CheckedArguments(Struct, frozen=True):
    """Valid arguments: as JSON, and as the values that the function gets."""

    json: dict[str, Any]
    values: dict[str, Any]


class ArgumentChecker:
    """Checks the arguments of one tool. Compiles its schema once; ``SettingError`` if the schema is invalid."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        schema = tool.definition.schema
        self._validator = _compile(tool.name, schema)
        self._compiled_parts: dict[int, tuple[Any, Any]] = {}
        """Parts of the schema with their validators, by ``id``. Holding the part keeps its id from being reused."""
        self._shared = {key: schema[key] for key in ("$schema", "$defs", "definitions") if key in schema}
        self._coercion = Coercion(schema, self._is_valid)
        self._has_unions = any(keyword in bytes(tool.definition.parameters) for keyword in (b'"anyOf"', b'"oneOf"'))

    def check(self, arguments: Mapping[str, Any]) -> CheckedArguments:
        """Coerce the arguments where that is harmless, then check them; ``InvalidArguments`` if they do not fit."""
        coerced = self._coercion.coerce(_as_json(arguments))
        faults = self._faults(coerced)
        if faults:
            raise InvalidArguments(faults)
        return CheckedArguments(coerced, self._converted(coerced))

    def _faults(self, arguments: Any) -> list[str]:
        if self._validator.is_valid(arguments):
            return []
        if self._has_unions and _depth(arguments) > MAX_EXPLAINED_DEPTH:
            return ["they are not valid under its schema, and nested too deeply to say where"]
        return [_describe(error) for error in islice(self._validator.iter_errors(arguments), MAX_FAULTS)]

    def _converted(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Convert each value to the type of its parameter. The result is a copy that the tool may change."""
        values, faults = copy_json(arguments), []
        for name, kind in self.tool.types.items():
            if name not in values:
                continue
            try:
                values[name] = msgspec.convert(values[name], kind, dec_hook=convert_custom_type, str_keys=True)
            except Exception as error:  # noqa: BLE001, foreign types may raise anything
                faults.append(_shorten(f"{name}: {error}"))
        if faults:
            raise InvalidArguments(faults)
        return values

    def _is_valid(self, part: Any, value: Any) -> bool:
        """Whether ``value`` is valid under a part of the schema, with the definitions that the part may refer to."""
        if not isinstance(part, dict):
            return bool(part)
        known = self._compiled_parts.get(id(part))
        if known is None:
            known = self._compiled_parts[id(part)] = (part, self._compile_part(part))
        return known[1] is not None and bool(known[1].is_valid(value))

    def _compile_part(self, part: dict[str, Any]) -> Any:
        try:
            return _compile(self.tool.name, {**self._shared, **part})
        except SettingError:
            return None  # it refers to another part of the whole schema: nothing is coerced there


def _as_json(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Copy the arguments as plain JSON. Edited arguments may hold dates, tuples, or values that are not JSON."""
    plain = scrub_json(dict(arguments))
    try:
        refuse_non_finite(plain)
        copied: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(plain))
    except Exception as error:  # noqa: BLE001, foreign values may raise anything
        raise InvalidArguments([_shorten(f"they are no JSON: {error}")]) from None
    return copied


def _compile(name: str, schema: Any) -> Any:
    import jsonschema_rs

    if not isinstance(schema, dict):
        raise SettingError(f"tool {name!r}: its parameters are not a JSON schema: they must be an object")
    try:
        return jsonschema_rs.validator_for(schema, retriever=_refuse_to_fetch)
    except Exception as error:  # noqa: BLE001, the compiler of schemas may raise anything
        reason = str(error).partition("\n")[0]
        raise SettingError(f"tool {name!r}: its parameters are not a JSON schema: {reason}") from None


def _refuse_to_fetch(uri: str) -> Any:
    """A schema must be complete: nothing is fetched from the network."""
    raise LookupError(f"{uri} is not part of the schema")


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        inner = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        level = [item for items in inner for item in items]
    return depth


def _describe(error: Any) -> str:
    """What is wrong, with its path. For a union, the errors of the branches that match the most levels."""
    branches = [branch[0] for branch in getattr(error.kind, "context", None) or () if branch]
    deepest = max([len(each.instance_path) for each in branches], default=0)
    closest = [each for each in branches if len(each.instance_path) == deepest]
    return _shorten(" and ".join(dict.fromkeys(map(_with_path, closest or [error]))))


def _with_path(error: Any) -> str:
    path = ""
    for step in error.instance_path:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
    return f"{path}: {error.message}" if path else str(error.message)


def _shorten(text: str) -> str:
    text = scrub(" ".join(text.split()))
    half = MAX_FAULT_LENGTH // 2
    return text if len(text) <= MAX_FAULT_LENGTH else f"{text[:half]} … {text[-half:]}"
