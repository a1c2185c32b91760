"""For the OpenAI Agents SDK: ``RunConfig(model_provider=Provider())`` reaches every model of the catalog by its name,
such as ``anthropic/claude-sonnet-5``, also from handoffs and sub-agents.

A run keeps its items in the form of Responses (openai-agents 0.24.0, 2026-11). That form has no place for signatures of
other makers, so the provider remembers the answers with calls that it has returned. For models that the SDK asks
itself, ``RunConfig(call_model_input_filter=repair_for(model))`` repairs the items.
"""

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
from agents.items import ModelResponse
from agents.models.interface import Model as AgentsModel, ModelProvider
from agents.models.openai_responses import Converter
from agents.run_config import CallModelData, ModelInputData
from agents.usage import Usage
from msgspec.structs import replace
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from ..catalog import as_model
from ..client import Connection, Stream, stream
from ..errors import SettingError
from ..projection import PolicyLike
from ..render import AnswerWriter, ReadRequest, read_request, write_answer
from ..transcripts.openai_agents import read_items, write_items
from ..types import AssistantMessage, Context, Message, Model
from ..types.events import Done
from ..wire import ServerSentEvents
from .repairing import OnChanges, Repairer, report

RESPONSES = "openai-responses"
MOST = 10_000
"""Answers that a provider remembers."""
_SETTINGS = ("temperature", "top_p", "parallel_tool_calls", "metadata", "truncation", "store")
_EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


class Provider(ModelProvider):
    """Models of the catalog for agents. ``model`` answers where an agent names none."""

    def __init__(
        self,
        model: str | None = None,
        *,
        connection: Connection | Callable[[Model], Connection] | None = None,
        policy: PolicyLike = None,
        on_changes: OnChanges | None = None,
    ) -> None:
        self._default = model
        self._connection = connection
        self.policy = policy
        self.on_changes = on_changes
        self._answers: OrderedDict[bytes, AssistantMessage] = OrderedDict()

    def get_model(self, model_name: str | None) -> AgentsModel:
        name = model_name or self._default
        if name is None:
            raise SettingError("name a model: Provider(model='anthropic/claude-sonnet-5'), or one for the agent")
        return _Model(self, as_model(name))

    def connection_to(self, model: Model) -> Connection | None:
        """How a model is reached."""
        return self._connection(model) if callable(self._connection) else self._connection

    def remember(self, message: AssistantMessage) -> None:
        """Keep an answer whose calls identify it."""
        if message.tool_calls:
            self._answers[_key(message)] = message
            while len(self._answers) > MOST:
                self._answers.popitem(last=False)

    def restored(self, context: Context) -> Context:
        """The conversation with the answers as their makers sent them, where the provider remembers them."""
        return replace(context, messages=[self._restored(message) for message in context.messages])

    def _restored(self, message: Message) -> Message:
        if isinstance(message, AssistantMessage) and message.tool_calls:
            return self._answers.get(_key(message), message)
        return message


def _key(message: AssistantMessage) -> bytes:
    calls = [(call.id, call.name, call.arguments) for call in message.tool_calls]
    return msgspec.json.encode([message.text, calls], order="deterministic")


class _Model(AgentsModel):
    def __init__(self, provider: Provider, model: Model) -> None:
        self._provider = provider
        self._model = model

    async def get_response(self, *arguments: Any, **settings: Any) -> ModelResponse:
        request = self._read(*arguments, **settings)
        async with self._asked(request) as events:
            message = await events.finished()
        if events.error is not None:
            raise events.error
        self._provider.remember(message)
        answer = Response.model_validate(write_answer(message, RESPONSES).body)
        return ModelResponse(output=answer.output, usage=_usage(message), response_id=None)

    async def stream_response(self, *arguments: Any, **settings: Any) -> AsyncIterator[Any]:
        request = self._read(*arguments, **settings)
        frames, writer = ServerSentEvents(), AnswerWriter(RESPONSES)
        async with self._asked(request) as events:
            async for event in events:
                if isinstance(event, Done):  # before the last event, after which the SDK stops reading
                    self._provider.remember(event.message)
                for _, data in frames.feed(writer.write(event)):
                    yield _EVENTS.validate_json(data)

    def _asked(self, request: ReadRequest) -> Stream:
        provider = self._provider
        context, connection = provider.restored(request.context), provider.connection_to(self._model)
        events = stream(context, self._model, request.options, provider.policy, connection)
        report(self._model, events.request.changes, provider.on_changes)
        return events

    def _read(
        self,
        system_instructions: str | None,
        input: str | list[Any],  # noqa: A002 # the name that the SDK passes
        model_settings: Any,
        tools: list[Any],
        output_schema: Any,
        handoffs: list[Any],
        *_: Any,
        **__: Any,
    ) -> ReadRequest:
        """What the request says, which the SDK has as parts of a body of Responses."""
        body: dict[str, Any] = {
            "model": self._model.id,
            "instructions": system_instructions,
            "input": input,
            "tools": Converter.convert_tools(tools, handoffs).tools,
            "tool_choice": Converter.convert_tool_choice(model_settings.tool_choice, tools=tools, handoffs=handoffs),
            "text": Converter.get_response_format(output_schema),
            "max_output_tokens": model_settings.max_tokens,
            "reasoning": model_settings.reasoning,
            **{name: getattr(model_settings, name) for name in _SETTINGS},
        }
        plain = TypeAdapter(Any).dump_python(_given(body), mode="json", exclude_none=True)
        return read_request(plain, RESPONSES)


def _given(body: dict[str, Any]) -> dict[str, Any]:
    """Without what is not set: ``None``, or the SDK's own mark for it."""
    return {name: value for name, value in body.items() if value and type(value).__name__ != "Omit"}


def _usage(message: AssistantMessage) -> Usage:
    usage = message.usage
    return Usage(requests=1, input_tokens=usage.prompt, output_tokens=usage.output, total_tokens=usage.total_tokens)


def repair_for(
    model: Model | str, policy: PolicyLike = None, on_changes: OnChanges | None = None
) -> Callable[[CallModelData[Any]], ModelInputData]:
    """A filter for ``RunConfig(call_model_input_filter=…)``: the items as ``model`` accepts them."""
    goal, repairer = as_model(model), Repairer(read_items, write_items, policy, on_changes)

    def repair(data: CallModelData[Any]) -> ModelInputData:
        repaired = repairer.repaired(data.model_data.input, goal)
        if repaired is None:
            return data.model_data
        return ModelInputData(input=repaired.items, instructions=data.model_data.instructions)

    return repair
