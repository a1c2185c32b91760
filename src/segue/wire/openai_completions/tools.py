"""Write tools and ``tool_choice``. Schemas are adapted on a copy: the root is an object, without alternatives."""

from typing import Any

from ...dialects import OpenAICompletions
from ...types import ToolDefinition
from ..common.checks import ALTERNATIVES
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
        body["tools"] = out.each_tool(function)
    _add_choice(out, body)


def function(dialect: OpenAICompletions, tool: ToolDefinition) -> tuple[dict[str, Any], str | None]:
    """The definition of a tool, and how its schema was adapted."""
    schema = tool.schema
    adapted = object_schema(schema)
    if dialect.parameter_descriptions:
        adapted = described(adapted)
    entry: dict[str, Any] = {"name": tool.name}
    if tool.description.strip():
        entry["description"] = tool.description
    why = None if adapted == schema else "the root is an object, without alternatives"
    # MMX-06: "function parameters is empty"
    return {"type": "function", "function": entry | {"parameters": adapted}}, why


def object_schema(schema: Any) -> dict[str, Any]:
    """Return ``schema`` if its root is a plain object, otherwise an object schema made from its parts.

    "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level" (OpenAI),
    "object schema missing properties" (OpenAI and Azure; both in public clients, collected 2026-11).
    """
    if not isinstance(schema, dict):
        return {"type": "object", "properties": {}}
    if schema.get("type") == "object" and not any(key in schema for key in ALTERNATIVES):
        return schema if isinstance(schema.get("properties"), dict) else schema | {"properties": {}}
    root = {key: value for key, value in schema.items() if key not in ALTERNATIVES} | {"type": "object"}
    properties: dict[str, Any] = {}
    for key in ("oneOf", "anyOf", "allOf"):
        branches = schema.get(key)
        for branch in branches if isinstance(branches, list) else []:
            below = branch.get("properties") if isinstance(branch, dict) else None
            properties = (below if isinstance(below, dict) else {}) | properties
    own = root.get("properties")
    root["properties"] = properties | (own if isinstance(own, dict) else {})
    return root


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
    choice = forbid_stub(out) if out.stubbed and defined else tool_choice(out, defined, refusal)  # OAC-12
    if choice is not None:
        named = {"type": "function", "function": {"name": choice.name}}
        body["tool_choice"] = choice.mode if choice.name is None else named
