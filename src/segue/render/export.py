"""``export`` writes a stored conversation in the form of a protocol. It is the inverse of ``ingest``.

The conversation is not projected: ids, names and the order of messages stay, also in a torn history, and nothing is
added. What the protocol has no form for is left out and reported.
"""

from functools import cache
from typing import Any, assert_never, get_args

import msgspec
from msgspec.structs import replace

from ..dialects import REASONING_FIELDS
from ..projection import (
    PRESETS,
    NameMap,
    Rendering,
    Report,
    accepts_file,
    accepts_place,
    accepts_provider_content,
    adapted_tool,
    file_as_text,
    image_as_text,
    provider_content_as_text,
)
from ..types import (
    AssistantMessage,
    Block,
    Change,
    ChangeCode,
    Context,
    FileContent,
    ImageContent,
    Message,
    Modality,
    Model,
    Options,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    tool_key,
)
from ..types.codec import encode, read, write
from ..wire import Outgoing, protocol_of, to_builtins, to_json
from .conversation import ConversationLike, as_context

SIGNATURES: dict[type[TextContent | ThinkingContent | ToolCall], str] = {
    TextContent: "text_signature",
    ThinkingContent: "thinking_signature",
    ToolCall: "thought_signature",
}
"""The field with the signature of a block, by its type."""


class Export:
    """A conversation in the form of ``protocol``, and every change that this form required."""

    __slots__ = ("_body", "_unwritten", "changes", "protocol")

    def __init__(self, protocol: str, body: dict[str, Any], changes: list[Change]) -> None:
        self.protocol = protocol
        self.changes = changes
        self._unwritten = body
        self._body: dict[str, Any] | None = None

    @property
    def body(self) -> dict[str, Any]:
        """System prompt, messages and tools as JSON values, under the names of the protocol."""
        if self._body is None:
            self._body = to_builtins(self._unwritten)
        return self._body

    def json(self) -> bytes:
        """The body as bytes."""
        return to_json(self._unwritten) if self._body is None else msgspec.json.encode(self._body)

    def __repr__(self) -> str:
        return f"<Export as {self.protocol}: {len(self.changes)} changes>"


def export(context: ConversationLike, protocol: str) -> Export:
    """Write ``context`` in the form of ``protocol``: its messages, system prompt and tools, and nothing else.

    ``ingest`` reads the body back. To send a conversation to a model, use ``encode``: a provider may refuse this body.
    """
    form, model, report = protocol_of(protocol).export, _model(protocol), Report()
    context = _writable(as_context(context), report)
    names = NameMap(form.dialect)
    tools = _tools(context, names, report)
    adapter = _Adapter(protocol, names, report)
    messages = [adapter.adapted(index, each) for index, each in enumerate(context.messages)]
    rendering = Rendering(context.system_prompt, messages, tools, model, PRESETS["off"])
    rendering.extend(0, len(messages))
    out: Outgoing[Any] = Outgoing(rendering, model, type(model.dialect), Options(), report)
    turns = form.turns(out)
    turns.extend()
    body = form.body(out, turns)
    return Export(protocol, body, sorted(report.changes, key=_position))


def _position(change: Change) -> int:
    return -1 if change.message is None else change.message


@cache
def _model(protocol: str) -> Model:
    """The target that accepts all forms of the protocol. It counts as the origin of all answers."""
    dialect = protocol_of(protocol).export.dialect
    return Model(
        id="",
        name="",
        provider="",
        protocol=protocol,
        base_url="",
        input=get_args(Modality),
        context_window=0,
        max_tokens=0,
        dialect=dialect,
    )


def _tools(context: Context, names: NameMap, report: Report) -> list[ToolDefinition]:
    tools = []
    for tool in context.tools:
        adapted, change = adapted_tool(names, tool)
        if change is not None:
            report.add("tool-adapted", None, None, change)
        tools.append(adapted)
    return tools


def _writable(context: Context, report: Report) -> Context:
    """The conversation without lone surrogates. A ``FormatError`` states what JSON cannot hold."""
    data = write(context)
    if not _is_torn(context):
        return context
    for index, message in enumerate(context.messages):
        if _is_torn(message):
            report.add("text-sanitized", index, None, "half characters replaced")
    if _is_torn(Context(system_prompt=context.system_prompt, messages=[], tools=context.tools)):
        report.add("text-sanitized", None, None, "half characters replaced")
    return read(data, Context)


