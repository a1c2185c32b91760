"""A projected conversation to the body of ``POST /v1/messages``, valid under API versions 2023-06-01 and 2026-10-21.

This file encodes the messages; ``options.py`` adds the options of a request.
Rules are cited where they are applied, by their numbers in ``rules.py``.
"""

from typing import Any, assert_never

from msgspec import Struct

from ...dialects import AnthropicMessages
from ...projection import same_origin
from ...types import (
    AssistantMessage,
    FileContent,
    ImageContent,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserContent,
    UserMessage,
    plain_text,
)
from ...types.media import type_of_file
from ...types.texts import CLOSING, OPENING
from ..common.outgoing import Outgoing
from ..common.results import hold_media, mark_failed
from ..common.turns import Mark, Turns, text_before_calls
from .media import media_type
from .options import add_options, max_tokens
from .replay import cited_again, sent_back
from .shapes import SERVER_RESULTS

Out = Outgoing[AnthropicMessages]
Block = Any
"""A dict, or a struct that is written as an object. A stored text without a signature already has the API's form."""


class Turn(Struct, gc=False):
    role: str
    content: list[Block]


class ToolUse(Struct, tag_field="type", tag="tool_use", gc=False):
    id: str
    name: str
    input: dict[str, Any]


VERSION = "anthropic_version"
"""The field of the API version, where it is not a header."""


class Thinking(Struct, tag_field="type", tag="thinking", gc=False):
    thinking: str
    signature: str


class Redacted(Struct, tag_field="type", tag="redacted_thinking", gc=False):
    data: str


class Result(Struct, tag_field="type", tag="tool_result", omit_defaults=True, gc=False):
    tool_use_id: str
    content: list[Block]
    is_error: bool = False


def body(out: Out, turns: "AnthropicTurns") -> dict[str, Any]:
    """The request body around the turns."""
    vertex = out.dialect.surface == "vertex"
    first = {VERSION: out.dialect.api_version} if vertex else {"model": out.model.id}
    body: dict[str, Any] = first | {"max_tokens": max_tokens(out)} | conversation(out, turns)
    add_options(out, body, turns.role == "assistant", turns.loop_thinks, turns.replays)
    return body


def conversation(out: Out, turns: "AnthropicTurns") -> dict[str, Any]:
    """The system prompt, the turns and the tools."""
    body: dict[str, Any] = {}
    if out.system is not None:
        body["system"] = [{"type": "text", "text": out.system}]
    body["messages"] = turns.turns
    if out.tools:
        body["tools"] = out.each_tool(_tool)
    return body


# -- turns -----------------------------------------------------------------------------------------------------------


