"""Rules about tools and the choice of one."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ...dialects import SCHEMA_SHAPES, SchemaForm
from ...rules import Check, Rule
from ...rules.shape import Items, Node
from ...types import Model
from ..common.checks import openai_schema_fault, repeated, schema_fault, shown
from ..common.grammars import grammar_fault
from ..common.limits import between, limits, within
from ..common.schema import refused
from .rules_items import ENCODER, PROBED, SDK
from .walk import Body, Found, objects, of_kind, text

MAX_TOOLS = 128
_is_name = re.compile(r"[a-zA-Z0-9_-]{1,64}").fullmatch
_NAMED = ("function", "custom", "namespace")
_ADDRESSES = ("server_url", "connector_id", "tunnel_id")
# Types of tools, and the field by which no two of them may be the same.
_SINGLE = (
    (("function", "custom"), "name", "the tool"),
    (("namespace",), "name", "the namespace"),
    (("mcp",), "server_label", "the server"),
)
# By the type of a tool (SDK openai 3.49.0, documentation of the fields).
_LIMITS = {
    "file_search": limits(
        {
            "vector_store_ids": Node(items=Items(of=Node(any=True), min=1)),
            "max_num_results": between(1, 50),
            "ranking_options": Node(objects=("Ranking",)),
        },
        Ranking={"score_threshold": between(0, 1)},
    ),
    "image_generation": limits({"partial_images": between(0, 3), "output_compression": between(0, 100)}),
    "namespace": limits({"tools": Node(items=Items(of=Node(any=True), min=1))}),
}


def _has_form(form: SchemaForm) -> Callable[[Model], bool]:
    return lambda model: model.dialect.schema_form == form


def _scopes(body: Body) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """The tools of each scope of names: the list of tools itself, those that items add, and each namespace in these."""
    lists = [("tools", body.get("tools"))]
    lists += [(f"{path}.tools", item.get("tools")) for path, item in of_kind(body, "additional_tools")]
    lists += [(f"{path}.tools", item.get("tools")) for path, item in of_kind(body, "tool_search_output")]
    for where, listed in lists:
        tools = list(objects(listed, where))
        yield tools
        for path, tool in tools:
            if tool.get("type") == "namespace":
                yield list(objects(tool.get("tools"), f"{path}.tools"))


def _all(body: Body) -> Iterator[tuple[str, dict[str, Any]]]:
    for scope in _scopes(body):
        yield from scope


def _tools(body: Body, model: Model | None) -> Found:
    tools = body.get("tools")
    limit = MAX_TOOLS if model is None else model.dialect.max_tools
    if isinstance(tools, list) and limit is not None and len(tools) > limit:
        yield "tools", f"{len(tools)} tools, at most {limit}"
    searches = any(tool.get("type") == "tool_search" for _, tool in objects(tools, "tools"))
    for path, tool in _all(body):
        if tool.get("type") in _NAMED and not _is_name(text(tool, "name")):
            yield f"{path}.name", f"{shown(tool.get('name'))!r} does not match [a-zA-Z0-9_-]{{1,64}}"
        if tool.get("defer_loading") and not searches and path.startswith("tools"):
            yield f"{path}.defer_loading", "requires a tool_search"
    for path, item in of_kind(body, "function_call", "custom_tool_call"):
        if not _is_name(text(item, "name")):
            yield f"{path}.name", f"{shown(item.get('name'))!r} does not match [a-zA-Z0-9_-]{{1,64}}"


def _choice(body: Body, model: Model | None) -> Found:
    choice, tools = body.get("tool_choice"), body.get("tools")
    if choice is None:
        return
    added = [item.get("tools") for _, item in of_kind(body, "additional_tools")]
    if not tools and not any(added):
        yield "tool_choice", "set, but there are no tools"
        return
    allowed = objects(choice.get("tools"), "tool_choice.tools") if isinstance(choice, dict) else ()
    known = {_identity(tool) for _, tool in _all(body)}
    for path, tool in (("tool_choice", choice), *allowed):
        if isinstance(tool, dict) and tool.get("type") != "allowed_tools" and _identity(tool) not in known:
            yield path, f"no tool is {' '.join(filter(None, _identity(tool)))!r}"


def _identity(tool: dict[str, Any]) -> tuple[str, str]:
    """By what a choice finds a tool. Types of different versions are the same."""
    kind = text(tool, "type")
    kind = next((name for name in ("web_search", "computer") if kind.startswith(name)), kind)
    name = "server_label" if kind == "mcp" else "name" if kind in ("function", "custom") else ""
    return shown(kind), shown(text(tool, name))


def _single_tools(body: Body, model: Model | None) -> Found:
    for scope in _scopes(body):
        for kinds, field, what in _SINGLE:
            named = ((f"{path}.{field}", tool.get(field)) for path, tool in scope if tool.get("type") in kinds)
            yield from repeated(named, what)


def _schemas(body: Body, model: Model | None) -> Found:
    for path, tool in _all(body):
        if tool.get("type") == "function" and tool.get("parameters") is not None:
            schema = tool["parameters"]
            if fault := schema_fault(schema) or openai_schema_fault(schema, tool.get("strict") is True):
                yield f"{path}.parameters", fault


def _details(form: SchemaForm) -> Check:
    """The faults that ``_schemas`` does not report."""

    def check(body: Body, model: Model | None) -> Found:
        for path, tool in _all(body):
            if tool.get("type") == "function" and schema_fault(tool.get("parameters")) == "":
                found = refused(tool["parameters"], SCHEMA_SHAPES[form], f"{path}.parameters")
                yield from (fault for fault in found if not fault[1].startswith("the root of a schema"))

    return check


def _spaces(body: Body, model: Model | None) -> Found:
    """Calls of a function that is only in a namespace, without the namespace."""
    own = {text(tool, "name") for path, tool in _all(body) if path.count("tools[") == 1}
    inner = {text(tool, "name") for path, tool in _all(body) if path.count("tools[") == 2} - own
    for path, item in of_kind(body, "function_call", "custom_tool_call"):
        if text(item, "name") in inner and not item.get("namespace"):
            yield f"{path}.namespace", f"{shown(item.get('name'))!r} is only in a namespace"


def _declared_outputs(body: Body, model: Model | None) -> Found:
    """Outputs that are not JSON, of functions that declare a schema for them."""
    declared = {text(tool, "name") for _, tool in _all(body) if tool.get("output_schema") is not None}
    calls = {text(item, "call_id") for _, item in of_kind(body, "function_call") if text(item, "name") in declared}
    for path, item in of_kind(body, "function_call_output") if calls else ():
        if text(item, "call_id") in calls and not _is_json(item.get("output")):
            yield f"{path}.output", "must be JSON, because the function declares an output_schema"


def _is_json(output: Any) -> bool:
    if not isinstance(output, str):
        return False
    try:
        msgspec.json.decode(output.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _settings(body: Body, model: Model | None) -> Found:
    for path, tool in _all(body):
        kind = text(tool, "type")
        if kind == "mcp" and not any(tool.get(name) for name in _ADDRESSES):
            yield path, f"one of {', '.join(_ADDRESSES)} is required"
        if kind == "custom" and (fault := grammar_fault(tool.get("format"))):
            yield f"{path}.format", fault
        if kind in _LIMITS:
            yield from ((f"{path}.{place}", fault) for place, fault in within(_LIMITS[kind])(tool, model))


TOOLS: tuple[Rule, ...] = (
    Rule(
        number="OAR-14",
        title="At most 128 tools, flat and with valid names",
        answers="Missing required parameter: 'tools[].name'. / Invalid 'tools[].name': string does not match pattern.",
        source=PROBED,
        prevented_by=ENCODER + ", projection/passes/names.py",
        check=_tools,
        by_model=True,
    ),
    Rule(
        number="OAR-21",
        title="No two tools have the same name",
        answers="Tool names must be unique",
        source="as in chat completions (OAC-20), 2026-08: the stricter reading",
        prevented_by="projection/pipeline.py",
        check=_single_tools,
    ),
    Rule(
        number="OAR-22",
        title="The parameters of a function are a schema of type object, without alternatives; strict ones are closed",
        answers="Invalid schema for function '…': schema must be a JSON Schema of 'type: \"object\"' / schema must "
        "have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level",
        source="error text of OpenAI, many reports until 2026; nspady/google-calendar-mcp#39, 2025-06; "
        "letta-ai/letta#3137, 2026-01",
        prevented_by="wire/common/schema",
        check=_schemas,
    ),
    Rule(
        number="OAR-22b",
        title="A schema is valid in draft 2020-12; arrays have items, and patterns are regular expressions of Python",
        answers="Invalid schema for function '…': In context=('properties', '…'), array schema missing items. / "
        "[{'type': 'number'}, …] is not of type 'object', 'boolean' / '…' is not a 'regex'",
        source="vercel/ai#2271; fastcore#798, 2026-04; litellm#40485, 2026-09; vercel/ai#20021, 2026-08",
        prevented_by="wire/common/schema",
        check=_details("openai"),
        only=_has_form("openai"),
    ),
    Rule(
        number="OAR-27",
        title="A choice of a tool is one of the tools",
        answers="Tool choice 'image_generation' not found in 'tools' parameter.",
        source="vercel/ai, openai-allowed-tools-web-search-error.1.json, 2026; public gateways, 2026-04 to 2026-09",
        prevented_by=ENCODER,
        check=_choice,
    ),
    Rule(
        number="OAR-29",
        title="A call of a function in a namespace has the namespace",
        answers="Missing namespace for function_call '…'. It does not exist in the default namespace.",
        source="vercel/ai, openai-missing-function-call-namespace-error.1.json, 2026",
        prevented_by="wire/openai_responses/replay.py",
        check=_spaces,
    ),
    Rule(
        number="OAR-30",
        title="The output of a function that declares a schema for it is JSON",
        answers="Invalid function_call_output.output: expected a JSON string because the function declares "
        "output_schema.",
        source="vercel/ai, openai-output-schema-tool-error.1.json, 2026",
        prevented_by=ENCODER,
        check=_declared_outputs,
    ),
    Rule(
        number="OAR-28",
        title="MCP servers have an address, grammars are complete, and settings of tools are within their limits",
        answers="(refused; its words were not recorded)",
        source=f"{SDK}, documentation of the fields; OpenAI's guide to function calling, 'Context-free grammars', "
        "2025-08",
        prevented_by=ENCODER,
        check=_settings,
    ),
)
