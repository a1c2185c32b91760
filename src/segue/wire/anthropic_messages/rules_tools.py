"""Rules about calls and results, and about the tools that a request defines."""

import re
from itertools import pairwise

from ...dialects import SCHEMA_SHAPES
from ...rules import Rule
from ...types import Model
from ..common.checks import repeated, shown
from ..common.schema import refused
from . import shapes
from .rules_messages import ENCODER, UNQUOTED, dialect
from .walk import Found, Json, Turn, content, continues_thread, declared, kind, objects, of_type, text, tools, turns

INTERACTIONS = "projection/passes/tool_interactions.py"
IDS = "projection/passes/ids.py"

_ID = re.compile(r"[a-zA-Z0-9_-]+").fullmatch
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}").fullmatch
# "tool_use.name: String should have at most 200 characters" (Claude Code changelog, 2026)
_CALLED = re.compile(r"[a-zA-Z0-9_-]{1,200}").fullmatch


# -- calls and results -----------------------------------------------------------------------------------------------


def calls_of(turn: Turn | None) -> list[tuple[str, str]]:
    """Path and id of each call of a turn."""
    if turn is None or turn.role != "assistant":
        return []
    return [(path, text(block, "id")) for path, block in turn.blocks if kind(block) == "tool_use"]


def _leading_results(turn: Turn | None) -> set[str]:
    """The ids of the results at the start of the first message of a turn, before any other block."""
    found: set[str] = set()
    if turn is None or turn.role != "user":
        return found
    for _, block in turn.blocks[: turn.first]:
        if kind(block) != "tool_result":
            break
        found.add(text(block, "tool_use_id"))
    return found


def _text_after_calls(body: Json, model: Model | None) -> Found:
    for turn in turns(body):
        kinds = [kind(block) for _, block in turn.blocks]
        if turn.role == "assistant" and "tool_use" in kinds:
            after = len(kinds) - kinds[::-1].index("tool_use")
            if set(kinds[after:]) == {"text"}:
                yield turn.blocks[after][0], "a text after the last call"


def _answered(body: Json, model: Model | None) -> Found:
    joined = turns(body)
    for turn, after in pairwise([*joined, None]):
        results = _leading_results(after)
        for path, call in calls_of(turn):
            if call not in results:
                yield path, f"the call {shown(call)!r} has no result at the beginning of the next message"


def _orphans(body: Json, model: Model | None) -> Found:
    joined, before = turns(body), set[str]()
    for turn in joined[1:] if continues_thread(body) else joined:
        for path, block in turn.blocks:
            if turn.role == "user" and kind(block) == "tool_result" and text(block, "tool_use_id") not in before:
                yield path, f"no call {text(block, 'tool_use_id')!r} in the turn before"
        before = {call for _, call in calls_of(turn)}


def _single_results(body: Json, model: Model | None) -> Found:
    for turn in turns(body):
        seen: set[str] = set()
        for path, block in turn.blocks:
            if kind(block) == "tool_result":
                if text(block, "tool_use_id") in seen:
                    yield path, f"a second result of {text(block, 'tool_use_id')!r}"
                seen.add(text(block, "tool_use_id"))


def _unique_ids(body: Json, model: Model | None) -> Found:
    calls = of_type(body, "tool_use", "server_tool_use", "mcp_tool_use")
    yield from repeated(((f"{path}.id", block.get("id")) for path, block in calls), "the id")


def _id_pattern(body: Json, model: Model | None) -> Found:
    for path, block in of_type(body, "tool_use", "tool_result"):
        name = "id" if kind(block) == "tool_use" else "tool_use_id"
        if not _ID(text(block, name)):
            yield f"{path}.{name}", f"{shown(block.get(name))!r} is not a valid id"


def _inputs(body: Json, model: Model | None) -> Found:
    for path, block in of_type(body, "tool_use", "server_tool_use"):
        if not isinstance(block.get("input"), dict):
            yield f"{path}.input", "the input of a call is not an object"


def _result_content(body: Json, model: Model | None) -> Found:
    for path, block in of_type(body, "tool_result"):
        for where, inner in content(block, path):
            if kind(inner) not in shapes.IN_RESULT:
                yield where, f"a {kind(inner)} block is not allowed in a result"
            elif block.get("is_error") is True and kind(inner) != "text":
                yield where, "a failed result may contain texts only"
            if inner.get("cache_control") is not None:
                yield f"{where}.cache_control", "a cache marker must be on the result itself"


