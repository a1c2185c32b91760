"""``export`` writes a stored conversation in the form of a protocol. It is the inverse of ``ingest``.

The conversation is not projected: ids, names and the order of messages stay, also in a torn history, and nothing is
added. What the protocol has no form for is left out and reported.
"""

from functools import cache
from typing import Any

import msgspec
from msgspec.structs import replace

from ..dialects import REASONING_FIELDS
from ..projection import PRESETS, Rendering, Report
from ..types import (
    AssistantContent,
    AssistantMessage,
    Block,
    Change,
    Context,
    ImageContent,
    Message,
    Model,
    Options,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    check_context,
)
from ..types.codec import encode, read, write
from ..wire import Outgoing, protocol_of, to_builtins, to_json

SIGNATURES: dict[type[AssistantContent], str] = {
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


def export(context: Context, protocol: str) -> Export:
    """Write ``context`` in the form of ``protocol``: its messages, system prompt and tools, and nothing else.

    ``ingest`` reads the body back. To send a conversation to a model, use ``encode``: a provider may refuse this body.
    """
    check_context(context)
    form, model, report = protocol_of(protocol).export, _model(protocol), Report()
    context = _writable(context, report)
    messages = [_Adapter(protocol, report, index).adapted(each) for index, each in enumerate(context.messages)]
    rendering = Rendering(context.system_prompt, messages, context.tools, model, PRESETS["off"])
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
        id="", name="", provider="", protocol=protocol, base_url="", context_window=0, max_tokens=0, dialect=dialect
    )


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
    """Leaves out what the protocol has no form for, from one message."""

    def __init__(self, protocol: str, report: Report, index: int) -> None:
        self._protocol = protocol
        self._form = protocol_of(protocol).export
        self._report = report
        self._index = index

    def adapted(self, message: Message) -> Message:
        """The message in a form that the protocol has."""
        if type(message) is AssistantMessage:
            blocks = self._blocks(message.content, own=message.protocol == self._protocol)
            # With all foreign signatures removed, every answer can be written like one of the same target.
            return replace(message, content=blocks, protocol=self._protocol, provider="", model="", endpoint=None)
        blocks = self._blocks(message.content, own=False)
        marked = type(message) is ToolResultMessage and message.is_error and not self._form.dialect.error_flag
        if marked and TextContent not in map(type, blocks):
            blocks.insert(0, TextContent(""))
        return replace(message, content=blocks)

    def _blocks(self, content: list[Any], own: bool) -> list[Any]:
        kept = [self._block(at, block, own) for at, block in enumerate(content)]
        return [block for block in kept if block is not None]

    def _block(self, at: int, block: Block, own: bool) -> Block | None:
        """The block, or ``None`` if the protocol has no form for it. ``own``: an answer of this protocol has it."""
        if type(block) is ImageContent:
            return block
        name = SIGNATURES[type(block)]
        signature = getattr(block, name)
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
            self._report.add("signature-dropped", self._index, at, "it is not a signature of this protocol")
        return block

    def _holds_thinking(self, block: ThinkingContent) -> bool:
        if block.redacted or block.thinking_signature is not None:
            return block.thinking_signature is not None
        return self._form.unsigned_thinking and bool(block.thinking.strip())

    def _holds_text(self, block: TextContent) -> bool:
        return self._form.blank_texts or block.text_signature is not None or bool(block.text.strip())
