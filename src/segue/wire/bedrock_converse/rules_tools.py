"""Rules about tools, calls and results."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ...dialects import SCHEMA_SHAPES
from ...rules import Rule
from ...types import Model
from ..common.checks import empty_keys, repeated, shown
from ..common.schema import refused
from .dialect import claude, dialect_of, where
from .shapes import blocks, ids, items, of_kind, part, tools, turns, with_results

Found = Iterator[tuple[str, str]]
Body = dict[str, Any]
ENCODER = "wire/bedrock_converse/encode.py"
OPTIONS = "wire/bedrock_converse/options.py"
PAIRING = "projection/passes/tool_interactions.py"
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
CLAUDE_ID = re.compile(r"[a-zA-Z0-9_-]+")


def _unanswered(body: Body, model: Model | None) -> Found:
    for turn, after in pairwise([*turns(body), None]):
        if turn is None:
            continue
        called = [call for _, call in ids(turn, "toolUse")] if turn.role == "assistant" else []
        answered = {result for _, result in ids(after, "toolResult")} if after and after.role == "user" else set()
        missing = [call for call in called if call not in answered]
        if missing:
            yield f"{turn.path}.content", f"no result in the next message for {', '.join(map(shown, missing))}"


def _surplus(body: Body, model: Model | None) -> Found:
    called: set[str] = set()
    for turn in turns(body):
        if turn.role == "user":
            for path, result in ids(turn, "toolResult"):
                if result not in called:
                    yield path, f"{shown(result)} does not answer a call of the turn before"
        called = {call for _, call in ids(turn, "toolUse")} if turn.role == "assistant" else set()


def _duplicates(body: Body, model: Model | None) -> Found:
    for turn in turns(body):
        for kind in ("toolUse", "toolResult"):
            for name, count in Counter(name for _, name in ids(turn, kind)).items():
                if count > 1:
                    yield f"{turn.path}.content", f"{shown(name)} is the id of {count} {kind} blocks"


def _repeated_ids(body: Body, model: Model | None) -> Found:
    calls = ((f"{path}.toolUseId", name) for turn in turns(body) for path, name in ids(turn, "toolUse"))
    return repeated(calls, "the id")


def _all_ids(body: Body) -> Found:
    for placed in blocks(body):
        for kind in ("toolUse", "toolResult"):
            value = placed.block.get(kind)
            if isinstance(value, dict):
                name = value.get("toolUseId")
                yield f"{placed.path}.{kind}.toolUseId", name if isinstance(name, str) else ""


def _bad_ids(body: Body, model: Model | None) -> Found:
    return ((path, f"{shown(name)!r} is not a valid id") for path, name in _all_ids(body) if not ID.fullmatch(name))


def _bad_claude_ids(body: Body, model: Model | None) -> Found:
    return (
        (path, f"{shown(name)!r} is not a valid id") for path, name in _all_ids(body) if not CLAUDE_ID.fullmatch(name)
    )


def _all_names(body: Body) -> Iterator[tuple[str, Any]]:
    for path, spec in tools(body):
        yield f"{path}.name", spec.get("name")
    for placed in blocks(body):
        if isinstance(placed.block.get("toolUse"), dict):
            yield f"{placed.path}.toolUse.name", placed.block["toolUse"].get("name")
    chosen = part(body, "toolConfig", "toolChoice").get("tool")
    if isinstance(chosen, dict):
        yield "toolConfig.toolChoice.tool.name", chosen.get("name")


def _bad_names(body: Body, model: Model | None) -> Found:
    for path, name in _all_names(body):
        if not isinstance(name, str) or not NAME.fullmatch(name):
            yield path, f"{shown(name)!r} is not a valid tool name"
    for path, spec in tools(body):
        if spec.get("description") == "":
            yield f"{path}.description", "an empty description; leave it out"


def _hyphens(body: Body, model: Model | None) -> Found:
    named = ((path, name) for path, name in _all_names(body) if isinstance(name, str) and "-" in name)
    return ((path, f"a hyphen in {shown(name)!r}") for path, name in named)


def _same_names(body: Body, model: Model | None) -> Found:
    return repeated(((f"{path}.name", spec.get("name")) for path, spec in tools(body)), "the tool")


def _empty_keys(body: Body, model: Model | None) -> Found:
    for placed, call in of_kind(body, "toolUse"):
        yield from empty_keys(call.get("input"), f"{placed.path}.toolUse.input")


def _empty_results(body: Body, model: Model | None) -> Found:
    for placed, result in of_kind(body, "toolResult"):
        if result.get("content") == [] and result.get("status") != "error":  # a failed one is BED-18b
            yield f"{placed.path}.toolResult.content", "a result without content"


def _no_objects(body: Body, model: Model | None) -> Found:
    for placed in with_results(body):
        call = placed.block.get("toolUse")
        if isinstance(call, dict) and not isinstance(call.get("input"), dict):
            yield f"{placed.path}.toolUse.input", "the input of a call must be an object"
        if "json" in placed.block and not isinstance(placed.block["json"], dict):
            yield f"{placed.path}.json", "json must be an object"
    for path, spec in tools(body):
        schema = part(spec, "inputSchema").get("json")
        if not isinstance(schema, dict):
            yield f"{path}.inputSchema.json", "a schema must be an object"


def _bad_schemas(body: Body, model: Model | None) -> Found:
    for path, spec in tools(body):
        yield from refused(part(spec, "inputSchema", "json"), _CONVERSE, f"{path}.inputSchema.json")


_CONVERSE = SCHEMA_SHAPES["2020-12"]


def _nova_schemas(body: Body, model: Model | None) -> Found:
    for path, spec in tools(body):
        schema, path = part(spec, "inputSchema", "json"), f"{path}.inputSchema.json"
        known = set(refused(schema, _CONVERSE, path))  # ANT-55
        yield from (fault for fault in refused(schema, SCHEMA_SHAPES["nova"], path) if fault not in known)


def _tool_blocks(body: Body) -> list[str]:
    return [placed.path for placed in blocks(body) if "toolUse" in placed.block or "toolResult" in placed.block]


def _no_tools(body: Body, model: Model | None) -> Found:
    used = _tool_blocks(body)
    if "toolConfig" in body:
        if not items(part(body, "toolConfig").get("tools")):
            yield "toolConfig.tools", "at least one tool is required"
    elif used:
        yield "toolConfig", f"required, because {used[0]} is a tool block"


def _choices(body: Body, model: Model | None) -> Found:
    for kind in part(body, "toolConfig", "toolChoice"):
        if kind not in dialect_of(model).tool_choice:
            yield f"toolConfig.toolChoice.{shown(kind)}", "a tool choice that this model does not support"


def _absent_choice(body: Body, model: Model | None) -> Found:
    chosen = part(body, "toolConfig", "toolChoice", "tool").get("name")
    of_system = [part(tool, "systemTool").get("name") for tool in items(part(body, "toolConfig").get("tools"))]
    if isinstance(chosen, str) and chosen not in [*of_system, *(spec.get("name") for _, spec in tools(body))]:
        yield "toolConfig.toolChoice.tool.name", f"no tool is called {shown(chosen)!r}"


def _forced_while_thinking(body: Body, model: Model | None) -> Found:
    choice = part(body, "toolConfig", "toolChoice")
    if ("any" in choice or "tool" in choice) and _thinking_type(body) == "enabled":
        yield "toolConfig.toolChoice", "a forced call while the model thinks by budget"


def _thinking_type(body: Body) -> Any:
    return part(body, "additionalModelRequestFields", "thinking").get("type")


def _any_tools(body: Body, model: Model | None) -> Found:
    if "toolConfig" in body:
        yield "toolConfig", "tools, which this model does not have"
    elif used := _tool_blocks(body):
        yield used[0], "a call or result, but this model does not have tools"


def _statuses(body: Body, model: Model | None) -> Found:
    for placed in blocks(body):
        if "status" in part(placed.block, "toolResult"):
            yield f"{placed.path}.toolResult.status", "the status of a result, which this model does not support"


def _empty_errors(body: Body, model: Model | None) -> Found:
    for placed in blocks(body):
        result = part(placed.block, "toolResult")
        if result.get("status") == "error" and not items(result.get("content")):
            yield f"{placed.path}.toolResult.content", "a failed result without content"


def _text_after_calls(body: Body, model: Model | None) -> Found:
    for turn in turns(body):
        kinds = [kind for kind in turn.kinds() if kind != "cachePoint"]
        if turn.role == "assistant" and "toolUse" in kinds:
            after = len(kinds) - kinds[::-1].index("toolUse")
            if kinds[after:] and set(kinds[after:]) <= {"text", "citationsContent"}:
                yield f"{turn.path}.content", "a text after the last call"


def _results_first(body: Body, model: Model | None) -> Found:
    for turn in turns(body):
        kinds = [kind for kind in turn.kinds() if kind != "cachePoint"]
        if turn.role == "user" and "toolResult" in kinds[kinds.count("toolResult") :]:
            yield f"{turn.path}.content", "results must come first"


def _errors_with_images(body: Body, model: Model | None) -> Found:
    for placed in blocks(body):
        result = part(placed.block, "toolResult")
        for index, block in enumerate(items(result.get("content"))):
            if result.get("status") == "error" and isinstance(block, dict) and not {"text", "json"} & set(block):
                yield f"{placed.path}.toolResult.content[{index}]", "a failed result may contain text only"


TOOLS = (
    Rule(
        number="BED-06",
        title="every call has its result in the next message",
        answers="Expected toolResult blocks at messages.content for the following Ids",
        source="agno#6698, camel#3954, pydantic-ai#1645, hermes-agent#108584, as known 2026-11",
        prevented_by=PAIRING,
        check=_unanswered,
    ),
    Rule(
        number="BED-07",
        title="every result answers a call of the turn before",
        answers="The number of toolResult blocks exceeds the number of toolUse blocks of previous turn.",
        source="pydantic-ai#2327, dify-official-plugins#765, as known 2026-11",
        prevented_by=PAIRING,
        check=_surplus,
    ),
    Rule(
        number="BED-08",
        title="an id is used once in a turn",
        answers="The toolUse blocks contain duplicate Ids",
        source="litellm#20048, #20049, as known 2026-11; wording not seen",
        prevented_by="projection/passes/ids.py",
        check=_duplicates,
    ),
    Rule(
        number="BED-09",
        title="ids have 1 to 64 characters of a-z, A-Z, 0-9, _, ., :, -",
        answers="toolUseId failed to satisfy constraint: Member must satisfy regular expression pattern",
        source="botocore 1.44.0, ToolUseId, 2026-11; llama_index#22775; wording not seen",
        prevented_by="projection/passes/ids.py",
        check=_bad_ids,
    ),
    Rule(
        number="BED-10",
        title="names have 1 to 64 characters of a-z, A-Z, 0-9, _, -, and descriptions at least one",
        answers="name failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
        source="botocore 1.44.0, ToolName, 2026-11; wording not seen",
        prevented_by="projection/passes/names.py",
        check=_bad_names,
    ),
    Rule(
        number="BED-10b",
        title="some models fail on a hyphen in a name",
        answers="Model produced invalid sequence as part of ToolUse.",
        source="Converse's error text of Nova, as known 2026-11",
        prevented_by="projection/passes/names.py",
        check=_hyphens,
        only=where(lambda dialect: dialect.name_form == "underscores"),
    ),
    Rule(
        number="BED-11",
        title="inputs, json results and schemas are objects",
        answers="The format of the value at toolUse.input is invalid. Provide a json object for the field",
        source="aichat#1550, goose#3249, Converse's error text, as known 2026-11",
        prevented_by=ENCODER,
        check=_no_objects,
    ),
    Rule(
        number="BED-11b",
        title="no key inside the input of a call is empty",
        answers="The provided request is not valid",
        source="earendil-works/pi#7782 and #7882, 2026-08; wording not seen",
        prevented_by=ENCODER,
        check=_empty_keys,
    ),
    Rule(
        number="BED-12",
        title="if there are tool blocks, tools are defined",
        answers="The toolConfig field must be defined when using toolUse and toolResult content blocks.",
        source="pydantic-ai#1966, dify#17545, pentagi#196, as known 2026-11",
        prevented_by="projection/pipeline.py",
        check=_no_tools,
    ),
    Rule(
        number="BED-13",
        title="some models do not support every tool choice",
        answers="This model doesn't support the toolConfig.toolChoice.any field. Remove it and try again.",
        source="strands-agents/harness-sdk#1241, as known 2026-11",
        prevented_by=OPTIONS,
        check=_choices,
        only=where(lambda dialect: len(dialect.tool_choice) < 3),
    ),
    Rule(
        number="BED-13b",
        title="the chosen tool is defined",
        answers="The provided request is not valid",
        source="Converse's check of toolChoice.tool, as known 2026-11; wording not seen",
        prevented_by=OPTIONS,
        check=_absent_choice,
    ),
    Rule(
        number="BED-14",
        title="some models have no tools",
        answers="This model doesn't support tool use.",
        source="langchain-aws#447, as known 2026-11",
        prevented_by=ENCODER,
        check=_any_tools,
        only=where(lambda dialect: not dialect.tools),
    ),
    Rule(
        number="BED-18",
        title="some models do not support the status of a result",
        answers="This model doesn't support the status field. Remove status and try again.",
        source="botocore 1.44.0, ToolResultBlock, 2026-11; pydantic-ai models/bedrock.py",
        prevented_by=ENCODER,
        check=_statuses,
        only=where(lambda dialect: not dialect.error_flag),
    ),
    Rule(
        number="BED-18b",
        title="a failed result has content",
        answers="The content field at toolResult cannot be empty when status value is error.",
        source="aws-samples/sample-multi-agent-orchestration-chat-on-agentcore#15, as known 2026-11",
        prevented_by="projection/passes/text.py",
        check=_empty_errors,
    ),
    Rule(
        number="ANT-12",
        title="a result has content",
        answers="(refused with status 400; the error text was not recorded)",
        source="sources of pydantic-ai and litellm, 2026",
        prevented_by="projection/passes/text.py",
        check=_empty_results,
        only=claude,
    ),
    Rule(
        number="ANT-16",
        title="no text follows the last call of an answer",
        answers="`tool_use` ids were found without `tool_result` blocks immediately after",
        source="recorded by anomalyco/opencode on Anthropic's API, which is behind Converse, 2026-05",
        prevented_by=ENCODER,
        check=_text_after_calls,
        only=claude,
    ),
    Rule(
        number="ANT-19",
        title="results come first in their turn",
        answers="`tool_use` ids were found without `tool_result` blocks immediately after",
        source="claude-code#8612, langchain-aws#451, as known 2026-11",
        prevented_by=ENCODER,
        check=_results_first,
        only=claude,
    ),
    Rule(
        number="ANT-22",
        title="an id is used once in a request",
        answers="messages: `tool_use` ids must be unique",
        source="litellm#19324, as known 2026-11",
        prevented_by="projection/passes/ids.py",
        check=_repeated_ids,
        only=claude,
    ),
    Rule(
        number="ANT-23",
        title="ids have only a-z, A-Z, 0-9, _ and -",
        answers="tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        source="huggingface/tau#385, langchain-ai/langchain#37756, as known 2026-11",
        prevented_by="projection/passes/ids.py",
        check=_bad_claude_ids,
        only=claude,
    ),
    Rule(
        number="ANT-26",
        title="a tool is defined once",
        answers="tools: Tool names must be unique.",
        source="claude-code#10687, 2025-10 (Claude's text, behind Converse); for other families the stricter reading",
        prevented_by="projection/pipeline.py",
        check=_same_names,
    ),
    Rule(
        number="ANT-27",
        title="a model that thinks by budget cannot be forced to call a tool",
        answers="Thinking may not be enabled when tool_choice forces tool use.",
        source="can1357/oh-my-pi#333, as known 2026-11",
        prevented_by=OPTIONS,
        check=_forced_while_thinking,
        only=claude,
    ),
    Rule(
        number="ANT-28",
        title="a failed result contains text only",
        answers='all content must be type "text" if "is_error" is true',
        source="Anthropic's error text, behind Converse, as known 2026-11",
        prevented_by=ENCODER,
        check=_errors_with_images,
        only=claude,
    ),
    Rule(
        number="ANT-55",
        title="a schema is valid in draft 2020-12; its root is an object, without alternatives",
        answers="toolSpec.inputSchema.json.type must be one of the following: object.",
        source="Anthropic's and Converse's error texts, as known 2026-11; wording not seen; claude-code#63673, 2026",
        prevented_by="wire/common/schema",
        check=_bad_schemas,
    ),
    Rule(
        number="BED-11c",
        title="the root of a schema has only type, properties and required, so there are no definitions",
        answers="The passed tool configuration does not comply to the required conventions.",
        source="docs.aws.amazon.com, Nova, 'Troubleshooting tool calls'; pydantic-ai#1623, 2025-04",
        prevented_by="wire/common/schema",
        check=_nova_schemas,
        only=lambda model: model.dialect.schema_form == "nova",
    ),
)
