"""What OpenAI itself refuses in tools: their names and number, and ``tool_choice``."""

import re
from collections.abc import Iterator
from typing import Any

from ...dialects import NAME_SHAPES
from ...rules import Rule
from ...types import Model
from ..common.checks import repeated, shown
from ..common.grammars import grammar_fault
from . import walk
from .walk import Found, Object, get, many, where

_has_functions_only = where(lambda dialect: not dialect.custom_tools)
_is_openai = where(lambda dialect: dialect.openai_fields)
_TOOLS = "wire/openai_completions/tools.py"


def _names(body: Object, model: Model | None) -> Found:
    dialect = walk.dialect_of(model)
    fits = re.compile(NAME_SHAPES["dashes" if dialect is None else dialect.name_form].pattern).fullmatch
    named = [(path, tool.get("name")) for path, tool in (*walk.tools(body), *_called(body))]
    for path, name in named:
        if not isinstance(name, str) or not fits(name):
            yield f"{path}.name", f"{shown(name)!r} is not a valid name"
    for path, message in walk.messages(body):
        name = message.get("name")
        if name is not None and not (isinstance(name, str) and re.fullmatch(r"[^\s<|\\/>]{1,64}", name)):
            yield f"{path}.name", f"{shown(name)!r} is not a valid name"


def _called(body: Object) -> Iterator[tuple[str, Object]]:
    """What calls of the history call: functions, also in the older ``function_call``, and free-text tools."""
    older = [(path, message) for path, message in walk.answers(body) if isinstance(message.get("function_call"), dict)]
    yield from ((f"{path}.function_call", message["function_call"]) for path, message in older)
    for path, call in walk.history_calls(body):
        for kind in ("function", "custom"):
            if isinstance(get(call, kind), dict) and not walk.is_builtin(call):
                yield f"{path}.{kind}", call[kind]


def _tools(body: Object, model: Model | None) -> Found:
    tools, dialect = many(body.get("tools")), walk.dialect_of(model)
    limit = 128 if dialect is None else dialect.max_tools
    if limit is not None and len(tools) > limit:
        yield "tools", f"{len(tools)} tools, at most {limit}"


def _choice(body: Object, model: Model | None) -> Found:
    tools = many(body.get("tools"))
    if not tools:
        for name in ("tool_choice", "parallel_tool_calls"):
            if body.get(name) is not None and not body.get("functions"):
                yield name, "set, but there are no tools"
    if body.get("function_call") is not None and not body.get("functions"):
        yield "function_call", "set, but there are no functions"
    for path, kind, name in _chosen(body) if tools or body.get("functions") else ():
        known = [
            each.get("name") for place, each in walk.tools(body) if place.endswith(".custom") == (kind == "custom")
        ]
        if name is not None and name not in known:
            yield path, f"no tool has the name {shown(name)!r}"


def _chosen(body: Object) -> Iterator[tuple[str, str, Any]]:
    """Path, kind and name of each tool that the body chooses or allows."""
    yield "function_call", "function", get(body.get("function_call"), "name")
    choice = body.get("tool_choice")
    allowed = enumerate(many(get(choice, "allowed_tools", "tools")))
    chosen = [("tool_choice", choice), *((f"tool_choice.allowed_tools.tools[{at}]", each) for at, each in allowed)]
    for path, tool in chosen:
        yield from (
            (path, kind, get(tool, kind, "name")) for kind in ("function", "custom") if not walk.is_builtin(tool)
        )


def _grammars(body: Object, model: Model | None) -> Found:
    for path, tool in walk.tools(body):
        if path.endswith(".custom") and (fault := grammar_fault(get(tool, "format", "grammar"))):
            yield f"{path}.format.grammar", fault


def _single_tools(body: Object, model: Model | None) -> Found:
    return repeated(((f"{path}.name", tool.get("name")) for path, tool in walk.tools(body)), "the tool")


def _free_text(body: Object, model: Model | None) -> Found:
    for path, tool in walk.tools(body):
        if path.endswith(".custom"):
            yield path, f"{shown(tool.get('name'))!r} is a free-text tool"
    for path, call in walk.history_calls(body):
        if get(call, "type") == "custom":
            yield f"{path}.type", "a call of a free-text tool"


def _tools_with_reasoning(body: Object, model: Model | None) -> Found:
    dialect = walk.dialect_of(model)
    if not walk.tools(body):
        return
    if body.get("reasoning_effort") != "none":
        yield "reasoning_effort", "must be 'none' with tools"
    elif dialect is not None and "none" not in dialect.effort:
        yield "tools", "this model has no 'none', so it has no tools in this protocol"


RULES: tuple[Rule, ...] = (
    Rule(
        number="OAC-11",
        title="Tool names have at most 64 letters, digits, underscores and dashes",
        answers="string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
        source="error text of OpenAI, many reports until 2026",
        prevented_by="projection/passes/names.py",
        check=_names,
    ),
    Rule(
        number="OAC-12",
        title="At most 128 tools, or as many as the provider documents",
        answers="Invalid 'tools': array too long. Expected an array with maximum length 128",
        source="error texts of OpenAI, measured by a third party 2026-09; Groq ha-groq-cloud-api#25",
        prevented_by=_TOOLS,
        check=_tools,
        by_model=True,
    ),
    Rule(
        number="OAC-12b",
        title="tool_choice and function_call only with tools or functions, and only those that are defined",
        answers="Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified. / Invalid "
        "value for 'function_call': no function named '…' was specified in the 'functions' parameter.",
        source="error texts of OpenAI, measured by a third party 2026-09",
        prevented_by=_TOOLS,
        check=_choice,
    ),
    Rule(
        number="OAC-13",
        title="Reasoning models accept function tools only with reasoning off",
        answers="Function tools with reasoning_effort are not supported in /v1/chat/completions. To use function "
        "tools, use /v1/responses or set reasoning_effort to 'none'.",
        source="error text of OpenAI, many reports, 2026",
        prevented_by=_TOOLS,
        check=_tools_with_reasoning,
        only=where(lambda dialect: not dialect.tools_with_reasoning),
    ),
    Rule(
        number="OAC-20",
        title="No two tools have the same name",
        answers="Tool names must be unique",
        source="odysseus#6010, 2026-08 (a host of the family); Gemini and Claude behind it refuse it with "
        "their own texts; for OpenAI the stricter reading",
        prevented_by="projection/pipeline.py",
        check=_single_tools,
    ),
    Rule(
        number="OAC-24",
        title="Only some models have free-text tools; all others have functions",
        answers="key 'function' not found / 'function' is a required property - 'tools.7'",
        source="foundry-local#1080, CodexRosetta#1, 2026; OpenAI documents free-text tools for gpt-5, gpt-5-mini and "
        "gpt-5-nano (cookbook, 'GPT-5 New Params and Tools', 2025-08): for later ones it is not known",
        prevented_by=_TOOLS,
        check=_free_text,
        only=lambda model: _has_functions_only(model) and not (model.reasoning and _is_openai(model)),
    ),
    Rule(
        number="OAC-29",
        title="The grammar of a free-text tool is complete",
        answers="(refused; its words were not recorded)",
        source="OpenAI's guide to function calling, 'Context-free grammars', 2025-08",
        prevented_by=_TOOLS,
        check=_grammars,
    ),
)
