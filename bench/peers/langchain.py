"""LangChain: messages of langchain-core, answers with the blocks that its own Anthropic model gives them."""

from importlib import import_module
from importlib.metadata import version
from typing import Any

from segue.types import AssistantMessage, Context, Message, ToolCall, ToolResultMessage

from .anthropic_messages import answer_blocks
from .chat_messages import text_of
from .encoders import ANTHROPIC, BEDROCK, CHAT, GEMINI, KEY, MAX_TOKENS, REGION, RESPONSES, Encoder, Peer, to_json


def peer(context: Context) -> Peer:
    core = import_module("langchain_core.messages")
    messages = [
        core.SystemMessage(context.system_prompt),
        *(native_message(core, message) for message in context.messages),
    ]
    anthropic = import_module("langchain_anthropic").ChatAnthropic(
        model=ANTHROPIC.model, api_key=KEY, max_tokens=MAX_TOKENS
    )
    openai = import_module("langchain_openai").ChatOpenAI
    chat = openai(model=CHAT.model, api_key=KEY, use_responses_api=False)
    responses = openai(model=RESPONSES.model, api_key=KEY, use_responses_api=True)
    return Peer(
        "LangChain",
        "langchain-core",
        {
            # A list of its own each time: answers are replaced in it.
            ANTHROPIC: Encoder(
                called("langchain-anthropic", "ChatAnthropic._get_request_payload"),
                lambda: to_json(anthropic._get_request_payload(list(messages))),
            ),
            CHAT: Encoder(
                called("langchain-openai", "ChatOpenAI._get_request_payload"),
                lambda: to_json(chat._get_request_payload(list(messages))),
            ),
            RESPONSES: Encoder(
                called("langchain-openai", "ChatOpenAI(use_responses_api=True)._get_request_payload"),
                lambda: to_json(responses._get_request_payload(list(messages))),
            ),
            GEMINI: gemini(messages),
            BEDROCK: bedrock(messages),
        },
    )


def called(package: str, name: str) -> str:
    """Every provider has a package of its own, with a version of its own."""
    return f"{name} of {package} {version(package)}"


def gemini(messages: list[Any]) -> Encoder:
    model = import_module("langchain_google_genai").ChatGoogleGenerativeAI(model=GEMINI.model, api_key=KEY)
    pydantic_json = import_module("pydantic_core").to_json

    def encode() -> bytes:
        # It makes objects of google-genai, which are pydantic's.
        encoded: bytes = pydantic_json(model._prepare_request(list(messages)), by_alias=True, exclude_none=True)
        return encoded

    return Encoder(called("langchain-google-genai", "ChatGoogleGenerativeAI._prepare_request"), encode)


def bedrock(messages: list[Any]) -> Encoder:
    aws = import_module("langchain_aws")
    convert = import_module("langchain_aws.chat_models.bedrock_converse")._messages_to_bedrock
    model = aws.ChatBedrockConverse(
        model=BEDROCK.model, region_name=REGION, aws_access_key_id=KEY, aws_secret_access_key=KEY
    )

    def encode() -> bytes:
        converted, system = convert(
            list(messages), model.system, model_id=model._get_base_model(), provider=model.provider
        )
        return to_json({"messages": converted, "system": system})

    return Encoder(called("langchain-aws", "bedrock_converse._messages_to_bedrock"), encode)


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
