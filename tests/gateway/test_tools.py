"""Free-text and namespaced tools of Codex, with models of all families, and back."""

from typing import Any

import openai
import pytest
from support.gateways import Served
from support.providers import MODELS

from segue.testing import Reply
from segue.types import Context, ThinkingContent, ToolCall

SPAWN = {
    "type": "function", "name": "spawn", "description": "Start one", "strict": False,
    "parameters": {"type": "object", "properties": {"task": {"type": "string"}}, "required": ["task"]},
}  # fmt: skip
GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"}
TOOLS: list[Any] = [
    {"type": "custom", "name": "apply_patch", "description": "Patch files", "format": GRAMMAR},
    {"type": "namespace", "name": "agents", "description": "Other agents", "tools": [SPAWN]},
    SPAWN,
]
PATCH = "*** Begin Patch\n*** End Patch"


def calls(context: Context) -> Reply:
    """Call the patch, and the tool of the namespace, under the names that this provider got."""
    patch = next(tool for tool in context.tools if tool.name == "apply_patch")
    spawn = next(tool for tool in context.tools if tool.namespace or tool.name.startswith("agents"))
    return Reply(
        [
            ThinkingContent("Hm."),
            ToolCall("", patch.name, {"input": PATCH}, kind=patch.kind),
            ToolCall("", spawn.name, {"task": "a"}, namespace=spawn.namespace),
        ]
    )


@pytest.mark.parametrize("target", MODELS)
def test_they_come_back_as_they_were_defined(served: Served, target: str) -> None:
    """Then another family continues, and nothing is refused."""
    stream = list(MODELS).index(target) % 2 == 0
    other = "openai-responses" if target != "openai-responses" else "anthropic-messages"
    history: list[Any] = [{"type": "message", "role": "user", "content": f"Patch it, {target}."}]
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="k", max_retries=0) as sdk:

        def ask(model: str) -> Any:
            asked: Any = {"model": model, "input": history, "tools": TOOLS, "store": False}
            if stream:
                with sdk.responses.stream(**asked, include=["reasoning.encrypted_content"]) as events:
                    response = events.get_final_response()
            else:
                response = sdk.responses.create(**asked, include=["reasoning.encrypted_content"])
            items = [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output]
            for part in [part for item in items for part in item.get("content") or []]:
                part.pop("parsed", None)
            history.extend(items)
            return response

        served[target].say(calls, "Done.")
        ask(target)
        patch, spawn = history[-2:]
        assert (patch["type"], patch["name"], patch["input"]) == ("custom_tool_call", "apply_patch", PATCH)
        assert (spawn["type"], spawn["name"], spawn["namespace"]) == ("function_call", "spawn", "agents")
        history.append({"type": "custom_tool_call_output", "call_id": patch["call_id"], "output": "ok"})
        history.append({"type": "function_call_output", "call_id": spawn["call_id"], "output": "ok"})
        assert ask(target).output_text == "Done."
        history.append({"type": "message", "role": "user", "content": "And?"})
        served[other].say("Back.")
        assert ask(other).output_text == "Back."
    assert served.refusals() == []
