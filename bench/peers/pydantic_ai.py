"""pydantic-ai: requests and responses made of parts. What its agent does to a history before that is not measured."""

from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import Any

import msgspec

from segue.types import (
    AssistantMessage,
    Context,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
)

from .chat_messages import text_of
from .encoders import (
    ACCESS,
    ANTHROPIC,
    BEDROCK,
    CHAT,
    GEMINI,
    MISTRAL,
    RESPONSES,
    TARGETS,
    Encoder,
    Peer,
    Sender,
    Target,
    Write,
    run,
)

MODELS = {
    ANTHROPIC: ("anthropic", "AnthropicModel", "AnthropicProvider"),
    CHAT: ("openai", "OpenAIChatModel", "OpenAIProvider"),
    RESPONSES: ("openai", "OpenAIResponsesModel", "OpenAIProvider"),
    GEMINI: ("google", "GoogleModel", "GoogleProvider"),
    BEDROCK: ("bedrock", "BedrockConverseModel", "BedrockProvider"),
    MISTRAL: ("mistral", "MistralModel", "MistralProvider"),
}
"""The module of a target, its model and its provider."""


def peer(context: Context) -> Peer:
    native = import_module("pydantic_ai.messages")
    messages = [native_message(native, message) for message in context.messages]
    messages[0].parts = [native.SystemPromptPart(context.system_prompt), *messages[0].parts]
    parameters = import_module("pydantic_ai.models").ModelRequestParameters

    def encoder(target: Target, method: str, *rest: Any, write: Write = with_omitted, **named: Any) -> Encoder:
        mapper = getattr(model(target), method)  # a coroutine function that never waits

        def encode() -> bytes:
            mapped: Coroutine[Any, Any, Any] = mapper(messages, *rest, **named)
            return write(run(mapped))

        return Encoder(f"{MODELS[target][1]}.{method}", encode)

    request = import_module("pydantic_ai.direct").model_request
    with_tools = parameters(function_tools=native_tools(context.tools))

    def sender(target: Target) -> Sender:
        def at(url: str) -> Callable[[], object]:
            chosen = model(target, base_url=url)
            return lambda: run(request(chosen, messages, model_request_parameters=with_tools))

        return Sender(f"direct.model_request({MODELS[target][1]}, …)", at)

    return Peer(
        "pydantic-ai",
        "pydantic-ai-slim",
        {
            ANTHROPIC: encoder(ANTHROPIC, "_map_message", parameters(), {}),
            CHAT: encoder(CHAT, "_map_messages", parameters(), model_settings={}),
            RESPONSES: encoder(RESPONSES, "_map_messages", {}, parameters()),
            GEMINI: encoder(GEMINI, "_map_messages", parameters()),
            BEDROCK: encoder(BEDROCK, "_map_messages", parameters(), {}),
            MISTRAL: encoder(MISTRAL, "_map_messages", parameters(), write=mistral_json),
        },
        {target: sender(target) for target in TARGETS},
    )


def model(target: Target, **settings: Any) -> Any:
    module, name, provider = MODELS[target]
    made = getattr(import_module(f"pydantic_ai.providers.{module}"), provider)(**ACCESS[target], **settings)
    return getattr(import_module(f"pydantic_ai.models.{module}"), name)(target.model, provider=made)


def native_tools(tools: list[ToolDefinition]) -> list[Any]:
    definition = import_module("pydantic_ai.tools").ToolDefinition
    return [
        definition(name=tool.name, description=tool.description, parameters_json_schema=tool.schema) for tool in tools
    ]


def native_message(native: Any, message: Message) -> Any:
    if isinstance(message, AssistantMessage):
        parts = [native_part(native, message, block) for block in message.content]
        return native.ModelResponse(parts=parts, model_name=message.model, provider_name=message.provider)
    if isinstance(message, ToolResultMessage):
        part = native.ToolReturnPart(message.tool_name, text_of(message), message.tool_call_id)
    else:
        part = native.UserPromptPart(text_of(message))
    return native.ModelRequest(parts=[part])


def native_part(native: Any, message: AssistantMessage, block: TextContent | ThinkingContent | ToolCall) -> Any:
    match block:
        case TextContent():
            return native.TextPart(block.text)
        case ThinkingContent():
            return native.ThinkingPart(
                block.thinking, signature=block.thinking_signature, provider_name=message.provider
            )
        case ToolCall():
            return native.ToolCallPart(block.name, block.arguments, block.id)


def with_omitted(body: Any) -> bytes:
    """Write JSON. The only value that JSON cannot represent marks a field that is left out."""
    return msgspec.json.encode(body, enc_hook=lambda _: None)


def mistral_json(messages: Any) -> bytes:
    """Write the JSON of objects of mistralai, which are pydantic models."""
    encoded: bytes = import_module("pydantic_core").to_json(messages, by_alias=True, exclude_none=True)
    return encoded