def _toolset_results(body: Json, model: Model | None) -> Found:
    toolsets = {text(block, "id"): block.get("toolset_name") for _, block in of_type(body, "tool_use")}
    for path, block in of_type(body, "tool_result"):
        if text(block, "tool_use_id") not in toolsets:
            continue  # ANT-20
        toolset = toolsets[text(block, "tool_use_id")]
        if block.get("toolset_name") != toolset:
            yield f"{path}.toolset_name", f"a result of a call of {toolset or 'no toolset'} must name the same"
        inside = list(content(block, path))
        for where, inner in inside:
            if toolset is not None and kind(inner) not in shapes.IN_TOOLSET_RESULT:
                yield where, f"a {kind(inner)} block is not allowed in the result of a toolset"
        states = [(where, inner) for where, inner in inside if kind(inner) == "browser_state"]
        if len(states) > 1:
            yield states[1][0], "a second browser_state in a result"
        for where, state in states:
            tabs = [tab for _, tab in objects(state.get("tabs"), "")]
            if tabs and sum(tab.get("active") is True for tab in tabs) != 1:
                yield f"{where}.tabs", "exactly one tab must be active"


# -- definitions -----------------------------------------------------------------------------------------------------


def _has_definitions(body: Json, model: Model | None) -> Found:
    if declared(body):
        return
    for path, block in of_type(body, "tool_use", "tool_result"):
        yield path, f"a {kind(block)} block, and no tool is defined"
        return


def _names(body: Json, model: Model | None) -> Found:
    for path, block in of_type(body, "tool_use"):
        if not _CALLED(text(block, "name")):
            yield f"{path}.name", f"{shown(block.get('name'))!r} is not a valid name"
    for path, tool in declared(body):
        if tool.get("type") in (None, "custom") and not _NAME(text(tool, "name")):
            yield f"{path}.name", f"{shown(tool.get('name'))!r} is not a valid name"
    yield from repeated(((f"{path}.name", tool.get("name")) for path, tool in tools(body)), "the tool")


def _choice(body: Json, model: Model | None) -> Found:
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not isinstance(choice, dict) or choice.get("type") not in ("auto", "any", "tool", "none"):
        yield "tool_choice", "tool_choice must be an object of type auto, any, tool or none"
        return
    if not declared(body):
        yield "tool_choice", "no tool is defined"
    forces = choice["type"] in ("any", "tool")
    if choice["type"] == "tool" and choice.get("name") not in [tool.get("name") for _, tool in declared(body)]:
        yield "tool_choice.name", f"no tool is called {choice.get('name')!r}"
    thinking = body.get("thinking")
    if forces and isinstance(thinking, dict) and thinking.get("type") == "enabled":
        yield "tool_choice", "no tool can be forced while thinking is enabled"
    if forces and model is not None and not dialect(model).forced_tool_choice:
        yield "tool_choice", "this model cannot be forced to call a tool"


def _references(body: Json, model: Model | None) -> Found:
    defined = list(tools(body))
    names = {text(tool, "name") for _, tool in declared(body)}
    for path, name in _referenced(body):
        if name not in names:
            yield path, f"no tool is called {shown(name)!r}"
    if defined and all(tool.get("defer_loading") is True for _, tool in defined):
        yield "tools", "at least one tool must not be deferred"
    for path, tool in defined:
        if tool.get("defer_loading") is True and tool.get("cache_control") is not None:
            yield f"{path}.cache_control", "a deferred tool must not have a cache marker"


def _referenced(body: Json) -> Found:
    """Every reference to a tool by name, with its path: in results, in changes of tools and in ``url_sources``."""
    for path, block in of_type(body, "tool_reference"):
        yield f"{path}.tool_name", text(block, "tool_name")
    for path, block in of_type(body, "tool_addition", "tool_removal"):
        tool = block.get("tool")
        if isinstance(tool, dict) and kind(tool) == "tool_reference":
            yield f"{path}.tool.name", text(tool, "name")
    for path, tool in declared(body):
        sources = tool.get("url_sources")
        for name, source in sources.items() if isinstance(sources, dict) else ():
            listed = source.get("tools") if isinstance(source, dict) else None
            for where, each in objects(listed, f"{path}.url_sources.{name}.tools"):
                yield f"{where}.name", text(each, "name")


def _schemas(body: Json, model: Model | None) -> Found:
    strict, shape = 0, SCHEMA_SHAPES["2020-12" if model is None else model.dialect.schema_form]
    for path, tool in declared(body):
        if tool.get("type") not in (None, "custom"):
            continue
        strict += tool.get("strict") is True
        yield from refused(tool.get("input_schema"), shape, f"{path}.input_schema")
    if strict > 20:
        yield "tools", f"{strict} strict tools; at most 20 are allowed"


