"""A projected conversation to the body of ``POST /model/{id}/converse`` (or ``/converse-stream``).

Here stands what becomes of the messages; ``options.py`` has the rest of the body. Bytes are base64 text, as the REST
API has them. Rules are cited where they are obeyed, by their numbers in ``rules.py``.
"""

import json
from base64 import b64decode, b64encode
from binascii import Error
from typing import Any

import msgspec

from ...dialects import BedrockConverse
from ...projection import Projection
from ...projection.origin import same_origin
from ...projection.step import Report
from ...types import (
    AssistantContent,
    AssistantMessage,
    ImageContent,
    Options,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserContent,
)
from ..common.outgoing import Outgoing
from ..common.texts import BETWEEN, CLOSING, IMAGES_BELOW, MOVED_IMAGES, OPENING, as_error
from .options import complete

Out = Outgoing[BedrockConverse]
Block = dict[str, Any]

FORMATS = {"image/png": "png", "image/jpeg": "jpeg", "image/jpg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
# Where a model has no tools (BED-14), these stand for its calls and their results.
CALL_AS_TEXT = "[Call to {}] {}"
RESULT_AS_TEXT = "[Result of the call to {}]"


def encode(projection: Projection, options: Options, report: Report) -> dict[str, Any]:
    """The request body."""
    out = Outgoing(projection, BedrockConverse, options, report)
    turns = _Turns(out)
    tools = out.dialect.tools
    for index, message in enumerate(out.messages):
        if type(message) is ToolResultMessage:
            result = _result(out, index, message, turns.held) if tools else _told(out, index, message)
            turns.add("user", result, index, tools=tools, packed=True)
            continue
        if turns.held:
            turns.flush(index - 1)
        if type(message) is AssistantMessage:
            plain = _plain_answer(out, message.content)
            if plain is None:
                _add_answer(out, turns, index, message)
            else:
                turns.add("assistant", plain, index, tools=bool(plain) and "toolUse" in plain[-1])
        else:
            turns.add("user", _plain(out, index, message.content), index)  # type: ignore[arg-type]
    turns.flush(len(out.messages) - 1)
    _open(out, turns.turns)
    _close(out, turns.turns)
    return complete(out, turns.turns)


class _Turns:
    """Neighbours of one role are one turn (BED-02); where tool blocks stand alone, a few words keep them apart."""

    __slots__ = ("_mixed", "_out", "_tools", "held", "turns")

    def __init__(self, out: Out) -> None:
        self.turns: list[dict[str, Any]] = []
        self.held: list[Block] = []  # images that wait for the whole batch of results
        self._out = out
        self._mixed = out.dialect.mixed_turns
        self._tools = False  # whether the last turn holds tool blocks

    def add(self, role: str, blocks: list[Block], index: int, *, tools: bool = False, packed: bool = False) -> None:
        """Add blocks of one message. ``tools``: they are tool blocks; ``packed``: that they join is no change."""
        if not blocks:
            return
        if not self.turns or self.turns[-1]["role"] != role:
            self.turns.append({"role": role, "content": blocks})
        elif self._mixed or tools == self._tools:
            if not packed:
                self._out.tell("turns-merged", index, f"with the {role} message before it")
            self.turns[-1]["content"] += blocks
        else:
            self._keep_apart(role, index)
            self.turns.append({"role": role, "content": blocks})
        self._tools = tools

    def _keep_apart(self, role: str, index: int) -> None:
        # BED-15: "Conversation blocks and tool result blocks cannot be provided in the same turn.", and so for calls.
        other, words = ("assistant", BETWEEN) if role == "user" else ("user", CLOSING)
        self.turns.append({"role": other, "content": [{"text": words}]})
        self._out.tell("filler-inserted", index, f"tool blocks stand alone in their turn: {words!r}")

    def flush(self, index: int) -> None:
        """Images that could not stand in their results follow the whole batch (BED-17)."""
        if self.held:
            held, self.held = self.held, []
            self.add("user", [{"text": MOVED_IMAGES}, *held], index, packed=True)


def _open(out: Out, turns: list[dict[str, Any]]) -> None:
    if out.system is not None and not out.dialect.system_prompt:
        # BED-22: "This model doesn't support system messages."
        out.tell("system-as-text", None, "this model takes no system prompt; it opens the conversation")
        if turns and turns[0]["role"] == "user":
            turns[0]["content"].insert(0, {"text": out.system})
        else:
            turns.insert(0, {"role": "user", "content": [{"text": out.system}]})
    if turns and turns[0]["role"] == "assistant" and out.dialect.starts_with_user:
        # BED-01: "A conversation must start with a user message."
        turns.insert(0, {"role": "user", "content": [{"text": OPENING}]})
        out.tell("filler-inserted", 0, f"the conversation begins with the user: {OPENING!r}")


def _close(out: Out, turns: list[dict[str, Any]]) -> None:
    """The conversation ends with the user (BED-23), except as a prefill on models that still take one."""
    if not turns or (turns[-1]["role"] == "assistant" and not _is_prefill(out, turns)):
        turns.append({"role": "user", "content": [{"text": CLOSING}]})
        out.tell("filler-inserted", len(out.messages) - 1, f"the conversation ends with the user: {CLOSING!r}")


def _is_prefill(out: Out, turns: list[dict[str, Any]]) -> bool:
    content = turns[-1]["content"]
    last = content[-1].get("text", " ")
    return (
        out.dialect.prefill
        and len(turns) > 1
        and last == last.rstrip()  # ANT-13: "final assistant content cannot end with trailing whitespace"
        # ANT-39: "an `assistant` message in the final position cannot contain `thinking`"
        and not any("reasoningContent" in block for block in content)
    )


# -- answers ---------------------------------------------------------------------------------------------------------


def _plain_answer(out: Out, content: list[AssistantContent]) -> list[Block] | None:
    """Texts and then calls, as nearly all answers are; ``None`` where an answer needs a closer look."""
    blocks: list[Block] = []
    called = False
    for block in content:
        if type(block) is TextContent:
            if called or block.text_signature is not None:
                return None
            blocks.append({"text": block.text})
        elif type(block) is ToolCall:
            blocks.append({"toolUse": {"toolUseId": block.id, "name": block.name, "input": block.arguments}})
            called = True
        else:
            return None
    return blocks if not called or (out.dialect.mixed_turns and out.dialect.tools) else None


def _add_answer(out: Out, turns: _Turns, index: int, message: AssistantMessage) -> None:
    content = _replayable(out, index, message.content)
    calls = [block for block in content if type(block) is ToolCall]
    if not calls or not out.dialect.tools:
        if calls:
            out.tell("tools-as-text", index, "this model has no tools")  # BED-14
        turns.add("assistant", [_block(out, block) for block in content], index)
        return
    if not out.dialect.mixed_turns or not same_origin(message, out.model):
        # ANT-16: what another model said after its calls would be read as a prefill; its own order is never touched,
        # unless text cannot stand between calls and results at all (BED-15).
        others = [block for block in content if type(block) is not ToolCall]
        if any(type(block) is not ToolCall for block in content[len(others) :]):
            out.tell("blocks-reordered", index, "calls stand at the end of an answer")
            content = [*others, *calls]
        if not out.dialect.mixed_turns and any(type(block) is TextContent for block in others):
            turns.add("assistant", [_block(out, block) for block in others], index)
            content = calls  # type: ignore[assignment]
    turns.add("assistant", [_block(out, block) for block in content], index, tools=True)


def _replayable(out: Out, index: int, content: list[AssistantContent]) -> list[AssistantContent]:
    """What can go back of thinking and of texts that were kept for a signature."""
    kept = [clean for block in content if (clean := _replayed(out, index, block)) is not None]
    if kept and type(kept[-1]) is ThinkingContent:
        # BED-20, ANT-15: "The final block in an assistant message cannot be `thinking`."; all of it goes, or none
        # (ANT-37: blocks of an answer cannot be modified).
        out.tell("thinking-dropped", index, "an answer cannot end with thinking")
        return [block for block in kept if type(block) is not ThinkingContent]
    return kept


def _replayed(out: Out, index: int, block: AssistantContent) -> AssistantContent | None:
    if type(block) is TextContent and block.text_signature is not None and not block.text.strip():
        out.tell("empty-dropped", index, "a text without text")  # BED-04
        return None
    if type(block) is not ThinkingContent:
        return block
    if out.dialect.own_reasoning == "none":
        out.tell("thinking-dropped", index, "this model does not take its own thinking back")
        return None
    if out.dialect.reasoning_signature or block.thinking_signature is None:
        return block
    # BED-20: "This model doesn't support the reasoningContent.reasoningText.signature field."
    if block.redacted or not block.thinking.strip():
        out.tell("thinking-dropped", index, "this model does not read signed thinking")
        return None
    out.tell("signature-dropped", index, "this model takes no signature")
    return ThinkingContent(block.thinking)


def _block(out: Out, block: AssistantContent) -> Block:
    if type(block) is TextContent:
        return {"text": block.text}
    if type(block) is ToolCall:
        if not out.dialect.tools:
            arguments = json.dumps(block.arguments, ensure_ascii=False, separators=(",", ":"))
            return {"text": CALL_AS_TEXT.format(block.name, arguments)}
        return {"toolUse": {"toolUseId": block.id, "name": block.name, "input": block.arguments}}
    assert type(block) is ThinkingContent
    if block.redacted:
        return {"reasoningContent": {"redactedContent": payload(block.thinking_signature or "")}}
    text = {"text": block.thinking}
    if block.thinking_signature is not None:
        text["signature"] = block.thinking_signature
    return {"reasoningContent": {"reasoningText": text}}


def payload(stored: str) -> str:
    """A redacted payload in base64, as it arrived; one that was stored as plain text is put back into it."""
    try:
        b64decode(stored, validate=True)
    except (Error, ValueError):
        return b64encode(stored.encode()).decode()
    return stored


# -- users and results -----------------------------------------------------------------------------------------------


def _plain(out: Out, index: int, content: list[UserContent]) -> list[Block]:
    if len(content) == 1 and type(content[0]) is TextContent:  # nearly always
        return [{"text": content[0].text}]
    return [
        {"text": block.text} if type(block) is TextContent else _image(out, index, block)  # type: ignore[arg-type]
        for block in content
    ]


def _image(out: Out, index: int, block: ImageContent) -> Block:
    kind = FORMATS.get(block.mime_type.lower())
    if kind is None or not block.data:
        # png, jpeg, gif and webp, and at least one byte (botocore 1.44.0).
        why = f"{block.mime_type} is not supported" if block.data else "it is empty"
        out.tell("image-downgraded", index, f"an image shown as text: {why}")
        return {"text": f"(image omitted: {why})"}
    return {"image": {"format": kind, "source": {"bytes": block.data}}}


def _result(out: Out, index: int, message: ToolResultMessage, held: list[Block]) -> list[Block]:
    dialect = out.dialect
    content = _plain(out, index, message.content)
    # ANT-28: 'all content must be type "text" if "is_error" is true'
    if not dialect.images_in_results or (message.is_error and dialect.anthropic_backend):
        images = [block for block in content if "image" in block]
        if images:
            out.tell("image-moved", index, "images do not stand in a result")
            held += images
            content = [block for block in content if "text" in block] or [{"text": IMAGES_BELOW}]
    result: Block = {"toolUseId": message.tool_call_id, "content": content}
    if message.is_error:
        if dialect.error_flag:
            result["status"] = "error"
        else:
            _say_error(out, index, content)  # BED-18: "This model doesn't support the status field."
    elif dialect.json_results and len(content) == 1 and "text" in content[0]:
        result["content"] = [_as_json(content[0])]
    return [{"toolResult": result}]


def _as_json(block: Block) -> Block:
    """A result that is a JSON object, as one; anything else is refused there and stays text (BED-11)."""
    text: str = block["text"]
    if not text.lstrip().startswith("{"):
        return block
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return block
    return {"json": value}


def _told(out: Out, index: int, message: ToolResultMessage) -> list[Block]:
    """A result in words, for a model that has no tools (BED-14)."""
    out.tell("tools-as-text", index, "this model has no tools")
    content = _plain(out, index, message.content)
    if message.is_error:
        _say_error(out, index, content)
    title = RESULT_AS_TEXT.format(message.tool_name)
    if content and "text" in content[0]:
        return [{"text": f"{title}\n{content[0]['text']}"}, *content[1:]]
    return [{"text": title}, *content]


def _say_error(out: Out, index: int, content: list[Block]) -> None:
    for block in content:
        if "text" in block:
            marked = as_error(block["text"])
            if marked != block["text"]:
                out.tell("error-as-text", index, "there is no flag for a failed result")
                block["text"] = marked
            return
    out.tell("error-as-text", index, "there is no flag for a failed result")
    content.insert(0, {"text": as_error(IMAGES_BELOW)})
