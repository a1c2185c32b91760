"""Write tools and ``tool_choice``."""

from typing import Any

from ...dialects import OpenAICompletions
from ...projection import grammar_of
from ...types import ToolDefinition
from ..common.options import NOT_FORCED, ToolChoice, forbid_stub, tool_choice
from ..common.outgoing import Outgoing

Out = Outgoing[OpenAICompletions]
Body = dict[str, Any]


def add_tools(out: Out, body: Body) -> None:
    """Add the tools, if the target accepts any in this protocol, and ``tool_choice``."""
    accepts_tools = out.dialect.tools_with_reasoning or "none" in out.dialect.effort
    if out.tools and not accepts_tools:
        # OAC-13: "Function tools with reasoning_effort are not supported", and this model cannot turn it off.
        out.drop_option("tools", "this model accepts tools only with the protocol openai-responses")
    elif out.tools:
        body["tools"] = out.each_tool(definition)
    _add_choice(out, body)


def definition(dialect: OpenAICompletions, tool: ToolDefinition, schema: dict[str, Any]) -> dict[str, Any]:
    """The definition of a tool."""
    entry: dict[str, Any] = {"name": tool.name}
    if tool.description.strip():
        entry["description"] = tool.description
    if tool.kind is not None:  # ChatCompletionCustomToolParam (SDK openai 3.49.0)
        grammar = grammar_of(tool)
        if grammar is not None:
            entry["format"] = {"type": "grammar", "grammar": grammar}
        return {"type": "custom", "custom": entry}
    # OAC-22; MMX-06: "function parameters is empty"
    entry["parameters"] = described(schema) if dialect.parameter_descriptions else schema
    return {"type": "function", "function": entry}


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """Add an empty description to parameters without one (TPL-13)."""
    properties = {
        name: {"description": ""} | below if isinstance(below, dict) else below
        for name, below in schema["properties"].items()
    }
    return schema | {"properties": properties}


def _add_choice(out: Out, body: Body) -> None:
    def refusal(choice: ToolChoice) -> str | None:
        return NOT_FORCED if choice.forces and not out.dialect.forced_tool_choice else None  # KIM-08, DSK-09

    defined = "tools" in body
    choice = forbid_stub(out) if out.stubbed and defined else tool_choice(out, defined, refusal)  # OAC-12b
    if choice is not None:
        body["tool_choice"] = choice.mode if choice.name is None else _named(out, choice.name)


def _named(out: Out, name: str) -> Body:
    """The choice of one tool."""
    kind = next((tool.kind for tool in out.tools if tool.name == name), None) or "function"
    return {"type": kind, kind: {"name": name}}
