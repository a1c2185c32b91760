"""The conversation in the body of a Responses request.

Encoding what was read gives the same body again, apart from what a conversation does not hold: parameters of the
request other than ``instructions``, ``input`` and ``tools``; ``status``, annotations and log probabilities of messages;
``namespace`` and ``caller`` of calls; ids of results; and state on the server (``previous_response_id``,
``conversation``, ``prompt``), whose messages are not in the body. Hosted tools and their items have no place in a
conversation; an item becomes a text that says so, a definition is left out.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from ...errors import FormatError
from ...types import (
    AssistantContent,
    Context,
    Diagnostic,
    Message,
    Model,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ..common.reading import answer
from .parts import blocks, texts
from .replay import message_signature, reasoning_signature
from .shapes import ITEMS, MADE_BY_MODEL, ROLES, Item, kind_of

NAME = "openai-responses"
# How a system or developer message in the middle of a conversation is marked: there is only one system prompt.
LATER_INSTRUCTION = "[{role} message]\n"
_FREE_TEXT = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


def recognise(body: dict[str, Any]) -> int:
    """`input` is what no other protocol has; embeddings have it, too, as strings."""
    if "input" not in body:
        return (
            0
            if {"messages", "contents"} & body.keys()
            else 3 * bool({"instructions", "previous_response_id", "max_output_tokens"} & body.keys())
        )
    given = body["input"]
    if isinstance(given, list):
        return 10 if any(isinstance(item, dict) and str(kind_of(item)) in ITEMS for item in given) else 4
    return 5


def ingest(body: dict[str, Any], model: Model | None, now: int) -> Context:
    """Instructions, input and tools. Answers are ``model``'s, if it is given."""
    reader = _Reader(model, now)
    instructions = body.get("instructions")
    if isinstance(instructions, str):
        reader.system.append(instructions)
    elif instructions is not None:
        raise FormatError("instructions are a string", path="instructions")
    _read_input(reader, body)
    reader.close()
    tools = [tool for at, given in enumerate(_list(body, "tools")) for tool in _tools(given, f"tools[{at}]")]
    prompt = "\n\n".join(text for text in reader.system if text) or None
    return Context(system_prompt=prompt, messages=reader.messages, tools=[*tools, *reader.tools])


def _read_input(reader: "_Reader", body: dict[str, Any]) -> None:
    given = body.get("input")
    if isinstance(given, str):
        reader.user([TextContent(given)])
        return
    if given is None and {"previous_response_id", "conversation", "prompt"} & body.keys():
        return
    if not isinstance(given, list):
        raise FormatError("input is a string or a list of items", path="input")
    for at, item in enumerate(given):
        path = f"input[{at}]"
        if not isinstance(item, dict):
            raise FormatError("an item is an object", path=path)
        kind = kind_of(item)
        if not isinstance(kind, str):
            raise FormatError("an item has a type or a role", path=path)
        _ITEMS.get(kind, _other)(reader, item, path)


class _Reader:
    """What was read so far. Items of the model add up to one answer until something else comes."""

    def __init__(self, model: Model | None, now: int) -> None:
        self.model, self.now = model, now
        self.system: list[str] = []
        self.messages: list[Message] = []
        self.tools: list[ToolDefinition] = []
        self.names: dict[str, str] = {}  # of tools, by the id of the call
        self._blocks: list[AssistantContent] = []
        self._diagnostics: list[Diagnostic] = []
        self._with_ids: bool | None = None  # whether the items of the open answer have ids

    def answer(self, found: list[AssistantContent], with_id: bool) -> None:
        # Ids go all or none within an answer (OAR-08): where they begin or end, another answer does.
        if self._blocks and self._with_ids != with_id:
            self.close()
        self._with_ids = with_id
        self._blocks += found

    def repaired(self, path: str) -> None:
        note = Diagnostic(type="arguments-repaired", timestamp=self.now, message=f"{path}: not a JSON object")
        self._diagnostics.append(note)

    def user(self, found: list[UserContent]) -> None:
        self.close()
        self.messages.append(UserMessage(found))

    def result(self, found: ToolResultMessage) -> None:
        self.close()
        self.messages.append(found)

    def close(self) -> None:
        """The open answer, if there is one, is complete."""
        if self._blocks:
            self.messages.append(answer(NAME, self.model, self._blocks, self.now, self._diagnostics))
        self._blocks, self._diagnostics, self._with_ids = [], [], None


# -- items -----------------------------------------------------------------------------------------------------------


