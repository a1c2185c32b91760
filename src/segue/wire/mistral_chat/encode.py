"""A projected conversation to the body of ``POST /v1/chat/completions`` of Mistral.

Rules are cited where they are obeyed, by their numbers in ``rules.py``. Only fields on the API's list are ever written,
and none of them as null (MIS-09).
"""

from collections.abc import Sequence
from typing import Any, assert_never

from msgspec import Struct

from ...dialects import MistralChat
from ...types import (
    AssistantMessage,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ...types.content import plain_text
from ...types.texts import BETWEEN, CLOSING, ERROR, IMAGES_BELOW, MOVED_IMAGES, OPENING, as_error
from ...types.value import encode as to_json
from ..common.chat import Call, Function, Result, Said
from ..common.dataurl import DataUrl
from ..common.images import kind_of
from ..common.outgoing import Outgoing
from ..common.turns import Turns
from .schema import repaired

Out = Outgoing[MistralChat]
Chunk = Any
"""A dict, or a struct that is written like one. A stored text without a signature looks as the API has it."""

# The levels in their order; every model knows some of them.
LEVELS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
# The API's own bounds; mistral-common allows 0 to 1 where one serves a model oneself (2026-11).
TEMPERATURES = (0.0, 1.5)


class Answer(Struct, gc=False, tag_field="role", tag="assistant", omit_defaults=True):
    content: str | list[Chunk] | None = None
    tool_calls: list[Call] | None = None


def body(out: Out, turns: "MistralTurns") -> dict[str, Any]:
    """The request body around the turns."""
    body: dict[str, Any] = {"model": out.model.id, "messages": turns.turns}
    if out.tools:
        body["tools"] = out.each_tool(_tool)
    _add_tool_choice(out, body)
    _add_reasoning(out, body)
    _add_rest(out, body)
    return body


# -- turns -----------------------------------------------------------------------------------------------------------


class State(Struct, frozen=True, gc=False):
    """``role``: of the last turn; a system prompt does not count."""

    role: str = ""


AFTER_USER, AFTER_ANSWER, AFTER_RESULT = State("user"), State("assistant"), State("tool")


class MistralTurns(Turns[MistralChat, State]):
    """One message for each rendered one, neighbours of one role unmerged (MIS-02 allows them)."""

    def __init__(self, out: Out) -> None:
        super().__init__(out, State())
        if out.system is not None:
            self.turns.append(Said("system", out.system))

    def add_result(self, message: ToolResultMessage) -> None:
        self.turns.append(self._result(message))
        self.state = AFTER_RESULT

    def add_user(self, message: UserMessage) -> None:
        self._speak(_content(message.content), self.index)

    def add_images(self, images: list[Chunk], last: int) -> None:
        self._speak([plain_text(MOVED_IMAGES), *images], last)

    def _speak(self, content: str | list[Chunk], index: int) -> None:
        """Let the user speak."""
        if self.state is AFTER_RESULT and not self.dialect.user_after_tool:
            # MIS-04: "Unexpected role 'user' after role 'tool'"
            self._fill(index, "assistant", BETWEEN, "the assistant speaks between tool results and the user")
        self.turns.append(Said("user", content))
        self.state = AFTER_USER

    def close(self) -> None:
        if self.state.role in ("", "assistant"):
            # MIS-03: "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
            self._fill(self.index, "user", CLOSING, "the conversation ends with the user")

    def _fill(self, index: int, role: str, text: str, why: str) -> None:
        self.out.note("filler-inserted", index, f"{why}: {text!r}")
        self.turns.append(Said(role, text))

    # -- answers -----------------------------------------------------------------------------------------------------

    def add_answer(self, message: AssistantMessage) -> None:
        thoughts: list[ThinkingContent] = []
        texts: list[TextContent] = []
        calls: list[Call] = []
        in_order = True  # thinking leads (MIS-12), calls have a field of their own
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
            else:
                assert_never(block)
        if signed:
            texts = self._worded(texts)
        if thoughts:
            thoughts = self._kept_thoughts(thoughts, bool(texts or calls))
        if not in_order and (texts or calls):
            self.note("blocks-reordered", "thinking comes first, and calls are apart from the text")
        self._answer(_answer_content(thoughts, texts), calls)

    def _worded(self, texts: list[TextContent]) -> list[TextContent]:
        """Texts without those that only carry a signature, for which there is no place here."""
        kept = [text for text in texts if text.text and not text.text.isspace()]
        if len(kept) < len(texts):
            self.note("empty-dropped", "a text without text")
        return kept

    def _kept_thoughts(self, thoughts: list[ThinkingContent], speaks: bool) -> list[ThinkingContent]:
        if self.dialect.own_reasoning == "none":
            # MIS-12: "Unexpected content chunk types in assistant message: ['ThinkChunk']"
            self.note("thinking-dropped", "the model does not take thinking back")
            return []
        if not speaks:
            # MIS-08: "Assistant message must have either content or tool_calls, but not none."
            self.note("thinking-dropped", "an answer of nothing but thinking has no content")
            return []
        kept = [block for block in thoughts if not block.redacted]
        if len(kept) < len(thoughts):
            self.note("thinking-dropped", "this protocol has no form for redacted thinking")
        return kept

    def _answer(self, content: str | list[Chunk] | None, calls: list[Call]) -> None:
        if content is None and not calls:
            return
        if not self.state.role:
            # A first answer with calls is not counted: "Not the same number of function calls and responses" (MIS-05).
            self._fill(self.index, "user", OPENING, "the conversation begins with the user")
            self.state = AFTER_USER
        if calls and not self.dialect.text_with_calls:
            # MIS-08: "Assistant message must have either content or tool_calls, but not both." Two neighbours are no
            # way out, as the tokenizer joins them before it refuses ("Cannot have tool calls and content defined in the
            # same assistant message", mistral-common 1.13): the user must speak between.
            if content is not None:
                self.turns.append(Answer(content))
            if content is not None or self.state is AFTER_ANSWER:
                self._fill(self.index, "user", CLOSING, "the user speaks between text and calls")
            content = None
        self.turns.append(Answer(content, calls or None))
        self.state = AFTER_ANSWER

    # -- results -----------------------------------------------------------------------------------------------------

    def _result(self, message: ToolResultMessage) -> Result:
        blocks = message.content
        if not self.dialect.images_in_results and ImageContent in map(type, blocks):
            # MIS-13: "Unexpected content chunk types in tool message: ['ImageURLChunk']"
            self.held += [_chunk(block) for block in blocks if type(block) is ImageContent]
            blocks = [block for block in blocks if type(block) is TextContent] or [plain_text(IMAGES_BELOW)]
            self.note("image-moved", "a tool message holds text only; its images follow all results")
        if message.is_error:
            blocks = self._flagged(blocks)
        return Result(message.tool_call_id, message.tool_name, _content(blocks))

    def _flagged(self, blocks: list[UserContent]) -> list[UserContent]:
        """There is no flag for a failed call, so that its first text says so."""
        for at, block in enumerate(blocks):
            if type(block) is TextContent:
                if block.text.startswith(ERROR):
                    return blocks
                self.note("error-as-text", f"the result begins with {ERROR!r}")
                return [*blocks[:at], plain_text(as_error(block.text)), *blocks[at + 1 :]]
        self.note("error-as-text", f"the result begins with {ERROR!r}")
        return [plain_text(as_error(IMAGES_BELOW)), *blocks]


def _content(blocks: Sequence[UserContent]) -> str | list[Chunk]:
    """A single text as a string, anything else as chunks."""
    if len(blocks) == 1 and type(blocks[0]) is TextContent:
        return blocks[0].text
    return [_chunk(block) for block in blocks]


def _chunk(block: UserContent) -> Chunk:
    if type(block) is ImageContent:
        return {"type": "image_url", "image_url": DataUrl(kind_of(block.data) or block.mime_type, block.data)}
    if type(block) is TextContent:
        return block if block.text_signature is None else plain_text(block.text)
    assert_never(block)


def _answer_content(thoughts: list[ThinkingContent], texts: list[TextContent]) -> str | list[Chunk] | None:
    if not thoughts:
        return _content(texts) if texts else None
    return [*map(_thinking, thoughts), *map(_chunk, texts)]


def _thinking(block: ThinkingContent) -> Chunk:
    """The chunk as the API gives it; ``signature`` is new in mistralai 3.7 and goes back where there is one."""
    said = [plain_text(block.thinking)] if block.thinking else []
    chunk = {"type": "thinking", "thinking": said, "closed": True}
    if block.thinking_signature is not None:
        chunk["signature"] = block.thinking_signature
    return chunk


# -- the rest --------------------------------------------------------------------------------------------------------


def _tool(_: MistralChat, tool: ToolDefinition) -> tuple[dict[str, Any], str | None]:
    schema = tool.schema
    adapted = repaired(schema)
    function: dict[str, Any] = {"name": tool.name}
    if tool.description.strip():
        function["description"] = tool.description
    function["parameters"] = adapted
    # MIS-11: "Invalid tool schema: …"
    why = None if adapted is schema else "what JSON Schema draft 7 does not know is left out"
    return {"type": "function", "function": function}, why


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
