"""A projected conversation to the body of ``POST /model/{id}/converse`` (or ``/converse-stream``).

Here stands what becomes of the messages; ``options.py`` has the rest of the body. Bytes are base64 text, as the REST
API has them. Rules are cited where they are obeyed, by their numbers in ``rules.py``.
"""

import json
from base64 import b64decode, b64encode
from binascii import Error
from typing import Any, assert_never

import msgspec
from msgspec import Struct

from ...dialects import BedrockConverse
from ...projection.origin import same_origin
from ...types import (
    AssistantMessage,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ...types.text import in_label
from ...types.texts import BETWEEN, CLOSING, IMAGES_BELOW, MOVED_IMAGES, OPENING, as_error
from ..common.images import is_base64, sendable
from ..common.outgoing import Outgoing
from ..common.turns import Turns
from .options import complete

Out = Outgoing[BedrockConverse]
Block = Any
"""A dict, or a struct that is written like one."""

FORMATS = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
# Where a model has no tools (BED-14), these stand for its calls and their results.
CALL_AS_TEXT = "[Call to {}] {}"
RESULT_AS_TEXT = "[Result of the call to {}]"

# Nothing in a turn points back to it, so that the collector of cycles need not look at turns.


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
    # What is said beside results ends a loop, also where it is said only because the request ends here.
    speaks = type(turns.turns[-1].content[-1]) is not ToolResult
    return complete(out, turns.turns, turns.state.loop_thinks or speaks, turns.state.replays)


# -- turns -----------------------------------------------------------------------------------------------------------


class State(Struct, frozen=True, gc=False):
    """``role``: of the last turn; ``tools``: it holds tool blocks; ``loop_thinks``: the answers since the user's last
    words all begin with thinking; ``filled``: a filler opens the conversation; ``replays``: any answer holds
    thinking."""

    role: str = ""
    tools: bool = False
    loop_thinks: bool = True
    filled: bool = False
    replays: bool = False


class BedrockTurns(Turns[BedrockConverse, State]):
    """Neighbours of one role are one turn (BED-02); where tool blocks need turns of their own, a filler separates
    them."""

    def __init__(self, out: Out) -> None:
        super().__init__(out, State())
        self._prompt = None if out.dialect.system_prompt else out.system  # where the prompt opens the conversation
        self._mixed = out.dialect.mixed_turns

    def add_result(self, message: ToolResultMessage) -> None:
        self._add("user", self._result(message), self.dialect.tools, packed=True)

    def add_user(self, message: UserMessage) -> None:
        self._add("user", self._shown(message.content))

    def add_answer(self, message: AssistantMessage) -> None:
        blocks, called = self._answer(message)
        if called and not self._mixed:
            before = [block for block in blocks if type(block) is not ToolUse]
            if Text in map(type, before):
                self._add("assistant", before)
                blocks = blocks[len(before) :]
        self._add("assistant", blocks, called)

    def add_images(self, images: list[Block], last: int) -> None:
        """Images that cannot be in their results follow the whole batch (BED-17)."""
        if not self._mixed:
            other, words = _apart("user")
            self.out.note("filler-inserted", last, ALONE.format(words))
            self._add(other, [Text(words)])
        self._add("user", [Text(MOVED_IMAGES), *images], packed=True)

    def _add(self, role: str, blocks: list[Block], tools: bool = False, packed: bool = False) -> None:
        """Add blocks of one message. ``tools``: they are tool blocks; ``packed``: joining them is not a change."""
        if not blocks:
            return
        last = self.state
        if last.role == role and (self._mixed or tools == last.tools):
            if not packed:
                self.note("turns-merged", f"with the {role} message before it")
            self.turns[-1].content += blocks
            thinks, filled = last.loop_thinks, last.filled
        else:
            alternates = last.role and last.role != role
            filled = last.filled if alternates else self._begin(role, blocks)
            self.turns.append(Turn(role, blocks))
            thinks = self.state.loop_thinks and (role == "user" or type(blocks[0]) is Reasoning)
        replays = last.replays or (role == "assistant" and Reasoning in map(type, blocks))
        self.state = State(role, tools, thinks or (role == "user" and not tools), filled, replays)

    def _begin(self, role: str, blocks: list[Block]) -> bool:
        """Add what the first turn, or a second one of the same role, needs before it; whether a filler opens the
        conversation."""
        last = self.state
        if last.role == role:
            other, words = _apart(role)
            self.note("filler-inserted", ALONE.format(words))
            self._add(other, [Text(words)])
        elif self._prompt is not None and role == "user":
            blocks.insert(0, Text(self._prompt))
        elif self._prompt is not None:
            self.turns.append(Turn("user", [Text(self._prompt)]))
        elif role == "assistant" and self.dialect.starts_with_user:
            self.turns.append(Turn("user", [Text(OPENING)]))
            return True
        return last.filled

    def close(self) -> None:
        """The conversation ends with the user (BED-23), except as a prefill on models that still accept one."""
        if self._prompt is not None:
            # BED-22: "This model doesn't support system messages."
            self.out.note("system-as-text", None, "this model takes no system prompt; it opens the conversation")
            self.turns = self.turns or [Turn("user", [Text(self._prompt)])]
        if self.state.filled:
            # BED-01: "A conversation must start with a user message."
            self.out.note("filler-inserted", 0, f"the conversation begins with the user: {OPENING!r}")
        if not self.turns or (self.turns[-1].role == "assistant" and not _is_prefill(self.out, self.turns)):
            self.turns.append(Turn("user", [Text(CLOSING)]))
            self.note("filler-inserted", f"the conversation ends with the user: {CLOSING!r}")

    # -- answers -----------------------------------------------------------------------------------------------------

    def _answer(self, message: AssistantMessage) -> tuple[list[Block], bool]:
        """The blocks of an answer, and whether there are tool blocks among them."""
        blocks: list[Block] = []
        called = late = late_thinking = False  # whether there are calls, and anything or thinking after the last
        for block in message.content:
            if type(block) is TextContent:
                if block.text_signature is not None and not block.text.strip():
                    self.note("empty-dropped", "a text without text")  # BED-04
                    continue
                blocks.append(Text(block.text))
                late = called
            elif type(block) is ToolCall:
                blocks.append(ToolUse(Call(block.id, block.name, block.arguments)))
                called, late_thinking = True, False
            elif type(block) is ThinkingContent:
                thinking = self._thinking(block)
                if thinking is not None:
                    blocks.append(thinking)
                    late = late_thinking = called
            else:
                assert_never(block)
        if late_thinking or (blocks and type(blocks[-1]) is Reasoning):
            # BED-20, ANT-15: "The final block in an assistant message cannot be `thinking`."; all of it goes, or none
            # (ANT-37: blocks of an answer cannot be modified).
            self.note("thinking-dropped", "an answer cannot end with thinking, nor have it after its calls")
            blocks = [block for block in blocks if type(block) is not Reasoning]
            are_calls = [type(block) is ToolUse for block in blocks]
            late = are_calls != sorted(are_calls)
        if called and not self.dialect.tools:
            self.note("tools-as-text", "this model has no tools")  # BED-14
            return [_call_as_text(block) if type(block) is ToolUse else block for block in blocks], False
        if late and not (self._mixed and same_origin(message, self.out.model)):
            # ANT-16: what another model said after its calls would be read as a prefill; its own order is never
            # touched, unless text cannot be between calls and results at all (BED-15).
            self.note("blocks-reordered", "calls come at the end of an answer")
            blocks.sort(key=lambda block: type(block) is ToolUse)
        return blocks, called

    def _thinking(self, block: ThinkingContent) -> Reasoning | None:
        """What can go back of thinking."""
        dialect = self.dialect
        if dialect.own_reasoning == "none":
            self.note("thinking-dropped", "this model does not take its own thinking back")
            return None
        if dialect.redacted_reasoning:
            if not block.redacted:
                self.note("thinking-dropped", "this model takes its thinking back only as it came, encrypted")
            return _reasoning(block) if block.redacted else None
        if dialect.reasoning_signature or block.thinking_signature is None:
            return _reasoning(block)
        # BED-20: "This model doesn't support the reasoningContent.reasoningText.signature field."
        if block.redacted or not block.thinking.strip():
            self.note("thinking-dropped", "this model does not read signed thinking")
            return None
        self.note("signature-dropped", "this model takes no signature")
        return Reasoning({"reasoningText": {"text": block.thinking}})

    # -- users and results -------------------------------------------------------------------------------------------

    def _result(self, message: ToolResultMessage) -> list[Block]:
        dialect = self.dialect
        content = self._shown(message.content)
        if not dialect.tools:
            return self._result_as_text(message, content)
        # ANT-28: 'all content must be type "text" if "is_error" is true'
        if not dialect.images_in_results or (message.is_error and dialect.anthropic_backend):
            content = self._without_images(content)
        result = Result(message.tool_call_id, content)
        if message.is_error and dialect.error_flag:
            result.status = "error"
        elif message.is_error:
            self._say_error(content)  # BED-18: "This model doesn't support the status field."
        elif dialect.json_results and len(content) == 1 and type(content[0]) is Text:
            result.content = [_as_json(content[0])]
        return [ToolResult(result)]

    def _without_images(self, content: list[Block]) -> list[Block]:
        images = [block for block in content if type(block) is not Text]
        if not images:
            return content
        self.note("image-moved", "images do not stand in a result")
        self.held += images
        return [block for block in content if type(block) is Text] or [Text(IMAGES_BELOW)]

    def _result_as_text(self, message: ToolResultMessage, content: list[Block]) -> list[Block]:
        """A result in words, for a model that has no tools (BED-14)."""
        self.note("tools-as-text", "this model has no tools")
        if message.is_error:
            self._say_error(content)
        title = RESULT_AS_TEXT.format(in_label(message.tool_name))
        if content and type(content[0]) is Text:
            return [Text(f"{title}\n{content[0].text}"), *content[1:]]
        return [Text(title), *content]

    def _say_error(self, content: list[Block]) -> None:
        for block in content:
            if type(block) is Text:
                marked = as_error(block.text)
                if marked != block.text:
                    self.note("error-as-text", "there is no flag for a failed result")
                    block.text = marked
                return
        self.note("error-as-text", "there is no flag for a failed result")
        content.insert(0, Text(as_error(IMAGES_BELOW)))

    def _shown(self, content: list[UserContent]) -> list[Block]:
        blocks: list[Block] = []
        for block in content:
            if type(block) is TextContent:
                blocks.append(Text(block.text))
            elif type(block) is ImageContent:
                blocks.append(self._image(block))
            else:
                assert_never(block)
        return blocks

    def _image(self, block: ImageContent) -> Block:
        kind = sendable(block.data, block.mime_type, tuple(FORMATS))
        if kind is None:
            # png, jpeg, gif and webp, and at least one byte (botocore 1.44.0).
            why = f"{in_label(block.mime_type)} is not supported" if is_base64(block.data) else "it is not base64"
            why = why if block.data else "it is empty"
            self.note("image-downgraded", f"an image shown as text: {why}")
            return Text(f"(image omitted: {why})")
        return {"image": {"format": FORMATS[kind], "source": {"bytes": block.data}}}


# BED-15: "Conversation blocks and tool result blocks cannot be provided in the same turn.", and so for calls.
ALONE = "tool blocks stand alone in their turn: {!r}"


def _apart(role: str) -> tuple[str, str]:
    """Who says what between two turns of ``role``."""
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
    """A redacted payload in base64, as it arrived; one that was stored as plain text is put back into it."""
    try:
        b64decode(stored, validate=True)
    except (Error, ValueError):
        return b64encode(stored.encode()).decode()
    return stored


def _as_json(block: Text) -> Block:
    """A result that is a JSON object, as one; anything else is refused there and stays text (BED-11)."""
    if not block.text.lstrip().startswith("{"):
        return block
    try:
        value = msgspec.json.decode(block.text)
    except (msgspec.DecodeError, RecursionError):
        return block
    return {"json": value}