def _is_torn(value: Context | Message) -> bool:
    """Whether ``value`` contains a lone surrogate."""
    try:
        encode(value)
    except UnicodeEncodeError:
        return True
    return False


class _Adapter:
    """Leaves out what the protocol has no form for, message by message."""

    def __init__(self, protocol: str, names: NameMap, report: Report) -> None:
        self._protocol = protocol
        self._form = protocol_of(protocol).export
        self._names = names
        self._report = report
        self._index = 0
        self._renamed: dict[tuple[str, str], str] = {}  # by id and stored name of a call: its name here

    def adapted(self, index: int, message: Message) -> Message:
        """The message in a form that the protocol has."""
        self._index = index
        if type(message) is AssistantMessage:
            blocks = self._blocks(message.content, own=message.protocol == self._protocol)
            # With all foreign signatures removed, every answer can be written like one of the same target.
            return replace(message, content=blocks, protocol=self._protocol, provider="", model="", endpoint=None)
        blocks = self._blocks(message.content, own=False)
        marked = type(message) is ToolResultMessage and message.is_error and not self._form.dialect.error_flag
        if marked and TextContent not in map(type, blocks):
            blocks.insert(0, TextContent(""))
        if type(message) is ToolResultMessage:
            renamed = self._renamed.get((message.tool_call_id, message.tool_name), message.tool_name)
            return replace(message, content=blocks, tool_name=renamed)
        return replace(message, content=blocks)

    def _blocks(self, content: list[Any], own: bool) -> list[Any]:
        kept = [self._block(at, block, own) for at, block in enumerate(content)]
        return [block for block in kept if block is not None]

    def _block(self, at: int, block: Block, own: bool) -> Block | None:
        """The block, or ``None`` if the protocol has no form for it. ``own``: an answer of this protocol has it."""
        if type(block) is ImageContent or type(block) is FileContent or type(block) is ProviderContent:
            return self._attachment(at, block, own)
        name = SIGNATURES[type(block)]
        signature = getattr(block, name)
        cited = type(block) is TextContent and bool(block.citations)
        lost = signature is not None and not (own and self._form.holds_signature(block, signature))
        if lost:
            block = replace(block, **{name: None})
        if type(block) is ThinkingContent and not self._holds_thinking(block):
            self._report.add("thinking-dropped", self._index, at, "the protocol has no form for it")
            return None
        if type(block) is TextContent and not self._holds_text(block):
            self._report.add("empty-dropped", self._index, at, "a text without text")
            return None
        names_field = type(block) is ThinkingContent and signature in REASONING_FIELDS
        if lost and (own or not names_field):
            code: ChangeCode = "citations-dropped" if cited else "signature-dropped"
            self._report.add(code, self._index, at, "it is not a signature of this protocol")
        return self._call(at, block) if type(block) is ToolCall else block

    def _call(self, at: int, call: ToolCall) -> ToolCall:
        """The call as one of a tool that the protocol has."""
        if call.kind is None and call.namespace is None:
            return call
        name, kind, namespace = self._names.adapted(tool_key(call))
        if (name, kind, namespace) == (call.name, call.kind, call.namespace):
            return call
        self._report.add("tool-adapted", self._index, at, f"a call of function {name!r}")
        self._renamed[call.id, call.name] = name
        return replace(call, name=name, kind=kind, namespace=namespace)

    def _attachment(self, at: int, block: ImageContent | FileContent | ProviderContent, own: bool) -> Block | None:
        """The block, or the text that is written in place of it."""
        dialect, kinds = self._form.dialect, _model(self._protocol).input
        if type(block) is ImageContent:
            if accepts_place(dialect, kinds, block):
                return block
            code, detail, text = image_as_text(block)
        elif type(block) is FileContent:
            if accepts_file(dialect, kinds, block):
                return block
            code, detail, text = file_as_text(block)
        elif type(block) is ProviderContent:
            if own and accepts_provider_content(dialect, block):
                return block
            code, detail, text = provider_content_as_text(block)
        else:
            assert_never(block)
        self._report.add(code, self._index, at, detail)
        return TextContent(text) if text else None

    def _holds_thinking(self, block: ThinkingContent) -> bool:
        if block.redacted or block.thinking_signature is not None:
            return block.thinking_signature is not None
        return self._form.unsigned_thinking and bool(block.thinking.strip())

    def _holds_text(self, block: TextContent) -> bool:
        return self._form.blank_texts or block.text_signature is not None or bool(block.text.strip())
