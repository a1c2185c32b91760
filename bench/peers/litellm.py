"""litellm: messages in the format of chat completions, with thinking as ``thinking_blocks``."""

import os
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from segue.types import AssistantMessage, Context

from .chat_messages import ChatMessage, chat_messages, chat_tools, thinking_of
from .encoders import (
    ANTHROPIC,
    BEDROCK,
    CHAT,
    GEMINI,
    KEY,
    MAX_TOKENS,
    MISTRAL,
    REGION,
    RESPONSES,
    Encoder,
    Peer,
    Sender,
    Target,
    Write,
    openai_json,
    to_json,
)

Transform = Callable[..., Any]


def peer(context: Context) -> Peer:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # otherwise importing it uses the network
    litellm = import_module("litellm")
    gemini = import_module("litellm.llms.vertex_ai.gemini.transformation")
    plain = chat_messages(context)
    thinking = with_thinking(context, plain)
    tools = chat_tools(context.tools)

    def options(of: Any, target: Target) -> dict[str, Any]:
        """Mapped beforehand, as litellm does before it transforms."""
        asked = {"tools": tools, "max_tokens": MAX_TOKENS}
        mapped: dict[str, Any] = of.map_openai_params(asked, {}, target.model, drop_params=False)
        return mapped

    def config(of: Any, target: Target, messages: list[ChatMessage], write: Write = to_json) -> Encoder:
        """The encoder of a config object."""
        transform = partial(of.transform_request, model=target.model, headers={})
        return encoder(f"{type(of).__name__}.transform_request", transform, messages, options(of, target), write)

    def sender(target: Target, route: str, messages: list[ChatMessage], access: dict[str, str]) -> Sender:
        def at(url: str) -> Callable[[], object]:
            send = partial(litellm.completion, f"{route}/{target.model}", api_base=url, **access)
            return lambda: send(list(messages), tools=list(tools), max_tokens=MAX_TOKENS)

        return Sender(f"completion({route}/…)", at)

    responses = import_module("litellm.completion_extras.litellm_responses_transformation.transformation")
    return Peer(
        "litellm",
        "litellm",
        {
            ANTHROPIC: config(litellm.AnthropicConfig(), ANTHROPIC, thinking),
            # Chat completions have no thinking, and litellm would pass it on unchanged.
            CHAT: config(litellm.OpenAIGPTConfig(), CHAT, plain)._replace(
                by_sdk=config(litellm.OpenAIGPTConfig(), CHAT, plain, openai_json).encode
            ),
            RESPONSES: Encoder(
                "LiteLLMResponsesTransformationHandler.convert_chat_completion_messages_to_responses_api",
                partial(
                    to_responses,
                    responses.LiteLLMResponsesTransformationHandler().convert_chat_completion_messages_to_responses_api,
                    plain,
                ),
            ),
            GEMINI: encoder(
                "vertex_ai.gemini.transform_request_body",
                partial(
                    gemini.transform_request_body,
                    model=GEMINI.model,
                    custom_llm_provider="gemini",
                    cached_content=None,
                ),
                thinking,
                options(litellm.GoogleAIStudioGeminiConfig(), GEMINI),
            ),
            BEDROCK: config(litellm.AmazonConverseConfig(), BEDROCK, thinking),
            MISTRAL: config(litellm.MistralConfig(), MISTRAL, plain),
        },
        {
            ANTHROPIC: sender(ANTHROPIC, "anthropic", thinking, {"api_key": KEY}),
            CHAT: sender(CHAT, "openai", plain, {"api_key": KEY}),
            RESPONSES: sender(RESPONSES, "openai/responses", plain, {"api_key": KEY}),
            GEMINI: sender(GEMINI, "gemini", thinking, {"api_key": KEY}),
            BEDROCK: sender(
                BEDROCK,
                "bedrock/converse",
                thinking,
                {"aws_region_name": REGION, "aws_access_key_id": KEY, "aws_secret_access_key": KEY},
            ),
        },
    )


def with_thinking(context: Context, messages: list[ChatMessage]) -> list[ChatMessage]:
    system, *rest = messages
    return [system, *(_with_thinking(*pair) for pair in zip(context.messages, rest, strict=True))]


def _with_thinking(message: object, chat: ChatMessage) -> ChatMessage:
    thinking = thinking_of(message) if isinstance(message, AssistantMessage) else None
    if thinking is None:
        return chat
    block = {"type": "thinking", "thinking": thinking.thinking, "signature": thinking.thinking_signature}
    return chat | {"thinking_blocks": [block], "reasoning_content": thinking.thinking}


def encoder(
    called: str, transform: Transform, messages: list[ChatMessage], options: dict[str, Any], write: Write = to_json
) -> Encoder:
    def encode() -> bytes:
        # New lists and dicts each time, because system messages and options are removed from them in place.
        return write(transform(messages=list(messages), optional_params=dict(options), litellm_params={}))

    return Encoder(called, encode)


def to_responses(convert: Transform, messages: list[ChatMessage]) -> bytes:
    items, instructions = convert(list(messages))
    return to_json({"model": RESPONSES.model, "instructions": instructions, "input": items})
