"""litellm: ``completion`` with messages of chat completions; answers are the messages that it returned."""

import os
from importlib import import_module
from typing import Any

from segue.types import ToolDefinition

from ..peers.chat_messages import chat_tools
from ..peers.encoders import KEY, MAX_TOKENS, REGION, Target
from .chat import QUESTION, call_ids, system_message, tool_message, user_message
from .library import Conversation, Speaker

ROUTES = {
    "openai-responses": "openai/responses",
    "google": "gemini",
    "google-vertex": "gemini",  # the route of Vertex requires credentials of Google
    "amazon-bedrock": "bedrock/converse",
    "azure": "openai/responses",
    "groq": "openai",  # its own route reads a field that the answers here do not have
}
"""The prefix of a model, by protocol or provider, where it is not the name of the provider."""


class LiteLLM(Speaker):
    name = package = "litellm"
    settings = "`litellm.modify_params = True`, `litellm.drop_params = True`, `ensure_alternating_roles=True`"

    def __init__(self) -> None:
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # otherwise importing it uses the network
        self.litellm = import_module("litellm")
        self.litellm.modify_params = self.litellm.drop_params = True
        self.litellm.suppress_debug_info = True  # otherwise it prints a hint for every error
        self.user, self.result, self.call_ids = user_message, tool_message, call_ids

    def ask(self, origin: Target, url: str, tools: list[ToolDefinition]) -> Any:
        return self._complete(origin, url, [{"role": "user", "content": QUESTION}], tools)

    def send(self, target: Target, url: str, conversation: Conversation) -> None:
        system, messages, tools = conversation
        self._complete(target, url, [system_message(system), *messages], tools)

    def called(self, target: Target) -> str:
        return f'litellm.completion("{route(target)}/{target.model}", messages, tools=tools)'

    def _complete(self, target: Target, url: str, messages: list[Any], tools: list[ToolDefinition]) -> Any:
        access: dict[str, Any] = {"api_key": KEY}
        if target.protocol == "bedrock-converse":
            access = {"aws_region_name": REGION, "aws_access_key_id": KEY, "aws_secret_access_key": KEY}
        if tools:
            access["tools"] = chat_tools(tools)
        answer = self.litellm.completion(
            f"{route(target)}/{target.model}",
            messages,
            api_base=url,
            max_tokens=MAX_TOKENS,
            num_retries=0,
            ensure_alternating_roles=True,
            **access,
        )
        return answer.choices[0].message


def route(target: Target) -> str:
    return ROUTES.get(target.protocol) or ROUTES.get(target.provider) or target.provider