class AnthropicTurns(Turns[AnthropicMessages]):
    """Adjacent messages of one role are joined (ANT-03), with results first (ANT-19)."""

    def __init__(self, out: Out) -> None:
        super().__init__(out)
        self.answered = False
        """Whether the last message was a result."""
        self.loop_thinks = True
        """Whether all answers of the running tool loop begin with thinking; text next to results does not end it."""
        self.replays = False
        """Whether some answer contains thinking."""
        self.servers = 0
        """The number of calls of server tools."""
        self.running: tuple[str, ...] = ()
        """The ids of those in the last turn that have no result yet."""
        self.paused = False
        """Whether the provider paused the last answer."""
        self._server_ids: dict[str, None] = {}  # in order, so that `back` can remove the last ones
        self._results_hold_all = out.dialect.images_in_results and out.dialect.files_in_results == out.dialect.files

    def add_result(self, message: ToolResultMessage) -> None:
        content = self._shown(message.content)
        if self.running:
            self._drop_running()
        if message.is_error or not self._results_hold_all:
            result = self._text_result(message, content)
        else:
            result = Result(message.tool_call_id, content)
        if self.role == "user":
            self.last().content.append(result)
        else:
            self.turns.append(Turn("user", [result]))
            self.role = "user"
        self.answered = True

    def count_open(self) -> int:
        """Also count the last two user turns, which get cache markers. Roles alternate."""
        return 3 if self.role == "user" else 4

    def back(self, mark: Mark) -> None:
        super().back(mark)
        while len(self._server_ids) > self.servers:
            self._server_ids.popitem()

    def add_user(self, message: UserMessage) -> None:
        if self.running:
            self._drop_running()
        self._add("user", self._shown(message.content))

    def add_moved(self, title: str, blocks: list[Block], last: int) -> None:
        self.last().content += [plain_text(title), *blocks]

    def add_answer(self, message: AssistantMessage) -> None:
        blocks: list[Block] = []
        thoughts = 0
        called = behind = dropped = False
        server: _ServerBlocks | None = None
        for block in message.content:
            if type(block) is TextContent:
                behind = called
                if block.text_signature is None:
                    blocks.append(block)
                elif block.text.strip():
                    blocks.append(self._cited(block))
                else:  # ANT-08, ANT-09: kept only for its signature, and texts have none in this protocol
                    dropped = True
            elif type(block) is ToolCall:
                called = True
                blocks.append(ToolUse(block.id, block.name, block.arguments))
            elif type(block) is ThinkingContent:
                thoughts += 1
                signature = block.thinking_signature or ""
                blocks.append(Redacted(signature) if block.redacted else Thinking(block.thinking, signature))
            elif type(block) is ProviderContent:
                server = server or _ServerBlocks(self._server_ids, self.running)
                returned = server.add(block)
                if returned is not None:
                    blocks.append(returned)
                elif text := self.text_instead(block):
                    behind = called
                    blocks.append(plain_text(text))
            else:
                assert_never(block)
        if behind:
            is_fixed = thoughts > 0 or same_origin(message, self.out.model)
            blocks = self._text_before_calls(blocks) if is_fixed else self._calls_last(blocks)
        if dropped:
            self.note("empty-dropped", "an empty text")
        if thoughts and thoughts == len(blocks):
            blocks = self._thinking_alone(blocks)
        self._add("assistant", blocks, thoughts > 0 and len(blocks) > 0)
        if server is not None:
            self._note_servers(server, message)

    def _cited(self, block: TextContent) -> Block:
        """A text with the citations in its signature."""
        found = cited_again(block)
        if found is None:
            self.note_uncited(block, "they are not citations of this protocol")
            return plain_text(block.text)
        return found

    def _note_servers(self, server: "_ServerBlocks", message: AssistantMessage) -> None:
        """Remember which server tools are still running, and whether the provider paused the answer for them."""
        paused = any(each.type == PAUSED for each in message.diagnostics)
        self.servers, self.running, self.paused = len(self._server_ids), tuple(server.running), paused

    def _drop_running(self) -> None:
        """Leave out calls of server tools that never got a result: "Each `server_tool_use` block must have a
        corresponding result block" (ANT-31)."""
        turn = self.last()
        kept = [block for block in turn.content if not (type(block) is dict and block.get("id") in self.running)]
        answer = max(at for at in range(self.index + 1) if type(self.out.rendered.messages[at]) is AssistantMessage)
        self.out.note("provider-content-dropped", answer, "a server tool without its result")
        if any(type(block) not in THOUGHTS for block in kept):
            turn.content = kept
        else:
            self.turns.pop()
            self.role = self.turns[-1].role if self.turns else ""
        self.answered, self.running, self.paused = False, (), False

    def _thinking_alone(self, blocks: list[Block]) -> list[Block]:
        """The blocks to send of an answer that contains only thinking."""
        # ANT-15: "The final block in an assistant message cannot be `thinking`."
        self.note("thinking-dropped", "an answer that contains only thinking is refused")
        return []

    def _add(self, role: str, blocks: list[Block], thinking: bool = False) -> None:
        """Add a message; ``thinking``: it contains thinking."""
        if blocks and self.role != role:
            if not self.role and role == "assistant":  # ANT-04
                self.out.note("filler-inserted", 0, f"the conversation begins with the user: {OPENING!r}")
                self.turns.append(Turn("user", [plain_text(OPENING)]))
            self.turns.append(Turn(role, blocks))
            self.loop_thinks = role == "user" or (self.loop_thinks and type(blocks[0]) in THOUGHTS)
            self.role = role
        elif blocks:
            if not self.answered:  # joining a user message to results is not reported
                self.note("turns-merged", f"with the {role} message before it")
            self.last().content += blocks
        self.answered = self.paused = False
        if thinking:
            self.replays = True

    def close(self) -> None:
        """End with a user message (ANT-14), also if there is nothing else to send (ANT-01). Models that still accept a
        prefill may end with an answer.

        A prefill must not end in white space (ANT-13) or with thinking (ANT-15), and must not contain thinking while
        thinking is off (ANT-39). This does not depend on options.
        """
        if self.role == "user":
            return
        if self.paused and self.turns and _has_server_blocks(self.turns[-1].content):
            return  # it continues where the provider paused it
        if self.running:
            self._drop_running()
            if self.role == "user":
                return
        if self.turns and self.dialect.prefill and _may_be_continued(self.turns[-1].content):
            return
        self.note("filler-inserted", f"the conversation ends with the user: {CLOSING!r}")
        self.turns.append(Turn("user", [plain_text(CLOSING)]))
        self.role, self.loop_thinks = "user", True

    def _calls_last(self, blocks: list[Block]) -> list[Block]:
        """Move calls to the end (ANT-16): text of another model after its calls would be read as a prefill."""
        self.note("blocks-reordered", "calls come at the end of an answer")
        return sorted(blocks, key=lambda block: type(block) is ToolUse)

    def _text_before_calls(self, blocks: list[Block]) -> list[Block]:
        """Move text at the end before the last calls: ANT-16 also applies to the target's own answers."""
        moved = text_before_calls(blocks, _is_text, lambda block: type(block) is ToolUse)
        if moved is None:
            return blocks
        self.note("blocks-reordered", "text comes before calls")
        return moved

    # -- users and results -------------------------------------------------------------------------------------------

    def _text_result(self, message: ToolResultMessage, content: list[Block]) -> Result:
        """A result without images. ANT-28: 'all content must be type "text" if "is_error" is true'"""
        content = hold_media(self, message.content, content, plain_text, message.is_error)
        flagged = message.is_error and self.dialect.error_flag
        if message.is_error and not flagged and content:
            content = mark_failed(self.note, content, plain_text)
        return Result(message.tool_call_id, content, flagged)

    def _shown(self, content: list[UserContent]) -> list[Block]:
        blocks: list[Block] = []
        for block in content:
            if type(block) is TextContent:
                blocks.append(block if block.text_signature is None else plain_text(block.text))
            elif type(block) is ImageContent:
                blocks.append(self._image(block))
            elif type(block) is FileContent:
                blocks.append(_document(block) or plain_text(self.text_instead(block)))
            else:
                assert_never(block)
        return blocks

    def _image(self, block: ImageContent) -> Block:
        if block.url is not None:
            if not self.dialect.image_urls:
                return plain_text(self.text_instead(block))
            # URLImageSourceParam (SDK anthropic 2.8.0)
            return {"type": "image", "source": {"type": "url", "url": block.url}}
        kind = media_type(block.data, block.mime_type)
        if kind is None:  # ANT-44
            return plain_text(self.text_instead(block))
        return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": block.data}}


