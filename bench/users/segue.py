"""segue itself: ``segue.complete`` with a ``Context``."""

from msgspec.structs import replace

import segue
from segue.types import AssistantMessage, Context, ToolCall, ToolDefinition, ToolResultMessage, UserMessage

from ..peers.encoders import KEY, Target, run
from .chat import QUESTION
from .library import Conversation, Speaker


class Segue(Speaker):
    name = package = "segue"
    settings = "nothing: `segue.complete` repairs by default"

    def user(self, message: UserMessage) -> UserMessage:
        return message

    def result(self, message: ToolResultMessage) -> ToolResultMessage:
        return message

    def ask(self, origin: Target, url: str, tools: list[ToolDefinition]) -> AssistantMessage:
        return self._complete(Context(messages=[UserMessage(QUESTION)], tools=tools), origin, url)

    def call_ids(self, answer: AssistantMessage) -> list[str]:
        return [block.id for block in answer.content if isinstance(block, ToolCall)]

    def interrupted(self, answer: AssistantMessage, stored: AssistantMessage) -> AssistantMessage:
        return replace(answer, stop_reason=stored.stop_reason, endpoint=stored.endpoint or answer.endpoint)

    def send(self, target: Target, url: str, conversation: Conversation) -> None:
        system, messages, tools = conversation
        answer = self._complete(Context(system_prompt=system, messages=messages, tools=tools), target, url)
        assert answer.stop_reason == "stop", answer.error_message

    def called(self, target: Target) -> str:
        return f'segue.complete(context, "{target.ref}")'

    def _complete(self, context: Context, target: Target, url: str) -> AssistantMessage:
        model = segue.get_model(target.ref, protocol=target.protocol)
        connection = segue.Connection(base_url=url, api_key=KEY)
        return run(segue.complete(context, model, connection=connection))
