"""Read the conversation in a body of ``generateContent``, written by any client.

Calls without an id, or with one that was used before, get an id derived from position and content. Dummy signatures
(GEM-20) are not signatures. Encoding the result for the same model gives the same body, except for what a conversation
cannot hold: ``generationConfig``, ``toolConfig``, ``safetySettings``, ``cachedContent``, ``labels``, tools that the
provider runs itself, the display names of files, and metadata of parts.
"""

from collections import deque
from hashlib import blake2b
from typing import Any

import msgspec

from ...dialects import GoogleGenerativeAI
from ...errors import FormatError
from ...types import (
    AssistantContent,
    Context,
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
)
from ..common.reading import answers
from .parts import text_of, user_block
from .schema import from_openapi
from .server_parts import is_kept, kind_of_part, readable
from .shapes import DUMMIES, get, kinds, many

NAME = "google-generative-ai"
# The first SDKs wrote "function"; the others are common mistakes and harmless.
ROLES = {None: "user", "": "user", "user": "user", "function": "user", "tool": "user", "model": "model"}


def recognise(body: dict[str, Any]) -> int:
    """How much a body looks like this protocol: only this one has ``contents``, with ``parts``."""
    contents = many(get(body, "contents"))
    if contents and any(many(get(content, "parts")) for content in contents):
        return 100
    return 20 if "contents" in body else 0


def is_own_list(contents: list[dict[str, Any]]) -> bool:
    """Whether a list holds contents of this protocol: only these have ``parts``."""
    return any(many(get(content, "parts")) for content in contents)


def ingest(body: dict[str, Any], model: Model | None, now: int) -> Context:
    """The conversation; its answers are of ``model``, at ``now``."""
    contents = get(body, "contents")
    if not isinstance(contents, (list, dict)):
        raise FormatError("contents must be a list of objects", path="contents")
    reader = _Reader(model, now)
    for index, content in enumerate(many(contents)):
        reader.read(content, f"contents[{index}]")
    return Context(system_prompt=_system(body), messages=reader.messages, tools=_tools(body))


class _Waiting:
    """The calls of an answer that have no response yet, found by id, by name, or in order."""

    def __init__(self) -> None:
        self._by_id: dict[str, deque[ToolCall]] = {}  # by the id in the body
        self._by_name: dict[str, deque[ToolCall]] = {}
        self._all: deque[ToolCall] = deque()
        self._taken: set[int] = set()  # answered calls, by identity; skipped in the other queues

    def add(self, body_id: str, call: ToolCall) -> None:
        if body_id:
            self._by_id.setdefault(body_id, deque()).append(call)
        self._by_name.setdefault(call.name, deque()).append(call)
        self._all.append(call)

    def pop(self, call_id: str, name: str) -> ToolCall | None:
        """Remove and return the answered call: by id, otherwise by name, otherwise the next one."""
        for queue in (self._by_id.get(call_id), self._by_name.get(name), self._all):
            while queue:
                call = queue.popleft()
                if id(call) not in self._taken:
                    self._taken.add(id(call))
                    return call
        return None


