"""Free-text tools: custom tools with their grammar where a model has them, functions elsewhere; and back again."""

import json
from typing import Any

import openai
import pytest
from support.type_judges import JUDGES

import segue
from segue.testing import Reply, StandIn
from segue.types import (
    AssistantMessage,
    Context,
    Model,
    TextContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage as User,
)

PROTOCOL = "openai-completions"
GRAMMAR = {"syntax": "lark", "definition": "start: /.+/s"}
PATCH = '*** Begin "Patch"\n\\d ✓'
TOOLS = [
    ToolDefinition("apply_patch", "Edit files.", kind="custom", format={"type": "grammar"} | GRAMMAR),
    ToolDefinition("look", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}}),
]
CALLS = [ToolCall("call_1", "apply_patch", {"input": PATCH}, kind="custom"), ToolCall("call_2", "look", {"path": "a"})]
GPT = segue.get_model("openai/gpt-5", protocol=PROTOCOL)
OLDER = segue.get_model("openai/gpt-4.1", protocol=PROTOCOL)
DECLARED = {
    "type": "custom",
    "custom": {"name": "apply_patch", "description": "Edit files.", "format": {"type": "grammar", "grammar": GRAMMAR}},
}
CALLED = {"id": "call_1", "type": "custom", "custom": {"name": "apply_patch", "input": PATCH}}


def conversation(model: Model) -> Context:
    answer = AssistantMessage(
        [TextContent("Now."), *CALLS], protocol=PROTOCOL, provider=model.provider, model=model.id, stop_reason="toolUse"
    )
    results = [ToolResultMessage(call.id, call.name, [TextContent("done")]) for call in CALLS]
    return Context(messages=[User("Fix it."), answer, *results], tools=TOOLS)


def judged(request: segue.Request, model: Model) -> dict[str, Any]:
    """The body, which breaks no rule and is valid for the types of the SDK."""
    body: dict[str, Any] = json.loads(request.json())
    assert segue.lint(request.body, PROTOCOL, model) == []
    assert JUDGES["openai_completions/shape.json"](body) == []
    return body


def test_a_model_that_has_them_gets_tools_calls_and_the_choice_as_they_are() -> None:
    request = segue.encode(conversation(GPT), GPT, segue.Options(tool_choice="apply_patch"))
    body = judged(request, GPT)
    assert body["tools"][0] == DECLARED and body["tools"][1]["type"] == "function"
    assert body["messages"][1]["tool_calls"][0] == CALLED
    assert body["messages"][2] == {"role": "tool", "tool_call_id": "call_1", "content": "done"}
    assert body["tool_choice"] == {"type": "custom", "custom": {"name": "apply_patch"}}
    assert request.changes == []


def test_any_other_model_gets_functions_and_the_report_says_so() -> None:
    request = segue.encode(conversation(GPT), OLDER)
    body = judged(request, OLDER)
    assert [tool["type"] for tool in body["tools"]] == ["function", "function"]
    shown = body["tools"][0]["function"]["parameters"]["properties"]["input"]["description"]
    assert GRAMMAR["definition"] in shown
    function = body["messages"][1]["tool_calls"][0]["function"]
    assert (function["name"], json.loads(function["arguments"])) == ("apply_patch", {"input": PATCH})
    assert [change.code for change in request.changes].count("tool-adapted") == 2  # the tool and its call
    answered = {"id": "x", "choices": [{"index": 0, "message": body["messages"][1], "finish_reason": "tool_calls"}]}
    assert segue.decode(json.dumps(answered).encode(), request, now=1).tool_calls == CALLS  # mapped back


def test_a_request_is_read_and_an_export_written_with_them() -> None:
    stored = conversation(GPT)
    body = judged(segue.encode(stored, GPT), GPT)
    read = segue.read_request(body, protocol=PROTOCOL)
    assert [(tool.name, tool.kind) for tool in read.context.tools] == [("apply_patch", "custom"), ("look", None)]
    again = segue.encode(read.context, GPT)
    assert json.loads(again.json())["tools"] == body["tools"]
    exported = segue.export(stored, PROTOCOL)
    assert exported.changes == []
    assert json.loads(exported.json())["tools"] == body["tools"]
    assert json.loads(exported.json())["messages"][1]["tool_calls"][0] == CALLED
    ingested = segue.ingest(exported.body, PROTOCOL)
    assert [message.content for message in ingested.messages] == [message.content for message in stored.messages]


@pytest.mark.parametrize("stream", [False, True])
def test_a_stand_in_answers_with_free_text_calls(stream: bool) -> None:
    """segue and OpenAI's SDK read the same calls."""
    with StandIn("openai", protocol=PROTOCOL, script=[Reply([TextContent("Now."), *CALLS])] * 2) as server:
        asked = Context(messages=[User("Fix it.")], tools=TOOLS)
        connection = segue.Connection(base_url=f"{server.url}/v1", api_key=server.key)
        answer = segue.complete_sync(asked, GPT, segue.Options(stream=stream), connection=connection)
        assert answer.tool_calls == CALLS and answer.stop_reason == "toolUse"
        http = openai.DefaultHttpxClient(verify=False)
        with openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.key, max_retries=0, http_client=http) as client:
            tools: Any = [DECLARED]
            found = client.chat.completions.create(
                model="gpt-5", messages=[{"role": "user", "content": "Go."}], tools=tools, stream=stream
            )
            assert _texts(found, stream) == PATCH


def _texts(found: Any, stream: bool) -> str:
    if not stream:
        call = found.choices[0].message.tool_calls[0]
        assert (call.type, call.custom.name) == ("custom", "apply_patch")
        return str(call.custom.input)
    pieces = [call for chunk in found for choice in chunk.choices for call in choice.delta.tool_calls or []]
    return "".join(piece.custom["input"] for piece in pieces if piece.index == 0)