def _message(reader: _Reader, item: Item, path: str) -> None:
    role, content = item.get("role"), item.get("content")
    if not isinstance(role, str) or role not in ROLES:
        raise FormatError(f"role {role!r} is none of {', '.join(sorted(ROLES))}", path=f"{path}.role")
    if role == "user":
        reader.user(blocks(content, f"{path}.content"))
    elif role == "assistant":
        signature = message_signature(item)
        said = [TextContent(text, signature) for text in texts(content, f"{path}.content")]
        reader.answer([*said], isinstance(item.get("id"), str))
    else:
        said_first = "\n\n".join(texts(content, f"{path}.content"))
        reader.close()
        if reader.messages:
            reader.user([TextContent(LATER_INSTRUCTION.format(role=role) + said_first)])
        else:
            reader.system.append(said_first)


def _reasoning(reader: _Reader, item: Item, path: str) -> None:
    """Signed with the whole item, where it has the content that lets it go back; else it is what can be read."""
    said = [text for name in ("summary", "content") if item.get(name) for text in texts(item[name], f"{path}.{name}")]
    thinking = ThinkingContent("\n\n".join(said), reasoning_signature(item))
    reader.answer([thinking], isinstance(item.get("id"), str))


def _call(reader: _Reader, item: Item, path: str) -> None:
    call_id, name = _string(item, "call_id", path), _string(item, "name", path)
    arguments = _arguments(item.get("arguments"))
    if arguments is None:
        reader.repaired(f"{path}.arguments")
        arguments = {"arguments": item.get("arguments")}
    reader.names[call_id] = name
    item_id = item.get("id")
    signature = item_id if isinstance(item_id, str) else None
    reader.answer([ToolCall(call_id, name, arguments, signature)], signature is not None)


def _arguments(given: Any) -> dict[str, Any] | None:
    """The object that the text holds; an empty text holds an empty one."""
    if isinstance(given, str):
        if not given.strip():
            return {}
        try:
            given = msgspec.json.decode(given)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None
    return given if isinstance(given, dict) else None


def _custom_call(reader: _Reader, item: Item, path: str) -> None:
    """A call with free text is a call with one argument; its item has no like here, so its id is not kept."""
    call_id, name = _string(item, "call_id", path), _string(item, "name", path)
    reader.names[call_id] = name
    reader.answer([ToolCall(call_id, name, {"input": _string(item, "input", path)})], False)


def _result(reader: _Reader, item: Item, path: str) -> None:
    call_id = item.get("call_id")
    if not isinstance(call_id, str):
        call_id = ""
    name = reader.names.get(call_id) or item.get("name")
    content = blocks(item.get("output"), f"{path}.output")
    reader.result(ToolResultMessage(call_id, name if isinstance(name, str) else "", content))


def _more_tools(reader: _Reader, item: Item, path: str) -> None:
    for at, given in enumerate(_list(item, "tools", path)):
        reader.tools += _tools(given, f"{path}.tools[{at}]")


def _other(reader: _Reader, item: Item, path: str) -> None:
    kind = kind_of(item)
    name = item.get("id") if kind == "item_reference" else None
    text = TextContent(f"({kind} {name})" if isinstance(name, str) else f"({kind})")
    if kind in MADE_BY_MODEL:
        reader.answer([text], False)
    else:
        reader.user([text])


_ITEMS: dict[str, Callable[[_Reader, Item, str], None]] = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _call,
    "custom_tool_call": _custom_call,
    "function_call_output": _result,
    "custom_tool_call_output": _result,
    "additional_tools": _more_tools,
}


# -- tools -----------------------------------------------------------------------------------------------------------


def _tools(given: Any, path: str) -> list[ToolDefinition]:
    """The functions that a definition defines."""
    if not isinstance(given, dict) or not isinstance(given.get("type"), str):
        raise FormatError("a tool is an object with a type", path=path)
    kind = given["type"]
    if kind == "namespace":
        inner = enumerate(_list(given, "tools", path))
        return [tool for at, one in inner for tool in _tools(one, f"{path}.tools[{at}]")]
    if kind not in ("function", "custom"):
        return []
    name, description = _string(given, "name", path), given.get("description")
    if not isinstance(description, str):
        description = ""
    if kind == "custom":
        return [ToolDefinition(name, description, _FREE_TEXT)]
    parameters = given.get("parameters")
    if parameters is None:
        return [ToolDefinition(name, description)]
    if not isinstance(parameters, dict):
        raise FormatError("parameters are a schema", path=f"{path}.parameters")
    return [ToolDefinition(name, description, parameters)]


def _list(body: dict[str, Any], name: str, path: str = "") -> list[Any]:
    given = body.get(name)
    if given is None:
        return []
    if not isinstance(given, list):
        raise FormatError(f"{name} is a list", path=f"{path}.{name}" if path else name)
    return given


def _string(item: Item, name: str, path: str) -> str:
    value = item.get(name)
    if not isinstance(value, str):
        raise FormatError(f"{name} is a string", path=f"{path}.{name}")
    return value