THOUGHTS = (Thinking, Redacted)
PAUSED = "paused"
"""The diagnostic of an answer that the provider paused: the same history is sent again, and the answer continues."""


class _ServerBlocks:
    """The calls and results of server tools in one answer. Both halves of a pair go back, or neither."""

    def __init__(self, ids: dict[str, None], running: tuple[str, ...]) -> None:
        self._ids = ids
        self.running = list(running)

    def add(self, block: ProviderContent) -> Block | None:
        """The block as it came; ``None`` if the API would refuse it here."""
        raw = sent_back(block)
        if raw is None:
            return None
        if raw["type"] == "server_tool_use":
            if raw["id"] in self._ids:
                return None
            self._ids[raw["id"]] = None
            self.running.append(raw["id"])
        elif raw["type"] in SERVER_RESULTS:
            if raw["tool_use_id"] not in self.running:
                return None
            self.running.remove(raw["tool_use_id"])
        return raw


def _is_text(block: Block) -> bool:
    return type(block) is TextContent or (type(block) is dict and block["type"] == "text")


def _has_server_blocks(blocks: list[Block]) -> bool:
    return any(type(block) is dict and block["type"] != "text" for block in blocks)


LONGEST_TITLE = 500
"""The most characters of a document's title (API reference, 2026-10)."""


def _document(block: FileContent) -> Block | None:
    """A file as a document: a PDF, or plain text (DocumentBlockParam, SDK anthropic 2.8.0)."""
    mime_type = type_of_file(block)
    source: dict[str, Any]
    if mime_type == "application/pdf" and block.url is not None:
        source = {"type": "url", "url": block.url}
    elif mime_type == "application/pdf":
        source = {"type": "base64", "media_type": mime_type, "data": block.data}
    elif mime_type == "text/plain" and (text := block.text) is not None:
        source = {"type": "text", "media_type": mime_type, "data": text}
    else:
        return None
    return {"type": "document", "source": source} | ({"title": block.name[:LONGEST_TITLE]} if block.name else {})


def _may_be_continued(blocks: list[Block]) -> bool:
    last = blocks[-1]
    if type(last) is dict and last["type"] == "text":  # with citations
        last = plain_text(last["text"])
    text = last.text if type(last) is TextContent else " "
    return not text[-1:].isspace() and not any([type(block) in THOUGHTS for block in blocks])


def _tool(_: AnthropicMessages, tool: ToolDefinition, schema: dict[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": tool.name}
    if tool.description.strip():
        entry["description"] = tool.description
    entry["input_schema"] = schema  # ANT-55
    return entry
