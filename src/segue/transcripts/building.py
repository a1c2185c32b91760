"""A conversation in the making, for formats whose messages are read one after another.

Files of other tools may be damaged, incomplete or newer than this code, so nothing here raises because of a bad value:
it is left out, and the report says where.
"""

from base64 import b64encode
from collections.abc import Container, Iterable, Mapping
from typing import Any

from ..errors import FormatError
from ..render import read_conversation
from ..types import (
    FAILED_STOPS,
    AssistantContent,
    AssistantMessage,
    Context,
    FileContent,
    ImageContent,
    Message,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    Usage,
    UserContent,
    UserMessage,
)
from ..types.texts import SYSTEM
from ..wire import DATA_URL, read_arguments
from .originals import Originals
from .origins import Origin, origin_of
from .reading import ENDPOINT, as_text, number_of, object_of, objects, text_of, unix_ms
from .source import Object
from .values import Branch, BranchKind, Compaction, RemarkCode, Report, Transcript

STOPS: Mapping[str, StopReason] = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "complete": "stop",
    "completed": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_context_window_exceeded": "length",
    "toolUse": "toolUse",
    "tool_use": "toolUse",
    "tool_call": "toolUse",
    "tool_calls": "toolUse",
    "tool-calls": "toolUse",
    "function_call": "toolUse",
    "content_filter": "error",
    "content-filter": "error",
    "refusal": "error",
    "error": "error",
    "canceled": "aborted",
    "cancelled": "aborted",
    "aborted": "aborted",
    "interrupted": "aborted",
}
"""The words of tools for why an answer ended. An unknown word counts as ``stop``."""


EMPTY_SCHEMA: Object = {"type": "object", "properties": {}}


def media(mime_type: Any, data: Any = None, url: Any = None, name: Any = None) -> ImageContent | FileContent | None:
    """An image or a file with base64 data or an address, which may be a data URL; ``None`` if it has neither."""
    mime_type, name = text_of(mime_type), text_of(name) or None
    inline = DATA_URL.fullmatch(url if isinstance(url, str) else text_of(data))
    if inline is not None:
        mime_type, data, url = inline[1] or mime_type, inline[2], None
    if isinstance(data, bytes):
        data = b64encode(data).decode()
    data = text_of(data).replace("-", "+").replace("_", "/")
    url = text_of(url)
    if not data and not url:
        return None
    if mime_type.startswith("image/") or (url and not mime_type):
        return ImageContent(data, mime_type, None if data else url)
    return FileContent(data, mime_type or "application/octet-stream", None if data else url, name)


def tokens(
    input: Any = 0,  # noqa: A002 # the word of `Usage`
    output: Any = 0,
    cache_read: Any = 0,
    cache_write: Any = 0,
    *,
    inclusive: bool = False,
    cache_write_long: Any = 0,
) -> Usage:
    """Tokens of an answer. ``inclusive``: the tool counts what a cache had as input."""
    sent, made, read, written = map(number_of, (input, output, cache_read, cache_write))
    fresh = max(sent - read - written, 0) if inclusive else sent
    long = number_of(cache_write_long)
    return Usage(fresh, made, read, written, fresh + made + read + written, cache_write_long=long)


# -- a conversation --------------------------------------------------------------------------------------------------


