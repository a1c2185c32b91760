"""The request types of the providers' SDKs, read as tables of `segue.rules.shape`.

Three readers: typed dicts (anthropic, openai, groq, cerebras, mistralai), pydantic models (google-genai), and the
service model of botocore. They do not depend on rules.
"""

import inspect
import re
import sys
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any

import typing_extensions
from msgspec.structs import replace
from pydantic import BaseModel

from segue.rules.shape import Entries, Items, Node, Number, Record, Text

ANY = Node(any=True)
LISTS = (list, Iterable, Sequence)
WRAPPERS = (typing_extensions.Required, typing_extensions.NotRequired, typing_extensions.Annotated)


def either(one: Node, other: Node) -> Node:
    """A node that accepts what either of two nodes accepts."""
    if one.any or other.any:
        return ANY
    entries = _only_one(one.entries, other.entries)
    objects = tuple(dict.fromkeys((*one.objects, *other.objects)))
    if entries is not None and objects:
        assert entries.of.any, f"{objects} beside an object with free keys"
        objects = ()
    flags = None if one.flags is None or other.flags is None else tuple({*one.flags, *other.flags})
    if not (one.flag and other.flag):
        flags = one.flags if one.flag else other.flags
    return Node(
        null=one.null or other.null,
        flag=one.flag or other.flag,
        flags=None if flags is not None and len(flags) > 1 else flags,
        text=_either_text(one.text, other.text),
        number=_either_number(one.number, other.number),
        items=_either_items(one.items, other.items),
        entries=entries,
        objects=objects,
    )


def _only_one(one: Any, other: Any) -> Any:
    assert one is None or other is None or one == other, f"{one} and {other}"
    return other if one is None else one


def _either_text(one: Text | None, other: Text | None) -> Text | None:
    if one is None or other is None:
        return other if one is None else one
    if one.values is None or other.values is None:
        return one if one.values is None else other
    return replace(one, values=tuple(dict.fromkeys((*one.values, *other.values))))


def _either_number(one: Number | None, other: Number | None) -> Number | None:
    if one is None or other is None:
        return other if one is None else one
    return one if not one.whole else other


def _either_items(one: Items | None, other: Items | None) -> Items | None:
    if one is None or other is None:
        return other if one is None else one
    return replace(one, of=either(one.of, other.of))


def merged(one: Record, other: Record) -> Record:
    """A record that accepts what either of two accepts: a request that streams and one that does not."""
    fields = {
        name: either(one.fields[name], other.fields[name])
        if name in one.fields and name in other.fields
        else (one.fields | other.fields)[name]
        for name in one.fields | other.fields
    }
    return Record(fields=fields, required=tuple(name for name in one.required if name in other.required))


class Records:
    """Records by name; two types of one name are distinguished by their modules."""

    def __init__(self) -> None:
        self.made: dict[str, Record] = {}
        self._names: dict[Any, str] = {}

    def name(self, kind: Any, plain: str) -> tuple[str, bool]:
        """The name of a type, and whether it is new."""
        if kind in self._names:
            return self._names[kind], False
        name = plain if plain not in self._names.values() else f"{kind.__module__.rpartition('.')[2]}.{plain}"
        assert name not in self._names.values(), name
        self._names[kind] = name
        return name, True


# -- typed dicts -----------------------------------------------------------------------------------------------------


class TypedDicts(Records):
    """Reads typed dicts. Types that are not JSON (open files, objects of answers) are left out."""

    def record(self, kind: Any) -> Record:
        hints = typing_extensions.get_type_hints(kind, include_extras=True)
        fields: dict[str, Node] = {}
        required: list[str] = []
        for name, hint in hints.items():
            alias = _alias(kind, hint, name)
            fields[alias] = self.node(hint)
            if _is_required(kind, name, hint):
                required.append(alias)
        config = getattr(kind, "__pydantic_config__", {})
        return Record(fields=fields, required=tuple(required), open=config.get("extra") == "allow" or _has_extra(kind))

    def node(self, kind: Any) -> Node:
        """The node for a type."""
        kind = _unwrapped(kind)
        origin, inner = typing.get_origin(kind), typing.get_args(kind)
        if typing_extensions.is_typeddict(kind):
            name, new = self.name(kind, kind.__name__.removesuffix("TypedDict"))
            if new:
                self.made[name] = Record()
                self.made[name] = self.record(kind)
            return Node(objects=(name,))
        if origin in (typing.Union, types.UnionType):
            found = Node()
            for each in inner:
                found = either(found, self.node(each))
            return found
        if origin is typing.Literal:
            return _literal(inner)
        if origin in LISTS or getattr(origin, "__name__", "") == "SequenceNotStr":
            return Node(items=Items(self.node(inner[0])))
        if origin in (dict, Mapping):
            return Node(entries=Entries(self.node(inner[1])))
        return PLAIN.get(kind, Node())


