"""LangChain: ``invoke`` of a chat model; answers are the messages that it returned."""

from functools import cache
from importlib import import_module
from typing import Any

from segue.types import TextContent, ToolDefinition, ToolResultMessage, UserMessage

from ..peers.chat_messages import chat_tools
from ..peers.encoders import Target
from ..peers.langchain import MODELS
from .chat import QUESTION
from .library import Conversation, Speaker, access_to

BY_PROTOCOL = {target.protocol: row for target, row in MODELS.items()}


class LangChain(Speaker):
    name, package = "LangChain", "langchain-core"
    settings = "nothing: it repairs by default what it repairs; with `output_version='v1'`, fewer requests are accepted"

    def __init__(self) -> None:
        self.core = import_module("langchain_core.messages")

    def user(self, message: UserMessage) -> Any:
        return self.core.HumanMessage(content(message.content))

    def result(self, message: ToolResultMessage) -> Any:
        return self.core.ToolMessage(
            content(message.content),
            tool_call_id=message.tool_call_id,
            name=message.tool_name,
            status="error" if message.is_error else "success",
        )

    def ask(self, origin: Target, url: str, tools: list[ToolDefinition]) -> Any:
        return with_tools(model(origin, url), tools).invoke([self.core.HumanMessage(QUESTION)])

    def call_ids(self, answer: Any) -> list[str]:
        return [call["id"] for call in answer.tool_calls]

    def send(self, target: Target, url: str, conversation: Conversation) -> None:
        system, messages, tools = conversation
        with_tools(model(target, url), tools).invoke([self.core.SystemMessage(system), *messages])

    def called(self, target: Target) -> str:
        _, name, own = BY_PROTOCOL[target.protocol]
        chosen = ", use_responses_api=True" if own.get("use_responses_api") else ""
        return f'{name}(model="{target.model}"{chosen}).bind_tools(tools).invoke(messages)'


def with_tools(chat: Any, tools: list[ToolDefinition]) -> Any:
    return chat.bind_tools(chat_tools(tools)) if tools else chat


@cache
def model(target: Target, url: str) -> Any:
    package, name, own = BY_PROTOCOL[target.protocol]
    return getattr(import_module(package.replace("-", "_")), name)(
        model=target.model, base_url=url, max_retries=0, **access_to(target), **own
    )


def content(blocks: list[Any]) -> str | list[dict[str, Any]]:
    """A string if there is only text; otherwise LangChain's standard blocks."""
    if all(isinstance(block, TextContent) for block in blocks):
        return "".join(block.text for block in blocks)
    return [
        {"type": "text", "text": block.text}
        if isinstance(block, TextContent)
        else {"type": "image", "base64": block.data, "mime_type": block.mime_type}
        for block in blocks
    ]