class Conversation:
    """A conversation in the making: messages are added in the order of the file.

    ``origin`` is that of answers for which nothing else is known. ``originals`` remembers what each message was read
    from, for formats that hand unchanged messages back as they were.
    """

    def __init__(self, tool: str, report: Report | None = None, endpoint: str | None = None) -> None:
        self.tool = tool
        self.report = Report() if report is None else report
        self.origin = Origin()
        self.log: list[Message | Compaction] = []
        self.system: list[str] = []
        self.tools: list[ToolDefinition] = []
        self.branches: list[Branch] = []
        self.originals = Originals()
        self.updated: int | None = None
        self._endpoint = ENDPOINT + tool if endpoint is None else endpoint
        self._names: dict[str, str] = {}
        self._results: set[str] = set()
        self._place: tuple[int | None, str] = (None, "")

    @property
    def context(self) -> Context:
        return self.transcript().context

    @property
    def system_prompt(self) -> str | None:
        return "\n\n".join(text for text in self.system if text) or None

    def at(self, line: int | None = None, where: str = "") -> None:
        """What is read from here on is in that line, or at that place."""
        self._place = (line, where)

    def remark(self, code: RemarkCode, text: str) -> None:
        """Report something about what is being read."""
        self.report.add(code, text, *self._place)

    @property
    def last_call(self) -> str | None:
        """The id of the oldest call of the last answer that has no result yet."""
        last = next((each for each in reversed(self.log) if isinstance(each, AssistantMessage)), None)
        calls = [block.id for block in last.content if isinstance(block, ToolCall)] if last else []
        return next((call for call in calls if call not in self._results), None)

    def begin(self, original: Any, where: str, has_system: bool = False) -> None:
        """From here on, messages are read from ``original``; ``has_system``: a part of the system prompt, too."""
        self.at(where=where)
        self.originals.begin(original, len(self.log), has_system)

    def set_origin(self, provider: Any = None, model: Any = None, protocol: str | None = None) -> None:
        """The origin of the answers that follow; what is not known stays as it is."""
        self.origin = origin_of(text_of(provider), text_of(model), self.origin, protocol)

    def saw(self, time: Any) -> None:
        """Remember the latest time in the file."""
        found = unix_ms(time)
        if found is not None:
            self.updated = max(found, self.updated or 0)

    def add_system(self, text: str) -> None:
        """Add to the system prompt; in the middle of a conversation it is an injected message."""
        if self.log:
            self.add_user(SYSTEM.format(text), injected=True)
        elif text:
            self.system.append(text)

    def add_tools(self, definitions: Any) -> None:
        """Add definitions of tools, in the form of OpenAI or Anthropic. Tools of a provider are left out."""
        for each in objects(definitions):
            function = object_of(each.get("function")) or each
            schema = object_of(function.get("parameters") or function.get("input_schema"))
            name = text_of(function.get("name"))
            if name and (schema or each.get("type") in (None, "function", "custom")):
                self.tools.append(ToolDefinition(name, text_of(function.get("description")), schema or EMPTY_SCHEMA))
            else:
                self.remark("block-left-out", "the definition of a tool without a name or a schema")

    def add_user(
        self, content: str | Iterable[UserContent], injected: bool = False, meta: dict[str, Any] | None = None
    ) -> None:
        found = [TextContent(content)] if isinstance(content, str) else [*content]
        if any(type(block) is not TextContent or block.text for block in found):
            self.log.append(UserMessage(found, injected, meta))

    def add_answer(
        self,
        content: Iterable[AssistantContent],
        *,
        stop: Any = None,
        time: Any = None,
        **fields: Any,
    ) -> None:
        """Add an answer of the current origin. Thinking with neither text nor signature is left out."""
        kept = [block for block in content if not self._is_hollow(block)]
        reason: StopReason = STOPS.get(text_of(stop), "stop")
        if reason in ("stop", "toolUse"):
            reason = "toolUse" if any(type(block) is ToolCall for block in kept) else "stop"
        if reason == "error" and not fields.get("error_message"):
            fields["error_message"] = text_of(stop)
        if not kept and reason not in FAILED_STOPS:
            return
        self._names |= {block.id: block.name for block in kept if type(block) is ToolCall}
        self.saw(time)
        message = AssistantMessage(
            kept,
            protocol=self.origin.protocol,
            provider=self.origin.provider,
            model=self.origin.model,
            endpoint=self._endpoint,
            stop_reason=reason,
            timestamp=unix_ms(time) or 0,
            **{name: value for name, value in fields.items() if value is not None},
        )
        self.log.append(message)

    def _is_hollow(self, block: AssistantContent) -> bool:
        if type(block) is TextContent:
            return not block.text and block.text_signature is None
        hollow = type(block) is ThinkingContent and not block.thinking and block.thinking_signature is None
        if hollow:
            self.remark("thinking-empty", "thinking with neither text nor signature")
        return hollow

    def add_result(
        self,
        call_id: Any,
        content: str | Iterable[ImageContent | FileContent | TextContent],
        is_error: bool = False,
        name: Any = None,
        synthetic: bool = False,
    ) -> None:
        """Add the result of a call, with the name that the call has."""
        call_id = text_of(call_id)
        found = [TextContent(content)] if isinstance(content, str) else [*content]
        if call_id not in self._names:
            self.remark("result-orphaned", "a result of a call that is not in the conversation")
        elif call_id in self._results:
            self.remark("result-repeated", "a second result of a call")
        self._results.add(call_id)
        known = self._names.get(call_id) or text_of(name)
        self.log.append(ToolResultMessage(call_id, known, found, is_error, synthetic))

    def call(self, id: Any, name: Any, arguments: Any, signature: Any = None) -> ToolCall:  # noqa: A002
        """A call. Arguments that are not an object are kept as text, and reported."""
        if not isinstance(arguments, dict):
            read, how = read_arguments(as_text(arguments))
            if how not in ("strict", "repaired"):
                self.remark("arguments-unreadable", "the arguments of a call are not an object")
                read = {"input": arguments}
            arguments = read
        return ToolCall(text_of(id), text_of(name), arguments, text_of(signature) or None)

    def ingest(self, message: Object, protocol: str, **fields: Any) -> None:
        """Add what a message in the form of a protocol holds. One that cannot be read is reported."""
        if not self.ingest_body({"messages": [message]}, protocol, **fields):
            self.remark("row-incomplete", "a message that cannot be read")

    def ingest_body(self, body: Object, protocol: str, **fields: Any) -> bool:
        """Add what a body in the form of a protocol holds; returns whether it can be read."""
        try:
            part = read_conversation(body, protocol, None, 0)
        except FormatError:
            return False
        if part.system_prompt:
            self.add_system(part.system_prompt)
        for found in part.messages:
            self._adopt(found, fields)
        return True

    def _adopt(self, message: Message, fields: dict[str, Any]) -> None:
        if isinstance(message, AssistantMessage):
            self.add_answer(message.content, diagnostics=message.diagnostics, **fields)
        elif isinstance(message, ToolResultMessage):
            self.add_result(message.tool_call_id, message.content, message.is_error, message.tool_name)
        else:
            self.add_user(message.content, message.injected)

    def unknown(self, row: Object, known: Container[str] = ()) -> None:
        """Report a row that is left out: one of a ``known`` kind, or of any other."""
        kind = text_of(row.get("type")) or text_of(row.get("kind")) or text_of(row.get("role"))
        if kind in known:
            self.remark("row-left-out", f"a row of type {kind}")
        else:
            self.remark("row-unknown", "a row of an unknown type")

    def add_branch(
        self,
        id: str,  # noqa: A002 # the word of `Branch`
        other: "Conversation",
        kind: BranchKind = "branch",
        call: str | None = None,
        title: str | None = None,
    ) -> None:
        """Add another conversation that belongs to this one, which is complete."""
        context = other.context
        pairs = zip(self.transcript().messages, context.messages, strict=False)
        shared = next((at for at, (one, two) in enumerate(pairs) if one != two), None)
        if shared is None:
            shared = min(len(context.messages), len(self.transcript().messages))
        if shared < len(context.messages):
            self.branches.append(Branch(id, kind, context, title, call, shared))

    def transcript(self, **fields: Any) -> Transcript:
        """The conversation as a value. Fields that are not passed keep their defaults."""
        self.originals.close(self.log, self.system_prompt)
        known = {"model": self.origin.model or None, "updated": self.updated} | fields
        return Transcript(
            tool=self.tool,
            log=tuple(self.log),
            system_prompt=self.system_prompt,
            tools=tuple(self.tools),
            branches=tuple(self.branches),
            changes=tuple(self.report),
            **known,
        )
