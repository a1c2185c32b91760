"""A projected conversation to the body of ``POST /v1/messages``, valid under API versions 2023-06-01 and 2026-10-21.

Here is what becomes of the messages; what a request asks for beside them is in ``options.py``, and what becomes of tool
schemas in ``schema.py``. Rules are cited where they are obeyed, by their numbers in ``rules.py``.
"""

from typing import Any

from ...dialects import AnthropicMessages
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
    ToolDefinition,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ..common.outgoing import Outgoing
from ..common.texts import CLOSING, IMAGES_BELOW, MOVED_IMAGES, OPENING, as_error
from .media import media_type
from .options import add_options, max_tokens
from .schema import adapted

Out = Outgoing[AnthropicMessages]
Block = dict[str, Any]
Turn = dict[str, Any]

UNSENDABLE = "(image omitted: {} is not supported)"


def encode(projection: Projection, options: Options, report: Report) -> dict[str, Any]:
    """The request body."""
    out = Outgoing(projection, AnthropicMessages, options, report)
    body: dict[str, Any] = {"model": out.model.id, "max_tokens": max_tokens(out)}
    if out.system is not None:
        body["system"] = [{"type": "text", "text": out.system}]
    body["messages"] = _closed(out, _opened(out, _turns(out)))
    if out.tools:
        body["tools"] = [_tool(out, tool) for tool in out.tools]
    add_options(out, body)
    return body


# -- turns -----------------------------------------------------------------------------------------------------------


def _turns(out: Out) -> list[Turn]:
    """Neighbours of one role are one message (ANT-03), in which results stand first (ANT-19)."""
    turns: list[Turn] = []
    held: list[Block] = []  # images that wait for the whole batch of results
    for index, message in enumerate(out.messages):
        kind = type(message)
        if kind is ToolResultMessage:
            result = _result(out, index, message, held)  # type: ignore[arg-type]
            if turns and turns[-1]["role"] == "user":
                turns[-1]["content"].append(result)
            else:
                turns.append({"role": "user", "content": [result]})
            continue
        if held:
            turns[-1]["content"] += [_text(MOVED_IMAGES), *held]
            held = []
        if kind is UserMessage:
            _append(out, turns, "user", _plain(out, index, message.content), index)  # type: ignore[arg-type]
        else:
            _append(out, turns, "assistant", _answer(out, index, message), index)  # type: ignore[arg-type]
    if held:
        turns[-1]["content"] += [_text(MOVED_IMAGES), *held]
    return turns


def _append(out: Out, turns: list[Turn], role: str, blocks: list[Block], index: int) -> None:
    if not blocks:
        return
    if turns and turns[-1]["role"] == role:
        if type(out.messages[index - 1]) is not ToolResultMessage:  # behind results, this is where the user speaks
            out.tell("turns-merged", index, f"with the {role} message before it")
        turns[-1]["content"] += blocks
    else:
        turns.append({"role": role, "content": blocks})


def _opened(out: Out, turns: list[Turn]) -> list[Turn]:
    """The user begins (ANT-04)."""
    if not turns or turns[0]["role"] == "user":
        return turns
    out.tell("filler-inserted", 0, f"the conversation begins with the user: {OPENING!r}")
    return [{"role": "user", "content": [_text(OPENING)]}, *turns]


def _closed(out: Out, turns: list[Turn]) -> list[Turn]:
    """The user has the last word (ANT-14), also where nothing else is left to send (ANT-01), except before a prefill on
    models that still take one.

    A prefill must not end in white space (ANT-13) or on thinking (ANT-15), and must hold no thinking at all while
    thinking is off (ANT-39). No option plays a part in it.
    """
    if turns:
        last = turns[-1]
        if last["role"] == "user" or (out.dialect.prefill and _may_be_continued(last["content"])):
            return turns
    at = len(out.messages) - 1 if out.messages else None
    out.tell("filler-inserted", at, f"the conversation ends with the user: {CLOSING!r}")
    return [*turns, {"role": "user", "content": [_text(CLOSING)]}]


def _may_be_continued(blocks: list[Block]) -> bool:
    text = blocks[-1].get("text", " ")
    return not text[-1:].isspace() and not any(block["type"] in THOUGHTS for block in blocks)


# -- answers ---------------------------------------------------------------------------------------------------------

THOUGHTS = ("thinking", "redacted_thinking")


