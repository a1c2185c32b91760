"""Write the messages of a request in the form that the dialect requires: a fold over the rendered conversation.

Content that is only text is a string (TPL-09, DSK-08, OLL-05); a list of parts is used only with images. Results follow
their calls directly, each as its own message (OAC-03). Images that the dialect does not accept in a result follow the
whole batch (OAC-09, KIM-03).
"""

from itertools import groupby
from typing import Any, assert_never

from msgspec import UNSET, UnsetType

from ...dialects import OpenAICompletions
from ...dialects.openai_completions import EmptyContent
from ...projection import matches, upstream_of
from ...types import (
    AssistantMessage,
    ChangeCode,
    FileContent,
    ImageContent,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ...types.media import type_of_file
from ...types.texts import (
    BETWEEN,
    CLOSING,
    EMPTY_RESULT,
    IMAGE_OMITTED,
    OPENING,
    TOOL_IMAGE_OMITTED,
)
from ..common.chat import Call, Content, Function, Result, RoleMessage
from ..common.dataurl import DataUrl, to_json
from ..common.outgoing import Outgoing
from ..common.results import all_below, failed_text, hold
from ..common.turns import Held, Turns
from ..common.writing import input_of
from .media import media_type
from .reasoning import EXTRA, Fields, Reasoning, extra_content, is_bound, unbound
from .shapes import Answer, last_user

Out = Outgoing[OpenAICompletions]
Part = dict[str, Any]
_EMPTY: dict[EmptyContent, str | UnsetType | None] = {"null": None, "empty": "", "omit": UNSET}
"""The content of an answer without text (OAC-08, TPL-01, ZAI-04)."""


NO_FIELDS: Fields = {}
"""For answers without reasoning. Never changed."""


class ChatTurns(Turns[OpenAICompletions]):
    """The messages of a request so far. A system prompt has a role only if it is sent as a user message."""

    def __init__(self, out: Out) -> None:
        super().__init__(out)
        self.queued: tuple[ToolCall, ...] = ()
        """Calls that wait for the result of the call before."""
        self.upstream: tuple[str | None, str] | None = None
        """The one that gets signed and encrypted reasoning back."""
        self._reasoning = Reasoning(out)
        self._adds_reasoning = not self._reasoning.is_idle
        self._names_results = out.dialect.tool_name_field
        self._empty = _EMPTY[out.dialect.empty_content]
        self._growing: Any = None  # the turn to which contents are being added, if any; `_added` are these
        self._added: list[Content] = []
        self._prompt()

    def extend(self) -> None:
        super().extend()
        self._join()

    def release(self) -> None:
        super().release()
        self._join()

    def count_open(self) -> int:
        """Also count the last user message and what follows it, if it gets a cache marker."""
        last = last_user(self.turns) if self.dialect.caching == "markers" else None
        return 1 if last is None else len(self.turns) - last

    # -- the system prompt, the beginning and the end ----------------------------------------------------------------

    def _prompt(self) -> None:
        """Add the system prompt: once, first (MMX-04, TPL-03), in the role that the target knows (ZAI-03, DSK-08)."""
        if self.out.system is None:
            return
        role = self.dialect.system_role
        if role != "user":
            self.head = [RoleMessage(role, self.out.system)]
        else:
            self.turns.append(RoleMessage(role, self.out.system))
            self.role = "user"
            self.out.note("system-as-text", None, "the target has no role for it: it is sent as the first user message")

    def close(self) -> None:
        """End with the user or a tool (X-07); a system prompt alone is refused (ZAI-01)."""
        self._join()
        last = self.role
        if last == "" or (last == "assistant" and self.dialect.ends_with_user):
            self._fill("user", CLOSING, "the conversation ends with the user")

    def _fill(self, role: str, text: str, why: str) -> None:
        self.turns.append(
            RoleMessage(role, text) if role == "user" else Answer(text, **self._reasoning.placeholder(False))
        )
        self.role = role
        self.note("filler-inserted", f"{why}: {text!r}")

    # -- the user ----------------------------------------------------------------------------------------------------

    def add_user(self, message: UserMessage) -> None:
        content = message.content
        if len(content) == 1 and type(content[0]) is TextContent and content[0].text_signature is None:
            self._add_user_content(content[0].text)  # unchanged, even if no pass has seen it
        elif parts := self._parts(content, IMAGE_OMITTED):
            self._add_user_content(self._pack(parts))
        else:
            self.note("empty-dropped", "the message is empty")

    def add_moved(self, title: str, blocks: list[Part], last: int) -> None:
        """Add images and files of a batch of results in one user message after all of them (OAC-09)."""
        self._add_user_content([{"type": "text", "text": title}, *blocks])

    def _pack(self, parts: list[Part]) -> Content:
        """The parts of a message as its content."""
        return _packed(parts)

    def _grow(self, turn: Any, content: Content) -> None:
        """Add content to a turn. It is joined later in one go, so that the cost is linear in its length."""
        if self._growing is not turn:
            self._join()
            self._growing, self._added = turn, [turn.content]
        self._added.append(content)

    def _join(self) -> None:
        if self._growing is not None:
            self._growing.content, self._growing = _joined(self._added), None

    def _add_user_content(self, content: Content) -> None:
        last = self.role
        if last == "tool" and not self.dialect.user_after_tool:  # TPL-05
            self._fill("assistant", BETWEEN, "the user does not follow a tool")
        elif last == "user" and self.dialect.alternate_roles:  # DSK-07, TPL-02
            self.note("turns-merged", "with the user message before it")
            self._grow(self.last(), content)
            return
        self.turns.append(RoleMessage("user", content))
        self.role = "user"

    def _parts(self, content: list[UserContent], placeholder: str) -> list[Part]:
        parts: list[Part] = []
        for block in content:
            if type(block) is TextContent:
                if block.text.strip():
                    parts.append({"type": "text", "text": block.text})
            elif type(block) is ImageContent:
                parts.append(self._image(block, placeholder))
            elif type(block) is FileContent:
                parts.append(self._file(block) or {"type": "text", "text": self.text_instead(block)})
            else:
                assert_never(block)
        return parts

    def _file(self, block: FileContent) -> Part | None:
        """A PDF or a sound as a part (OAC-16); ``None`` if the target does not accept it."""
        mime_type = type_of_file(block)
        if block.url is not None or not matches(mime_type, self.dialect.files):
            return None
        if mime_type in AUDIO:
            self.note_unnamed(block)
            return {"type": "input_audio", "input_audio": {"data": block.data, "format": AUDIO[mime_type]}}
        data = DataUrl(mime_type, block.data)
        return {"type": "file", "file": {"filename": block.name or UNNAMED, "file_data": data}}

    def _image(self, block: ImageContent, placeholder: str) -> Part:
        if block.url is not None:
            if self.dialect.image_urls and self.dialect.image_parts:
                return {"type": "image_url", "image_url": {"url": block.url}}
            return {"type": "text", "text": self.text_instead(block)}
        kind = media_type(block.data, block.mime_type)
        if kind is not None and self.dialect.image_parts:
            return {"type": "image_url", "image_url": {"url": DataUrl(kind, block.data)}}
        # OAC-16; DSK-08: "unknown variant `image_url`, expected `text`"
        self.note("image-downgraded", f"the target does not read {block.mime_type}")
        return {"type": "text", "text": placeholder}

    # -- answers -----------------------------------------------------------------------------------------------------

    def add_answer(self, message: AssistantMessage) -> None:
        texts: list[str] = []
        thoughts: list[ThinkingContent] = []  # for the fields
        calls: list[ToolCall] = []
        late_text = late_thinking = signed = False  # late: it moves forward
        for block in message.content:
            if type(block) is TextContent:
                text = block.text
                if text and not text.isspace():
                    texts.append(text)
                    if calls:
                        late_text = True
                if block.text_signature is not None:
                    self.note_uncited(block, "the requests of this protocol have no place for them")
            elif type(block) is ToolCall:
                calls.append(block)
                if block.thought_signature is not None:
                    signed = True
            elif type(block) is ThinkingContent:
                shown = self._reasoning.as_text(block)
                if shown is None:
                    thoughts.append(block)
                    if texts or calls:
                        late_thinking = True
                else:
                    texts.append(shown)
                    if calls:
                        late_text = True
            elif type(block) is ProviderContent:
                if text := self.text_instead(block):
                    texts.append(text)
                    late_text = late_text or bool(calls)
            else:
                assert_never(block)
        if not texts and not calls and not self._may_be_empty(thoughts):
            return
        fields = NO_FIELDS
        if thoughts or signed or self._adds_reasoning:
            thoughts, calls = self._of_one_upstream(message, thoughts, calls)
            signed_calls = self._reasoning.signed_calls(calls)
            fields = self._reasoning.fields(self.note, thoughts, signed_calls)
            filled = self._adds_reasoning and bool(fields) and not thoughts
            self.added = self.added or filled or signed_calls is not calls
            calls = signed_calls
        if late_text or (late_thinking and fields):
            self.note("blocks-reordered", "the fields have the order reasoning, text, calls")
        content = self._joined_texts(texts)
        if fields and content and calls and not self.dialect.text_with_reasoned_calls:  # TPL-10
            self.note("blocks-reordered", "the text is in a message before the one with the calls")
            self._add_answer_turn(content, {}, [])
            content = ""
        if len(calls) > 1 and not self.dialect.parallel_calls:  # TPL-08
            self.note("blocks-reordered", "one call at a time, each with its result")
            self.queued = tuple(calls[1:])
            calls = calls[:1]
        self._add_answer_turn(content, fields, calls)

    def _may_be_empty(self, thoughts: list[ThinkingContent]) -> bool:
        """Whether an answer with neither text nor calls is sent."""
        # "content or tool_calls must be set" (DeepSeek), and its like nearly everywhere.
        code: ChangeCode = "thinking-dropped" if thoughts else "empty-dropped"
        self.note(code, "an answer with neither text nor calls is refused")
        return False

    def _joined_texts(self, texts: list[str]) -> Content:
        """The texts of an answer as its content."""
        return "\n\n".join(texts)

    def _of_one_upstream(
        self, message: AssistantMessage, thoughts: list[ThinkingContent], calls: list[ToolCall]
    ) -> tuple[list[ThinkingContent], list[ToolCall]]:
        """Keep signatures of one upstream only: the first that signed anything."""
        if self.dialect.upstream_field is None or not is_bound(thoughts, calls):
            return thoughts, calls
        upstream = upstream_of(message)
        if self.upstream is None:
            self.upstream = upstream
        elif self.upstream != upstream:
            self.note(
                "signature-dropped", "only the upstream that made it can read it, and another one has answered since"
            )
            return unbound(thoughts, calls)
        return thoughts, calls

    def _add_answer_turn(self, text: Content, fields: Fields, calls: list[ToolCall]) -> None:
        last = self.role
        if last == "" and self.dialect.starts_with_user:  # TPL-02
            self._fill("user", OPENING, "the conversation begins with the user")
        elif last == "assistant" and self.dialect.alternate_roles:  # DSK-07, TPL-02
            if not fields:
                self._merge(text, calls)
                return
            # Merged, its reasoning would come before text that was sent without it.
            self._fill("user", CLOSING, "two answers, each with its own reasoning")
        answer = Answer(text or self._empty, [_call(call) for call in calls] if calls else UNSET)
        if fields:
            for name, value in fields.items():
                setattr(answer, name, value)
        self.turns.append(answer)
        self.role = "assistant"

    def _merge(self, text: Content, calls: list[ToolCall]) -> None:
        self.note("turns-merged", "with the assistant message before it")
        turn = self.last()
        if text and turn.content:
            self._grow(turn, text)
        elif text:
            turn.content = text
        if calls and turn.tool_calls:
            turn.tool_calls += map(_call, calls)
        elif calls:
            turn.tool_calls = [*map(_call, calls)]

    # -- results -----------------------------------------------------------------------------------------------------

    def add_result(self, message: ToolResultMessage) -> None:
        texts: list[str] = []
        inside: list[Part] = []
        held: list[Held] = []
        for block in message.content:
            if type(block) is TextContent:
                if block.text.strip():
                    texts.append(block.text)
            elif type(block) is ImageContent:
                part = self._image(block, TOOL_IMAGE_OMITTED)
                if part["type"] == "text":
                    texts.append(part["text"])
                elif self.dialect.images_in_results:
                    inside.append(part)
                else:
                    held.append(("image", part))
            elif type(block) is FileContent:
                file = self._file(block)
                if file is None:
                    texts.append(self.text_instead(block))
                elif matches(type_of_file(block), self.dialect.files_in_results):
                    inside.append(file)
                else:
                    held.append(("file", file))
            else:
                assert_never(block)
        text = "\n".join(texts)
        if not text:
            text = "" if inside else all_below(held) if held else EMPTY_RESULT
        if message.is_error:
            text = failed_text(self.note, text)
        name = message.tool_name if self._names_results else UNSET
        content = self._pack([*_as_parts(text), *inside]) if inside else text
        if held:
            hold(self, held)
        self.turns.append(Result(message.tool_call_id, name, content))
        self.role = "tool"
        if queued := self.queued:
            self.queued = queued[1:]
            self._add_answer_turn("", self._reasoning.placeholder(True), [queued[0]])


AUDIO = {"audio/wav": "wav", "audio/mpeg": "mp3"}
"""ChatCompletionContentPartInputAudioParam.format (SDK openai 3.49.0)."""
UNNAMED = "document.pdf"
"""The name of a file without one: data needs a name."""


def _call(call: ToolCall) -> Call | dict[str, Any]:
    """Write a call; its arguments are a JSON object in a string (OAC-10). A free-text call has a text."""
    extra = None if call.thought_signature is None else extra_content(call.thought_signature)
    signed = {} if extra is None else {EXTRA: extra}
    if call.kind is not None:  # ChatCompletionMessageCustomToolCallParam (SDK openai 3.49.0)
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": input_of(call)}, **signed}
    function = Function(call.name, to_json(call.arguments).decode())
    if not signed:
        return Call(call.id, "function", function)
    return {"id": call.id, "type": "function", "function": function, **signed}


def _as_parts(content: Content) -> list[Part]:
    return ([{"type": "text", "text": content}] if content else []) if isinstance(content, str) else content


def _joined(contents: list[Content]) -> Content:
    texts = [content for content in contents if isinstance(content, str)]
    if len(texts) == len(contents):
        return "\n\n".join(texts)
    return _packed([part for content in contents for part in _as_parts(content)])


def _packed(parts: list[Part]) -> Content:
    """The parts with adjacent texts joined (XAI-02), or one string if there is only text."""
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
