"""A projected conversation to the body of ``POST /model/{id}/converse`` (or ``/converse-stream``).

Here stands what becomes of the messages; ``options.py`` has the rest of the body. Bytes are base64 text, as the REST
API has them. Rules are cited where they are obeyed, by their numbers in ``rules.py``.
"""

import json
from base64 import b64decode, b64encode
from binascii import Error
from typing import Any

import msgspec
from msgspec import Struct

from ...dialects import BedrockConverse
from ...projection.origin import same_origin
from ...types import (
    AssistantContent,
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
from ..common.images import is_base64, sendable
from ..common.outgoing import Outgoing
from ..common.texts import BETWEEN, CLOSING, IMAGES_BELOW, MOVED_IMAGES, OPENING, as_error
from ..common.turns import Tell, Turns
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


def body(out: Out, turns: "BedrockTurns", closed: list[Any]) -> dict[str, Any]:
    """The request body around the turns."""
    # What is said beside results ends a loop, also where it is said only because the request ends here.
    thinks = turns.loop_thinks or type(closed[-1].content[-1]) is not ToolResult
    return complete(out, closed, thinks, turns.replays)


# -- turns -----------------------------------------------------------------------------------------------------------


class BedrockTurns(Turns[BedrockConverse]):
    """Neighbours of one role are one turn (BED-02); where tool blocks stand alone, a few words keep them apart."""

    STATE = ("loop_thinks", "replays", "_held", "_role", "_tools", "_filled")

    def __init__(self, out: Out) -> None:
        super().__init__(out)
        self.replays = False
        """Whether any answer holds thinking."""
        dialect = out.dialect
        self.loop_thinks = True
        """Whether the answers since the user's last words all begin with thinking."""
        self._held: list[Block] = []  # images that wait for the whole batch of results
        self._role = ""  # of the last turn
        self._tools = False  # whether the last turn holds tool blocks
        self._filled = False  # whether words that nobody said open the conversation
        self._prompt = None if dialect.system_prompt else out.system  # where the prompt opens it
        self._mixed = dialect.mixed_turns
        self._signed = dialect.own_reasoning != "none" and dialect.reasoning_signature  # thinking goes as it is

    def extend(self) -> None:
        turns, dialect = self.turns, self.dialect
        for message in self.new():
            kind = type(message)
            content = message.content
            said = block if len(content) == 1 and type(block := content[0]) is TextContent else None
            if kind is ToolResultMessage:
                if said is None or message.is_error or not dialect.tools:
                    blocks = self._result(message)
                else:
                    text = Text(said.text)
                    result = [_as_json(text) if dialect.json_results else text]
                    blocks = [ToolResult(Result(message.tool_call_id, result))]
                    if self._role == "assistant":
                        turns.append(Turn("user", blocks))
                        self._role, self._tools = "user", True
                        continue
                self._add("user", blocks, dialect.tools, packed=True)
                continue
            if self._held:
                self._let_go()
            if kind is UserMessage:
                if said is None or self._role != "assistant":
                    self._add("user", _plain(self.tell, content))
                else:
                    turns.append(Turn("user", [Text(said.text)]))
                    self._role, self._tools, self.loop_thinks = "user", False, True
            elif said is None or self._role != "user" or said.text_signature is not None:
                self._answer(message)
            else:
                turns.append(Turn("assistant", [Text(said.text)]))
                self._role, self._tools, self.loop_thinks = "assistant", False, False

    def _add(self, role: str, blocks: list[Block], tools: bool = False, packed: bool = False) -> None:
        """Add blocks of one message. ``tools``: they are tool blocks; ``packed``: that they join is no change."""
        if not blocks:
            return
        if self._role == role and (self._mixed or tools == self._tools):
            if not packed:
                self.tell("turns-merged", f"with the {role} message before it")
            self.turns[-1].content += blocks
        else:
            if self._role == role:
                other, words = _apart(role)
                self.tell("filler-inserted", ALONE.format(words))
                self._add(other, [Text(words)])
            elif not self._role:
                self._open(role, blocks)
            self.turns.append(Turn(role, blocks))
            self._role = role
            if role == "assistant" and type(blocks[0]) is not Reasoning:
                self.loop_thinks = False
        self._tools = tools
        if role == "user" and not tools:
            self.loop_thinks = True

    def _open(self, role: str, blocks: list[Block]) -> None:
        """Let the conversation begin as it may, before the first turn."""
        if self._prompt is not None and role == "user":
            blocks.insert(0, Text(self._prompt))
        elif self._prompt is not None:
            self.turns.append(Turn("user", [Text(self._prompt)]))
        elif role == "assistant" and self.dialect.starts_with_user:
            self.turns.append(Turn("user", [Text(OPENING)]))
            self._filled = True

    def _let_go(self) -> None:
        """Images that could not stand in their results follow the whole batch (BED-17)."""
        held, self._held = self._held, []
        if not self._mixed:
            other, words = _apart("user")
            self.out.tell("filler-inserted", self.index - 1, ALONE.format(words))
            self._add(other, [Text(words)])
        self._add("user", [Text(MOVED_IMAGES), *held], packed=True)

    def closed(self, out: Out) -> list[Turn]:
        """The conversation ends with the user (BED-23), except as a prefill on models that still take one."""
        turns = list(self.turns)
        if self._held and self._mixed:
            turns[-1] = Turn("user", [*turns[-1].content, Text(MOVED_IMAGES), *self._held])
        elif self._held:
            other, words = _apart("user")
            out.tell("filler-inserted", self.taken - 1, ALONE.format(words))
            turns += [Turn(other, [Text(words)]), Turn("user", [Text(MOVED_IMAGES), *self._held])]
        if self._prompt is not None:
            # BED-22: "This model doesn't support system messages."
            out.tell("system-as-text", None, "this model takes no system prompt; it opens the conversation")
            turns = turns or [Turn("user", [Text(self._prompt)])]
        if self._filled:
            # BED-01: "A conversation must start with a user message."
            out.tell("filler-inserted", 0, f"the conversation begins with the user: {OPENING!r}")
        if not turns or (turns[-1].role == "assistant" and not _is_prefill(out, turns)):
            turns.append(Turn("user", [Text(CLOSING)]))
            at = self.taken - 1 if self.taken else None
            out.tell("filler-inserted", at, f"the conversation ends with the user: {CLOSING!r}")
        return turns

    # -- answers -----------------------------------------------------------------------------------------------------

    def _answer(self, message: AssistantMessage) -> None:
        blocks: list[Block] = []
        called = False
        for block in message.content:
            kind = type(block)
            if kind is ToolCall and self.dialect.tools:
                called = True
                blocks.append(ToolUse(Call(block.id, block.name, block.arguments)))  # type: ignore[union-attr]
            elif kind is TextContent and not called and block.text_signature is None:  # type: ignore[union-attr]
                blocks.append(Text(block.text))  # type: ignore[union-attr]
            elif kind is ThinkingContent and self._signed and not called and block is not message.content[-1]:
                blocks.append(_reasoning(block))  # type: ignore[arg-type]
            else:
                blocks = self._odd_answer(message)
                called = ToolUse in map(type, blocks)
                break
        self.replays = self.replays or Reasoning in map(type, blocks)
        if called and not self._mixed:
            said = [block for block in blocks if type(block) is not ToolUse]
            if Text in map(type, said):
                self._add("assistant", said)
                blocks = blocks[len(said) :]
        self._add("assistant", blocks, called)

    def _odd_answer(self, message: AssistantMessage) -> list[Block]:
        """An answer that is more than thinking, texts and then calls, or goes to a model that does not take these."""
        out, tools = self.out, self.dialect.tools
        content = self._replayable(message.content)
        calls = [block for block in content if type(block) is ToolCall]
        if calls and not tools:
            self.tell("tools-as-text", "this model has no tools")  # BED-14
        elif calls and not (self._mixed and same_origin(message, out.model)):
            # ANT-16: what another model said after its calls would be read as a prefill; its own order is never
            # touched, unless text cannot stand between calls and results at all (BED-15).
            others = [block for block in content if type(block) is not ToolCall]
            if any([type(block) is not ToolCall for block in content[len(others) :]]):
                self.tell("blocks-reordered", "calls stand at the end of an answer")
                content = [*others, *calls]
        return [_block(block, tools) for block in content]

    def _replayable(self, content: list[AssistantContent]) -> list[AssistantContent]:
        """What can go back of thinking and of texts that were kept for a signature."""
        kept = [clean for block in content if (clean := self._replayed(block)) is not None]
        calls = [at for at, block in enumerate(kept) if type(block) is ToolCall]
        after_calls = kept[calls[-1] :] if calls else kept[-1:]
        if ThinkingContent in map(type, after_calls):
            # BED-20, ANT-15: "The final block in an assistant message cannot be `thinking`."; all of it goes, or none
            # (ANT-37: blocks of an answer cannot be modified).
            self.tell("thinking-dropped", "an answer cannot end with thinking, nor have it after its calls")
            return [block for block in kept if type(block) is not ThinkingContent]
        return kept

    def _replayed(self, block: AssistantContent) -> AssistantContent | None:
        dialect = self.dialect
        if type(block) is TextContent and block.text_signature is not None and not block.text.strip():
            self.tell("empty-dropped", "a text without text")  # BED-04
            return None
        if type(block) is not ThinkingContent:
            return block
        if dialect.own_reasoning == "none":
            self.tell("thinking-dropped", "this model does not take its own thinking back")
            return None
        if dialect.redacted_reasoning:
            if not block.redacted:
                self.tell("thinking-dropped", "this model takes its thinking back only as it came, encrypted")
            return block if block.redacted else None
        if dialect.reasoning_signature or block.thinking_signature is None:
            return block
        # BED-20: "This model doesn't support the reasoningContent.reasoningText.signature field."
        if block.redacted or not block.thinking.strip():
            self.tell("thinking-dropped", "this model does not read signed thinking")
            return None
        self.tell("signature-dropped", "this model takes no signature")
        return ThinkingContent(block.thinking)

    # -- results -----------------------------------------------------------------------------------------------------

    def _result(self, message: ToolResultMessage) -> list[Block]:
        dialect = self.dialect
        if not dialect.tools:
            return _told(self.tell, message)
        content = _plain(self.tell, message.content)
        # ANT-28: 'all content must be type "text" if "is_error" is true'
        if not dialect.images_in_results or (message.is_error and dialect.anthropic_backend):
            content = self._without_images(content)
        result = Result(message.tool_call_id, content)
        if message.is_error and dialect.error_flag:
            result.status = "error"
        elif message.is_error:
            _say_error(self.tell, content)  # BED-18: "This model doesn't support the status field."
        elif dialect.json_results and len(content) == 1 and type(content[0]) is Text:
            result.content = [_as_json(content[0])]
        return [ToolResult(result)]

    def _without_images(self, content: list[Block]) -> list[Block]:
        images = [block for block in content if type(block) is not Text]
        if not images:
            return content
        self.tell("image-moved", "images do not stand in a result")
        self._held += images
        return [block for block in content if type(block) is Text] or [Text(IMAGES_BELOW)]


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


def _block(block: AssistantContent, tools: bool) -> Block:
    if type(block) is TextContent:
        return Text(block.text)
    if type(block) is ThinkingContent:
        return _reasoning(block)
    assert type(block) is ToolCall
    if tools:
        return ToolUse(Call(block.id, block.name, block.arguments))
    arguments = json.dumps(block.arguments, ensure_ascii=False, separators=(",", ":"))
    return Text(CALL_AS_TEXT.format(in_label(block.name), arguments))


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


# -- users and results -----------------------------------------------------------------------------------------------


def _plain(tell: Tell, content: list[UserContent]) -> list[Block]:
    return [Text(block.text) if type(block) is TextContent else _image(tell, block) for block in content]  # type: ignore[arg-type]


def _image(tell: Tell, block: ImageContent) -> Block:
    kind = sendable(block.data, block.mime_type, tuple(FORMATS))
    if kind is None:
        # png, jpeg, gif and webp, and at least one byte (botocore 1.44.0).
        why = f"{in_label(block.mime_type)} is not supported" if is_base64(block.data) else "it is not base64"
        why = why if block.data else "it is empty"
        tell("image-downgraded", f"an image shown as text: {why}")
        return Text(f"(image omitted: {why})")
    return {"image": {"format": FORMATS[kind], "source": {"bytes": block.data}}}


def _as_json(block: Text) -> Block:
    """A result that is a JSON object, as one; anything else is refused there and stays text (BED-11)."""
    if not block.text.lstrip().startswith("{"):
        return block
    try:
        value = msgspec.json.decode(block.text)
    except (msgspec.DecodeError, RecursionError):
        return block
    return {"json": value}


def _told(tell: Tell, message: ToolResultMessage) -> list[Block]:
    """A result in words, for a model that has no tools (BED-14)."""
    tell("tools-as-text", "this model has no tools")
    content = _plain(tell, message.content)
    if message.is_error:
        _say_error(tell, content)
    title = RESULT_AS_TEXT.format(in_label(message.tool_name))
    if content and type(content[0]) is Text:
        return [Text(f"{title}\n{content[0].text}"), *content[1:]]
    return [Text(title), *content]


def _say_error(tell: Tell, content: list[Block]) -> None:
    for block in content:
        if type(block) is Text:
            marked = as_error(block.text)
            if marked != block.text:
                tell("error-as-text", "there is no flag for a failed result")
                block.text = marked
            return
    tell("error-as-text", "there is no flag for a failed result")
    content.insert(0, Text(as_error(IMAGES_BELOW)))
