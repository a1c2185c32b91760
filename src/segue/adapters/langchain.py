"""For LangChain: middleware, ``create_agent(model, tools, middleware=[Repair()])``, and a runnable for bare models,
``repair_for(model) | model``.

Both change only what is sent: the state of an agent keeps its messages (langchain 1.4.7, 2026-11). The integrations
themselves encode images and errors, and merge messages.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, convert_to_messages, message_to_dict, messages_from_dict
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from ..projection import PolicyLike
from ..transcripts.langchain import read_messages
from ..transcripts.langchain_writing import write_messages
from ..types import Model, ToolDefinition
from .repairing import ByIdentity, OnChanges, Repaired, Repairer, target


class Repair(AgentMiddleware[Any, Any, Any]):
    """Repair what is sent for the model that it is sent to. ``on_changes`` gets the changes of each request."""

    def __init__(self, policy: PolicyLike = None, on_changes: OnChanges | None = None) -> None:
        super().__init__()
        self._repairer = Repairer(read_messages, write_messages, policy, on_changes)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        return handler(self._repaired(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        return await handler(self._repaired(request))

    def _repaired(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        tools = [_definition(each) for each in request.tools]
        found = _repair(self._repairer, request.messages, request.model, tools)
        if found is None:
            return request
        messages, repaired = found
        return request.override(messages=messages, tools=[*request.tools, *map(_stub, repaired.stubs)])


def repair_for(
    model: BaseChatModel, policy: PolicyLike = None, on_changes: OnChanges | None = None
) -> Runnable[Any, list[BaseMessage]]:
    """A runnable that repairs messages for ``model``: ``repair_for(model) | model``."""
    repairer = Repairer(read_messages, write_messages, policy, on_changes)

    def repair(value: Any) -> list[BaseMessage]:
        messages = convert_to_messages(value.to_messages() if hasattr(value, "to_messages") else value)
        found = _repair(repairer, messages, model)
        return messages if found is None else found[0]

    return RunnableLambda(repair)


def _repair(
    repairer: Repairer, messages: Sequence[BaseMessage], model: BaseChatModel, tools: Sequence[ToolDefinition] = ()
) -> tuple[list[Any], Repaired] | None:
    known = ByIdentity(messages, message_to_dict)
    goal = _target(model)
    repaired = None if goal is None else repairer.repaired(known.items, goal, tools)
    if repaired is None:
        return None
    return known.objects(repaired.items, lambda each: messages_from_dict([each])[0]), repaired


def _target(model: BaseChatModel) -> Model | None:
    names = model._get_ls_params()  # the names that LangChain itself reports for a model
    protocol = None
    if hasattr(model, "use_responses_api"):
        protocol = "openai-responses" if model.use_responses_api else "openai-completions"
    return target(names.get("ls_provider"), names.get("ls_model_name"), protocol)


def _definition(tool: BaseTool | dict[str, Any]) -> ToolDefinition:
    function = convert_to_openai_tool(tool).get("function", {})
    return ToolDefinition(function.get("name", ""), "", function.get("parameters", {"type": "object"}))


def _stub(tool: ToolDefinition) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}
