"""The frame around the messages: the system prompt and the tools, as the target accepts them."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from ..types import ToolDefinition, ToolKey
from ..types.text import scrub
from .step import NameMap, PendingChange, Report, Target

STUB_TOOL = ToolDefinition(
    "unavailable_tool",
    "Stands in for tools of this conversation that can no longer be called. Do not call it.",
    b'{"type":"object","properties":{}}',
)
"""For targets that refuse a history with calls when a request defines no tool."""


class Frame:
    """The system prompt and the tools of one request, with a report of the changes to them."""

    def __init__(
        self, system_prompt: str | None, tools: Sequence[ToolDefinition], target: Target, *, needs_stub: bool
    ) -> None:
        self.report = Report()
        self.stubbed = needs_stub
        self.system_prompt = system_prompt
        self.tools = list(tools)
        self.tools_as: dict[Any, tuple[list[dict[str, Any]], list[PendingChange]]] = {}
        """The tools as each encoder writes them, with the changes that it reports. Converting schemas is slow."""
        if target.policy.passes:
            self._render(target)
        if needs_stub:
            self.tools = [STUB_TOOL]
            self.report.add("tools-stubbed", None, None, "the history has calls, and no tool is defined")

    def _render(self, target: Target) -> None:
        self.system_prompt = self._prompt(self.system_prompt)
        self.tools = self._tools(target)

    def _prompt(self, prompt: str | None) -> str | None:
        if prompt is None:
            return None
        clean = scrub(prompt)
        if clean is not prompt:
            self.report.add("text-sanitized", None, None, "half characters replaced in the system prompt")
        if clean.isspace():
            self.report.add("empty-dropped", None, None, "a system prompt without text")
            return None
        return clean

    def _tools(self, target: Target) -> list[ToolDefinition]:
        rendered: dict[tuple[str | None, str], ToolDefinition] = {}
        if target.policy.declared_names == "kept":
            self._keep_names(target)
        for tool in self.tools:
            adapted, change = adapted_tool(target.names, tool)
            if change is not None:
                self.report.add("tool-adapted", None, None, change)
            name, description = target.names.rendered(adapted.name), scrub(tool.description)
            if (adapted.namespace, name) in rendered:
                self.report.add("tool-duplicate", None, None, f"{tool.name!r} is defined twice; the first is used")
                continue
            if name != adapted.name:
                self.report.add("name-projected", None, None, f"tool {adapted.name!r} is sent as {name!r}")
            if description is not tool.description:
                self.report.add("text-sanitized", None, None, f"half characters replaced in tool {name!r}")
            if name != adapted.name or description is not tool.description:
                adapted = replace(adapted, name=name, description=description)
            rendered[adapted.namespace, name] = adapted
        return list(rendered.values())

    def _keep_names(self, target: Target) -> None:
        target.names.fixed = frozenset(tool.name for tool in self.tools)
        for tool in self.tools:
            if not target.names.is_valid(tool.name):
                self.report.add("name-kept", None, None, f"the target may refuse the name of tool {tool.name!r}")


def adapted_tool(names: NameMap, tool: ToolDefinition) -> tuple[ToolDefinition, str | None]:
    """A free-text tool or a tool in a namespace as the target knows it, and how it was changed, if it was."""
    if tool.kind is None and tool.namespace is None:
        return tool, None
    name, kind, namespace = names.adapted(ToolKey(tool.name, tool.kind, tool.namespace))
    if kind == "custom" and grammar_of(tool) is None and tool.format not in (None, {"type": "text"}):
        tool, _ = adapted_tool(names, replace(tool, format=None))
        return tool, f"the format of free-text tool {tool.name!r} is not a grammar, and is left out"
    if (name, kind, namespace) == (tool.name, tool.kind, tool.namespace):
        return tool, None
    if kind == tool.kind:
        moved = replace(tool, name=name, namespace=namespace)
        return moved, f"tool {tool.name!r} of {tool.namespace!r} is sent as {name!r}"
    function = ToolDefinition(name, tool.description, _free_text(tool), namespace=namespace)
    return function, f"free-text tool {tool.name!r} is sent as a function with the parameter 'input'"


def _free_text(tool: ToolDefinition) -> dict[str, Any]:
    """The parameters of a function in place of a free-text tool. A grammar becomes a description."""
    text: dict[str, Any] = {"type": "string"}
    grammar = grammar_of(tool)
    if grammar is not None:
        text["description"] = f"Text that follows this {grammar['syntax']} grammar:\n{grammar['definition']}"
    return {"type": "object", "properties": {"input": text}, "required": ["input"]}


def grammar_of(tool: ToolDefinition) -> dict[str, str] | None:
    """The grammar of a free-text tool, if it has one in the form of OpenAI Responses or of Chat Completions."""
    stored = tool.format or {}
    stored = stored.get("grammar", stored)
    if not isinstance(stored, dict) or stored.get("syntax") not in ("lark", "regex"):
        return None
    definition = stored.get("definition")
    return {"syntax": stored["syntax"], "definition": definition} if isinstance(definition, str) else None
