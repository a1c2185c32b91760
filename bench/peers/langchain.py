"""LangChain: messages of langchain-core; answers have the blocks that its own Anthropic model creates."""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import Any

from segue.types import AssistantMessage, Context, Message, ToolCall, ToolResultMessage

from .anthropic_messages import answer_blocks
from .chat_messages import chat_tools, text_of
from .encoders import (
    ACCESS,
    ANTHROPIC,
    BEDROCK,
    CHAT,
    GEMINI,
    MAX_TOKENS,
    MISTRAL,
    RESPONSES,
    TARGETS,
    Encoder,
    Peer,
    Sender,
    Target,
    to_json,
)

MODELS: dict[Target, tuple[str, str, dict[str, Any]]] = {
    ANTHROPIC: ("langchain-anthropic", "ChatAnthropic", {"max_tokens": MAX_TOKENS}),
    CHAT: ("langchain-openai", "ChatOpenAI", {"use_responses_api": False}),
    RESPONSES: ("langchain-openai", "ChatOpenAI", {"use_responses_api": True}),
    GEMINI: ("langchain-google-genai", "ChatGoogleGenerativeAI", {}),
    BEDROCK: ("langchain-aws", "ChatBedrockConverse", {}),
    MISTRAL: ("langchain-mistralai", "ChatMistralAI", {}),
}
"""The package of a target, its model, and the arguments that the model needs."""


def peer(context: Context) -> Peer:
    core = import_module("langchain_core.messages")
    messages = [
        core.SystemMessage(context.system_prompt),
        *(native_message(core, message) for message in context.messages),
    ]
    anthropic, chat, responses, mistral = map(model, (ANTHROPIC, CHAT, RESPONSES, MISTRAL))

    def sender(target: Target) -> Sender:
        def at(url: str) -> Callable[[], object]:
            bound = model(target, base_url=url).bind_tools(chat_tools(context.tools))
            return lambda: bound.invoke(list(messages))

        return Sender(called(target, "invoke"), at)

    return Peer(
        "LangChain",
        "langchain-core",
        {
            # A new list each time, because answers are replaced in it.
            ANTHROPIC: Encoder(
                called(ANTHROPIC, "_get_request_payload"),
                lambda: to_json(anthropic._get_request_payload(list(messages))),
            ),
            CHAT: Encoder(
                called(CHAT, "_get_request_payload"),
                lambda: to_json(chat._get_request_payload(list(messages))),
            ),
            RESPONSES: Encoder(
                called(RESPONSES, "_get_request_payload"),
                lambda: to_json(responses._get_request_payload(list(messages))),
            ),
            GEMINI: gemini(messages),
            BEDROCK: bedrock(messages),
            MISTRAL: Encoder(
                called(MISTRAL, "_create_message_dicts"),
                lambda: to_json(mistral._create_message_dicts(list(messages), None)),
            ),
        },
        {target: sender(target) for target in TARGETS},
    )


def model(target: Target, **settings: Any) -> Any:
    package, name, own = MODELS[target]
    return getattr(import_module(package.replace("-", "_")), name)(
        model=target.model, **ACCESS[target], **own, **settings
    )


def called(target: Target, method: str) -> str:
    """Every provider has its own package, with its own version."""
    package, name, own = MODELS[target]
    told = "(use_responses_api=True)" if own.get("use_responses_api") else ""
    return f"{name}{told}.{method} of {package} {version(package)}"


def gemini(messages: list[Any]) -> Encoder:
    prepare = model(GEMINI)._prepare_request
    pydantic_json = import_module("pydantic_core").to_json

    def encode() -> bytes:
        # It creates objects of google-genai, which are pydantic models.
        encoded: bytes = pydantic_json(prepare(list(messages)), by_alias=True, exclude_none=True)
        return encoded

    return Encoder(called(GEMINI, "_prepare_request"), encode)


def bedrock(messages: list[Any]) -> Encoder:
    convert = import_module("langchain_aws.chat_models.bedrock_converse")._messages_to_bedrock
    claude = model(BEDROCK)

    def encode() -> bytes:
        converted, system = convert(
            list(messages), claude.system, model_id=claude._get_base_model(), provider=claude.provider
        )
        return to_json({"messages": converted, "system": system})

    return Encoder(f"bedrock_converse._messages_to_bedrock of langchain-aws {version('langchain-aws')}", encode)


def native_message(core: Any, message: Message) -> Any:
    if isinstance(message, AssistantMessage):
        return core.AIMessage(
            answer_blocks(message),
            tool_calls=[
                {"type": "tool_call", "id": block.id, "name": block.name, "args": block.arguments}
                for block in message.content
                if isinstance(block, ToolCall)
            ],
            response_metadata={"model_provider": message.provider, "model_name": message.model},
        )
    if isinstance(message, ToolResultMessage):
        return core.ToolMessage(text_of(message), tool_call_id=message.tool_call_id, name=message.tool_name)
    return core.HumanMessage(text_of(message))
