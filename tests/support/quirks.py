"""Quirks of endpoints that the catalog does not know: what each refuses, in the words of providers.

One row for each row of the table of cures. A stand-in with the quirk refuses the request, and the cure must make it
accept the next one.
"""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

import segue
from segue import (
    AssistantMessage,
    Context,
    ImageContent,
    Options,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from segue.testing import Refusal

Body = dict[str, Any]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="
TOOL = ToolDefinition(
    "search",
    "Search.",
    {
        "type": "object",
        "properties": {"query": {"type": "string", "pattern": "^a"}, "pattern": {"type": "string"}},
        "propertyNames": {"pattern": "^[a-z]+$"},
    },
)
QUESTION = UserMessage("What is new?")


def walk(value: Any) -> Iterator[Any]:
    """Every dict in a body."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    for each in value if isinstance(value, list) else []:
        yield from walk(each)


def has(body: Body, **fields: Any) -> bool:
    """Whether some object in the body has all these fields; ``...`` is any value."""
    return any(all(name in each and want in (..., each[name]) for name, want in fields.items()) for each in walk(body))


def answer(model: str, *content: Any, protocol: str | None = None, **fields: Any) -> AssistantMessage:
    """An answer of a model, which the endpoint of a test did not make."""
    origin = segue.Catalog.default().resolve(model, protocol)
    calls = any(isinstance(block, ToolCall) for block in content)
    return AssistantMessage(
        content=[*content],
        protocol=origin.protocol,
        provider=origin.provider,
        model=origin.id,
        stop_reason="toolUse" if calls else "stop",
        **fields,
    )


def with_call(
    *before: Any, origin: str = "openai/gpt-4.1", protocol: str | None = None, image: bool = False
) -> Context:
    """A conversation with a finished call, by default of another model."""
    blocks = [*before, ToolCall("call_a1.b2", "search", {"query": "news"})]
    result = [TextContent("Nothing."), *([ImageContent(PIXEL, "image/png")] if image else [])]
    return Context(
        messages=[
            QUESTION,
            answer(origin, *blocks, protocol=protocol),
            ToolResultMessage("call_a1.b2", "search", result),
            UserMessage("Really?"),
        ],
        tools=[TOOL],
    )


def said(*content: Any, origin: str, protocol: str | None = None) -> Context:
    """A conversation with an answer of ``origin``."""
    return Context(
        messages=[QUESTION, answer(origin, *content, protocol=protocol), UserMessage("Really?")], tools=[TOOL]
    )


ASKED = Context(messages=[QUESTION], tools=[TOOL])
SEEN = Context(messages=[UserMessage([TextContent("What is this?"), ImageContent(PIXEL, "image/png")])])


class Quirk(Struct, frozen=True, kw_only=True):
    """An endpoint, what it refuses, and a conversation that makes it do so."""

    cure: str
    model: str
    protocol: str | None = None
    context: Context = ASKED
    options: Options = Options()
    refuses: Callable[[Body], Refusal | str | None] = lambda body: None
    # Requests of the first and of the second call.
    requests: tuple[int, int] = (2, 1)
    # A check of the last body.
    shows: Callable[[Body], bool] = lambda body: True

    def __repr__(self) -> str:
        return f"{self.cure}-{self.model.partition('/')[0]}"


def _assistants(body: Body) -> list[Body]:
    return [turn for turn in body["messages"] if turn["role"] == "assistant"]


def _refuse_if(condition: Callable[[Body], bool], refusal: Refusal | str) -> Callable[[Body], Refusal | str | None]:
    return lambda body: refusal if condition(body) else None


def _loop_without_thinking(body: Body) -> bool:
    last = _assistants(body)[-1]["content"][0]["type"]
    return body.get("thinking", {}).get("type") == "adaptive" and last != "thinking"


SIGNED = ThinkingContent("Hm.", "bm90IG91cnM=")
REASONED = ThinkingContent("Hm.", "reasoning_content")
ITEM = (
    '{"type":"reasoning","id":"rs_0123456789abcdef","summary":[{"type":"summary_text","text":"Hm."}],'
    '"encrypted_content":"gAAAAABnotours"}'
)
DETAILS = '[{"type":"reasoning.encrypted","data":"bm90IG91cnM=","format":"openai-responses-v1","index":0}]'

QUIRKS: tuple[Quirk, ...] = (
    Quirk(  # the stand-in itself refuses signatures of others
        cure="1",
        model="anthropic/claude-sonnet-4-5",
        context=said(SIGNED, TextContent("Nothing."), origin="anthropic/claude-sonnet-4-5"),
        shows=lambda body: not has(body, type="thinking") and has(body, text="[Reasoning] Hm."),
    ),
    Quirk(
        cure="2",
        model="anthropic/claude-opus-4-7",
        context=with_call(),
        options=Options(reasoning="high"),
        refuses=_refuse_if(
            _loop_without_thinking,
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When "
            "`thinking` is enabled, a final `assistant` message must start with a thinking block",
        ),
        requests=(2, 2),
        shows=lambda body: body["thinking"] == {"type": "disabled"},
    ),
    Quirk(
        cure="4",
        model="openai/gpt-5.1",
        context=said(ThinkingContent("Hm.", ITEM), TextContent("Nothing.", "msg_0123"), origin="openai/gpt-5.1"),
        refuses=_refuse_if(
            lambda body: has(body, encrypted_content=...),
            Refusal(400, "invalid_request_error", "The request is invalid.", "invalid_encrypted_content"),
        ),
        shows=lambda body: has(body, content="[Reasoning] Hm."),
    ),
    Quirk(
        cure="5",
        model="google/gemini-2.0-flash",
        context=with_call(),
        refuses=_refuse_if(
            lambda body: any("functionCall" in part and "thoughtSignature" not in part for part in walk(body)),
            "Function call is missing a thought_signature in functionCall parts. This is required for tools to work.",
        ),
    ),
    Quirk(
        cure="5b",
        model="vllm/gemini-3-pro",
        context=with_call(),
        refuses=_refuse_if(
            lambda body: any(
                "tool_calls" in turn and not has(turn, thought_signature=...) for turn in _assistants(body)
            ),
            "Function call is missing a thought_signature in functionCall parts.",
        ),
    ),
    Quirk(
        cure="6",
        model="vllm/deepseek-v4",
        context=with_call(),
        refuses=_refuse_if(
            lambda body: any("reasoning_content" not in turn for turn in _assistants(body)),
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
        ),
    ),
    Quirk(
        cure="6b",
        model="vllm/kimi",
        context=with_call(),
        refuses=_refuse_if(
            lambda body: not all(turn.get("reasoning_content") for turn in _assistants(body) if "tool_calls" in turn),
            "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
        ),
    ),
    Quirk(
        cure="7",
        model="moonshot/kimi-k2.6",
        context=said(REASONED, TextContent("Nothing."), origin="moonshot/kimi-k2.6"),
        refuses=_refuse_if(
            lambda body: has(body, reasoning_content=...),
            "property 'messages.1.assistant.reasoning_content' is unsupported",
        ),
    ),
    Quirk(
        cure="7b",
        model="mistral/magistral-medium-latest",
        context=said(ThinkingContent("Hm."), TextContent("Nothing."), origin="mistral/magistral-medium-latest"),
        refuses=_refuse_if(lambda body: has(body, type="thinking"), "Reasoning input is not enabled for this model"),
    ),
    Quirk(
        cure="8",
        model="together/gpt-9",
        options=Options(max_tokens=100),
        refuses=_refuse_if(
            lambda body: "max_tokens" in body,
            Refusal(400, "invalid_request_error", "Not supported.", "unsupported_parameter", "max_tokens"),
        ),
        shows=lambda body: body["max_completion_tokens"] == 100,
    ),
    Quirk(
        cure="9",
        model="vllm/gpt-9",
        options=Options(temperature=0.16, max_tokens=100),
        refuses=lambda body: (
            "Unsupported value: 'temperature' does not support 0.16 with this model. Only the default (1) value is "
            "supported."
            if "temperature" in body
            else "Unsupported parameter: 'max_tokens' is not supported with this model."
            if "max_tokens" in body
            else None
        ),
        shows=lambda body: body["max_completion_tokens"] == 100,
    ),
    Quirk(
        cure="9b",
        model="openai/gpt-5.1",
        options=Options(reasoning="low"),
        refuses=_refuse_if(
            lambda body: body["reasoning"]["effort"] == "low",
            Refusal(
                400,
                "invalid_request_error",
                "Unsupported value: 'reasoning.effort' does not support 'low' with this model. Supported values are: "
                "'medium', and 'high'.",
                "unsupported_value",
                "reasoning.effort",
            ),
        ),
        shows=lambda body: body["reasoning"]["effort"] == "medium",
    ),
    Quirk(
        cure="10",
        model="vllm/gpt-9",
        options=Options(tool_choice="required"),
        refuses=_refuse_if(
            lambda body: body.get("tool_choice", "auto") != "auto",
            Refusal(400, "invalid_request_error", "Only a tool_choice of 'auto' is supported.", None, "tool_choice"),
        ),
    ),
    Quirk(
        cure="10",
        model="mistral/mistral-large-latest",
        options=Options(tool_choice="required"),
        refuses=_refuse_if(
            lambda body: "tool_choice" in body, "Only a tool_choice of 'auto' is supported for this model."
        ),
    ),
    Quirk(
        cure="11",
        model="openai/gpt-4.1",
        protocol="openai-completions",
        context=SEEN,
        refuses=_refuse_if(
            lambda body: has(body, type="image_url"),
            Refusal(404, "not_found_error", "No endpoints found that support image input"),
        ),
    ),
    Quirk(
        cure="11",
        model="anthropic/claude-sonnet-4-5",
        context=SEEN,
        refuses=_refuse_if(lambda body: has(body, type="image"), "this model does not support image input"),
    ),
    Quirk(
        cure="12",
        model="mistral/mistral-medium-2604",
        context=with_call(image=True),
        refuses=_refuse_if(
            lambda body: any(turn["role"] == "tool" and isinstance(turn["content"], list) for turn in body["messages"]),
            "tool message content must be a string",
        ),
    ),
    Quirk(
        cure="13",
        model="anthropic/claude-sonnet-4-5",
        context=SEEN,
        refuses=_refuse_if(
            lambda body: has(body, media_type="image/png"),
            "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 71 bytes > 60 bytes",
        ),
        shows=lambda body: has(body, text="(image omitted: it is larger than the model accepts)"),
    ),
    Quirk(
        cure="13b",
        model="openai/gpt-4.1",
        protocol="openai-completions",
        context=with_call(image=True),
        refuses=_refuse_if(
            lambda body: has(body, type="image_url"),
            "At least one of the image dimensions exceed max allowed size: 0 pixels",
        ),
    ),
    Quirk(
        cure="14",
        model="groq/llama-9",
        context=with_call(origin="groq/llama-9"),
        refuses=_refuse_if(
            lambda body: has(body, tool_call_id="call_a1.b2"),
            "messages.1.tool_calls.0.tool_call_id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        ),
    ),
    Quirk(
        cure="14b",
        model="groq/llama-9",
        context=with_call(origin="groq/llama-9"),
        refuses=_refuse_if(
            lambda body: any(len(each.get("tool_call_id", "123456789")) != 9 for each in body["messages"]),
            "Tool call id was call_a1.b2 but must be a-z, A-Z, 0-9, with a length of 9.",
        ),
    ),
    Quirk(
        cure="15",
        model="google/gemini-3-pro-preview",
        refuses=_refuse_if(
            lambda body: has(body, propertyNames=...),
            'Invalid JSON payload received. Unknown name "propertyNames" at '
            "'tools[0].function_declarations[0].parameters_json_schema': Cannot find field.",
        ),
        shows=lambda body: has(body, pattern={"type": "string"}),
    ),
    Quirk(
        cure="15b",
        model="vllm/local",
        refuses=_refuse_if(
            lambda body: any(isinstance(each.get("pattern"), str) for each in walk(body)), "Failed to parse grammar"
        ),
        shows=lambda body: has(body, pattern={"type": "string"}),  # a property of that name stays
    ),
    Quirk(
        cure="18",
        model="anthropic/claude-sonnet-4-5",
        options=Options(max_tokens=20_000),
        refuses=_refuse_if(
            lambda body: body["max_tokens"] > 8_192,
            "max_tokens: 20000 > 8192, which is the maximum allowed number of output tokens for claude-sonnet-4-5",
        ),
        shows=lambda body: body["max_tokens"] == 8_192,
    ),
    Quirk(
        cure="19",
        model="amazon-bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        options=Options(cache="short"),
        refuses=_refuse_if(
            lambda body: has(body, cachePoint=...),
            "You invoked an unsupported model or your request did not allow prompt caching. See the documentation.",
        ),
    ),
    Quirk(
        cure="20",
        model="anthropic/claude-sonnet-4-5",
        options=Options(cache="short"),
        refuses=_refuse_if(
            lambda body: has(body, cache_control=...), "tools.0.custom.cache_control: Extra inputs are not permitted"
        ),
    ),
    Quirk(
        cure="20",
        model="azure/gpt-5.1",
        refuses=_refuse_if(
            lambda body: has(body, strict=...), "tools.0.function.strict: Extra inputs are not permitted"
        ),
        shows=lambda body: has(body, name="search"),
    ),
    Quirk(
        cure="21",
        model="openrouter/openai/gpt-5.1",
        context=said(ThinkingContent("Hm.", DETAILS), TextContent("Nothing."), origin="openrouter/openai/gpt-5.1"),
        refuses=_refuse_if(
            lambda body: has(body, type="reasoning.encrypted"),
            Refusal(
                404,
                "not_found",
                "Your request contains encrypted reasoning or compaction content that was produced under a different "
                "model.",
            ),
        ),
    ),
    Quirk(
        cure="24",
        model="azure/gpt-4.1",
        protocol="openai-completions",
        context=Context(system_prompt="Be brief.", messages=[QUESTION]),
        refuses=_refuse_if(
            lambda body: has(body, role="developer"),
            "unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`",
        ),
    ),
)
