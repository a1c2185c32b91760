"""Encode a projected conversation as the body of Mistral's ``POST /v1/chat/completions``.

Code that follows a rule cites its number in ``rules.py``. Only fields that the API knows are written, and none of them
as null (MIS-09).
"""

from typing import Any, assert_never

from msgspec import Struct

from ...dialects import MistralChat
from ...projection import matches
from ...types import (
    AssistantMessage,
    FileContent,
    ImageContent,
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
from ...types.media import type_of_file
from ...types.texts import BETWEEN, CLOSING, OPENING
from ..common.chat import Call, Function, Result, RoleMessage
from ..common.dataurl import DataUrl, to_json
from ..common.images import COMMON_TYPES, sendable
from ..common.options import (
    add_cache_key,
    limited_tokens,
    nearest_level,
    number_within,
    one_call_at_a_time,
    tool_choice,
)
from ..common.outgoing import Outgoing
from ..common.output_schema import MISTRAL, named_format, wanted_format
from ..common.results import failed_text, hold_media, mark_failed
from ..common.turns import Turns

Out = Outgoing[MistralChat]
Chunk = Any
"""A dict, or a struct that is written like one. A stored text without a signature has the form of a text chunk."""

# The bounds of the API; mistral-common, for self-hosted models, allows 0 to 1 (2026-11).
TEMPERATURES = (0.0, 1.5)


class Answer(Struct, gc=False, tag_field="role", tag="assistant", omit_defaults=True):
    content: str | list[Chunk] | None = None
    tool_calls: list[Call] | None = None


def body(out: Out, turns: "MistralTurns") -> dict[str, Any]:
    """Return the request body with these turns."""
    body: dict[str, Any] = {"model": out.model.id} | conversation(out, turns)
    _add_tool_choice(out, body)
    _add_reasoning(out, body)
    _add_rest(out, body)
    return body


def conversation(out: Out, turns: "MistralTurns") -> dict[str, Any]:
    """The system prompt, which is the first message, the turns and the tools."""
    body: dict[str, Any] = {"messages": turns.turns}
    if out.tools:
        body["tools"] = out.each_tool(_tool)
    return body


# -- turns -----------------------------------------------------------------------------------------------------------


class MistralTurns(Turns[MistralChat]):
    """The messages of a request, one for each rendered message: adjacent ones of one role are allowed (MIS-02). The
    role of a system prompt does not count."""

    def __init__(self, out: Out) -> None:
        super().__init__(out)
        if out.system is not None:
            self.turns.append(RoleMessage("system", out.system))

    def add_result(self, message: ToolResultMessage) -> None:
        content = self._shown(message.content)
        if not isinstance(content, str):
            # MIS-13: "Unexpected content chunk types in tool message: ['ImageURLChunk']"
            content = _content(hold_media(self, message.content, content, plain_text))
        if message.is_error:
            content = self._failed(content)
        self.turns.append(Result(message.tool_call_id, message.tool_name, content))
        self.role = "tool"

    def add_user(self, message: UserMessage) -> None:
        self._add_user_content(self._shown(message.content), self.index)

    def add_moved(self, title: str, blocks: list[Chunk], last: int) -> None:
        self._add_user_content([plain_text(title), *blocks], last)

    def _failed(self, content: str | list[Chunk]) -> str | list[Chunk]:
        """The content of a failed result, marked as such."""
        if isinstance(content, str):
            return failed_text(self.note, content)
        return mark_failed(self.note, content, plain_text)

    def _shown(self, content: list[UserContent]) -> str | list[Chunk]:
        if len(content) == 1 and type(content[0]) is TextContent:  # most contents
            return content[0].text
        chunks: list[Chunk] = []
        for block in content:
            if type(block) is TextContent:
                chunks.append(block if block.text_signature is None else plain_text(block.text))
            elif type(block) is ImageContent:
                chunks.append(self._image(block))
            elif type(block) is FileContent:
                chunks.append(self._file(block) or plain_text(self.text_instead(block)))
            else:
                assert_never(block)
        return _content(chunks)

    def _file(self, block: FileContent) -> Chunk | None:
        """A document by address or as a data URL, or a sound (mistralai 3.7.0, DocumentURLChunk, AudioChunk); ``None``
        if the target does not accept it."""
        mime_type, dialect = type_of_file(block), self.dialect
        if not matches(mime_type, dialect.files if block.url is None else dialect.file_urls):
            return None
        if mime_type.startswith("audio/"):
            self.note_unnamed(block)
            return {"type": "input_audio", "input_audio": block.url or block.data}
        chunk = {"type": "document_url", "document_url": block.url or DataUrl(mime_type, block.data)}
        return chunk if block.name is None else chunk | {"document_name": block.name}

    def _image(self, block: ImageContent) -> Chunk:
        if block.url is None:
            kind = self._media_type(block)
            if kind is not None:
                return {"type": "image_url", "image_url": DataUrl(kind, block.data)}
        elif self.dialect.image_urls:
            return {"type": "image_url", "image_url": block.url}
        return plain_text(self.text_instead(block))

    def _media_type(self, block: ImageContent) -> str | None:
        """The media type of an image's data; ``None`` if the target does not read it (MIS-18)."""
        return sendable(block.data, block.mime_type, COMMON_TYPES)

    def _add_user_content(self, content: str | list[Chunk], index: int) -> None:
        """Add a user message."""
        if self.role == "tool" and not self.dialect.user_after_tool:
            # MIS-04: "Unexpected role 'user' after role 'tool'"
            self._fill(
                index, "assistant", BETWEEN, "an assistant message is required between tool results and the user"
            )
        self.turns.append(RoleMessage("user", content))
        self.role = "user"

    def close(self) -> None:
        if self.role in ("", "assistant"):
            # MIS-03: "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
            self._fill(self.index, "user", CLOSING, "the conversation ends with the user")

    def _fill(self, index: int, role: str, text: str, why: str) -> None:
        self.out.note("filler-inserted", index, f"{why}: {text!r}")
        self.turns.append(RoleMessage(role, text))

    # -- answers -----------------------------------------------------------------------------------------------------

    def add_answer(self, message: AssistantMessage) -> None:
        thoughts: list[ThinkingContent] = []
        texts: list[TextContent] = []
        calls: list[Call] = []
        in_order = True  # thinking comes first (MIS-12), calls have their own field
        signed = False
        for block in message.content:
            if type(block) is TextContent:
                texts.append(block)
                in_order = in_order and not calls
                signed = signed or block.text_signature is not None
            elif type(block) is ToolCall:
                arguments = to_json(block.arguments).decode()
                calls.append(Call(block.id, "function", Function(block.name, arguments)))
            elif type(block) is ThinkingContent:
                thoughts.append(block)
                in_order = in_order and not texts and not calls
            elif type(block) is ProviderContent:
                if text := self.text_instead(block):
                    texts.append(plain_text(text))
                    in_order = in_order and not calls
            else:
                assert_never(block)
        if signed:
            texts = self._unsigned(texts)
        if thoughts:
            thoughts = self._kept_thoughts(thoughts, bool(texts or calls))
        if not in_order and (texts or calls):
            self.note("blocks-reordered", "thinking comes first, and calls are separate from the text")
        content = [*map(_thinking, thoughts), *texts] if thoughts else _content(texts) if texts else None
        self._answer(content, calls)

    def _unsigned(self, texts: list[TextContent]) -> list[TextContent]:
        """The texts without signatures, for which this protocol has no field, and without those that had only that."""
        for text in texts:
            # "ReferenceChunk cannot be used in assistant message." (mistral-common 1.13)
            self.note_uncited(text, "answers in requests have no references")
        kept = [plain_text(text.text) for text in texts if text.text and not text.text.isspace()]
        if len(kept) < len(texts):
            self.note("empty-dropped", "an empty text")
        return kept

    def _kept_thoughts(self, thoughts: list[ThinkingContent], has_content: bool) -> list[ThinkingContent]:
        if self.dialect.own_reasoning == "none":
            # MIS-12: "Unexpected content chunk types in assistant message: ['ThinkChunk']"
            self.note("thinking-dropped", "the model does not accept thinking")
            return []
        if not has_content:
            # MIS-08: "Assistant message must have either content or tool_calls, but not none."
            self.note("thinking-dropped", "an answer with only thinking has no content")
            return []
        kept = [block for block in thoughts if not block.redacted]
        if len(kept) < len(thoughts):
            self.note("thinking-dropped", "this protocol has no form for redacted thinking")
        return kept

    def _answer(self, content: str | list[Chunk] | None, calls: list[Call]) -> None:
        if content is None and not calls:
            return
        if not self.role:
            # Calls of the first message are not counted: "Not the same number of function calls and responses"
            # (MIS-05).
            self._fill(self.index, "user", OPENING, "the conversation begins with the user")
            self.role = "user"
        if calls and not self.dialect.text_with_calls:
            # MIS-08: "Assistant message must have either content or tool_calls, but not both." Two assistant
            # messages do not help, because the tokenizer joins them first ("Cannot have tool calls and content defined
            # in the same assistant message", mistral-common 1.13): a user message is required between them.
            if content is not None:
                self.turns.append(Answer(content))
            if content is not None or self.role == "assistant":
                self._fill(self.index, "user", CLOSING, "a user message is required between text and calls")
            content = None
        self.turns.append(Answer(content, calls or None))
        self.role = "assistant"


def _content(chunks: list[Any]) -> str | list[Chunk]:
    """A single text as a string, anything else as chunks."""
    if len(chunks) == 1 and type(chunks[0]) is TextContent:
        return chunks[0].text
    return chunks


def _thinking(block: ThinkingContent) -> Chunk:
    """The chunk as the API sends it; ``signature`` is new in mistralai 3.7, and is sent back if there is one."""
    parts = [plain_text(block.thinking)] if block.thinking else []
    chunk = {"type": "thinking", "thinking": parts, "closed": True}
    if block.thinking_signature is not None:
        chunk["signature"] = block.thinking_signature
    return chunk


# -- the rest --------------------------------------------------------------------------------------------------------


def _tool(_: MistralChat, tool: ToolDefinition, schema: dict[str, Any]) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name}
    if tool.description.strip():
        function["description"] = tool.description
    function["parameters"] = schema  # MIS-11
    return {"type": "function", "function": function}


