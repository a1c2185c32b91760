"""A projected conversation to the body of ``POST /v1/chat/completions`` of Mistral.

Rules are cited where they are obeyed, by their numbers in ``rules.py``. Only fields on the API's list are ever written,
and none of them as null (MIS-09).
"""

from collections.abc import Callable
from typing import Any

from ...dialects import MistralChat
from ...projection import Projection
from ...projection.step import Report
from ...types import (
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
from ...types.value import encode as to_json
from ..common.outgoing import Outgoing
from ..common.texts import BETWEEN, CLOSING, ERROR, IMAGES_BELOW, MOVED_IMAGES, OPENING, as_error
from .schema import repaired

Out = Outgoing[MistralChat]
Turn = dict[str, Any]
Chunk = dict[str, Any]

# The levels in their order; every model knows some of them.
LEVELS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
# The API's own bounds; mistral-common allows 0 to 1 where one serves a model oneself (2026-11).
TEMPERATURES = (0.0, 1.5)


def encode(projection: Projection, options: Options, report: Report) -> dict[str, Any]:
    """The request body."""
    out = Outgoing(projection, MistralChat, options, report)
    body: dict[str, Any] = {"model": out.model.id, "messages": _turns(out)}
    if out.tools:
        body["tools"] = [_tool(out, tool) for tool in out.tools]
    _add_tool_choice(out, body)
    _add_reasoning(out, body)
    _add_rest(out, body)
    return body


# -- messages --------------------------------------------------------------------------------------------------------


def _turns(out: Out) -> list[Turn]:
    """One message for each rendered one, neighbours of one role unmerged (MIS-02 allows them)."""
    turns: list[Turn] = []
    held: list[Chunk] = []  # images that wait for the whole batch of results
    if out.system is not None:
        turns.append({"role": "system", "content": out.system})
    for index, message in enumerate(out.messages):
        if type(message) is ToolResultMessage:
            turns.append(_result(out, index, message, held))
            continue
        if held:
            _show_moved(out, index - 1, turns, held)
            held = []
        if type(message) is UserMessage:
            _add_user(out, index, turns, _content(message.content))
        else:
            _add_answer(out, index, turns, message)  # type: ignore[arg-type]
    last = len(out.messages) - 1
    if held:
        _show_moved(out, last, turns, held)
    if not turns or turns[-1]["role"] in ("system", "assistant"):
        # MIS-03: "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
        _fill(out, last if out.messages else None, turns, "user", CLOSING, "the conversation ends with the user")
    return turns


def _fill(out: Out, index: int | None, turns: list[Turn], role: str, text: str, why: str) -> None:
    turns.append({"role": role, "content": text})
    out.tell("filler-inserted", index, f"{why}: {text!r}")


def _add_user(out: Out, index: int, turns: list[Turn], content: str | list[Chunk]) -> None:
    if turns and turns[-1]["role"] == "tool" and not out.dialect.user_after_tool:
        # MIS-04: "Unexpected role 'user' after role 'tool'"
        _fill(out, index, turns, "assistant", BETWEEN, "the assistant speaks between tool results and the user")
    turns.append({"role": "user", "content": content})


def _show_moved(out: Out, index: int, turns: list[Turn], images: list[Chunk]) -> None:
    _add_user(out, index, turns, [{"type": "text", "text": MOVED_IMAGES}, *images])


def _content(blocks: list[UserContent]) -> str | list[Chunk]:
    """A single text as a string, anything else as chunks."""
    if len(blocks) == 1 and type(blocks[0]) is TextContent:
        return blocks[0].text
    return [_CHUNKS[type(block)](block) for block in blocks]


def _text(block: TextContent) -> Chunk:
    return {"type": "text", "text": block.text}


def _image(block: ImageContent) -> Chunk:
    return {"type": "image_url", "image_url": f"data:{block.mime_type};base64,{block.data}"}


_CHUNKS: dict[type[Any], Callable[[Any], Chunk]] = {TextContent: _text, ImageContent: _image}


# -- answers ---------------------------------------------------------------------------------------------------------

# The order in which the parts of an answer stand: thinking leads (MIS-12), calls have a field of their own.
_RANKS: dict[type[Any], int] = {ThinkingContent: 0, TextContent: 1, ToolCall: 2}


def _add_answer(out: Out, index: int, turns: list[Turn], message: AssistantMessage) -> None:
    parts: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    rank, sorted_ = 0, True
    for block in message.content:
        at = _RANKS[type(block)]
        sorted_ = sorted_ and at >= rank
        rank = at
        parts[at].append(block)
    thoughts, texts, calls = parts
    if texts and any(text.text_signature is not None for text in texts):
        texts = _worded(out, index, texts)
    if thoughts:
        thoughts = _kept_thoughts(out, index, thoughts, bool(texts or calls))
    if not texts and not calls:
        return
    if not sorted_:
        out.tell("blocks-reordered", index, "thinking stands first, and calls stand apart from the text")
    if not turns or turns[-1]["role"] == "system":
        # A first answer with calls is not counted: "Not the same number of function calls and responses" (MIS-05).
        _fill(out, index, turns, "user", OPENING, "the conversation begins with the user")
    _append(out, index, turns, _answer_content(thoughts, texts), [_call(block) for block in calls])


def _worded(out: Out, index: int, texts: list[TextContent]) -> list[TextContent]:
    """Texts without those that only carry a signature, for which there is no place here."""
    kept = [text for text in texts if text.text and not text.text.isspace()]
    if len(kept) < len(texts):
        out.tell("empty-dropped", index, "a text without text")
    return kept


def _kept_thoughts(out: Out, index: int, thoughts: list[ThinkingContent], speaks: bool) -> list[ThinkingContent]:
    if out.dialect.own_reasoning == "none":
        # MIS-12: "Unexpected content chunk types in assistant message: ['ThinkChunk']"
        out.tell("thinking-dropped", index, "the model does not take thinking back")
        return []
    if not speaks:
        # MIS-08: "Assistant message must have either content or tool_calls, but not none."
        out.tell("thinking-dropped", index, "an answer of nothing but thinking has no content")
        return []
    kept = [block for block in thoughts if not block.redacted]
    if len(kept) < len(thoughts):
        out.tell("thinking-dropped", index, "this protocol has no form for redacted thinking")
    return kept


def _answer_content(thoughts: list[ThinkingContent], texts: list[TextContent]) -> str | list[Chunk] | None:
    if not thoughts:
        return _content(texts) if texts else None  # type: ignore[arg-type]
    return [*map(_thinking, thoughts), *map(_text, texts)]


def _append(out: Out, index: int, turns: list[Turn], content: Any, calls: list[dict[str, Any]]) -> None:
    if calls and not out.dialect.text_with_calls:
        # MIS-08: "Assistant message must have either content or tool_calls, but not both." Two neighbours are no way
        # out, as the tokenizer joins them before it refuses ("Cannot have tool calls and content defined in the same
        # assistant message", mistral-common 1.13): the user must speak between.
        if content is not None:
            turns.append({"role": "assistant", "content": content})
            content = None
        if turns[-1]["role"] == "assistant":
            _fill(out, index, turns, "user", CLOSING, "the user speaks between text and calls")
    turn: Turn = {"role": "assistant"}
    if content is not None:
        turn["content"] = content
    if calls:
        turn["tool_calls"] = calls
    turns.append(turn)


def _thinking(block: ThinkingContent) -> Chunk:
    """The chunk as the API gives it; ``signature`` is new in mistralai 3.7 and goes back where there is one."""
    said = [{"type": "text", "text": block.thinking}] if block.thinking else []
    chunk: Chunk = {"type": "thinking", "thinking": said, "closed": True}
    if block.thinking_signature is not None:
        chunk["signature"] = block.thinking_signature
    return chunk


def _call(block: ToolCall) -> dict[str, Any]:
    function = {"name": block.name, "arguments": to_json(block.arguments).decode()}
    return {"id": block.id, "type": "function", "function": function}


# -- results ---------------------------------------------------------------------------------------------------------


def _result(out: Out, index: int, message: ToolResultMessage, held: list[Chunk]) -> Turn:
    blocks = message.content
    if not out.dialect.images_in_results and ImageContent in map(type, blocks):
        # MIS-13: "Unexpected content chunk types in tool message: ['ImageURLChunk']"
        held += [_image(block) for block in blocks if type(block) is ImageContent]
        blocks = [block for block in blocks if type(block) is TextContent] or [TextContent(IMAGES_BELOW)]
        out.tell("image-moved", index, "a tool message holds text only; its images follow all results")
    if message.is_error:
        blocks = _flagged(out, index, blocks)
    return {
        "role": "tool",
        "tool_call_id": message.tool_call_id,
        "name": message.tool_name,
        "content": _content(blocks),
    }


def _flagged(out: Out, index: int, blocks: list[UserContent]) -> list[UserContent]:
    """There is no flag for a failed call, so that its first text says so."""
    first = next((at for at, block in enumerate(blocks) if type(block) is TextContent), None)
    if first is None:
        blocks, first = [TextContent(IMAGES_BELOW), *blocks], 0
    said: TextContent = blocks[first]  # type: ignore[assignment]
    if said.text.startswith(ERROR):
        return blocks
    out.tell("error-as-text", index, f"the result begins with {ERROR!r}")
    return [*blocks[:first], TextContent(as_error(said.text)), *blocks[first + 1 :]]


# -- the rest --------------------------------------------------------------------------------------------------------


def _tool(out: Out, tool: ToolDefinition) -> dict[str, Any]:
    schema = tool.schema
    adapted = repaired(schema)
    if adapted is not schema:
        # MIS-11: "Invalid tool schema: …"
        out.tell("schema-adapted", None, f"{tool.name}: what JSON Schema draft 7 does not know is left out")
    function: dict[str, Any] = {"name": tool.name}
    if tool.description.strip():
        function["description"] = tool.description
    function["parameters"] = adapted
    return {"type": "function", "function": function}


def _add_tool_choice(out: Out, body: dict[str, Any]) -> None:
    choice = out.options.tool_choice
    if choice is None:
        return
    forced = out.forced_tool()
    if not out.tools:
        out.drop_option("tool_choice", "no tool is defined")
    elif choice in ("auto", "none", "required"):
        body["tool_choice"] = choice
    elif forced is None:
        out.drop_option("tool_choice", f"no tool is called {choice!r}")
    else:
        body["tool_choice"] = {"type": "function", "function": {"name": forced}}


def _add_reasoning(out: Out, body: dict[str, Any]) -> None:
    level, known = out.options.reasoning, out.dialect.effort
    if level is None:
        return
    effort = _effort("none" if level == "off" else level, known)
    if effort is not None:
        body["reasoning_effort"] = effort
    elif level != "off":
        # MIS-14: "reasoning_effort=... is not supported for this model"
        out.drop_option("reasoning", "this model knows no levels of reasoning")
    elif out.model.reasoning:
        out.drop_option("reasoning", "this model always thinks")


def _effort(wanted: str, known: tuple[str, ...]) -> str | None:
    """The nearest level at or below the one that is wanted, else the lowest that thinks at all."""
    if wanted == "none":
        return wanted if wanted in known else None
    levels = [level for level in LEVELS[1:] if level in known]
    below = [level for level in levels if LEVELS.index(level) <= LEVELS.index(wanted)]
    return below[-1] if below else levels[0] if levels else None


def _add_rest(out: Out, body: dict[str, Any]) -> None:
    options = out.options
    if options.max_tokens is not None:
        # MIS-15: "The token count of your prompt plus `max_tokens` cannot exceed the model's context length."
        limit = min(out.model.max_tokens, out.model.context_window - 1)
        if options.max_tokens > limit:
            out.drop_option("max_tokens", f"{options.max_tokens} is more than the model's {limit}")
        body["max_tokens"] = min(options.max_tokens, limit)
    if options.temperature is not None:
        lowest, highest = TEMPERATURES
        if lowest <= options.temperature <= highest:
            body["temperature"] = options.temperature
        else:
            out.drop_option("temperature", f"{options.temperature} is not between {lowest} and {highest}")
    stops = [text for text in options.stop if text]
    if len(stops) < len(options.stop):
        out.drop_option("stop", "a stop sequence must hold some text")
    if stops:
        body["stop"] = stops
    if options.cache in ("short", "long"):
        out.drop_option("cache", "the provider alone decides what it keeps")
    if options.metadata:
        # MIS-09: {"type":"extra_forbidden","loc":["body","metadata"]} (OpenHands-CLI#83, 2025-11); the SDK has had the
        # field since, but nothing says what it is for.
        out.drop_option("metadata", "the field is refused by some of the provider's models")
    if options.stream:
        body["stream"] = True
