"""The arguments of a call, checked against the schema of its tool and given the types of its function."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from ..errors import SettingError
from ..types.numbers import refuse_non_finite
from ..types.text import copy_json, scrub, scrub_json
from .coercion import Coercion
from .schema import made_of
from .tool import Tool

MOST_FAULTS = 10
"""Faults that are told of one call."""
LONGEST_FAULT = 300
MAX_EXPLAINED = 10
"""Levels of arguments whose faults are told where there are unions: what each branch says of each level doubles."""


class InvalidArguments(Exception):
    """Arguments that do not fit. ``faults`` has all that is wrong, each with its place."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        super().__init__("; ".join(faults))


class CheckedArguments(Struct, frozen=True):
    """Arguments that fit: as JSON, and as the function gets them."""

    json: dict[str, Any]
    values: dict[str, Any]


class ArgumentChecker:
    """Checks the arguments of one tool. Its schema is compiled once; a ``SettingError`` if it is none."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        schema = tool.definition.schema
        self._validator = _compiled(tool.name, schema)
        self._parts: dict[int, tuple[Any, Any]] = {}
        """Compiled parts by identity; the part is kept with it, so that no other gets its number."""
        self._shared = {key: schema[key] for key in ("$schema", "$defs", "definitions") if key in schema}
        self._coercion = Coercion(schema, self._is_valid)
        self._has_unions = any(word in bytes(tool.definition.parameters) for word in (b'"anyOf"', b'"oneOf"'))

    def checked(self, given: Mapping[str, Any]) -> CheckedArguments:
        """The arguments, mended where that is harmless; a ``InvalidArguments`` if they do not fit."""
        arguments = self._coercion.mended(_as_json(given))
        faults = self._faults(arguments)
        if faults:
            raise InvalidArguments(faults)
        return CheckedArguments(arguments, self._converted(arguments))

    def _faults(self, arguments: Any) -> list[str]:
        if self._validator.is_valid(arguments):
            return []
        if self._has_unions and _depth(arguments) > MAX_EXPLAINED:
            return ["they are not valid under its schema, and nested too deeply to say where"]
        return [_told(error) for error in islice(self._validator.iter_errors(arguments), MOST_FAULTS)]

    def _converted(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Each value as the type that the function asks for; a fresh copy, so that the tool may change it."""
        values, faults = copy_json(arguments), []
        for name, kind in self.tool.types.items():
            if name not in values:
                continue
            try:
                values[name] = msgspec.convert(values[name], kind, dec_hook=made_of, str_keys=True)
            except Exception as error:  # noqa: BLE001, the types of others may check themselves, in any way
                faults.append(_cut(f"{name}: {error}"))
        if faults:
            raise InvalidArguments(faults)
        return values

    def _is_valid(self, part: Any, value: Any) -> bool:
        """Whether ``value`` is valid under a part of the schema; what is shared by reference comes along."""
        if not isinstance(part, dict):
            return bool(part)
        known = self._parts.get(id(part))
        if known is None:
            known = self._parts[id(part)] = (part, self._compiled_part(part))
        return known[1] is not None and bool(known[1].is_valid(value))

    def _compiled_part(self, part: dict[str, Any]) -> Any:
        try:
            return _compiled(self.tool.name, {**self._shared, **part})
        except SettingError:
            return None  # it refers to another place of the whole: nothing is mended there


def _as_json(given: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the arguments as JSON has them: a person may have put in dates, tuples, or what is no JSON at all."""
    plain = scrub_json(dict(given))
    try:
        refuse_non_finite(plain)
        made: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(plain))
    except Exception as error:  # noqa: BLE001, values of others
        raise InvalidArguments([_cut(f"they are no JSON: {error}")]) from None
    return made


def _compiled(name: str, schema: Any) -> Any:
    import jsonschema_rs

    if not isinstance(schema, dict):
        raise SettingError(f"tool {name!r}: its parameters are no JSON schema: they must be an object")
    try:
        return jsonschema_rs.validator_for(schema, retriever=_not_from_elsewhere)
    except Exception as error:  # noqa: BLE001, whatever a compiler of schemas may raise
        reason = str(error).partition("\n")[0]
        raise SettingError(f"tool {name!r}: its parameters are no JSON schema: {reason}") from None


def _not_from_elsewhere(uri: str) -> Any:
    """A schema is whole: nothing is fetched for it."""
    raise LookupError(f"{uri} is not part of the schema")


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        inner = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        level = [item for items in inner for item in items]
    return depth


def _told(error: Any) -> str:
    """What is wrong, and where; of a union, what those of its branches say that come closest."""
    branches = [branch[0] for branch in getattr(error.kind, "context", None) or () if branch]
    deepest = max([len(each.instance_path) for each in branches], default=0)
    closest = [each for each in branches if len(each.instance_path) == deepest]
    return _cut(" and ".join(dict.fromkeys(map(_placed, closest or [error]))))


def _placed(error: Any) -> str:
    path = ""
    for step in error.instance_path:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
    return f"{path}: {error.message}" if path else str(error.message)


def _cut(text: str) -> str:
    text = scrub(" ".join(text.split()))
    return text if len(text) <= LONGEST_FAULT else f"{text[: LONGEST_FAULT // 2]} … {text[-LONGEST_FAULT // 2 :]}"
