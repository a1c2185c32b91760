"""A projected conversation to the body of ``POST /v1/messages``, valid under API versions 2023-06-01 and 2026-10-21.

Here is what becomes of the messages; what a request asks for beside them is in ``options.py``, and what becomes of tool
schemas in ``schema.py``. Rules are cited where they are obeyed, by their numbers in ``rules.py``.
"""

from typing import Any

from msgspec import Struct

from ...dialects import AnthropicMessages
from ...projection.origin import same_origin
from ...types import (
    AssistantMessage,
    ImageContent,
    TextContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ...types.content import plain_text
from ...types.text import in_label
from ..common.outgoing import Outgoing
from ..common.texts import CLOSING, IMAGES_BELOW, MOVED_IMAGES, OPENING, as_error
from ..common.turns import Tell, Turns
from .media import media_type
from .options import add_options, max_tokens
from .schema import adapted

Out = Outgoing[AnthropicMessages]
Block = Any
"""A dict, or a struct that is written like one. A stored text without a signature looks as the API has it."""

UNSENDABLE = "(image omitted: {} is not supported)"


class Turn(Struct, gc=False):
    role: str
    content: list[Block]


class ToolUse(Struct, tag_field="type", tag="tool_use", gc=False):
    id: str
    name: str
    input: dict[str, Any]


class Thinking(Struct, tag_field="type", tag="thinking", gc=False):
    thinking: str
    signature: str


class Redacted(Struct, tag_field="type", tag="redacted_thinking", gc=False):
    data: str


class Result(Struct, tag_field="type", tag="tool_result", omit_defaults=True, gc=False):
    tool_use_id: str
    content: list[Block]
    is_error: bool = False


def body(out: Out, turns: "AnthropicTurns", closed: list[Any]) -> dict[str, Any]:
    """The request body around the turns."""
    body: dict[str, Any] = {"model": out.model.id, "max_tokens": max_tokens(out)}
    if out.system is not None:
        body["system"] = [{"type": "text", "text": out.system}]
    body["messages"] = closed
    if out.tools:
        body["tools"] = out.each_tool(_tool)
    prefilled = closed[-1].role == "assistant"
    thinks = turns.loop_thinks or len(closed) > len(turns.turns)
    add_options(out, body, prefilled, thinks, turns.replays)
    return body


# -- turns -----------------------------------------------------------------------------------------------------------


class AnthropicTurns(Turns[AnthropicMessages]):
    """Neighbours of one role are one message (ANT-03), in which results stand first (ANT-19)."""

    STATE = ("loop_thinks", "replays", "_held", "_role", "_answered")

    def __init__(self, out: Out) -> None:
        super().__init__(out)
        self.loop_thinks = True
        """Whether all answers of the running tool loop begin with thinking. Texts beside results do not end a loop."""
        self.replays = False
        """Whether any answer holds thinking."""
        self._held: list[Block] = []  # images that wait for the whole batch of results
        self._role = ""
        self._answered = False  # whether the last message was a result
        self._owned: Turn | None = None  # the turn whose content is a list of our own

    def extend(self) -> None:
        turns, passed = self.turns, self.out.rendered.passes
        for message in self.new():
            kind = type(message)
            last = self._role
            if kind is ToolResultMessage:
                content = message.content
                if passed and not message.is_error and len(content) == 1 and type(content[0]) is TextContent:
                    result = Result(message.tool_call_id, content)
                else:
                    result = self._result(message)
                self._answered = True
                if last == "user":
                    self._join([result])
                else:
                    turns.append(turn := Turn("user", [result]))
                    self._role, self._owned = "user", turn
                continue
            if self._held:
                self._let_go()
            if kind is UserMessage:
                content = message.content
                if passed and last == "assistant" and len(content) == 1 and type(content[0]) is TextContent:
                    turns.append(Turn("user", content))
                    self._role, self.loop_thinks = "user", True
                else:
                    self._say("user", _plain(self.tell, content))
                continue
            content = message.content
            if last != "user":
                self._say("assistant", self._answer(message))
            elif len(content) == 1 and type(block := content[0]) is TextContent and block.text_signature is None:
                turns.append(Turn("assistant", content))
                self._role, self.loop_thinks, self._answered = "assistant", False, False
            elif blocks := self._answer(message):
                turns.append(Turn("assistant", blocks))
                self._role, self._answered = "assistant", False
                self.loop_thinks = self.loop_thinks and type(blocks[0]) in THOUGHTS
            else:
                self._answered = False  # nothing is left of the answer

    def _say(self, role: str, blocks: list[Block]) -> None:
        behind_results, self._answered = self._answered, False
        if not blocks:
            return
        if self._role == role:
            if not behind_results:  # else this is where the user speaks
                self.tell("turns-merged", f"with the {role} message before it")
            self._join(blocks)
            return
        if not self._role and role == "assistant":  # ANT-04
            self.out.tell("filler-inserted", 0, f"the conversation begins with the user: {OPENING!r}")
            self.turns.append(Turn("user", [plain_text(OPENING)]))
        self.turns.append(Turn(role, blocks))
        self._role = role
        self.loop_thinks = role == "user" or (self.loop_thinks and type(blocks[0]) in THOUGHTS)

    def _join(self, blocks: list[Block]) -> None:
        """Add to the last turn; what is stored is not touched."""
        last = self.turns[-1]
        if self._owned is not last:
            last.content = list(last.content)
            self._owned = last
        last.content += blocks

    def _let_go(self) -> None:
        self._join([plain_text(MOVED_IMAGES), *self._held])
        self._held = []

    def closed(self, out: Out) -> list[Turn]:
        """The user has the last word (ANT-14), also where nothing else is left to send (ANT-01), except before a
        prefill on models that still take one.

        A prefill must not end in white space (ANT-13) or on thinking (ANT-15), and must hold no thinking at all while
        thinking is off (ANT-39). No option plays a part in it.
        """
        turns = list(self.turns)
        if self._held:
            turns[-1] = Turn("user", [*turns[-1].content, plain_text(MOVED_IMAGES), *self._held])
        if self._role == "user" or (turns and out.dialect.prefill and _may_be_continued(turns[-1].content)):
            return turns
        at = self.taken - 1 if self.taken else None
        out.tell("filler-inserted", at, f"the conversation ends with the user: {CLOSING!r}")
        return [*turns, Turn("user", [plain_text(CLOSING)])]

    # -- answers -----------------------------------------------------------------------------------------------------

    def _answer(self, message: AssistantMessage) -> list[Block]:
        blocks: list[Block] = []
        called = behind = thinks = speaks = dropped = False
        for block in message.content:
            kind = type(block)
            if kind is ToolCall:
                called = speaks = True
                blocks.append(ToolUse(block.id, block.name, block.arguments))  # type: ignore[union-attr]
            elif kind is TextContent:
                behind = called
                if block.text_signature is None:  # type: ignore[union-attr]
                    speaks = True
                    blocks.append(block)
                elif block.text.strip():  # type: ignore[union-attr]
                    speaks = True
                    blocks.append(plain_text(block.text))  # type: ignore[union-attr]
                else:  # ANT-08, ANT-09: it was kept for its signature, which this protocol does not have on texts
                    dropped = True
            else:
                thinks, signature = True, block.thinking_signature or ""  # type: ignore[union-attr]
                blocks.append(Redacted(signature) if block.redacted else Thinking(block.thinking, signature))  # type: ignore[union-attr]
        if behind and not thinks and not same_origin(message, self.out.model):
            blocks = self._calls_last(blocks)
        if dropped:
            self.tell("empty-dropped", "a text without text")
        if thinks and not speaks:
            # ANT-15: "The final block in an assistant message cannot be `thinking`."
            self.tell("thinking-dropped", "an answer of nothing but thinking is refused")
            return []
        self.replays = self.replays or thinks
        return blocks

    def _calls_last(self, blocks: list[Block]) -> list[Block]:
        """ANT-16: what another model said after its calls would be read as a prefill. The target's own order is never
        touched, nor is any order with thinking in it, which is signed as it stands (ANT-37)."""
        self.tell("blocks-reordered", "calls stand at the end of an answer")
        return sorted(blocks, key=lambda block: type(block) is ToolUse)

    # -- results -----------------------------------------------------------------------------------------------------

    def _result(self, message: ToolResultMessage) -> Result:
        out = self.out
        content = _plain(self.tell, message.content)
        flagged = message.is_error and out.dialect.error_flag
        if message.is_error or not out.dialect.images_in_results:
            # ANT-28: 'all content must be type "text" if "is_error" is true'
            content = self._without_images(content)
        if message.is_error and not flagged and content and not content[0].text.startswith(as_error("")):
            self.tell("error-as-text", "the target has no flag for a failed result")
            content = [plain_text(as_error(content[0].text)), *content[1:]]
        return Result(message.tool_call_id, content, flagged)

    def _without_images(self, content: list[Block]) -> list[Block]:
        images = [block for block in content if type(block) is dict]
        if not images:
            return content
        self.tell("image-moved", "this result holds text only; its images follow the results")
        self._held += images
        return [block for block in content if type(block) is not dict] or [plain_text(IMAGES_BELOW)]


THOUGHTS = (Thinking, Redacted)


def _may_be_continued(blocks: list[Block]) -> bool:
    last = blocks[-1]
    text = last.text if type(last) is TextContent else " "
    return not text[-1:].isspace() and not any([type(block) in THOUGHTS for block in blocks])


def _plain(tell: Tell, content: list[UserContent]) -> list[Block]:
    return [
        _image(tell, block)
        if type(block) is ImageContent
        else block
        if block.text_signature is None  # type: ignore[union-attr]
        else plain_text(block.text)  # type: ignore[union-attr]
        for block in content
    ]


def _image(tell: Tell, block: ImageContent) -> Block:
    kind = media_type(block.data, block.mime_type)
    if kind is None:  # ANT-44
        tell("image-downgraded", f"{block.mime_type} is none of the kinds that the target reads")
        return plain_text(UNSENDABLE.format(in_label(block.mime_type) or "its kind"))
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": block.data}}


def _tool(_: AnthropicMessages, tool: ToolDefinition) -> tuple[dict[str, Any], str | None]:
    stored = tool.schema
    schema = adapted(stored)
    entry: dict[str, Any] = {"name": tool.name}
    if tool.description.strip():
        entry["description"] = tool.description
    entry["input_schema"] = schema
    # ANT-55
    return entry, None if schema is stored else "written as the target reads JSON Schema, with an object as root"