def _answer(out: Out, index: int, message: AssistantMessage) -> list[Block]:
    content = message.content
    if len(content) == 1 and type(content[0]) is TextContent and content[0].text_signature is None:
        return [{"type": "text", "text": content[0].text}]
    if len(content) > 1 and not same_origin(message, out.model):
        content = _calls_last(out, index, content)
    blocks: list[Block] = []
    for block in content:
        shown = _ANSWER_BLOCKS[type(block)](block)
        if shown is not None:
            blocks.append(shown)
    if len(blocks) < len(content):
        out.tell("empty-dropped", index, "a text without text")
    if blocks and blocks[-1]["type"] in THOUGHTS and all([block["type"] in THOUGHTS for block in blocks]):
        # ANT-15: "The final block in an assistant message cannot be `thinking`."
        out.tell("thinking-dropped", index, "an answer of nothing but thinking is refused")
        return []
    return blocks


def _calls_last(out: Out, index: int, content: list[AssistantContent]) -> list[AssistantContent]:
    """ANT-16: what another model said after its calls would be read as a prefill. The target's own order is never
    touched, nor is any order with thinking in it, which is signed as it stands (ANT-37)."""
    seen, behind = False, False
    for block in content:
        kind = type(block)
        if kind is ThinkingContent:
            return content
        behind = behind or (seen and kind is not ToolCall)
        seen = seen or kind is ToolCall
    if not behind:
        return content
    out.tell("blocks-reordered", index, "calls stand at the end of an answer")
    calls: list[AssistantContent] = [block for block in content if type(block) is ToolCall]
    return [*(block for block in content if type(block) is not ToolCall), *calls]


def _thinking_block(block: ThinkingContent) -> Block:
    if block.redacted:
        return {"type": "redacted_thinking", "data": block.thinking_signature or ""}
    return {"type": "thinking", "thinking": block.thinking, "signature": block.thinking_signature or ""}


def _call_block(block: ToolCall) -> Block:
    return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.arguments}


def _text_block(block: TextContent) -> Block | None:
    """ANT-08, ANT-09: projection keeps a blank text for its signature, which this protocol does not have on texts."""
    if block.text_signature is not None and not block.text.strip():
        return None
    return {"type": "text", "text": block.text}


_ANSWER_BLOCKS: dict[type[Any], Any] = {
    TextContent: _text_block,
    ThinkingContent: _thinking_block,
    ToolCall: _call_block,
}


# -- what users and tools say ----------------------------------------------------------------------------------------


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _plain(out: Out, index: int, content: list[UserContent]) -> list[Block]:
    if len(content) == 1 and type(content[0]) is TextContent:  # nearly always
        return [{"type": "text", "text": content[0].text}]
    return [
        {"type": "text", "text": block.text} if type(block) is TextContent else _image(out, index, block)  # type: ignore[arg-type]
        for block in content
    ]


def _image(out: Out, index: int, block: ImageContent) -> Block:
    kind = media_type(block.data, block.mime_type)
    if kind is None:  # ANT-44
        out.tell("image-downgraded", index, f"{block.mime_type} is none of the kinds that the target reads")
        return _text(UNSENDABLE.format(block.mime_type or "its kind"))
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": block.data}}


def _result(out: Out, index: int, message: ToolResultMessage, held: list[Block]) -> Block:
    content = _plain(out, index, message.content)
    flagged = message.is_error and out.dialect.error_flag
    if message.is_error or not out.dialect.images_in_results:
        # ANT-28: 'all content must be type "text" if "is_error" is true'
        content = _without_images(out, index, content, held)
    if message.is_error and not flagged and content and not content[0]["text"].startswith(as_error("")):
        out.tell("error-as-text", index, "the target has no flag for a failed result")
        content = [_text(as_error(content[0]["text"])), *content[1:]]
    result: Block = {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": content}
    if flagged:
        result["is_error"] = True
    return result


def _without_images(out: Out, index: int, content: list[Block], held: list[Block]) -> list[Block]:
    images = [block for block in content if block["type"] == "image"]
    if not images:
        return content
    out.tell("image-moved", index, "this result holds text only; its images follow the results")
    held += images
    return [block for block in content if block["type"] == "text"] or [_text(IMAGES_BELOW)]


def _tool(out: Out, tool: ToolDefinition) -> Block:
    stored = tool.schema
    schema = adapted(stored)
    if schema is not stored:  # ANT-55
        out.tell(
            "schema-adapted", None, f"{tool.name}: written as the target reads JSON Schema, with an object as root"
        )
    entry: Block = {"name": tool.name}
    if tool.description.strip():
        entry["description"] = tool.description
    entry["input_schema"] = schema
    return entry