PLAIN: dict[Any, Node] = {
    object: ANY,
    Any: ANY,
    str: Node(text=Text()),
    int: Node(number=Number(whole=True)),
    float: Node(number=Number()),
    bool: Node(flag=True),
    types.NoneType: Node(null=True),
}


def _unwrapped(kind: Any) -> Any:
    """The type without its wrappers; a named alias is resolved."""
    while True:
        origin = typing.get_origin(kind)
        if origin in WRAPPERS:
            kind = typing.get_args(kind)[0]
        elif isinstance(kind, typing_extensions.TypeAliasType):
            kind = kind.__value__
        elif isinstance(origin, typing_extensions.TypeAliasType):
            kind = origin.__value__[typing.get_args(kind)]
        else:
            return kind


def _literal(values: tuple[Any, ...]) -> Node:
    texts = tuple(value for value in values if isinstance(value, str))
    flags = tuple(value for value in values if isinstance(value, bool))
    numbers = tuple(value for value in values if isinstance(value, int) and not isinstance(value, bool))
    return Node(
        text=Text(values=texts) if texts else None,
        flag=bool(flags),
        flags=flags if len(flags) == 1 else None,
        number=Number(whole=True, values=numbers) if numbers else None,
    )


def _is_required(kind: Any, name: str, hint: Any) -> bool:
    origin = typing.get_origin(hint)
    if origin in (typing_extensions.Required, typing_extensions.NotRequired):
        return origin is typing_extensions.Required
    return name in kind.__required_keys__


def _alias(kind: Any, hint: Any, name: str) -> str:
    """The name in JSON, if it differs from the name in Python (`async` is a keyword). Typed dicts of mistralai have it
    in the model of the same name."""
    twin = getattr(sys.modules[kind.__module__], kind.__name__.removesuffix("TypedDict"), None)
    if twin is not kind and isinstance(twin, type) and issubclass(twin, BaseModel):
        return twin.model_fields[name].alias or name
    while typing.get_origin(hint) in (typing_extensions.Required, typing_extensions.NotRequired):
        hint = typing.get_args(hint)[0]
    aliases = [getattr(each, "alias", None) for each in getattr(hint, "__metadata__", ())]
    return next((each for each in aliases if each), name)


def _has_extra(kind: Any) -> bool:
    extra = getattr(kind, "__extra_items__", None)
    return extra is object or extra is Any


# -- google-genai ----------------------------------------------------------------------------------------------------


class Pydantic(Records):
    """Reads the models of google-genai as the API has them: names in camel case. The API reads Protocol Buffers from
    JSON (protobuf.dev/programming-guides/json, 2026-11): null means absent, 64-bit numbers may be strings, and a
    single object is accepted as a list of objects (both forms are in Google's own examples)."""

    def node(self, kind: Any) -> Node:
        origin, inner = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing_extensions.Annotated:
            return self.node(inner[0])
        if origin in (typing.Union, types.UnionType):
            found = Node()
            for each in inner:
                found = either(found, self.node(each))
            return found
        if origin is typing.Literal:
            return _literal(inner)
        if origin in LISTS:
            of = self.node(inner[0])
            return Node(items=Items(of), objects=of.objects)
        if origin in (dict, Mapping):
            return Node(entries=Entries(self.node(inner[1])))
        if isinstance(kind, type) and issubclass(kind, Enum):
            return Node(text=Text(values=tuple(member.value for member in kind), any_case=True))
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            name, new = self.name(kind, kind.__name__)
            if new:
                self.made[name] = Record()
                self.made[name] = self.record(kind)
            return Node(objects=(name,))
        return PROTO.get(kind, PLAIN.get(kind, Node()))

    def record(self, kind: type[BaseModel]) -> Record:
        return Record(fields={field.alias or name: self.field(field) for name, field in kind.model_fields.items()})

    def field(self, field: Any) -> Node:
        return either(self.node(field.annotation), Node(null=True))


