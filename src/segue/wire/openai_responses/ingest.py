"""Read the body of a Responses request as a conversation.

Encoding the conversation returns the same body, except for what a conversation does not hold: parameters of the request
other than ``instructions``, ``input`` and ``tools``; ``status`` and log probabilities of messages; ``caller`` of calls;
ids of results; and state on the server (``previous_response_id``, ``conversation``, ``prompt``), whose messages are not
in the body. An item of a hosted tool is kept as it is; the definition of a hosted tool is left out.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from ...errors import FormatError
from ...types import (
    AssistantContent,
    Context,
    Diagnostic,
    Message,
    Model,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserContent,
    UserMessage,
    plain_text,
)
from ..common.reading import answers, place, result_message, text_in, tool_call, user_message
from .parts import blocks, texts
from .replay import message_signature, reasoning_signature
from .server_tools import OUTPUTS, readable
from .shapes import ITEMS, MADE_BY_MODEL, ROLES, Item, kind_of
from .walk import objects

NAME = "openai-responses"
# The prefix of a system or developer message in mid-conversation: there is only one system prompt.
LATER_INSTRUCTION = "[{role} message]\n"


def recognise(body: dict[str, Any]) -> int:
    """Return how sure it is that this is a Responses body. Only `input` is specific, but embeddings have it, too."""
    if "input" not in body:
        return (
            0
            if {"messages", "contents"} & body.keys()
            else 3 * bool({"instructions", "previous_response_id", "max_output_tokens"} & body.keys())
        )
    items = body["input"]
    if isinstance(items, list):
        return 10 if any(isinstance(item, dict) and str(kind_of(item)) in ITEMS for item in items) else 4
    return 5


def is_own_list(items: list[dict[str, Any]]) -> bool:
    """Whether a list holds items of this protocol: items with a type, or messages whose parts are input or output."""
    parts = [part for item in items for _, part in objects(item.get("content"), "")]
    return any(str(item.get("type")) in ITEMS for item in items) or any(
        str(part.get("type")) in ("input_text", "input_image", "output_text") for part in parts
    )


def ingest(body: dict[str, Any], model: Model | None, now: int) -> Context:
    """Return the conversation in ``body``; ``model`` is the origin of its answers."""
    reader = _Reader(model, now)
    instructions = body.get("instructions")
    if isinstance(instructions, str):
        reader.system.append(instructions)
    elif instructions is not None:
        raise FormatError("instructions must be a string", path="instructions")
    _read_input(reader, body)
    reader.close()
    tools = [tool for at, value in enumerate(_list(body, "tools")) for tool in _tools(value, f"tools[{at}]")]
    prompt = "\n\n".join(text for text in reader.system if text) or None
    return Context(system_prompt=prompt, messages=reader.messages, tools=[*tools, *reader.tools])


def _read_input(reader: "_Reader", body: dict[str, Any]) -> None:
    items = body.get("input")
    if isinstance(items, str):
        reader.user([TextContent(items)])
        return
    if items is None and {"previous_response_id", "conversation", "prompt"} & body.keys():
        return
    if not isinstance(items, list):
        raise FormatError("input must be a string or a list of items", path="input")
    reader.read(items)


class _Reader:
    """The messages read so far. Consecutive items of the model form one answer."""

    def __init__(self, model: Model | None, now: int) -> None:
        self.now = now
        self.system: list[str] = []
        self.messages: list[Message] = []
        self.tools: list[ToolDefinition] = []
        self.names: dict[str, str] = {}  # names of tools by the id of the call
        self._blocks: list[AssistantContent] = []
        self._diagnostics: list[Diagnostic] = []
        self._with_ids: bool | None = None  # whether the items of the open answer have ids
        self._answer = answers(NAME, model, now)
        self._path: Callable[[], str] = str  # of the item that is being read

    def read(self, items: list[Any]) -> None:
        """Read the items of the input."""
        rest = iter(items)
        self._path = partial(place, "input", items, rest)
        try:
            for item in rest:
                _ITEMS.get(_kind(item), _other)(self, item)
        except FormatError as error:
            raise error.below(self._path()) from None

    def answer(self, found: list[AssistantContent], with_id: bool | None) -> None:
        """Add blocks to the open answer; ``with_id`` is ``None`` for items that may be without an id beside others."""
        # All items of an answer have ids, or none (OAR-08): where that changes, another answer begins.
        if with_id is not None:
            if self._blocks and self._with_ids is not None and self._with_ids != with_id:
                self.close()
            self._with_ids = with_id
        self._blocks += found

    def repaired(self) -> None:
        """Note that the arguments of the call that is being read are not an object."""
        message = f"{self._path()}.arguments: not a JSON object"
        note = Diagnostic(type="arguments-repaired", timestamp=self.now, message=message)
        self._diagnostics.append(note)

    def user(self, found: list[UserContent], injected: bool = False) -> None:
        self.close()
        self.messages.append(UserMessage(found, injected) if injected else user_message(found))

    def result(self, found: ToolResultMessage) -> None:
        self.close()
        self.messages.append(found)

    def close(self) -> None:
        """End the open answer, if there is one."""
        if self._blocks:
            self.messages.append(self._answer(self._blocks, self._diagnostics))
            self._blocks, self._diagnostics = [], []
        self._with_ids = None


# -- items -----------------------------------------------------------------------------------------------------------


def _kind(item: Any) -> str:
    """The type of an item."""
    if not isinstance(item, dict):
        raise FormatError("an item must be an object")
    kind = kind_of(item)
    if not isinstance(kind, str):
        raise FormatError("an item must have a type or a role")
    return kind


def _message(reader: _Reader, item: Item) -> None:
    role, content = item.get("role"), item.get("content")
    if not isinstance(role, str) or role not in ROLES:
        raise FormatError(f"role {role!r} is none of {', '.join(sorted(ROLES))}", path="role")
    if role == "user":
        reader.user(blocks(content, "content"))
    elif role == "assistant":
        reader.answer(_signed_texts(item, content), isinstance(item.get("id"), str))
    else:
        instruction = "\n\n".join(texts(content, "content"))
        reader.close()
        if reader.messages:
            reader.user([TextContent(LATER_INSTRUCTION.format(role=role) + instruction)], injected=True)
        else:
            reader.system.append(instruction)


def _signed_texts(item: Item, content: Any) -> list[AssistantContent]:
    """The texts of an answer. Each has the id and the phase of the message, and its own annotations."""
    found, signature = texts(content, "content"), message_signature(item)
    parts = content if isinstance(content, list) else [content]
    made: list[AssistantContent] = []
    for text, part in zip(found, parts, strict=True):
        cited = part.get("annotations") if isinstance(part, dict) else None
        own = message_signature(item, True, cited) if cited else signature
        made.append(plain_text(text) if own is None else TextContent(text, own))
    return made


def _reasoning(reader: _Reader, item: Item) -> None:
    """Read reasoning; the signature is the whole item, if it can be sent back."""
    found = [text for name in ("summary", "content") if item.get(name) for text in texts(item[name], name)]
    thinking = ThinkingContent("\n\n".join(found), reasoning_signature(item))
    reader.answer([thinking], isinstance(item.get("id"), str))


def _call(reader: _Reader, item: Item) -> None:
    call_id, name = text_in(item, "call_id"), text_in(item, "name")
    arguments = _arguments(item.get("arguments"))
    if arguments is None:
        reader.repaired()
        arguments = {"arguments": item.get("arguments")}
    reader.names[call_id] = name
    item_id = item.get("id")
    signature = item_id if isinstance(item_id, str) else None
    call = tool_call(call_id, name, arguments, signature)
    if item.get("namespace") is not None:
        call = replace(call, namespace=_namespace(item))
    reader.answer([call], signature is not None)


def _namespace(item: Item) -> str | None:
    found = item.get("namespace")
    return found if isinstance(found, str) else None


def _arguments(value: Any) -> dict[str, Any] | None:
    """The arguments as an object, or ``None`` if they are not one; an empty text is ``{}``."""
    if isinstance(value, str):
        if not value.strip():
            return {}
        try:
            value = msgspec.json.decode(value)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def _custom_call(reader: _Reader, item: Item) -> None:
    """Read a call with free text."""
    call_id, name = text_in(item, "call_id"), text_in(item, "name")
    reader.names[call_id] = name
    item_id = item.get("id")
    signature = item_id if isinstance(item_id, str) else None
    arguments = {"input": text_in(item, "input")}
    call = ToolCall(call_id, name, arguments, signature, "custom", _namespace(item))
    reader.answer([call], signature is not None)


def _result(reader: _Reader, item: Item) -> None:
    call_id = item.get("call_id")
    if not isinstance(call_id, str):
        call_id = ""
    name = reader.names.get(call_id) or item.get("name")
    content = blocks(item.get("output"), "output")
    reader.result(result_message(call_id, name if isinstance(name, str) else "", content))


def _more_tools(reader: _Reader, item: Item) -> None:
    for at, value in enumerate(_list(item, "tools")):
        reader.tools += _tools(value, f"tools[{at}]")


def _other(reader: _Reader, item: Item) -> None:
    """Read an item that has no block of its own: as it is if only the API can read it, otherwise as a text."""
    kind = str(kind_of(item))
    if kind in MADE_BY_MODEL or kind in KEPT:
        try:
            kept = ProviderContent(item, kind, readable(item))
        except (FormatError, RecursionError, TypeError, OverflowError) as error:
            raise FormatError(str(error)) from None
        reader.answer([kept], True if isinstance(item.get("id"), str) else None)
        return
    name = item.get("id") if kind == "item_reference" else None
    reader.user([TextContent(f"({kind} {name})" if isinstance(name, str) else f"({kind})")])


KEPT = frozenset(output for output, _ in OUTPUTS.values()) | {"compaction"}
"""Items that the model did not make, and that belong to its answer."""


_ITEMS: dict[str, Callable[[_Reader, Item], None]] = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _call,
    "custom_tool_call": _custom_call,
    "function_call_output": _result,
    "custom_tool_call_output": _result,
    "additional_tools": _more_tools,
}


# -- tools -----------------------------------------------------------------------------------------------------------


def _tools(value: Any, path: str) -> list[ToolDefinition]:
    """The functions in the definition of a tool or a namespace."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise FormatError("a tool must be an object with a type", path=path)
    kind = value["type"]
    if kind == "namespace":
        space, inner = text_in(value, "name", path), enumerate(_list(value, "tools", path))
        tools = [tool for at, one in inner for tool in _tools(one, f"{path}.tools[{at}]")]
        return [replace(tool, namespace=space) for tool in tools]
    if kind not in ("function", "custom"):
        return []
    name, description = text_in(value, "name", path), value.get("description")
    if not isinstance(description, str):
        description = ""
    if kind == "custom":
        form = value.get("format")
        return [ToolDefinition(name, description, kind="custom", format=form if isinstance(form, dict) else None)]
    parameters = value.get("parameters")
    if parameters is None:
        return [ToolDefinition(name, description)]
    if not isinstance(parameters, dict):
        raise FormatError("parameters must be a schema", path=f"{path}.parameters")
    return [ToolDefinition(name, description, parameters)]


def _list(body: dict[str, Any], name: str, path: str = "") -> list[Any]:
    value = body.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise FormatError(f"{name} must be a list", path=f"{path}.{name}" if path else name)
    return value
