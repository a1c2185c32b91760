"""`segue learn`: what was learnt from refused requests."""

import argparse
import json
import re
from typing import Any

import msgspec

from ..catalog import learnt_file
from ..healing import Fact, Facts, family_of
from ..rules import CURES
from .formatting import brief
from .printable import one_line
from .terminal import print_note, print_text, write_json


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", nargs="?", help="only what is known about this model (provider/model)")
    parser.add_argument("--forget", action="store_true", help="remove it: of one model, or everything")
    parser.add_argument(
        "--export", action="store_true", help="print it as rows for the catalog and cases for its tests, for an issue"
    )
    parser.add_argument("--file", metavar="FILE", help=f"the file (default: {learnt_file()})".replace("%", "%%"))
    parser.add_argument("--json", action="store_true", help="print one line of JSON per fact")


def run(args: argparse.Namespace) -> int:
    """List, remove or export facts."""
    facts = Facts(args.file or learnt_file())
    for fault in facts.faults:
        print_note(f"{facts.path}: {fault}; it is not used")
    if args.forget:
        return _forget(facts, args.model)
    chosen = [fact for fact in facts if args.model is None or _ref(fact).lower() == args.model.lower()]
    if not chosen and not args.json:
        print_note(f"nothing has been learnt{f' about {args.model}' if args.model else ''}")
    for fact in chosen:
        if args.export:
            print_text(exported(fact))
        elif args.json:
            write_json(msgspec.json.encode(fact) + b"\n")
        else:
            print_text(_line(fact))
    return 0


def _forget(facts: Facts, name: str | None) -> int:
    count = len(facts.forget(name))
    print_note(f"{count} {'fact was' if count == 1 else 'facts were'} removed")
    return 0


def _ref(fact: Fact) -> str:
    return f"{fact.provider}/{fact.model}"


def _line(fact: Fact) -> str:
    times = f"{fact.count} time{'' if fact.count == 1 else 's'}"
    return one_line(
        f"{_ref(fact)} ({fact.protocol}, {fact.endpoint}): {fact.field} = {brief(fact.value)}"
        f"  learnt {fact.first[:10]}, {times}, until {fact.expires[:10]}; cure {fact.cure}: {fact.words}"
    )


def exported(fact: Fact) -> str:
    """The cell for the catalog and a case for its tests. Nothing of a request is in it, nor the address."""
    cell = msgspec.structs.replace(fact, value=_public(fact))
    case: dict[str, Any] = {
        "cure": cell.cure,
        "model": _ref(cell),
        "protocol": cell.protocol,
        "words": cell.words,
        "field": cell.field,
        "value": cell.value,
        "seen": cell.last[:7],
        "body": _sample(cell),
    }
    name = f"tests/cases/cures/{cell.cure.partition(',')[0]}-{cell.provider}-{cell.field}.json"
    text = json.dumps(case, indent=2, ensure_ascii=False)
    return f"# src/segue/catalog/families.toml\n{family_of(cell, learnt=False)}\n# {name}\n{text}\n"


# fmt: off
KEYWORDS = frozenset({
    "$schema", "$id", "$ref", "$defs", "$comment", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary",
    "additionalItems", "additionalProperties", "allOf", "anyOf", "const", "contains", "contentEncoding",
    "contentMediaType", "contentSchema", "default", "definitions", "dependencies", "dependentRequired",
    "dependentSchemas", "deprecated", "description", "else", "enum", "examples", "exclusiveMaximum",
    "exclusiveMinimum", "format", "if", "items", "maxContains", "maxItems", "maxLength", "maxProperties", "maximum",
    "minContains", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "nullable", "oneOf",
    "pattern", "patternProperties", "prefixItems", "properties", "propertyNames", "readOnly", "required", "then",
    "title", "type", "unevaluatedItems", "unevaluatedProperties", "uniqueItems", "writeOnly",
})
# fmt: on
"""The keywords of JSON Schema (drafts 4 to 2020-12) and OpenAPI 3.0. Others in a schema are the user's own words."""


def _sample(fact: Fact) -> dict[str, Any]:
    """A body that has nothing but the fields that the provider refused, for rows whose words name them."""
    if fact.field == "refused_fields":
        paths = list(fact.value)
    else:
        cure = next((cure for cure in CURES if cure.number == fact.cure.partition(",")[0]), None)
        match = re.search(cure.words, fact.words, re.IGNORECASE) if cure is not None else None
        named = match.groupdict() if match is not None else {}
        paths = [re.sub(r"[.\[](\d+)\]?", ".*", named[name]) for name in FIELD_GROUPS if named.get(name)]
    body: dict[str, Any] = {}
    for path in paths:
        _put(body, path.split("."))
    return body


def _put(body: Any, path: list[str]) -> None:
    """Add a field at ``path``, where ``*`` is the first item of a list."""
    step, *rest = path
    if not rest:
        body[step] = True
        return
    if rest[0] == "*":
        items = body.setdefault(step, [{}])
        _put(items[0], rest[1:])
    else:
        _put(body.setdefault(step, {}), rest)


FIELD_GROUPS = ("field", "argument", "unknown", "deprecated", "property")
"""Groups of the expressions in the rows that name a field of the body."""


def _public(fact: Fact) -> Any:
    """The value without words of the user's."""
    return tuple(each for each in fact.value if each in KEYWORDS) if fact.field == "refused_keywords" else fact.value