PROTO: dict[Any, Node] = {
    int: Node(number=Number(whole=True), text=Text(pattern=r"-?[0-9]+")),
    float: Node(number=Number(), text=Text(pattern=r"-?[0-9.]+([eE][-+]?[0-9]+)?|NaN|-?Infinity")),
    # Either alphabet, with padding or without.
    bytes: Node(text=Text(pattern=r"[A-Za-z0-9+/_-]*={0,2}")),
    datetime: Node(text=Text(pattern=r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[-+][0-9:]+)")),
}


def beside_the_config(converter: Any) -> dict[str, str]:
    """The fields of the body that a converter of google-genai writes, with the options that they come from."""
    found = re.findall(
        r"setv\(\s*parent_object,\s*\['(\w+)'\],.*?from_object, \['(\w+)'\]", inspect.getsource(converter), re.DOTALL
    )
    return dict(found)


def in_the_config(converter: Any) -> dict[str, str]:
    """The fields of the config that a converter of google-genai writes, with the options that they come from."""
    found = re.findall(
        r"setv\(\s*to_object,\s*\['(\w+)'\],.*?from_object, \['(\w+)'\]", inspect.getsource(converter), re.DOTALL
    )
    return dict(found)


def refused_options(module: Any, surface: str) -> dict[str, list[str]]:
    """The options that the converters of google-genai refuse for a surface, by type: only the other surface has
    them."""
    found: dict[str, list[str]] = {}
    for name, converter in inspect.getmembers(module, inspect.isfunction):
        if name.endswith(f"_to_{surface}"):
            found[name.removeprefix("_").removesuffix(f"_to_{surface}")] = re.findall(
                r"from_object, \['(\w+)'\]\) is not None:\s+raise ValueError\(\s*'\w+ parameter is",
                inspect.getsource(converter),
            )
    return found


# -- botocore --------------------------------------------------------------------------------------------------------


class ServiceModel(Records):
    """Reads shapes of a service model; bytes are base64 in JSON."""

    def node(self, shape: Any) -> Node:
        facts = shape.metadata
        if facts.get("document"):
            return ANY
        if shape.type_name == "structure":
            name = shape.name
            if name not in self.made:
                self.made[name] = Record()
                self.made[name] = self.record(shape)
            return Node(objects=(name,))
        sizes = {name: facts[name] for name in ("min", "max") if name in facts}
        if shape.type_name == "list":
            return Node(items=Items(self.node(shape.member), **sizes))
        if shape.type_name == "map":
            key = self.node(shape.key).text
            return Node(entries=Entries(self.node(shape.value), key=None if key == Text() else key, **sizes))
        return self.plain(shape.type_name, facts, sizes)

    def plain(self, kind: str, facts: dict[str, Any], sizes: dict[str, Any]) -> Node:
        if kind == "boolean":
            return Node(flag=True)
        if kind in ("integer", "long", "float", "double"):
            return Node(number=Number(whole=kind in ("integer", "long"), **sizes))
        if kind == "blob":  # base64 has four characters for three bytes; here only its presence is required
            return Node(text=Text(min=min(1, sizes.get("min", 0))))
        assert kind == "string", kind
        values = tuple(facts["enum"]) if "enum" in facts else None
        return Node(text=Text(values=values, pattern=facts.get("pattern"), **sizes))

    def record(self, shape: Any) -> Record:
        members = {
            name: member for name, member in shape.members.items() if member.serialization.get("location") != "uri"
        }
        return Record(
            fields={name: self.node(member) for name, member in members.items()},
            required=tuple(name for name in shape.required_members if name in members),
            union=bool(getattr(shape, "is_tagged_union", False)),
        )
