"""A projected conversation to the body of ``POST /v1/chat/completions`` of Mistral.

Rules are cited where they are obeyed, by their numbers in ``rules.py``. Only fields on the API's list are ever written,
and none of them as null (MIS-09).
"""

from collections.abc import Sequence
from typing import Any

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
from ...types.value import encode as to_json
from ..common.chat import Call, Function, Result, Said
from ..common.dataurl import DataUrl
from ..common.images import kind_of
from ..common.outgoing import Outgoing
from ..common.texts import BETWEEN, CLOSING, ERROR, IMAGES_BELOW, MOVED_IMAGES, OPENING, as_error
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


def body(out: Out, turns: "MistralTurns", closed: list[Any]) -> dict[str, Any]:
    """The request body around the turns."""
    body: dict[str, Any] = {"model": out.model.id, "messages": closed}
    if out.tools:
        body["tools"] = out.each_tool(_tool)
    _add_tool_choice(out, body)
    _add_reasoning(out, body)
    _add_rest(out, body)
    return body


# -- turns -----------------------------------------------------------------------------------------------------------


class MistralTurns(Turns[MistralChat]):
    """One message for each rendered one, neighbours of one role unmerged (MIS-02 allows them)."""

    STATE = ("_held", "_role")

    def __init__(self, out: Out) -> None:
        super().__init__(out)
        if out.system is not None:
            self.turns.append(Said("system", out.system))
        self._held: list[Chunk] = []  # images that wait for the whole batch of results
        self._role = ""  # of the last turn; nobody speaks in a system prompt

    def extend(self) -> None:
        turns = self.turns
        for message in self.new():
            kind = type(message)
            content = message.content
            said = block if len(content) == 1 and type(block := content[0]) is TextContent else None
            if kind is ToolResultMessage:
                if said is None or message.is_error:
                    turns.append(self._result(message))
                else:
                    turns.append(Result(message.tool_call_id, message.tool_name, said.text))
                self._role = "tool"
                continue
            if self._held:
                turns += self._moved(self.out, self.index - 1)
                self._held, self._role = [], "user"
            if kind is UserMessage:
                if self._role == "tool":
                    turns += self._between(self.out, self.index)
                turns.append(Said("user", _content(content) if said is None else said.text))
                self._role = "user"
            elif said is None or not self._role or said.text_signature is not None:
                self._answer(message)
            else:
                turns.append(Answer(said.text))
                self._role = "assistant"

    def closed(self, out: Out) -> list[Any]:
        last = self.taken - 1 if self.taken else None
        if self._held:
            return [*self.turns, *self._moved(out, last)]
        if self._role in ("", "assistant"):
            # MIS-03: "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
            return [*self.turns, _filler(out, last, "user", CLOSING, "the conversation ends with the user")]
        return list(self.turns)

    def _between(self, out: Out, index: int | None) -> list[Said]:
        """What stands between results and the user."""
        if self.dialect.user_after_tool:
            return []
        # MIS-04: "Unexpected role 'user' after role 'tool'"
        why = "the assistant speaks between tool results and the user"
        return [_filler(out, index, "assistant", BETWEEN, why)]

    def _moved(self, out: Out, index: int | None) -> list[Said]:
        """Images that could not stand in their results."""
        return [*self._between(out, index), Said("user", [plain_text(MOVED_IMAGES), *self._held])]

    # -- answers -----------------------------------------------------------------------------------------------------

    def _answer(self, message: AssistantMessage) -> None:
        texts: list[Chunk] = []
        calls: list[Call] = []
        for block in message.content:
            kind = type(block)
            if kind is ToolCall:
                arguments = to_json(block.arguments).decode()  # type: ignore[union-attr]
                calls.append(Call(block.id, "function", Function(block.name, arguments)))  # type: ignore[union-attr]
            elif kind is TextContent and not calls and block.text_signature is None:  # type: ignore[union-attr]
                texts.append(block)
            else:
                self._sorted_answer(message)
                return
        self._say(texts[0].text if len(texts) == 1 else texts or None, calls)

    def _sorted_answer(self, message: AssistantMessage) -> None:
        """An answer that is more than texts and then calls."""
        parts: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
        rank, sorted_ = 0, True
        for block in message.content:
            at = _RANKS[type(block)]
            sorted_ = sorted_ and at >= rank
            rank = at
            parts[at].append(block)
        thoughts, texts, calls = parts
        if any([text.text_signature is not None for text in texts]):
            texts = self._worded(texts)
        if thoughts:
            thoughts = self._kept_thoughts(thoughts, bool(texts or calls))
        if not sorted_ and (texts or calls):
            self.tell("blocks-reordered", "thinking stands first, and calls stand apart from the text")
        self._say(_answer_content(thoughts, texts), [_call(block) for block in calls])

    def _worded(self, texts: list[TextContent]) -> list[TextContent]:
        """Texts without those that only carry a signature, for which there is no place here."""
        kept = [text for text in texts if text.text and not text.text.isspace()]
        if len(kept) < len(texts):
            self.tell("empty-dropped", "a text without text")
        return kept

    def _kept_thoughts(self, thoughts: list[ThinkingContent], speaks: bool) -> list[ThinkingContent]:
        if self.dialect.own_reasoning == "none":
            # MIS-12: "Unexpected content chunk types in assistant message: ['ThinkChunk']"
            self.tell("thinking-dropped", "the model does not take thinking back")
            return []
        if not speaks:
            # MIS-08: "Assistant message must have either content or tool_calls, but not none."
            self.tell("thinking-dropped", "an answer of nothing but thinking has no content")
            return []
        kept = [block for block in thoughts if not block.redacted]
        if len(kept) < len(thoughts):
            self.tell("thinking-dropped", "this protocol has no form for redacted thinking")
        return kept

    def _say(self, content: str | list[Chunk] | None, calls: list[Call]) -> None:
        if content is None and not calls:
            return
        turns = self.turns
        if not self._role:
            # A first answer with calls is not counted: "Not the same number of function calls and responses" (MIS-05).
            turns.append(_filler(self.out, self.index, "user", OPENING, "the conversation begins with the user"))
            self._role = "user"
        if calls and not self.dialect.text_with_calls:
            # MIS-08: "Assistant message must have either content or tool_calls, but not both." Two neighbours are no
            # way out, as the tokenizer joins them before it refuses ("Cannot have tool calls and content defined in the
            # same assistant message", mistral-common 1.13): the user must speak between.
            if content is not None:
                turns.append(Answer(content))
            if content is not None or self._role == "assistant":
                turns.append(_filler(self.out, self.index, "user", CLOSING, "the user speaks between text and calls"))
            content = None
        turns.append(Answer(content, calls or None))
        self._role = "assistant"

    # -- results -----------------------------------------------------------------------------------------------------

    def _result(self, message: ToolResultMessage) -> Result:
        blocks = message.content
        if not self.dialect.images_in_results and ImageContent in map(type, blocks):
            # MIS-13: "Unexpected content chunk types in tool message: ['ImageURLChunk']"
            self._held += [_chunk(block) for block in blocks if type(block) is ImageContent]
            blocks = [block for block in blocks if type(block) is TextContent] or [plain_text(IMAGES_BELOW)]
            self.tell("image-moved", "a tool message holds text only; its images follow all results")
        if message.is_error:
            blocks = self._flagged(blocks)
        return Result(message.tool_call_id, message.tool_name, _content(blocks))

    def _flagged(self, blocks: list[UserContent]) -> list[UserContent]:
        """There is no flag for a failed call, so that its first text says so."""
        first = next((at for at, block in enumerate(blocks) if type(block) is TextContent), None)
        if first is None:
            blocks, first = [plain_text(IMAGES_BELOW), *blocks], 0
        said: TextContent = blocks[first]  # type: ignore[assignment]
        if said.text.startswith(ERROR):
            return blocks
        self.tell("error-as-text", f"the result begins with {ERROR!r}")
        return [*blocks[:first], plain_text(as_error(said.text)), *blocks[first + 1 :]]


# The order in which the parts of an answer stand: thinking leads (MIS-12), calls have a field of their own.
_RANKS: dict[type[Any], int] = {ThinkingContent: 0, TextContent: 1, ToolCall: 2}


def _filler(out: Out, index: int | None, role: str, text: str, why: str) -> Said:
    out.tell("filler-inserted", index, f"{why}: {text!r}")
    return Said(role, text)


def _content(blocks: Sequence[UserContent]) -> str | list[Chunk]:
    """A single text as a string, anything else as chunks."""
    if len(blocks) == 1 and type(blocks[0]) is TextContent:
        return blocks[0].text
    return [_chunk(block) for block in blocks]


def _chunk(block: UserContent) -> Chunk:
    if type(block) is ImageContent:
        return {"type": "image_url", "image_url": DataUrl(kind_of(block.data) or block.mime_type, block.data)}
    return block if block.text_signature is None else plain_text(block.text)  # type: ignore[union-attr]


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


def _call(block: ToolCall) -> Call:
    return Call(block.id, "function", Function(block.name, to_json(block.arguments).decode()))


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
