"""For litellm: ``litellm.callbacks = [Repair()]``, in Python and in the proxy's ``config.yaml``.

litellm calls it before each request, with the messages and the model that was chosen
(``async_pre_call_deployment_hook``, litellm 1.106, 2026-11). Its synchronous ``completion()`` calls no such hook: use
``repair(messages, model)`` there.

litellm passes only keyword arguments to callbacks (``utils.py``, ``wrapper_async``): messages passed by position
cannot be repaired, and a warning is logged.

Messages of litellm do not name their makers, so the callback remembers the answers that it has seen. An answer that it
has not seen counts as one of the target's own.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from litellm import get_llm_provider
from litellm.integrations.custom_logger import CustomLogger
from msgspec.structs import replace

from ..projection import PolicyLike
from ..render import Ledger, export
from ..transcripts.building import Conversation
from ..transcripts.originals import Originals
from ..transcripts.origins import Origin
from ..transcripts.reading import object_of, objects, text_of
from ..types import AssistantMessage, Context, Model, ThinkingContent, ToolDefinition
from .repairing import OnChanges, Repaired, Repairer, logger, target

CHAT = "openai-completions"
COMPLETIONS = ("completion", "acompletion")
"""litellm's names of the calls that have messages."""


class Repair(CustomLogger):  # type: ignore[misc]  # litellm has no types
    """Repair what is sent for the model that it is sent to. ``on_changes`` gets the changes of each request."""

    def __init__(self, policy: PolicyLike = None, on_changes: OnChanges | None = None) -> None:
        super().__init__()
        self._policy, self._on_changes = policy, on_changes
        self._ledger = Ledger()

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any] | None:
        """Change the messages of a request, and declare tools that its history needs."""
        if "messages" not in kwargs and getattr(call_type, "value", call_type) in COMPLETIONS:
            logger.warning("messages are not repaired: name the arguments, acompletion(model=…, messages=…)")
        messages, model = kwargs.get("messages"), _target(kwargs.get("model"), kwargs.get("custom_llm_provider"))
        if model is None or not isinstance(messages, list):
            return None
        found = self._repaired(messages, model, objects(kwargs.get("tools")))
        if found is None:
            return None
        tools = {"tools": [*objects(kwargs.get("tools")), *map(_stub, found.stubs)]} if found.stubs else {}
        return {**kwargs, "messages": found.items, **tools}

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Remember who made an answer."""
        model = _target(kwargs.get("model"), kwargs.get("custom_llm_provider"))
        for choice in getattr(response_obj, "choices", None) or ():
            message = getattr(choice, "message", None)
            if model is not None and message is not None:
                self._remember(message.model_dump(exclude_none=True), model)

    def repair(self, messages: Sequence[Any], model: str) -> list[Any]:
        """The messages for a model, by litellm's name for it: for calls without hooks, such as ``completion()``."""
        goal = _target(model, None)
        found = None if goal is None else self._repaired(messages, goal, ())
        return [*messages] if found is None else found.items

    def _remember(self, message: dict[str, Any], model: Model) -> None:
        for each in _read([message], _origin(model)).context.messages:
            if isinstance(each, AssistantMessage):
                self._ledger.remember(each)

    def _repaired(self, messages: Sequence[Any], model: Model, tools: Iterable[Any]) -> Repaired | None:
        def read(items: Iterable[Any], *, endpoint: str | None = None) -> Conversation:
            return _read(items, _origin(model), self._ledger)

        definitions = [
            ToolDefinition(text_of(function.get("name")), "", object_of(function.get("parameters")))
            for function in (object_of(each.get("function")) for each in tools)
        ]
        return Repairer(read, _write, self._policy, self._on_changes).repaired(messages, model, definitions)


def _target(name: Any, provider: Any) -> Model | None:
    if not isinstance(name, str):
        return None
    if not provider:
        name, provider, *_ = get_llm_provider(name)
    return target(provider, name.removeprefix(f"{provider}/"))


def _origin(model: Model) -> Origin:
    return Origin(model.protocol, model.provider, model.id)


def _read(items: Iterable[Any], own: Origin, ledger: Ledger | None = None) -> Conversation:
    """Read messages; those whose maker the ledger does not know are of the origin ``own``."""
    conversation = Conversation("litellm", endpoint="")
    for at, item in enumerate(items):
        message = object_of(item)
        conversation.begin(item, f"[{at}]", has_system=message.get("role") == "system" and not conversation.log)
        conversation.origin = own
        if message.get("role") == "assistant":
            _read_answer(conversation, message, ledger)
        else:
            conversation.ingest(message, CHAT)
    return conversation


def _read_answer(conversation: Conversation, message: dict[str, Any], ledger: Ledger | None) -> None:
    thinking = [
        ThinkingContent(text_of(each.get("thinking")), text_of(each.get("signature") or each.get("data")) or None,
                        each.get("type") == "redacted_thinking")
        for each in objects(message.get("thinking_blocks"))
    ]  # fmt: skip
    hidden = {"thinking_blocks", "provider_specific_fields", *(("reasoning_content",) if thinking else ())}
    before = len(conversation.log)
    conversation.ingest({name: value for name, value in message.items() if name not in hidden}, CHAT)
    if len(conversation.log) == before:
        conversation.add_answer(thinking)
    elif isinstance(answer := conversation.log[-1], AssistantMessage):
        conversation.log[-1] = _attributed(answer, thinking, ledger)


def _attributed(answer: AssistantMessage, thinking: list[ThinkingContent], ledger: Ledger | None) -> AssistantMessage:
    whole = replace(answer, content=[*thinking, *answer.content])
    origin = ledger.origin_of(whole) if ledger is not None else None
    if origin is None:
        return whole
    return replace(whole, protocol=origin.protocol, provider=origin.provider, model=origin.model)


def _write(context: Context, originals: Originals | None) -> list[Any]:
    written: list[Any] = []
    for original, messages in (originals or Originals()).parts(context):
        if original is not None:
            written.append(original)
        else:
            written += export(Context(messages), CHAT).body["messages"]
    return written


def _stub(tool: ToolDefinition) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}
