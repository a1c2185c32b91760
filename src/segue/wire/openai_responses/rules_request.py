"""Rules about tools and parameters."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from ...dialects import SCHEMA_SHAPES, OpenAIResponses, SchemaForm
from ...rules import Check, Rule
from ...types import Model
from ..common.checks import half_characters, openai_schema_fault, repeated, schema_fault, shown
from ..common.schema import refused
from .options import MIN_TOKENS
from .rules_items import ENCODER, PROBED
from .rules_shape import shape
from .walk import Body, Found, objects, of_kind, text

OPTIONS = "wire/openai_responses/options.py"
MAX_TOOLS = 128
_is_name = re.compile(r"[a-zA-Z0-9_-]{1,64}").fullmatch
_SAMPLING = ("temperature", "top_p", "top_logprobs")


def _has_form(form: SchemaForm) -> Callable[[Model], bool]:
    return lambda model: model.dialect.schema_form == form


def _dialect(model: Model | None) -> OpenAIResponses | None:
    return model.dialect if model is not None and isinstance(model.dialect, OpenAIResponses) else None


def _tools(body: Body, model: Model | None) -> Found:
    tools = body.get("tools")
    limit = MAX_TOOLS if model is None else model.dialect.max_tools
    if isinstance(tools, list) and limit is not None and len(tools) > limit:
        yield "tools", f"{len(tools)} tools, at most {limit}"
    searches = any(tool.get("type") == "tool_search" for _, tool in objects(tools, "tools"))
    for path, tool in objects(tools, "tools"):
        if tool.get("type") in ("function", "custom") and not _is_name(text(tool, "name")):
            yield f"{path}.name", f"{shown(tool.get('name'))!r} does not match [a-zA-Z0-9_-]{{1,64}}"
        if tool.get("defer_loading") and not searches:
            yield f"{path}.defer_loading", "requires a tool_search"
    for path, item in of_kind(body, "function_call", "custom_tool_call"):
        if not _is_name(text(item, "name")):
            yield f"{path}.name", f"{shown(item.get('name'))!r} does not match [a-zA-Z0-9_-]{{1,64}}"
    yield from _choice(body, tools)


def _choice(body: Body, tools: Any) -> Found:
    choice = body.get("tool_choice")
    if choice is None:
        return
    more = [item.get("tools") for _, item in of_kind(body, "additional_tools")]
    if not tools and not any(more):
        yield "tool_choice", "set, but there are no tools"
    elif not tools:
        return  # the tools of items are not looked up
    elif isinstance(choice, dict) and choice.get("type") == "function" and choice.get("name") not in _names(tools):
        yield "tool_choice.name", f"no tool has the name {shown(choice.get('name'))!r}"


def _names(tools: Any) -> list[Any]:
    """The names of all functions, including those in namespaces."""
    found = [tool for _, tool in objects(tools, "tools")]
    inner = [tool for space in found for _, tool in objects(space.get("tools"), "tools")]
    return [tool.get("name") for tool in [*found, *inner]]


def _scopes(body: Body) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """The functions of each scope of names: the list of tools itself, and each namespace in it."""
    tools = list(objects(body.get("tools"), "tools"))
    yield [(path, tool) for path, tool in tools if tool.get("type") in ("function", "custom")]
    for path, tool in tools:
        if tool.get("type") == "namespace":
            yield list(objects(tool.get("tools"), f"{path}.tools"))


def _single_tools(body: Body, model: Model | None) -> Found:
    for scope in _scopes(body):
        yield from repeated(((f"{path}.name", tool.get("name")) for path, tool in scope), "the tool")


def _schemas(body: Body, model: Model | None) -> Found:
    for scope in _scopes(body):
        for path, tool in scope:
            if tool.get("type") == "function" and tool.get("parameters") is not None:
                schema = tool["parameters"]
                if fault := schema_fault(schema) or openai_schema_fault(schema, tool.get("strict") is True):
                    yield f"{path}.parameters", fault


def _details(form: SchemaForm) -> Check:
    """The faults that ``_schemas`` does not report."""

    def check(body: Body, model: Model | None) -> Found:
        for path, tool in (each for scope in _scopes(body) for each in scope):
            if tool.get("type") == "function" and schema_fault(tool.get("parameters")) == "":
                found = refused(tool["parameters"], SCHEMA_SHAPES[form], f"{path}.parameters")
                yield from (fault for fault in found if not fault[1].startswith("the root of a schema"))

    return check


def _half_characters(body: Body, model: Model | None) -> Found:
    return half_characters(body)


def _parameters(body: Body, model: Model | None) -> Found:
    limit = body.get("max_output_tokens")
    if isinstance(limit, (int, float)) and limit < MIN_TOKENS:
        yield "max_output_tokens", f"at least {MIN_TOKENS}"
    reasoning = body.get("reasoning")
    if isinstance(reasoning, dict) and "generate_summary" in reasoning:  # the types still have it
        yield "reasoning.generate_summary", "there is no parameter 'generate_summary' here"


def _capabilities(body: Body, model: Model | None) -> Found:
    dialect = _dialect(model)
    if dialect is None or model is None:
        return
    if not dialect.sampling:
        for name in _SAMPLING:
            if body.get(name) is not None:
                yield name, "not supported with this model"
        include = body.get("include")
        if isinstance(include, list) and "message.output_text.logprobs" in include:
            yield "include", "log probabilities are not supported with this model"
    reasoning = body.get("reasoning")
    effort = reasoning.get("effort") if isinstance(reasoning, dict) else None
    if effort is not None and effort not in dialect.effort and (dialect.effort or model.known):
        known = f"one of {', '.join(dialect.effort)}" if dialect.effort else "accepted: the model has no levels"
        yield "reasoning.effort", f"{shown(effort)!r} is not {known}"


def _one_state(body: Body, model: Model | None) -> Found:
    if body.get("previous_response_id") and body.get("conversation"):
        yield "conversation", "not together with previous_response_id"


REQUEST: tuple[Rule, ...] = (
    Rule(
        number="OAR-14",
        title="At most 128 tools, flat and with valid names; tool_choice is one of them",
        answers="Missing required parameter: 'tools[].name'. / Invalid 'tools[].name': string does not match pattern.",
        source=PROBED,
        prevented_by=ENCODER + ", projection/passes/names.py",
        check=_tools,
        by_model=True,
    ),
    Rule(
        number="OAR-15",
        title="Only parameters that the protocol has",
        answers="Unknown parameter: '…'.",
        source=PROBED,
        prevented_by=OPTIONS,
        check=_parameters,
        shape=shape,
        sorts=("unknown", "value"),
    ),
    Rule(
        number="OAR-15b",
        title="Only parameters that the model has",
        answers="Unsupported parameter: '…' is not supported with this model.",
        source=PROBED,
        prevented_by=OPTIONS,
        check=_capabilities,
        only=lambda model: isinstance(model.dialect, OpenAIResponses),
    ),
    Rule(
        number="OAR-16",
        title="A request continues a response or a conversation, not both",
        answers="Cannot be used in conjunction with `conversation`.",
        source="SDK openai 3.49.0 (docstring), 2026-11",
        prevented_by="wire/openai_responses/encode.py: nothing is kept on the server",
        check=_one_state,
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
        number="OAR-23",
        title="No lone surrogates",
        answers="We could not parse the JSON body of your request.",
        source="error text of OpenAI, many reports until 2026",
        prevented_by="projection/passes/text.py",
        check=_half_characters,
    ),
)