TOOLS: tuple[Rule, ...] = (
    Rule(
        number="ANT-16",
        title="No text follows the last call of an answer.",
        answers="`tool_use` ids were found without `tool_result` blocks immediately after",
        source="recorded by anomalyco/opencode (packages/llm, rejects-malformed-assistant-tool-order), 2026-05",
        prevented_by=ENCODER,
        check=_text_after_calls,
    ),
    Rule(
        number="ANT-19",
        title="Every call has its result at the start of the next message; all results of a batch are in that message.",
        answers="`tool_use` ids were found without `tool_result` blocks immediately after. Each `tool_use` block must "
        "have a corresponding `tool_result` block in the next message.",
        source="claude-code#8612; claude-code#8210; claude-code#1237; langchain-aws#451. One probe of 2026-07 found a "
        "batch in two messages accepted; Bedrock and the error text refuse it: the stricter reading",
        prevented_by=INTERACTIONS,
        check=_answered,
    ),
    Rule(
        number="ANT-20",
        title="Every result has its call in the turn before.",
        answers="unexpected `tool_use_id` found in `tool_result` blocks",
        source="claude-code#18947",
        prevented_by=INTERACTIONS,
        check=_orphans,
    ),
    Rule(
        number="ANT-21",
        title="A call has one result.",
        answers="each tool_use must have a single result. Found multiple `tool_result` blocks with id",
        source="litellm#19324",
        prevented_by=INTERACTIONS,
        check=_single_results,
    ),
    Rule(
        number="ANT-22",
        title="Call ids are unique in a request.",
        answers="messages: `tool_use` ids must be unique",
        source="litellm#19324 and its source, 2026",
        prevented_by=IDS,
        check=_unique_ids,
    ),
    Rule(
        number="ANT-23",
        title="Ids consist of letters, digits, underscores and hyphens.",
        answers="tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        source="huggingface/tau#385; langchain-ai/langchain#37756",
        prevented_by=IDS,
        check=_id_pattern,
    ),
    Rule(
        number="ANT-24",
        title="The input of a call is an object.",
        answers="tool_use.input: Input should be an object",
        source="seen in public source code, 2026",
        prevented_by="types/content.py",
        check=_inputs,
    ),
    Rule(
        number="ANT-25",
        title="If the history has calls, tools are defined.",
        answers="Requests which include `tool_use` or `tool_result` blocks must define tools",
        source="seen in public source code, 2026",
        prevented_by="projection/pipeline.py",
        check=_has_definitions,
    ),
    Rule(
        number="ANT-26",
        title="Tool names are valid and unique.",
        answers="tools.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        source="seen in public source code, 2026 (64 characters before, and on Bedrock and Vertex)",
        prevented_by="projection/passes/names.py",
        check=_names,
    ),
    Rule(
        number="ANT-27",
        title="A tool choice names a defined tool, and forces a call only if thinking and model allow it.",
        answers="Thinking may not be enabled when tool_choice forces tool use.",
        source="can1357/oh-my-pi#333; source of pydantic-ai, 2026",
        prevented_by="wire/anthropic_messages/options.py",
        check=_choice,
        by_model=True,
    ),
    Rule(
        number="ANT-28",
        title="A result has only blocks that are allowed there, a failed one texts only, without cache markers inside.",
        answers='all content must be type "text" if "is_error" is true',
        source="SDK anthropic 2.8.0, 2026-11; source of bifrost, 2026",
        prevented_by=ENCODER,
        check=_result_content,
    ),
    Rule(
        number="ANT-28b",
        title="A result of a toolset names it, has texts and images only, and at most one browser state.",
        answers=UNQUOTED,
        source="SDK anthropic 2.8.0, beta_tool_result_block_param.py and beta_browser_state_block_param.py, 2026-11",
        prevented_by=ENCODER,
        check=_toolset_results,
    ),
    Rule(
        number="ANT-29",
        title="References to tools resolve, and not every tool is deferred.",
        answers="tool_addition/tool_removal references unknown tool",
        source="SDK anthropic 2.8.0 (tool_reference_unresolved), 2026-11; source of pydantic-ai, 2026",
        prevented_by=ENCODER,
        check=_references,
    ),
    Rule(
        number="ANT-55",
        title="A tool's schema is valid and has an object without alternatives as root.",
        answers="tools.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
        source="claude-code#63673; claude-code#40075; Dokploy/mcp#74; homeassistant-ai/ha-mcp#2361, 2026-09",
        prevented_by="wire/common/schema",
        check=_schemas,
    ),
)
