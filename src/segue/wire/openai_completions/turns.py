"""The messages of a request, in the shape that the dialect wants: a fold over the rendered conversation.

Text alone is a string (TPL-09, DSK-08, OLL-05); a list of parts is used only where there are images. Results stand
directly behind their calls, each a message of its own (OAC-03), and what the dialect does not take there moves behind
the whole batch (OAC-09, KIM-03).
"""

from itertools import groupby
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from ...dialects import OpenAICompletions
from ...projection.origin import upstream_of
from ...projection.passes.images import IN_RESULT, IN_USER
from ...projection.passes.tool_interactions import EMPTY_RESULT
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
from ..common.chat import Call, Content, Function, Result, Said
from ..common.dataurl import DataUrl
from ..common.outgoing import Outgoing
from ..common.texts import BETWEEN, CLOSING, IMAGES_BELOW, MOVED_IMAGES, OPENING, as_error
from ..common.turns import OPEN, Turns
from .media import media_type
from .reasoning import EXTRA, Fields, Reasoning, extra_content, is_bound, unbound
from .shapes import Answer, Turn, last_words

Out = Outgoing[OpenAICompletions]
Part = dict[str, Any]
_write = msgspec.json.Encoder().encode
ASKED = ("user", "tool")
"""Who spoke last, when the model is to answer."""
_EMPTY: dict[str, str | UnsetType | None] = {"null": None, "empty": "", "omit": UNSET}
"""The content of an answer without text (OAC-08, TPL-01, ZAI-04)."""


