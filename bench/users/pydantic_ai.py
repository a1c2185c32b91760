"""pydantic-ai: ``Agent.run`` with a message history, which it repairs; answers are the responses that it returned."""

from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

from segue.types import AssistantMessage, TextContent, ToolDefinition, ToolResultMessage, UserMessage

from ..peers.encoders import Target, run
from ..peers.pydantic_ai import MODELS, native_tools
from .chat import QUESTION
from .library import Conversation, Speaker, access_to

BY_PROTOCOL = {target.protocol: row for target, row in MODELS.items()}
PROVIDERS = {"azure": "azure", "deepseek": "deepseek", "moonshot": "moonshotai", "google-vertex": "google-cloud"}
"""Providers that share a protocol with another: their name in pydantic-ai."""


class PydanticAI(Speaker):
    name, package = "pydantic-ai", "pydantic-ai-slim"
    settings = "nothing: `Agent.run` repairs a message history by default; failed answers have `state='interrupted'`"

    def __init__(self) -> None:
        self.messages = import_module("pydantic_ai.messages")
        self.parameters = import_module("pydantic_ai.models").ModelRequestParameters
        self.agent = import_module("pydantic_ai").Agent
        self.deferred = import_module("pydantic_ai").DeferredToolRequests
        self.external = import_module("pydantic_ai.toolsets").ExternalToolset
        self.request = import_module("pydantic_ai.direct").model_request

    def user(self, message: UserMessage) -> Any:
        return self.messages.ModelRequest(parts=[self.messages.UserPromptPart(self._content(message.content))])

    def result(self, message: ToolResultMessage) -> Any:
        part = self.messages.ToolReturnPart(
            message.tool_name,
            self._content(message.content),
            message.tool_call_id,
            outcome="failed" if message.is_error else "success",
        )
        return self.messages.ModelRequest(parts=[part])

    def ask(self, origin: Target, url: str, tools: list[ToolDefinition]) -> Any:
        asked = [self.messages.ModelRequest(parts=[self.messages.UserPromptPart(QUESTION)])]
        parameters = self.parameters(function_tools=native_tools(tools))
        answer = run(self.request(model(origin, url), asked, model_request_parameters=parameters))
        name = PROVIDERS.get(origin.provider)
        return answer if name is None else self._named(answer, name)

    def call_ids(self, answer: Any) -> list[str]:
        return [call.tool_call_id for call in answer.tool_calls]

    def interrupted(self, answer: Any, stored: AssistantMessage) -> Any:
        return replace(answer, state="interrupted") if stored.stop_reason in ("error", "aborted") else answer

    def send(self, target: Target, url: str, conversation: Conversation) -> None:
        system, messages, tools = conversation
        agent = self.agent(
            model(target, url),
            instructions=system,
            toolsets=[self.external(native_tools(tools))] if tools else [],
            output_type=[str, self.deferred],
            retries=0,
        )
        run(agent.run(message_history=messages))

    def called(self, target: Target) -> str:
        _, name, _ = BY_PROTOCOL[target.protocol]
        return f'Agent({name}("{target.model}"), toolsets=[tools]).run(message_history=messages)'

    def _content(self, blocks: list[Any]) -> Any:
        """A string if there is only text."""
        if all(isinstance(block, TextContent) for block in blocks):
            return "".join(block.text for block in blocks)
        return [block.text if isinstance(block, TextContent) else self._image(block) for block in blocks]

    def _image(self, block: Any) -> Any:
        return self.messages.BinaryContent.from_data_uri(f"data:{block.mime_type};base64,{block.data}")

    def _named(self, answer: Any, name: str) -> Any:
        """The answer with the name of its provider, as the provider's own class sets it."""
        parts = [
            replace(part, provider_name=name) if getattr(part, "provider_name", None) else part for part in answer.parts
        ]
        return replace(answer, parts=parts, provider_name=name)


@cache
def model(target: Target, url: str) -> Any:
    module, name, provider = BY_PROTOCOL[target.protocol]
    made = getattr(import_module(f"pydantic_ai.providers.{module}"), provider)(base_url=url, **access_to(target))
    return getattr(import_module(f"pydantic_ai.models.{module}"), name)(target.model, provider=made)