def _add_tool_choice(out: Out, body: dict[str, Any]) -> None:
    choice = tool_choice(out, bool(out.tools))
    if choice is not None:
        named = {"type": "function", "function": {"name": choice.name}}
        body["tool_choice"] = choice.mode if choice.name is None else named
    if one_call_at_a_time(out, bool(out.tools)):
        body["parallel_tool_calls"] = False


def _add_reasoning(out: Out, body: dict[str, Any]) -> None:
    level, known = out.options.reasoning, out.dialect.effort
    if level is None:
        return
    effort = nearest_level(level, known) if level != "off" else "none" if "none" in known else None
    if effort is not None:
        body["reasoning_effort"] = effort
    elif level != "off":
        # MIS-14: "reasoning_effort=... is not supported for this model"
        out.drop_option("reasoning", "this model has no reasoning levels")
    elif out.model.reasoning:
        out.drop_option("reasoning", "this model always reasons")


def _add_rest(out: Out, body: dict[str, Any]) -> None:
    options = out.options
    add_cache_key(out, body)
    # MIS-15: "The token count of your prompt plus `max_tokens` cannot exceed the model's context length."
    max_tokens = limited_tokens(out, min(out.model.max_tokens, out.model.context_window - 1))
    if max_tokens is not None:
        body["max_tokens"] = max_tokens
    temperature = number_within(out, "temperature", *TEMPERATURES)
    if temperature is not None:
        body["temperature"] = temperature
    top_p = number_within(out, "top_p", 0, 1)
    if top_p is not None:
        body["top_p"] = top_p
    stops = [text for text in options.stop if text]
    if len(stops) < len(options.stop):
        out.drop_option("stop", "a stop sequence must not be empty")
    if stops:
        body["stop"] = stops
    wanted = wanted_format(out, bool(out.tools))
    if wanted is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": named_format(out, wanted, MISTRAL)}
    if options.cache in ("short", "long"):
        out.drop_option("cache", "the provider decides what it caches")
    if options.metadata:
        # MIS-09: {"type":"extra_forbidden","loc":["body","metadata"]} (OpenHands-CLI#83, 2025-11); the SDK has had the
        # field since, but does not document it.
        out.drop_option("metadata", "the field is refused by some of the provider's models")
    if options.stream:
        body["stream"] = True