class ChatTurns(Turns[OpenAICompletions]):
    """The messages so far."""

    STATE = ("_held", "_last", "_queued", "_upstream")

    def __init__(self, out: Out) -> None:
        super().__init__(out)
        self._reasoning = Reasoning(out)
        self._empty = _EMPTY[out.dialect.empty_content]
        self._last = ""  # who spoke last; the system prompt does not count, unless the user says it
        self._held: list[Part] = []  # images that wait for the whole batch of results
        self._queued: list[ToolCall] = []  # calls that wait for the result of the one before
        self._growing: Any = None  # the turn to which contents are being added, if there is one, and these
        self._added: list[Content] = []
        self._upstream: tuple[str | None, str] | None = None  # whose signed and encrypted reasoning goes back
        self._prompt()

    def extend(self) -> None:
        if not self.out.rendered.passes:
            for message in self.new():
                self._look_closer(message)  # it may be anything
            self._join()
            return
        turns, named, idle = self.turns, self.dialect.tool_name_field, self._reasoning.is_idle
        for message in self.new():
            kind = type(message)
            if kind is ToolResultMessage:
                content = message.content
                simple = not (message.is_error or named or self._queued)
                if simple and len(content) == 1 and type(block := content[0]) is TextContent:
                    turns.append(Result(message.tool_call_id, UNSET, block.text))
                    self._last = "tool"
                    continue
            elif self._held:
                pass
            elif kind is UserMessage:
                content = message.content
                if self._last == "assistant" and len(content) == 1 and type(block := content[0]) is TextContent:
                    turns.append(Said("user", block.text))
                    self._last = "user"
                    continue
            elif idle and self._last in ASKED:
                content = message.content
                if len(content) == 1 and type(block := content[0]) is TextContent and block.text_signature is None:
                    turns.append(Answer(block.text))
                    self._last = "assistant"
                    continue
                turn = self._plain_answer(content)
                if turn is not None:
                    turns.append(turn)
                    self._last = "assistant"
                    continue
            self._look_closer(message)
        self._join()

    def _look_closer(self, message: Any) -> None:
        """Take in a message of which more has to be seen to."""
        if type(message) is ToolResultMessage:
            self._result(message)
            return
        if self._held:
            self._let_go()
        if type(message) is UserMessage:
            self._user(message)
        else:
            self._answer(message)

    def closed(self, out: Out) -> list[Turn]:
        if not self._held and self._last and self._last != "assistant":
            return list(self.turns)
        end = self.fork(out)
        if end._held:
            end._let_go()
        end._close()
        end._join()
        return end.turns

    def settle(self) -> list[Turn]:
        """The last words of the user stay, too, where they get a cache marker."""
        if self.dialect.caching != "markers":
            return super().settle()
        spoken = last_words(self.turns)
        count = min(len(self.turns) if spoken is None else spoken, max(len(self.turns) - OPEN, 0))
        settled = self.turns[:count]
        del self.turns[:count]
        return settled

    # -- the system prompt, the beginning and the end ----------------------------------------------------------------

    def _prompt(self) -> None:
        """One, and first (MMX-04, TPL-03), in the role that the target knows (ZAI-03, DSK-08)."""
        if self.out.system is None:
            return
        role = self.dialect.system_role
        if role != "user":
            self.head = [Said(role, self.out.system)]
        else:
            self.turns.append(Said(role, self.out.system))
            self._last = role
            self.out.tell("system-as-text", None, "the target has no role for it: the user says it first")

    def _close(self) -> None:
        """X-07: the user or a tool has the last word; ZAI-01: a system prompt alone is refused."""
        if self._last == "" or (self._last == "assistant" and self.dialect.ends_with_user):
            self._fill("user", CLOSING, "the conversation ends with the user")

    def _fill(self, role: str, text: str, why: str) -> None:
        self.turns.append(Said(role, text) if role == "user" else Answer(text, **self._reasoning.placeholder(False)))
        self._last = role
        self.tell("filler-inserted", f"{why}: {text!r}")

    # -- the user ----------------------------------------------------------------------------------------------------

    def _user(self, message: UserMessage) -> None:
        content = message.content
        if len(content) == 1 and type(content[0]) is TextContent and content[0].text_signature is None:
            self._say(content[0].text)
        else:
            parts = self._shown(content, IN_USER)
            if parts:
                self._say(_packed(parts))
            else:
                self.tell("empty-dropped", "nothing is left in this message")

    def _let_go(self) -> None:
        """The images of a batch of results, as words of the user (OAC-09): in one message, after all of them."""
        self._say([{"type": "text", "text": MOVED_IMAGES}, *self._held])
        self._held = []

    def _add(self, turn: Any, content: Content) -> None:
        """Add to a turn. All that is added to one is joined at once, so that many cost no more than they are long."""
        if self._growing is not turn:
            self._join()
            self._growing, self._added = turn, [turn.content]
        self._added.append(content)

    def _join(self) -> None:
        if self._growing is not None:
            self._growing.content, self._growing = _joined(self._added), None

    def _say(self, content: Content) -> None:
        last = self._last
        if last == "tool" and not self.dialect.user_after_tool:  # TPL-05
            self._fill("assistant", BETWEEN, "the user does not follow a tool")
        elif last == "user" and self.dialect.alternate_roles:  # DSK-07, TPL-02
            self.tell("turns-merged", "with the user message before it")
            self._add(self.turns[-1], content)
            return
        self.turns.append(Said("user", content))
        self._last = "user"

    def _shown(self, content: list[UserContent], placeholder: str) -> list[Part]:
        parts: list[Part] = []
        for block in content:
            if type(block) is ImageContent:
                parts.append(self._image(block, placeholder))
            elif block.text.strip():  # type: ignore[union-attr]
                parts.append({"type": "text", "text": block.text})  # type: ignore[union-attr]
        return parts

    def _image(self, block: ImageContent, placeholder: str) -> Part:
        kind = media_type(block.data, block.mime_type)
        if kind is not None and self.dialect.image_parts:
            return {"type": "image_url", "image_url": {"url": DataUrl(kind, block.data)}}
        # OAC-16; DSK-08: "unknown variant `image_url`, expected `text`"
        self.tell("image-downgraded", f"the target does not read {block.mime_type}")
        return {"type": "text", "text": placeholder}

    # -- answers -----------------------------------------------------------------------------------------------------

    def _answer(self, message: AssistantMessage) -> None:
        content = message.content
        if (
            len(content) == 1
            and self._reasoning.is_idle
            and type(content[0]) is TextContent
            and content[0].text.strip()
        ):
            self._take(content[0].text, {}, [])  # the most common one
            return
        texts, thoughts, calls, late = self._sorted(message)
        if not texts and not calls:
            # "content or tool_calls must be set" (DeepSeek), and its like nearly everywhere.
            self.tell(
                "thinking-dropped" if thoughts else "empty-dropped",
                "an answer with neither text nor calls is refused",
            )
            return
        if self.dialect.upstream_field is not None and is_bound(thoughts, calls):
            self._upstream = self._upstream or upstream_of(message)
            if self._upstream != upstream_of(message):
                self.tell("signature-dropped", "only the upstream that made it can read it, and others have answered")
                thoughts, calls = unbound(thoughts, calls)
        fields: Fields = {}
        if thoughts or not self._reasoning.is_idle or _any_signed(calls):
            fields = self._reasoning.fields(self.tell, thoughts, calls)
        if "text" in late or ("thinking" in late and fields):
            self.tell("blocks-reordered", "reasoning, text, calls: that is how the fields stand")
        self._speak("\n\n".join(texts), fields, calls)

    def _plain_answer(self, content: list[AssistantContent]) -> Answer | None:
        """Texts and then calls, none of them signed, as most answers are; ``None`` where a closer look is needed."""
        texts: list[str] = []
        calls: list[Call | dict[str, Any]] = []
        for block in content:
            kind = type(block)
            if kind is TextContent and block.text_signature is None and not calls:  # type: ignore[union-attr]
                texts.append(block.text)  # type: ignore[union-attr]
            elif kind is ToolCall and block.thought_signature is None:  # type: ignore[union-attr]
                function = Function(block.name, _write(block.arguments).decode())  # type: ignore[union-attr]
                calls.append(Call(block.id, "function", function))  # type: ignore[union-attr]
            else:
                return None
        if not calls or (len(calls) > 1 and not self.dialect.parallel_calls):
            return None
        return Answer("\n\n".join(texts) if texts else self._empty, calls)

    def _sorted(self, message: AssistantMessage) -> tuple[list[str], list[ThinkingContent], list[ToolCall], set[str]]:
        """Texts, thinking for the fields, and calls; and which of the first two stood behind what they now precede."""
        texts: list[str] = []
        thoughts: list[ThinkingContent] = []
        calls: list[ToolCall] = []
        late: set[str] = set()
        for block in message.content:
            shown: str | None
            if type(block) is ToolCall:
                calls.append(block)
                continue
            if type(block) is ThinkingContent:
                shown = self._reasoning.as_text(block)
                if shown is None:
                    thoughts.append(block)
                    if texts or calls:
                        late.add("thinking")
                    continue
            else:
                shown = block.text  # type: ignore[union-attr]
                if not shown or shown.isspace():
                    continue
            texts.append(shown)
            if calls:
                late.add("text")
        return texts, thoughts, calls, late

    def _speak(self, text: str, fields: Fields, calls: list[ToolCall]) -> None:
        if text and fields and calls and not self.dialect.text_with_reasoned_calls:  # TPL-10
            self.tell("blocks-reordered", "the text stands in a message before the one with the calls")
            self._take(text, {}, [])
            text = ""
        if len(calls) > 1 and not self.dialect.parallel_calls:  # TPL-08
            self.tell("blocks-reordered", "one call at a time, each with its result")
            calls, self._queued = calls[:1], calls[1:]
        self._take(text, fields, calls)

    def _take(self, text: str, fields: Fields, calls: list[ToolCall]) -> None:
        last = self._last
        if last == "" and self.dialect.starts_with_user:  # TPL-02
            self._fill("user", OPENING, "the conversation begins with the user")
        elif last == "assistant" and self.dialect.alternate_roles:  # DSK-07, TPL-02
            if not fields:
                self._merge(text, calls)
                return
            # Its reasoning would come to stand before words that were sent without it.
            self._fill("user", CLOSING, "two answers, each with reasoning of its own")
        self.turns.append(Answer(text or self._empty, [*map(_call, calls)] if calls else UNSET, **fields))
        self._last = "assistant"

    def _merge(self, text: str, calls: list[ToolCall]) -> None:
        self.tell("turns-merged", "with the assistant message before it")
        turn = self.turns[-1]
        if text and turn.content:
            self._add(turn, text)
        elif text:
            turn.content = text
        if calls and turn.tool_calls:
            turn.tool_calls += map(_call, calls)
        elif calls:
            turn.tool_calls = [*map(_call, calls)]

    # -- results -----------------------------------------------------------------------------------------------------

    def _result(self, message: ToolResultMessage) -> None:
        blocks = message.content
        if len(blocks) == 1 and type(blocks[0]) is TextContent and blocks[0].text.strip():
            text, images = blocks[0].text, []  # the most common one
        else:
            parts = self._shown(blocks, IN_RESULT)
            images = [part for part in parts if part["type"] != "text"]
            text = "\n".join([part["text"] for part in parts if part["type"] == "text"])
        if not text:
            text = EMPTY_RESULT if not images else "" if self.dialect.images_in_results else IMAGES_BELOW
        if message.is_error and (flagged := as_error(text)) is not text:
            self.tell("error-as-text", "the protocol has no flag for it")
            text = flagged
        name = message.tool_name if self.dialect.tool_name_field else UNSET
        content = self._with_images(text, images) if images else text
        self.turns.append(Result(message.tool_call_id, name, content))
        self._last = "tool"
        if self._queued:
            self._take("", self._reasoning.placeholder(True), [self._queued.pop(0)])

    def _with_images(self, text: str, images: list[Part]) -> Content:
        if self.dialect.images_in_results:
            return _packed([*_as_parts(text), *images])
        self.tell("image-moved", "a tool message holds text only")
        self._held += images
        return text


