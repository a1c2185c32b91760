"""What OpenAI itself refuses in tools: their names and number, and ``tool_choice``."""

import re

from ...dialects import NAME_SHAPES
from ...rules import Rule
from ...types import Model
from ..common.checks import repeated, shown
from . import walk
from .walk import Found, Object, get, many, where

_TOOLS = "wire/openai_completions/tools.py"


def _names(body: Object, model: Model | None) -> Found:
    dialect = walk.dialect_of(model)
    fits = re.compile(NAME_SHAPES["dashes" if dialect is None else dialect.name_form].pattern).fullmatch
    named = [(f"{path}.name", tool.get("name")) for path, tool in walk.tools(body)]
    for path, call in walk.history_calls(body):
        for kind in ("function", "custom"):
            if isinstance(get(call, kind), dict):
                named.append((f"{path}.{kind}.name", call[kind].get("name")))
    for path, name in named:
        if not isinstance(name, str) or not fits(name):
            yield path, f"{shown(name)!r} is not a valid name"
    for path, message in walk.messages(body):
        name = message.get("name")
        if name is not None and not (isinstance(name, str) and re.fullmatch(r"[^\s<|\\/>]{1,64}", name)):
            yield f"{path}.name", f"{shown(name)!r} is not a valid name"


def _tools(body: Object, model: Model | None) -> Found:
    tools, dialect = many(body.get("tools")), walk.dialect_of(model)
    limit = 128 if dialect is None else dialect.max_tools
    if limit is not None and len(tools) > limit:
        yield "tools", f"{len(tools)} tools, at most {limit}"
    if not tools:
        for name in ("tool_choice", "parallel_tool_calls"):
            if body.get(name) is not None and not body.get("functions"):
                yield name, "set, but there are no tools"
    choice = body.get("tool_choice")
    for kind in ("function", "custom"):
        forced = get(choice, kind, "name")
        if tools and forced is not None and forced not in [get(tool, kind, "name") for tool in tools]:
            yield "tool_choice", f"no tool has the name {shown(forced)!r}"


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
        title="At most 128 tools; tool_choice only with tools, and only one that is defined",
        answers="Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
        source="error texts of OpenAI, measured by a third party 2026-09; Groq ha-groq-cloud-api#25",
        prevented_by=_TOOLS,
        check=_tools,
        by_model=True,
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
        "gpt-5-nano (cookbook, 'GPT-5 New Params and Tools', 2025-08): for later models the stricter reading",
        prevented_by=_TOOLS,
        check=_free_text,
        only=where(lambda dialect: not dialect.custom_tools),
    ),
)
