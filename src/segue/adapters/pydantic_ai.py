"""A capability for pydantic-ai: ``Agent(model, capabilities=[Repair()])``.

It runs before each attempt, when the model that serves the request is known (``prepare_model_request``,
pydantic-ai 2.66.0, 2026-11), and changes only what is sent: the history of the agent stays as it is. pydantic-ai itself
merges messages and encodes images and errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from opentelemetry.trace import get_current_span
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter
from pydantic_ai.models import Model as AnyModel, ModelRequestContext
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.tools import ToolDefinition as FunctionTool

from ..projection import PolicyLike
from ..transcripts.pydantic_ai import read_messages
from ..transcripts.pydantic_ai_writing import write_messages
from ..types import Change, Model, ToolDefinition
from .repairing import ByIdentity, OnChanges, Repairer, target

_PROTOCOLS = {"OpenAIChatModel": "openai-completions", "OpenAIResponsesModel": "openai-responses"}
"""The protocols of providers that have several, by the class of the model."""


@dataclass
class Repair(AbstractCapability[Any]):
    """Repair what is sent for the model that it is sent to. ``on_changes`` gets the changes of each request."""

    policy: PolicyLike = None
    on_changes: OnChanges | None = None

    async def prepare_model_request(self, ctx: Any, request_context: ModelRequestContext) -> ModelRequestContext:
        model = _target(request_context.model)
        if model is None:
            return request_context
        known = ByIdentity(request_context.messages, _dump)
        parameters = request_context.model_request_parameters
        tools = [ToolDefinition(each.name, "", each.parameters_json_schema) for each in parameters.function_tools]
        repairer = Repairer(read_messages, write_messages, self.policy, self._report)
        repaired = repairer.repaired(known.items, model, tools)
        if repaired is None:
            return request_context
        stubs = [FunctionTool(name=each.name, parameters_json_schema=each.schema) for each in repaired.stubs]
        return replace(
            request_context,
            messages=known.objects(repaired.items, _load),
            model_request_parameters=replace(parameters, function_tools=[*parameters.function_tools, *stubs]),
        )

    def _report(self, changes: Sequence[Change]) -> None:
        span = get_current_span()
        span.set_attribute("segue.changes.codes", sorted({change.code for change in changes}))
        span.set_attribute("segue.changes.lost", sum(change.lossy for change in changes))
        if self.on_changes is not None:
            self.on_changes(changes)


def _dump(message: ModelMessage) -> Any:
    return ModelMessagesTypeAdapter.dump_python([message], mode="json")[0]


def _load(item: Any) -> ModelMessage:
    return ModelMessagesTypeAdapter.validate_python([item])[0]


def _target(model: AnyModel) -> Model | None:
    while isinstance(model, WrapperModel):
        model = model.wrapped
    return target(model.system, model.model_name, _PROTOCOLS.get(type(model).__name__))
