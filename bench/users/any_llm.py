"""any-llm: ``acompletion`` with messages of chat completions; answers are the messages that it returned.

It has no conversion from these to OpenAI Responses. Its users get there with ``amessages`` and messages of Anthropic,
which it also returns for every other provider.
"""

from functools import cache
from importlib import import_module
from typing import Any

from segue.types import ImageContent, TextContent, ToolDefinition, ToolResultMessage, UserMessage

from ..peers.chat_messages import chat_tools
from ..peers.encoders import MAX_TOKENS, RESPONSES, Target, run
from .chat import QUESTION, call_ids, system_message, tool_message, user_message
from .library import ALL, Conversation, Speaker, access_to

NAMES = {
    "google": "gemini",
    "google-vertex": "gemini",  # vertexai requires credentials of Google
    "amazon-bedrock": "bedrock",
    "azure": "azureopenai",
    "groq": "openai",  # its own provider requires another SDK
}
"""Its names of providers, where they differ."""


class AnyLLM(Speaker):
    name, package = "any-llm", "any-llm-sdk"
    settings = "nothing: it has no repairs to switch on"
    targets = tuple(target for target in ALL if target != RESPONSES)

    def __init__(self) -> None:
        self.user, self.result, self.call_ids = user_message, tool_message, call_ids

    def speaks(self, origin: Target) -> str:
        return "openai-completions" if origin.protocol == "openai-responses" else origin.protocol

    def ask(self, origin: Target, url: str, tools: list[ToolDefinition]) -> Any:
        return self._complete(origin, url, [{"role": "user", "content": QUESTION}], tools)

    def send(self, target: Target, url: str, conversation: Conversation) -> None:
        system, messages, tools = conversation
        self._complete(target, url, [system_message(system), *messages], tools)

    def called(self, target: Target) -> str:
        return f'AnyLLM.create("{name_of(target)}").acompletion("{target.model}", messages, tools=tools)'

    def _complete(self, target: Target, url: str, messages: list[Any], tools: list[ToolDefinition]) -> Any:
        given = {"tools": chat_tools(tools)} if tools else {}
        answer = run(client(target, url).acompletion(target.model, messages, max_tokens=MAX_TOKENS, **given))
        return answer.choices[0].message


class AnyLLMMessages(AnyLLM):
    """The same library with messages of Anthropic."""

    targets = (RESPONSES,)

    def __init__(self) -> None:
        """Messages are written by the methods."""

    def user(self, message: UserMessage) -> dict[str, Any]:
        return {"role": "user", "content": [block_of(block) for block in message.content]}

    def result(self, message: ToolResultMessage) -> dict[str, Any]:
        content = [block_of(block) for block in message.content]
        result = {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": content}
        return {"role": "user", "content": [result | ({"is_error": True} if message.is_error else {})]}

    def ask(self, origin: Target, url: str, tools: list[ToolDefinition]) -> Any:
        answer = self._create(origin, url, [{"role": "user", "content": QUESTION}], tools)
        return {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in answer.content]}

    def speaks(self, origin: Target) -> str:
        """It uses Anthropic's own client for Claude on Bedrock, and an endpoint of DeepSeek in Anthropic's protocol."""
        anthropic = origin.provider == "deepseek" or origin.model.startswith("anthropic.")
        return "anthropic-messages" if anthropic else super().speaks(origin)

    def call_ids(self, answer: Any) -> list[str]:
        return [block["id"] for block in answer["content"] if block["type"] == "tool_use"]

    def send(self, target: Target, url: str, conversation: Conversation) -> None:
        system, messages, tools = conversation
        self._create(target, url, messages, tools, system=system, thinking=THINKING)

    def called(self, target: Target) -> str:
        return f'AnyLLM.create("openai").amessages("{target.model}", messages, tools=tools, thinking=…)'

    def _create(self, target: Target, url: str, messages: list[Any], tools: list[ToolDefinition], **given: Any) -> Any:
        if tools:
            given["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in tools
            ]
        return run(client(target, url).amessages(target.model, messages, max_tokens=MAX_TOKENS, **given))


THINKING = {"type": "enabled", "budget_tokens": MAX_TOKENS // 2}
"""With tools and thinking, any-llm uses Responses."""


def block_of(block: TextContent | ImageContent) -> dict[str, Any]:
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    return {"type": "image", "source": {"type": "base64", "media_type": block.mime_type, "data": block.data}}


@cache
def client(target: Target, url: str) -> Any:
    return import_module("any_llm").AnyLLM.create(name_of(target), api_base=url, **access_to(target))


def name_of(target: Target) -> str:
    return NAMES.get(target.provider, target.provider)
