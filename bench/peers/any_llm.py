"""any-llm: messages in the format of chat completions, with thinking as ``reasoning`` and its signature next to it."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from segue.types import AssistantMessage, Context

from .anthropic_messages import anthropic_message
from .chat_messages import ChatMessage, chat_messages, chat_tools, thinking_of
from .encoders import (
    ACCESS,
    ANTHROPIC,
    BEDROCK,
    CHAT,
    GEMINI,
    MAX_TOKENS,
    RESPONSES,
    Encoder,
    Peer,
    Sender,
    Target,
    Write,
    openai_json,
    run,
    to_json,
)

NAME = "any-llm"


def peer(context: Context) -> Peer:
    completion = import_module("any_llm.types.completion")
    create = import_module("any_llm").AnyLLM.create
    plain = chat_messages(context)
    thinking = with_thinking(context, plain)
    tools = chat_tools(context.tools)

    def params(target: Target, messages: list[ChatMessage]) -> Any:
        return completion.CompletionParams(model_id=target.model, messages=messages, tools=tools, max_tokens=MAX_TOKENS)

    def provider(module: str, name: str) -> Any:
        return getattr(import_module(f"any_llm.providers.{module}"), name)

    def sender(target: Target, name: str, messages: list[ChatMessage]) -> Sender:
        def at(url: str) -> Callable[[], object]:
            client = create(name, api_base=url, **ACCESS[target])
            return lambda: run(client.acompletion(target.model, messages, tools=tools, max_tokens=MAX_TOKENS))

        return Sender(f'AnyLLM.create("{name}").acompletion', at)

    anthropic = provider("anthropic", "AnthropicProvider")
    openai = provider("openai", "OpenaiProvider")
    gemini = provider("gemini", "GeminiProvider")
    bedrock = provider("bedrock", "BedrockProvider")
    return Peer(
        NAME,
        "any-llm-sdk",
        {
            ANTHROPIC: Encoder(
                "AnthropicProvider._convert_completion_params",
                partial(to_dicts, anthropic, params(ANTHROPIC, thinking), "anthropic"),
            ),
            # Without thinking for Gemini and Bedrock: it would be ignored, or passed on unchanged.
            CHAT: Encoder(
                "strip_extra_content, OpenaiProvider._convert_completion_params",
                partial(to_chat, openai, params(CHAT, plain)),
                partial(to_chat, openai, params(CHAT, plain), openai_json),
            ),
            RESPONSES: to_responses(context),
            GEMINI: Encoder(
                "GeminiProvider._convert_completion_params", partial(to_gemini, gemini, params(GEMINI, plain))
            ),
            BEDROCK: Encoder(
                "BedrockProvider._convert_completion_params", partial(to_dicts, bedrock, params(BEDROCK, plain))
            ),
        },
        {
            ANTHROPIC: sender(ANTHROPIC, "anthropic", thinking),
            CHAT: sender(CHAT, "openai", plain),
            RESPONSES: responses_sender(context),
            GEMINI: sender(GEMINI, "gemini", plain),
            BEDROCK: sender(BEDROCK, "bedrock", plain),
        },
    )


def with_thinking(context: Context, messages: list[ChatMessage]) -> list[ChatMessage]:
    system, *rest = messages
    return [system, *(_with_thinking(*pair) for pair in zip(context.messages, rest, strict=True))]


def _with_thinking(message: object, chat: ChatMessage) -> ChatMessage:
    thinking = thinking_of(message) if isinstance(message, AssistantMessage) else None
    if thinking is None:
        return chat
    signature = {"anthropic": {"signature": thinking.thinking_signature}}
    return chat | {"reasoning": thinking.thinking, "extra_content": signature}


def to_dicts(provider: Any, params: Any, provider_name: str | None = None) -> bytes:
    named = {} if provider_name is None else {"provider_name": provider_name}
    # A shallow copy, because tools are converted in place.
    return to_json(provider._convert_completion_params(params.model_copy(), **named))


def to_chat(provider: Any, params: Any, write: Write = to_json) -> bytes:
    strip = import_module("any_llm.utils.reasoning").strip_extra_content
    body = provider._convert_completion_params(params)
    messages = strip(params.messages, keep_namespaces=("google",))
    return write({"model": params.model_id, "messages": messages, **body})


def to_gemini(provider: Any, params: Any) -> bytes:
    body = provider._convert_completion_params(params, provider_name="gemini")
    # It creates objects of google-genai, which are pydantic models.
    encoded: bytes = import_module("pydantic_core").to_json(body, by_alias=True, exclude_none=True)
    return encoded


def to_responses(context: Context) -> Encoder:
    """Its only conversion to Responses starts from Anthropic's messages."""
    convert = import_module("any_llm.providers.openai.messages_responses").messages_params_to_responses_params
    params = import_module("any_llm.types.messages").MessagesParams(**anthropic_request(context))
    return Encoder(
        "messages_params_to_responses_params", lambda: to_json(convert(params).model_dump(exclude_none=True))
    )


def responses_sender(context: Context) -> Sender:
    """The same conversion: Anthropic's messages, with tools, for a model that thinks."""
    asked = anthropic_request(context) | {"thinking": {"type": "enabled", "budget_tokens": MAX_TOKENS // 2}}
    create = import_module("any_llm").AnyLLM.create

    def at(url: str) -> Callable[[], object]:
        client = create("openai", api_base=url, **ACCESS[RESPONSES])
        return lambda: run(client.amessages(**asked))

    return Sender('AnyLLM.create("openai").amessages', at)


def anthropic_request(context: Context) -> dict[str, Any]:
    return {
        "model": RESPONSES.model,
        "system": context.system_prompt,
        "messages": [anthropic_message(message) for message in context.messages],
        "max_tokens": MAX_TOKENS,
        "tools": [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in context.tools
        ],
    }