def _call(call: ToolCall) -> Call | dict[str, Any]:
    """OAC-10: the arguments are an object, as a string."""
    function = Function(call.name, _write(call.arguments).decode())
    extra = None if call.thought_signature is None else extra_content(call.thought_signature)
    if extra is None:
        return Call(call.id, "function", function)
    return {"id": call.id, "type": "function", "function": function, EXTRA: extra}


def _any_signed(calls: list[ToolCall]) -> bool:
    for call in calls:
        if call.thought_signature is not None:
            return True
    return False


def _as_parts(content: Content) -> list[Part]:
    return ([{"type": "text", "text": content}] if content else []) if isinstance(content, str) else content


def _joined(contents: list[Content]) -> Content:
    texts = [content for content in contents if isinstance(content, str)]
    if len(texts) == len(contents):
        return "\n\n".join(texts)
    return _packed([part for content in contents for part in _as_parts(content)])


def _packed(parts: list[Part]) -> Content:
    """Parts with neighbouring texts joined (XAI-02), or one string where there is nothing but text."""
    packed: list[Part] = []
    for kind, run in groupby(parts, key=lambda part: part["type"]):
        if kind == "text":
            packed.append({"type": "text", "text": "\n\n".join(part["text"] for part in run)})
        else:
            packed += run
    if len(packed) == 1 and packed[0]["type"] == "text":
        text: str = packed[0]["text"]
        return text
    return packed
