"""Write answers of Chat Completions.

Chunks and completions are those of the SDK (openai 3.49.0, types/chat, 2026-11). Thinking is in ``reasoning_content``,
which the clients of this family read, or in the field that it came in. A chunk names its field or its call, so blocks
may interleave. An answer is one message with one text: blocks of one kind are joined.
"""

from typing import Any, assert_never

from ...dialects import REASONING_FIELDS
from ...types import AssistantContent, AssistantMessage, ProviderContent, TextContent, ThinkingContent, ToolCall
from ..common.dataurl import to_json
from ..common.openai_errors import ERRORS, openai_error
from ..common.writing import (
    AnswerForm,
    Body,
    Failed,
    Head,
    Kind,
    Stops,
    StreamWriter,
    input_of,
    split_usage,
    sse,
    stop_of,
)
from .reasoning import DETAILS, EXTRA, attached_entry, details_of, extra_content

STOPS: Stops = {
    "stop": "stop",
    "length": "length",
    "toolUse": "tool_calls",
    "error": "content_filter",
    "aborted": "stop",
}
FIELD = "reasoning_content"
DONE = "[DONE]"
_ANSWER, _CHUNK = "chat.completion", "chat.completion.chunk"


class Writer(StreamWriter):
    """Writes one answer as a stream."""

    one_at_a_time = False

    def begin(self, message: AssistantMessage) -> None:
        self._chunk = response_head(self.head, _CHUNK)
        if wants_usage(self.head):
            self._chunk["usage"] = None
        self._fields: dict[int, str] = {}  # the field of a thought, by its number
        self._calls: dict[int, int] = {}  # the index of a call, by its number
        self._kinds: dict[int, str] = {}  # the type of a call, by its number
        self._unsigned: set[int] = set()
        self._emit({"role": "assistant", "content": ""})

    def open(self, number: int, block: AssistantContent) -> None:
        if isinstance(block, ThinkingContent):
            self._fields[number] = field_of(self.head, block)
        elif isinstance(block, ToolCall):
            self._calls[number] = len(self._calls)
            call = call_body(self.head, block)
            if EXTRA not in call:
                self._unsigned.add(number)
            self._kinds[number] = call["type"]
            self._emit_call(number, call | {call["type"]: _without_arguments(call[call["type"]])})

    def add(self, number: int, kind: Kind, delta: str) -> None:
        if kind == "call":
            of_call = self._kinds[number]
            self._emit_call(number, {of_call: {"input" if of_call == "custom" else "arguments": delta}})
        else:
            self._emit({"content" if kind == "text" else self._fields[number]: delta})

    def free_text(self, call: ToolCall) -> str:
        return input_of(call)

    def close(self, number: int, block: AssistantContent | None) -> None:
        if isinstance(block, ToolCall):
            self._sign_call(number, block)
        elif isinstance(block, ThinkingContent) and self.head.own and not block.thinking:
            entries = details_of(block)
            if entries:
                self._emit({DETAILS: entries})

    def _sign_call(self, number: int, block: ToolCall) -> None:
        """Send the signature of a call if it was not known at its beginning."""
        body = call_body(self.head, block)
        if EXTRA in body and number in self._unsigned:
            self._emit_call(number, {EXTRA: body[EXTRA]})
        entry = entry_of(self.head, block)
        if entry is not None:
            self._emit({DETAILS: [entry]})

    def end(self, message: AssistantMessage, refusal: str | None) -> None:
        if refusal:
            self._emit({"refusal": refusal})
        self._emit({}, finish_reason=STOPS[stop_of(message)])
        if wants_usage(self.head):
            self.frames.append(("", self._chunk | {"choices": [], "usage": usage_body(message)}))
        self.frames.append(("", DONE))

    def fail(self, message: AssistantMessage, failed: Failed) -> None:
        self.frames.append(("", openai_error(ERRORS[failed.kind][1], failed.text)))

    def _emit_call(self, number: int, piece: Body) -> None:
        self._emit({"tool_calls": [{"index": self._calls[number], **piece}]})

    def _emit(self, delta: Body, finish_reason: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        self.frames.append(("", self._chunk | {"choices": [choice]}))


def whole(head: Head, message: AssistantMessage, refusal: str | None) -> Body:
    """The whole answer."""
    texts: list[str] = []
    thoughts: dict[str, str] = {}
    details: list[Body] = []
    calls: list[Body] = []
    for block in message.content:
        if isinstance(block, TextContent):
            texts.append(block.text)
        elif isinstance(block, ThinkingContent):
            field = field_of(head, block)
            thoughts[field] = thoughts.get(field, "") + block.thinking
            details += details_of(block) if head.own else []
        elif isinstance(block, ToolCall):
            calls.append(call_body(head, block))
            entry = entry_of(head, block)
            details += [] if entry is None else [entry]
        elif isinstance(block, ProviderContent):
            pass  # the protocol has no form for it
        else:
            assert_never(block)
    text = "".join(texts)
    body: Body = {
        "role": "assistant",
        "content": text or (None if calls or refusal else ""),
        "refusal": refusal or None,
    }
    body |= {field: thought for field, thought in thoughts.items() if thought}
    if details:
        body[DETAILS] = details
    if calls:
        body["tool_calls"] = calls
    choice = {"index": 0, "message": body, "logprobs": None, "finish_reason": STOPS[stop_of(message)]}
    return response_head(head, _ANSWER) | {"choices": [choice], "usage": usage_body(message)}


def response_head(head: Head, kind: str) -> Body:
    return {"id": head.id, "object": kind, "created": head.created, "model": head.model}


def call_body(head: Head, call: ToolCall) -> Body:
    """A whole call, with what its provider attached to it."""
    if call.kind == "custom":
        custom = {"name": call.name, "input": input_of(call)}
        return {"id": head.call_id(call.id), "type": "custom", "custom": custom}
    function = {"name": call.name, "arguments": to_json(call.arguments).decode()}
    extra = extra_content(call.thought_signature) if head.own and call.thought_signature is not None else None
    return {
        "id": head.call_id(call.id),
        "type": "function",
        "function": function,
        **({} if extra is None else {EXTRA: extra}),
    }


def _without_arguments(call: Body) -> Body:
    return {name: "" if name in ("arguments", "input") else value for name, value in call.items()}


def field_of(head: Head, block: ThinkingContent) -> str:
    """The field for a thought."""
    signature = block.thinking_signature
    if head.own and signature is not None:
        return signature if signature in REASONING_FIELDS else "reasoning"
    return FIELD


def entry_of(head: Head, call: ToolCall) -> Body | None:
    """The entry of ``reasoning_details`` that signs a call."""
    return attached_entry(call.thought_signature) if head.own and call.thought_signature is not None else None


def usage_body(message: AssistantMessage) -> Body:
    """The usage; the prompt includes what was read from and written to a cache."""
    prompt, output = split_usage(message)
    cached = {"cached_tokens": message.usage.cache_read}
    if message.usage.cache_write:
        cached["cache_write_tokens"] = message.usage.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": message.usage.total_tokens or prompt + output,
        "prompt_tokens_details": cached,
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def wants_usage(head: Head) -> bool:
    """Whether the request asks for the usage of a stream."""
    options = head.request.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def frame(name: str, data: Any) -> bytes:
    """A server-sent event; the end of a stream is not JSON."""
    return b"data: [DONE]\n\n" if data == DONE else sse(name, data)


def error(status: int, kind: str, text: str) -> Body:
    """The body of an error."""
    return openai_error(kind, text)


ANSWER_FORM = AnswerForm(
    id_prefix="chatcmpl-",
    writer=Writer,
    whole=whole,
    frame=frame,
    keepalive=lambda head: b": keepalive\n\n",
    errors=ERRORS,
    error=error,
    overflow="Your input exceeds the context window of this model",
)