class _Reader:
    """Contents in, messages out. Keeps the used ids and the calls without a response."""

    def __init__(self, model: Model | None, now: int) -> None:
        self.messages: list[Message] = []
        self._make_answer = answers(NAME, model, now)
        dialect = None if model is None else model.dialect
        # If the encoder does not add a dummy to every unsigned call, a dummy belongs to its call.
        self.keeps_dummies = isinstance(dialect, GoogleGenerativeAI) and not dialect.signature_required
        self.used: set[str] = set()
        self.waiting = _Waiting()

    def read(self, content: Any, path: str) -> None:
        role = get(content, "role")
        if not isinstance(content, dict) or not isinstance(get(content, "parts"), (list, dict, type(None))):
            raise FormatError("a content must be an object with a list of parts", path=path)
        if not isinstance(role, (str, type(None))) or role not in ROLES:
            raise FormatError(f"the role of a content must be user or model, not {role!r}", path=f"{path}.role")
        parts = many(get(content, "parts"))
        for at, part in enumerate(parts):
            if not isinstance(part, dict):
                raise FormatError("a part must be an object", path=f"{path}.parts[{at}]")
        (self._answer if ROLES[role] == "model" else self._user)(parts, path)

    # -- user --------------------------------------------------------------------------------------------------------

    def _user(self, parts: list[Any], path: str) -> None:
        content: list[UserContent] = []
        for at, part in enumerate(parts):
            where = f"{path}.parts[{at}]"
            if get(part, "functionCall") is not None:
                raise FormatError("a functionCall must be in a content of the model", path=where)
            response = get(part, "functionResponse")
            if response is None:
                content.append(user_block(part, where))
            else:
                self.messages.append(self._result(response, f"{where}.functionResponse"))
        if content:
            self.messages.append(UserMessage(content))

    def _result(self, response: Any, path: str) -> ToolResultMessage:
        output = get(response, "response")
        if not isinstance(response, dict) or not isinstance(output, (dict, type(None))):
            raise FormatError("a function response must be an object with an object in response", path=path)
        name, call_id = str(get(response, "name") or ""), str(get(response, "id") or "")
        call = self.waiting.pop(call_id, name)
        content: list[UserContent] = [TextContent(_output(output or {}))]
        content += [user_block(part, f"{path}.parts[{at}]") for at, part in enumerate(many(get(response, "parts")))]
        return ToolResultMessage(
            call_id if call is None else call.id, name if call is None else call.name, content, _failed(output or {})
        )

    # -- model -------------------------------------------------------------------------------------------------------

    def _answer(self, parts: list[Any], path: str) -> None:
        self.waiting = _Waiting()
        content = [self._block(part, f"{path}.parts[{at}]") for at, part in enumerate(parts)]
        if not content:
            return
        self.messages.append(self._make_answer(content, []))

    def _block(self, part: dict[str, Any], path: str) -> AssistantContent:
        signature = get(part, "thoughtSignature")
        if not isinstance(signature, (str, type(None))):
            raise FormatError("a signature must be a text", path=f"{path}.thoughtSignature")
        if signature in DUMMIES and not self.keeps_dummies:
            signature = None
        call = get(part, "functionCall")
        if call is not None:
            return self._call(call, signature, path)
        if get(part, "functionResponse") is not None:
            raise FormatError("a functionResponse must be in a content of the user", path=path)
        if is_kept(part):
            return _provided(part, path)
        if not kinds(part) and signature is not None:
            return TextContent("", signature)
        text = text_of(part, path)
        if part.get("thought") is True:
            return ThinkingContent(text, signature)
        return TextContent(text, signature)

    def _call(self, call: Any, signature: str | None, path: str) -> ToolCall:
        arguments = get(call, "args")
        if not isinstance(call, dict) or not isinstance(arguments, (dict, type(None))):
            raise FormatError("a function call must be an object with an object in args", path=f"{path}.functionCall")
        body_id, name = str(get(call, "id") or ""), str(get(call, "name") or "")
        read = ToolCall(self._id(body_id, path, name, arguments or {}), name, arguments or {}, signature)
        self.waiting.add(body_id, read)
        return read

    def _id(self, body_id: str, path: str, name: str, arguments: dict[str, Any]) -> str:
        """The id in the body, or a new one derived from position and content."""
        if body_id and body_id not in self.used:
            self.used.add(body_id)
            return body_id
        seed = msgspec.json.encode([path, name, arguments])
        fresh = "toolu_" + blake2b(seed, digest_size=12).hexdigest()
        while fresh in self.used:
            fresh = "toolu_" + blake2b(fresh.encode(), digest_size=12).hexdigest()
        self.used.add(fresh)
        return fresh


def _provided(part: dict[str, Any], path: str) -> ProviderContent:
    """A part that only the API can read back."""
    try:
        return ProviderContent(part, kind_of_part(part), readable(part))
    except (FormatError, RecursionError, TypeError, OverflowError) as error:
        raise FormatError(str(error), path=path) from None


# -- parts -----------------------------------------------------------------------------------------------------------


def _output(response: dict[str, Any]) -> str:
    """The output of a function. 'If "output" and "error" keys are not specified, then whole "response" is treated as
    function output' (google-genai 3.1.0, types.FunctionResponse)."""
    value: Any = response
    if len(response) == 1:
        value = response.get("output", response.get("error", response))
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode() if value != {} else ""


def _failed(response: dict[str, Any]) -> bool:
    return "error" in response and response["error"] is not None


# -- the rest --------------------------------------------------------------------------------------------------------


def _system(body: dict[str, Any]) -> str | None:
    system = get(body, "systemInstruction")
    if system is None or isinstance(system, str):
        return system
    if not isinstance(system, dict):
        raise FormatError("a system instruction must be a content", path="systemInstruction")
    texts = []
    for at, part in enumerate(many(get(system, "parts"))):
        block = user_block(part, f"systemInstruction.parts[{at}]")
        texts.append(block.text if isinstance(block, TextContent) else f"({block.mime_type}: left out)")
    return "\n".join(texts)


def _tools(body: dict[str, Any]) -> list[ToolDefinition]:
    entries = get(body, "tools")
    if not isinstance(entries, (list, dict, type(None))):
        raise FormatError("tools must be a list of objects", path="tools")
    tools = []
    for index, tool in enumerate(many(entries)):
        for at, entry in enumerate(many(get(tool, "functionDeclarations"))):
            path = f"tools[{index}].functionDeclarations[{at}]"
            if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
                raise FormatError("a function declaration must be an object with a name", path=path)
            tools.append(_tool(entry))
    return tools


def _tool(entry: dict[str, Any]) -> ToolDefinition:
    schema = get(entry, "parametersJsonSchema")
    if schema is None:
        schema = from_openapi(get(entry, "parameters"))
    return ToolDefinition(entry["name"], str(entry.get("description") or ""), msgspec.json.encode(schema))
