"""The messages of a request, in the shape that the dialect wants: a fold over the rendered conversation.

Text alone is a string (TPL-09, DSK-08, OLL-05); a list of parts is used only where there are images. Results stand
directly behind their calls, each a message of its own (OAC-03), and what the dialect does not take there moves behind
the whole batch (OAC-09, KIM-03).
"""

from typing import Any

import msgspec
from msgspec import Struct

from ...dialects import OpenAICompletions
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
from ..common.dataurl import DataUrl
from ..common.outgoing import Outgoing
from ..common.texts import BETWEEN, CLOSING, IMAGES_BELOW, MOVED_IMAGES, OPENING, as_error
from ..common.turns import OPEN, Turns
from .media import media_type
from .reasoning import EXTRA, Fields, Reasoning, extra_content

Out = Outgoing[OpenAICompletions]
Turn = dict[str, Any]
Part = dict[str, Any]
Content = str | list[Part]

_write = msgspec.json.Encoder().encode


class Function(Struct, gc=False):
    name: str
    arguments: str


class Call(Struct, gc=False):
    id: str
    type: str
    function: Function


class ChatTurns(Turns[OpenAICompletions]):
    """The messages so far."""

    STATE = ("_held", "_last", "_queued")

    def __init__(self, out: Out) -> None:
        super().__init__(out)
        self._reasoning = Reasoning(out)
        self._last = ""  # who spoke last; the system prompt does not count, unless the user says it
        self._held: list[Part] = []  # images that wait for the whole batch of results
        self._queued: list[ToolCall] = []  # calls that wait for the result of the one before
        self._prompt()

    def extend(self) -> None:
        messages, turns, named = self.out.rendered.messages, self.turns, self.dialect.tool_name_field
        idle = self._reasoning.is_idle
        for index, message in enumerate(messages[self.taken :] if self.taken else messages, self.taken):
            kind, content = type(message), message.content
            text = ""
            if len(content) == 1 and type(block := content[0]) is TextContent and block.text_signature is None:
                text = block.text
            if kind is ToolResultMessage:
                if text and not message.is_error and not named and not self._queued and not text.isspace():  # type: ignore[union-attr]
                    turns.append({"role": "tool", "tool_call_id": message.tool_call_id, "content": text})  # type: ignore[union-attr]
                    self._last = "tool"
                else:
                    self._result(index, message)  # type: ignore[arg-type]
                continue
            if self._held:
                self._let_go(index)
            if kind is UserMessage:
                if text and self._last == "assistant":
                    turns.append({"role": "user", "content": text})
                    self._last = "user"
                else:
                    self._user(index, message)  # type: ignore[arg-type]
            elif text and idle and self._last in ("user", "tool") and not text.isspace():
                turns.append({"role": "assistant", "content": text})
                self._last = "assistant"
            elif idle and self._last in ("user", "tool") and (turn := self._plain_answer(content)) is not None:  # type: ignore[arg-type]
                turns.append(turn)
                self._last = "assistant"
            else:
                self._answer(index, message)  # type: ignore[arg-type]
        self.taken = len(messages)

    def closed(self, out: Out) -> list[Turn]:
        if not self._held and self._last and self._last != "assistant":
            return list(self.turns)
        end = self.fork(out)
        if end._held:
            end._let_go(self.taken - 1)
        end._close()
        return end.turns

    def settle(self) -> list[Turn]:
        """The last words of the user stay, too, where they get a cache marker."""
        if self.dialect.caching != "markers":
            return super().settle()
        spoken = [at for at, turn in enumerate(self.turns) if turn["role"] == "user"][-1:]
        count = min(spoken[0] if spoken else len(self.turns), max(len(self.turns) - OPEN, 0))
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
            self.head = [{"role": role, "content": self.out.system}]
        else:
            self.turns.append({"role": role, "content": self.out.system})
            self._last = role
            self.out.tell("system-as-text", None, "the target has no role for it: the user says it first")

    def _close(self) -> None:
        """X-07: the user or a tool has the last word; ZAI-01: a system prompt alone is refused."""
        if self._last == "" or (self._last == "assistant" and self.dialect.ends_with_user):
            self._fill("user", CLOSING, self.taken - 1, "the conversation ends with the user")

    def _fill(self, role: str, text: str, index: int, why: str) -> None:
        turn = {"role": role, "content": text}
        self.turns.append(turn if role == "user" else turn | self._reasoning.placeholder(False))
        self._last = role
        self.out.tell("filler-inserted", index, f"{why}: {text!r}")

    # -- the user ----------------------------------------------------------------------------------------------------

    def _user(self, index: int, message: UserMessage) -> None:
        content = message.content
        if len(content) == 1 and type(content[0]) is TextContent and content[0].text_signature is None:
            self._say(index, content[0].text)
        else:
            parts = self._shown(index, content, IN_USER)
            if parts:
                self._say(index, _packed(parts))
            else:
                self.out.tell("empty-dropped", index, "nothing is left in this message")

    def _let_go(self, index: int) -> None:
        """The images of a batch of results, as words of the user (OAC-09): in one message, after all of them."""
        self._say(index, [{"type": "text", "text": MOVED_IMAGES}, *self._held])
        self._held = []

    def _say(self, index: int, content: Content) -> None:
        last = self._last
        if last == "tool" and not self.dialect.user_after_tool:  # TPL-05
            self._fill("assistant", BETWEEN, index, "the user does not follow a tool")
        elif last == "user" and self.dialect.alternate_roles:  # DSK-07, TPL-02
            self.out.tell("turns-merged", index, "with the user message before it")
            self.turns[-1]["content"] = _joined(self.turns[-1]["content"], content)
            return
        self.turns.append({"role": "user", "content": content})
        self._last = "user"

    def _shown(self, index: int, content: list[UserContent], placeholder: str) -> list[Part]:
        parts: list[Part] = []
        for block in content:
            if type(block) is ImageContent:
                parts.append(self._image(index, block, placeholder))
            elif block.text.strip():  # type: ignore[union-attr]
                parts.append({"type": "text", "text": block.text})  # type: ignore[union-attr]
        return parts

    def _image(self, index: int, block: ImageContent, placeholder: str) -> Part:
        kind = media_type(block.data, block.mime_type)
        if kind is not None and self.dialect.image_parts:
            return {"type": "image_url", "image_url": {"url": DataUrl(kind, block.data)}}
        # OAC-16; DSK-08: "unknown variant `image_url`, expected `text`"
        self.out.tell("image-downgraded", index, f"the target does not read {block.mime_type}")
        return {"type": "text", "text": placeholder}

    # -- answers -----------------------------------------------------------------------------------------------------

    def _answer(self, index: int, message: AssistantMessage) -> None:
        content = message.content
        if (
            len(content) == 1
            and self._reasoning.is_idle
            and type(content[0]) is TextContent
            and content[0].text.strip()
        ):
            self._take(index, content[0].text, {}, [])  # the most common one
            return
        texts, thoughts, calls, late = self._sorted(message)
        if not texts and not calls:
            # "content or tool_calls must be set" (DeepSeek), and its like nearly everywhere.
            self.out.tell(
                "thinking-dropped" if thoughts else "empty-dropped",
                index,
                "an answer with neither text nor calls is refused",
            )
            return
        fields: Fields = {}
        if thoughts or not self._reasoning.is_idle or _any_signed(calls):
            fields = self._reasoning.fields(index, thoughts, calls)
        if "text" in late or ("thinking" in late and fields):
            self.out.tell("blocks-reordered", index, "reasoning, text, calls: that is how the fields stand")
        self._speak(index, "\n\n".join(texts), fields, calls)

    def _plain_answer(self, content: list[AssistantContent]) -> Turn | None:
        """Texts and then calls, none of them signed, as most answers are; ``None`` where a closer look is needed."""
        texts: list[str] = []
        calls: list[Call | dict[str, Any]] = []
        for block in content:
            kind = type(block)
            if kind is TextContent and not calls:
                text = block.text  # type: ignore[union-attr]
                if text and not text.isspace():
                    texts.append(text)
            elif kind is ToolCall and block.thought_signature is None:  # type: ignore[union-attr]
                calls.append(_call(block))  # type: ignore[arg-type]
            else:
                return None
        if not calls or (len(calls) > 1 and not self.dialect.parallel_calls):
            return None
        turn: Turn = {"role": "assistant"}
        if texts:
            turn["content"] = "\n\n".join(texts)
        elif self.dialect.empty_content != "omit":  # OAC-08, TPL-01, ZAI-04
            turn["content"] = None if self.dialect.empty_content == "null" else ""
        turn["tool_calls"] = calls
        return turn

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

    def _speak(self, index: int, text: str, fields: Fields, calls: list[ToolCall]) -> None:
        if text and fields and calls and not self.dialect.text_with_reasoned_calls:  # TPL-10
            self.out.tell("blocks-reordered", index, "the text stands in a message before the one with the calls")
            self._take(index, text, {}, [])
            text = ""
        if len(calls) > 1 and not self.dialect.parallel_calls:  # TPL-08
            self.out.tell("blocks-reordered", index, "one call at a time, each with its result")
            calls, self._queued = calls[:1], calls[1:]
        self._take(index, text, fields, calls)

    def _take(self, index: int, text: str, fields: Fields, calls: list[ToolCall]) -> None:
        last = self._last
        if last == "" and self.dialect.starts_with_user:  # TPL-02
            self._fill("user", OPENING, index, "the conversation begins with the user")
        elif last == "assistant" and self.dialect.alternate_roles:  # DSK-07, TPL-02
            if not fields:
                self._merge(index, text, calls)
                return
            # Its reasoning would come to stand before words that were sent without it.
            self._fill("user", CLOSING, index, "two answers, each with reasoning of its own")
        turn: Turn = {"role": "assistant"}
        if text:
            turn["content"] = text
        elif self.dialect.empty_content != "omit":  # OAC-08, TPL-01, ZAI-04
            turn["content"] = None if self.dialect.empty_content == "null" else ""
        if fields:
            turn |= fields
        if calls:
            turn["tool_calls"] = [*map(_call, calls)]
        self.turns.append(turn)
        self._last = "assistant"

    def _merge(self, index: int, text: str, calls: list[ToolCall]) -> None:
        self.out.tell("turns-merged", index, "with the assistant message before it")
        turn = self.turns[-1]
        if text:
            turn["content"] = "\n\n".join(part for part in (turn.get("content"), text) if part)
        if calls:
            turn["tool_calls"] = turn.get("tool_calls", []) + [_call(call) for call in calls]

    # -- results -----------------------------------------------------------------------------------------------------

    def _result(self, index: int, message: ToolResultMessage) -> None:
        blocks = message.content
        if len(blocks) == 1 and type(blocks[0]) is TextContent and blocks[0].text.strip():
            text, images = blocks[0].text, []  # the most common one
        else:
            parts = self._shown(index, blocks, IN_RESULT)
            images = [part for part in parts if part["type"] != "text"]
            text = "\n".join([part["text"] for part in parts if part["type"] == "text"])
        if not text:
            text = EMPTY_RESULT if not images else "" if self.dialect.images_in_results else IMAGES_BELOW
        if message.is_error and (flagged := as_error(text)) is not text:
            self.out.tell("error-as-text", index, "the protocol has no flag for it")
            text = flagged
        turn: Turn = {"role": "tool", "tool_call_id": message.tool_call_id}
        if self.dialect.tool_name_field:
            turn["name"] = message.tool_name
        turn["content"] = self._with_images(index, text, images) if images else text
        self.turns.append(turn)
        self._last = "tool"
        if self._queued:
            self._take(index, "", self._reasoning.placeholder(True), [self._queued.pop(0)])

    def _with_images(self, index: int, text: str, images: list[Part]) -> Content:
        if self.dialect.images_in_results:
            return _packed([*_as_parts(text), *images])
        self.out.tell("image-moved", index, "a tool message holds text only")
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


def _joined(one: Content, other: Content) -> Content:
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n\n{other}"
    return _packed([*_as_parts(one), *_as_parts(other)])


def _packed(parts: list[Part]) -> Content:
    """Parts with neighbouring texts joined (XAI-02), or one string where there is nothing but text."""
    packed: list[Part] = []
    for part in parts:
        if packed and part["type"] == "text" == packed[-1]["type"]:
            packed[-1] = {"type": "text", "text": f"{packed[-1]['text']}\n\n{part['text']}"}
        else:
            packed.append(part)
    if len(packed) == 1 and packed[0]["type"] == "text":
        text: str = packed[0]["text"]
        return text
    return packed
