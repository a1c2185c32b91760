"""A projected conversation to the body of ``POST /model/{id}/converse`` (or ``/converse-stream``).

This file encodes the messages; ``options.py`` adds the rest of the body. Bytes are base64 text, as in the REST API.
Rules are cited where they are applied, by their numbers in ``rules.py``.
"""

import json
from base64 import b64decode, b64encode
from binascii import Error
from typing import Any, assert_never

import msgspec
from msgspec import Struct

from ...dialects import BedrockConverse
from ...projection import matches, same_origin
from ...types import (
    AssistantMessage,
    FileContent,
    ImageContent,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ...types.media import type_of_file
from ...types.text import in_label
from ...types.texts import BETWEEN, CLOSING, FILES_BELOW, OPENING
from ..common.images import sendable
from ..common.outgoing import Outgoing
from ..common.results import hold_media, mark_failed
from ..common.turns import Mark, Turns, text_before_calls
from .files import as_block
from .options import complete
from .server_blocks import cited

Out = Outgoing[BedrockConverse]
Block = Any
"""A dict, or a struct that is written as an object."""

FORMATS = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
# Calls and results as text, for models without tools (BED-14).
CALL_AS_TEXT = "[Call to {}] {}"
RESULT_AS_TEXT = "[Result of the call to {}]"

# Turns contain no reference cycles, so the garbage collector does not track them (gc=False).


class Turn(Struct, gc=False):
    role: str
    content: list[Block]


class Text(Struct, gc=False):
    text: str


class Call(Struct, gc=False, rename="camel"):
    tool_use_id: str
    name: str
    input: dict[str, Any]


class ToolUse(Struct, gc=False, rename="camel"):
    tool_use: Call


class Result(Struct, gc=False, rename="camel", omit_defaults=True):
    tool_use_id: str
    content: list[Block]
    status: str | None = None


class ToolResult(Struct, gc=False, rename="camel"):
    tool_result: Result


class Reasoning(Struct, gc=False, rename="camel"):
    reasoning_content: dict[str, Any]


def body(out: Out, turns: "BedrockTurns") -> dict[str, Any]:
    """The request body around the turns."""
    # Text after results ends a tool loop, also if it was added only because the request ends here.
    ends_with_text = type(turns.turns[-1].content[-1]) is not ToolResult
    return complete(out, turns.turns, turns.loop_thinks or ends_with_text, turns.replays)


# -- turns -----------------------------------------------------------------------------------------------------------


class BedrockTurns(Turns[BedrockConverse]):
    """Adjacent messages of one role are joined (BED-02). If tool blocks need their own turns, a filler separates
    them."""

    def __init__(self, out: Out) -> None:
        super().__init__(out)
        self.tools = False
        """Whether the last turn contains tool blocks."""
        self.loop_thinks = True
        """Whether all answers since the last user message begin with thinking."""
        self.filled = False
        """Whether a filler opens the conversation."""
        self.replays = False
        """Whether some answer contains thinking."""
        self.taken = 0
        """The number of names of documents."""
        self._prompt = None if out.dialect.system_prompt else out.system  # a prompt that opens the conversation
        self._mixed = out.dialect.mixed_turns
        self._results_hold_all = out.dialect.images_in_results and out.dialect.files_in_results == out.dialect.files
        self._taken: dict[str, None] = {}  # in order, so that `back` can remove the last ones

    def count_open(self) -> int:
        """Also count the last two user turns, which get cache points. Roles alternate."""
        return 3 if self.role == "user" else 4

    def back(self, mark: Mark) -> None:
        super().back(mark)
        while len(self._taken) > self.taken:
            self._taken.popitem()

    def add_result(self, message: ToolResultMessage) -> None:
        self._add("user", self._result(message), self.dialect.tools, packed=True)

    def add_user(self, message: UserMessage) -> None:
        taken = self.taken
        blocks = self._shown(message.content)
        if self.taken > taken and Text not in map(type, blocks):  # there are documents
            blocks = self._documents_alone(blocks)
        self._add("user", blocks)

    def _documents_alone(self, blocks: list[Block]) -> list[Block]:
        """The blocks to send of a message that has documents and no text."""
        # BED-19: "A text block must be included when using documents."
        self.note("filler-inserted", f"a document needs a text beside it: {FILES_BELOW!r}")
        return [Text(FILES_BELOW), *blocks]

    def add_answer(self, message: AssistantMessage) -> None:
        blocks, called = self._answer(message)
        if called and not self._mixed:
            others = [block for block in blocks if type(block) is not ToolUse]
            if any(type(block) is not Reasoning for block in others):
                self._add("assistant", others)
                blocks = blocks[len(others) :]
        self._add("assistant", blocks, called)

    def add_moved(self, title: str, blocks: list[Block], last: int) -> None:
        """Add images and files that are not allowed in results after the batch (BED-17)."""
        if not self._mixed:
            other, filler = _separator("user")
            self.out.note("filler-inserted", last, ALONE.format(filler))
            self._add(other, [Text(filler)])
        self._add("user", [Text(title), *blocks], packed=True)

    def _add(self, role: str, blocks: list[Block], tools: bool = False, packed: bool = False) -> None:
        """Add blocks of one message. ``tools``: they are tool blocks; ``packed``: joining them is not reported."""
        if not blocks:
            return
        if self.role == role and (self._mixed or tools == self.tools):
            if not packed:
                self.note("turns-merged", f"with the {role} message before it")
            self.last().content += blocks
        else:
            if self.role == role or not self.role:
                self._begin(role, blocks)
            self.turns.append(Turn(role, blocks))
            if role == "assistant" and type(blocks[0]) is not Reasoning:
                self.loop_thinks = False
        self.role, self.tools = role, tools
        if role == "user" and not tools:
            self.loop_thinks = True

    def _begin(self, role: str, blocks: list[Block]) -> None:
        """Add whatever is needed before the first turn, or between two turns of one role."""
        if self.role == role:
            other, filler = _separator(role)
            self.note("filler-inserted", ALONE.format(filler))
            self._add(other, [Text(filler)])
        elif self._prompt is not None and role == "user":
            blocks.insert(0, Text(self._prompt))
        elif self._prompt is not None:
            self.turns.append(Turn("user", [Text(self._prompt)]))
        elif role == "assistant" and self.dialect.starts_with_user:
            self.turns.append(Turn("user", [Text(OPENING)]))
            self.filled = True

    def close(self) -> None:
        """End with a user turn (BED-23), except for a prefill on models that still accept one."""
        if self._prompt is not None:
            # BED-22: "This model doesn't support system messages."
            self.out.note("system-as-text", None, "this model accepts no system prompt, so it opens the conversation")
            self.turns = self.turns or [Turn("user", [Text(self._prompt)])]
        if self.filled:
            # BED-01: "A conversation must start with a user message."
            self.out.note("filler-inserted", 0, f"the conversation begins with the user: {OPENING!r}")
        if not self.turns or (self.turns[-1].role == "assistant" and not _is_prefill(self.out, self.turns)):
            self.turns.append(Turn("user", [Text(CLOSING)]))
            self.note("filler-inserted", f"the conversation ends with the user: {CLOSING!r}")

    # -- answers -----------------------------------------------------------------------------------------------------

    def _answer(self, message: AssistantMessage) -> tuple[list[Block], bool]:
        """The blocks of an answer, and whether any of them is a call."""
        blocks: list[Block] = []
        # Calls; thinking; text or thinking after a call; thinking after the last one.
        called = thinks = late = late_thinking = False
        for block in message.content:
            if type(block) is TextContent:
                if block.text_signature is None:
                    blocks.append(Text(block.text))
                elif block.text.strip():
                    blocks.append(self._cited(block))
                else:
                    self.note("empty-dropped", "an empty text")  # BED-04
                    continue
                late = called
            elif type(block) is ToolCall:
                blocks.append(ToolUse(Call(block.id, block.name, block.arguments)))
                called, late_thinking = True, False
            elif type(block) is ThinkingContent:
                thinking = self._thinking(block)
                if thinking is not None:
                    blocks.append(thinking)
                    thinks, late, late_thinking = True, called, called
            elif type(block) is ProviderContent:
                if text := self.text_instead(block):
                    blocks.append(Text(text))
                    late = called
            else:
                assert_never(block)
        if late_thinking or (blocks and type(blocks[-1]) is Reasoning):
            blocks = self._late_thinking(blocks)
            are_calls = [type(block) is ToolUse for block in blocks]
            late = are_calls != sorted(are_calls)
        elif thinks:
            self.replays = True
        if called and not self.dialect.tools:
            self.note("tools-as-text", "this model has no tools")  # BED-14
            return [_call_as_text(block) if type(block) is ToolUse else block for block in blocks], False
        if late and not (self._mixed and same_origin(message, self.out.model)):
            # ANT-16: text of another model after its calls would be read as a prefill. The order of the target's own
            # answers is kept, unless it allows no text between calls and results (BED-15).
            self.note("blocks-reordered", "calls come at the end of an answer")
            blocks.sort(key=lambda block: type(block) is ToolUse)
        elif late and (moved := text_before_calls(blocks, _is_text, lambda block: type(block) is ToolUse)) is not None:
            self.note("blocks-reordered", "text comes before calls")
            blocks = moved
        return blocks, called

    def _cited(self, block: TextContent) -> Block:
        """A text with the citations in its signature."""
        found = cited(block)
        if found is None:
            self.note_uncited(block, "they are not citations of this protocol")
            return Text(block.text)
        return found

    def _late_thinking(self, blocks: list[Block]) -> list[Block]:
        """The blocks to send of an answer that has thinking at its end or after its calls."""
        # BED-20, ANT-15: "The final block in an assistant message cannot be `thinking`." All thinking is dropped, not a
        # part of it (ANT-37: blocks of an answer cannot be modified).
        self.note("thinking-dropped", "an answer cannot have thinking at its end or after its calls")
        return [block for block in blocks if type(block) is not Reasoning]

    def _thinking(self, block: ThinkingContent) -> Reasoning | None:
        """Thinking in a form that the target accepts, if there is one."""
        dialect = self.dialect
        if dialect.own_reasoning == "none":
            self.note("thinking-dropped", "this model does not accept its own thinking")
            return None
        if dialect.redacted_reasoning:
            if not block.redacted:
                self.note("thinking-dropped", "this model accepts its thinking only in encrypted form")
            return _reasoning(block) if block.redacted else None
        if dialect.reasoning_signature or block.thinking_signature is None:
            return _reasoning(block)
        # BED-20: "This model doesn't support the reasoningContent.reasoningText.signature field."
        if block.redacted or not block.thinking.strip():
            self.note("thinking-dropped", "this model does not read signed thinking")
            return None
        self.note("signature-dropped", "this model accepts no signature")
        return Reasoning({"reasoningText": {"text": block.thinking}})

    # -- users and results -------------------------------------------------------------------------------------------

    def _result(self, message: ToolResultMessage) -> list[Block]:
        dialect = self.dialect
        content = self._shown(message.content)
        if not dialect.tools:
            return self._result_as_text(message, content)
        # ANT-28: 'all content must be type "text" if "is_error" is true'
        text_only = message.is_error and dialect.anthropic_backend
        if text_only or not self._results_hold_all:
            content = hold_media(self, message.content, content, Text, text_only)
        result = Result(message.tool_call_id, content)
        if message.is_error and dialect.error_flag:
            result.status = "error"
        elif message.is_error:  # BED-18: "This model doesn't support the status field."
            result.content = mark_failed(self.note, content, Text)
        elif dialect.json_results and len(content) == 1 and type(content[0]) is Text:
            result.content = [_as_json(content[0])]
        return [ToolResult(result)]

    def _result_as_text(self, message: ToolResultMessage, content: list[Block]) -> list[Block]:
        """A result as text, for a model without tools (BED-14)."""
        self.note("tools-as-text", "this model has no tools")
        if message.is_error:
            content = mark_failed(self.note, content, Text)
        title = RESULT_AS_TEXT.format(in_label(message.tool_name))
        if content and type(content[0]) is Text:
            return [Text(f"{title}\n{content[0].text}"), *content[1:]]
        return [Text(title), *content]

    def _shown(self, content: list[UserContent]) -> list[Block]:
        blocks: list[Block] = []
        for block in content:
            if type(block) is TextContent:
                blocks.append(Text(block.text))
            elif type(block) is ImageContent:
                blocks.append(self._image(block))
            elif type(block) is FileContent:
                blocks.append(self._file(block) or Text(self.text_instead(block)))
            else:
                assert_never(block)
        return blocks

    def _file(self, block: FileContent) -> Block | None:
        if not matches(type_of_file(block), self.dialect.files):
            return None
        made, lost = as_block(block, self._taken)
        self.taken = len(self._taken)
        if lost:
            self.note("file-renamed", f"{in_label(lost)!r} is not a valid name of a document, or is taken")
        if made is not None and "document" not in made:  # only documents have names
            self.note_unnamed(block)
        return made

    def _image(self, block: ImageContent) -> Block:
        if block.url is not None:
            return Text(self.text_instead(block))
        kind = sendable(block.data, block.mime_type, tuple(FORMATS))
        if kind is None:  # png, jpeg, gif and webp, and at least one byte (botocore 1.44.0)
            return Text(self.text_instead(block))
        return {"image": {"format": FORMATS[kind], "source": {"bytes": block.data}}}


# BED-15: "Conversation blocks and tool result blocks cannot be provided in the same turn.", and so for calls.
ALONE = "tool blocks need their own turn: {!r}"


def _separator(role: str) -> tuple[str, str]:
    """Role and text of the filler between two turns of ``role``."""
    return ("assistant", BETWEEN) if role == "user" else ("user", CLOSING)


def _is_prefill(out: Out, turns: list[Turn]) -> bool:
    content = turns[-1].content
    last = content[-1].text if type(content[-1]) is Text else " "
    return (
        out.dialect.prefill
        and len(turns) > 1
        and last == last.rstrip()  # ANT-13: "final assistant content cannot end with trailing whitespace"
        # ANT-39: "an `assistant` message in the final position cannot contain `thinking`"
        and not any([type(block) is Reasoning for block in content])
    )


def _is_text(block: Block) -> bool:
    return type(block) is Text or (type(block) is dict and "citationsContent" in block)


def _call_as_text(block: ToolUse) -> Text:
    call = block.tool_use
    arguments = json.dumps(call.input, ensure_ascii=False, separators=(",", ":"))
    return Text(CALL_AS_TEXT.format(in_label(call.name), arguments))


def _reasoning(block: ThinkingContent) -> Reasoning:
    if block.redacted:
        return Reasoning({"redactedContent": payload(block.thinking_signature or "")})
    text = {"text": block.thinking}
    if block.thinking_signature is not None:
        text["signature"] = block.thinking_signature
    return Reasoning({"reasoningText": text})


def payload(stored: str) -> str:
    """A redacted payload in base64. A payload that was stored as plain text is encoded."""
    try:
        b64decode(stored, validate=True)
    except (Error, ValueError):
        return b64encode(stored.encode()).decode()
    return stored


def _as_json(block: Text) -> Block:
    """A result that is a JSON object, as JSON. Anything else stays text, because it would be refused (BED-11)."""
    if not block.text.lstrip().startswith("{"):
        return block
    try:
        value = msgspec.json.decode(block.text)
    except (msgspec.DecodeError, RecursionError):
        return block
    return {"json": value}
