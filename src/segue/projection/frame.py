"""The frame around the messages: the system prompt and the tools, as the target accepts them."""

from collections.abc import Sequence
from typing import Any

from ..types import ToolDefinition
from ..types.text import scrub
from .step import PendingChange, Report, Target

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
        rendered: dict[str, ToolDefinition] = {}
        for tool in self.tools:
            name, description = target.names.rendered(tool.name), scrub(tool.description)
            if name in rendered:
                self.report.add("tool-duplicate", None, None, f"{tool.name!r} is defined twice; the first is used")
                continue
            if name != tool.name:
                self.report.add("name-projected", None, None, f"tool {tool.name!r} is sent as {name!r}")
            if description is not tool.description:
                self.report.add("text-sanitized", None, None, f"half characters replaced in tool {name!r}")
            same = name == tool.name and description is tool.description
            rendered[name] = tool if same else ToolDefinition(name, description, tool.parameters)
        return list(rendered.values())
