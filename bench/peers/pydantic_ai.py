"""pydantic-ai: requests and responses made of parts. What its agent does to a history beforehand is not counted."""

import asyncio
from collections.abc import Coroutine
from importlib import import_module
from typing import Any

import msgspec

from segue.types import AssistantMessage, Context, Message, TextContent, ThinkingContent, ToolCall, ToolResultMessage

from .chat_messages import text_of
from .encoders import ANTHROPIC, BEDROCK, CHAT, GEMINI, KEY, REGION, RESPONSES, Encoder, Peer, Target


def peer(context: Context) -> Peer:
    native = import_module("pydantic_ai.messages")
    messages = [native_message(native, message) for message in context.messages]
    messages[0].parts = [native.SystemPromptPart(context.system_prompt), *messages[0].parts]
    parameters = import_module("pydantic_ai.models").ModelRequestParameters()
    run = asyncio.Runner().run  # one loop for all rounds; the mappers are coroutines that never wait

    def encoder(model: Any, method: str, *rest: Any, **named: Any) -> Encoder:
        def encode() -> bytes:
            mapped: Coroutine[Any, Any, Any] = getattr(model, method)(messages, *rest, **named)
            return msgspec.json.encode(run(mapped), enc_hook=omitted)

        return Encoder(f"{type(model).__name__}.{method}", encode)

    def model(target: Target, module: str, name: str, provider: str, **settings: Any) -> Any:
        made = getattr(import_module(f"pydantic_ai.providers.{module}"), provider)(**settings)
        return getattr(import_module(f"pydantic_ai.models.{module}"), name)(target.model, provider=made)

    anthropic = model(ANTHROPIC, "anthropic", "AnthropicModel", "AnthropicProvider", api_key=KEY)
    chat = model(CHAT, "openai", "OpenAIChatModel", "OpenAIProvider", api_key=KEY)
    responses = model(RESPONSES, "openai", "OpenAIResponsesModel", "OpenAIProvider", api_key=KEY)
    google = model(GEMINI, "google", "GoogleModel", "GoogleProvider", api_key=KEY)
    bedrock = model(
        BEDROCK,
        "bedrock",
        "BedrockConverseModel",
        "BedrockProvider",
        region_name=REGION,
        aws_access_key_id=KEY,
        aws_secret_access_key=KEY,
    )
    return Peer(
        "pydantic-ai",
        "pydantic-ai-slim",
        {
            ANTHROPIC: encoder(anthropic, "_map_message", parameters, {}),
            CHAT: encoder(chat, "_map_messages", parameters, model_settings={}),
            RESPONSES: encoder(responses, "_map_messages", {}, parameters),
            GEMINI: encoder(google, "_map_messages", parameters),
            BEDROCK: encoder(bedrock, "_map_messages", parameters, {}),
        },
    )


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


def omitted(_: Any) -> None:
    """Its only value that JSON does not know stands for a field to be left out."""
