"""Calls of free-text tools and of tools in a namespace are calls of functions, for targets that have only functions.

The name of a tool in a namespace becomes ``{namespace}__{name}``; it is mapped back in answers.
"""

from msgspec.structs import replace

from ...types import AssistantMessage, tool_key
from ..scan import ADAPTABLE
from ..step import Pass, Step


class ToolKinds(Pass):
    concerns = ADAPTABLE

    def answer(self, step: Step, message: AssistantMessage) -> None:
        calls, names = list(step.calls), self.target.names
        places = step.places()
        for number, call in enumerate(calls):
            if call.kind is None and call.namespace is None:
                continue
            name, kind, namespace = names.adapted(tool_key(call))
            if (name, kind, namespace) == (call.name, call.kind, call.namespace):
                continue
            at, result = places[number], step.results[number]
            self.report.add("tool-adapted", step.index, step.block(at), f"a call of function {name!r}")
            changes = {"name": name, "kind": kind, "namespace": namespace}
            step.put(at, replace(step.content[at], **changes))
            calls[number] = replace(call, **changes)
            if name != result.tool_name:
                step.results[number] = replace(result, tool_name=name)
        step.calls = calls
