"""OpenAI Chat Completions, the side of each provider of the family, with its quirks.

Shapes: openai 3.49.0, groq 1.7.0 and cerebras-cloud-sdk 1.91.0, the types of chunks and completions (2026-11). An
answer is one message: its reasoning in the field of the model's dialect, one text, its calls.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, assert_never

import msgspec

from ...dialects import OpenAICompletions
from ...types import AssistantContent, AssistantMessage, Model, ProviderContent, TextContent, ThinkingContent, ToolCall
from ...wire.common.writing import Head
from ...wire.openai_completions.reasoning import DETAILS, attached_entry, details_of
from ...wire.openai_completions.walk import answers, calls, many, messages
from ...wire.openai_completions.write import DONE, Writer, frame, usage_body, whole
from ..signatures import Signer
from ..voice import Answer, Body, Refusal, Voice
from .common import answer_id, frames_of, head_of, message_of, refusal_in, route_to, sse, with_id
from .completions_quirks import FAULTS, QUIRKS, Quirks
from .reasoning_details import call_entry, deltas, forged_entry, readable, thinking_entries

_TAGS = "think-tags"
_BETWEEN = "\n\n"
"""Joins the texts of a reply, and its thoughts: a message has one of each."""


def _dialect(model: Model) -> OpenAICompletions:
    assert isinstance(model.dialect, OpenAICompletions)
    return model.dialect


# -- ids and signatures ----------------------------------------------------------------------------------------------


def _complete(content: list[AssistantContent], signer: Signer, model: Model) -> list[AssistantContent]:
    """One block of thinking, one text and the calls, in the order of a message's fields."""
    thoughts: list[ThinkingContent] = []
    texts: list[str] = []
    tool_calls: list[ToolCall] = []
    for block in content:
        if isinstance(block, ThinkingContent):
            thoughts.append(block)
        elif isinstance(block, TextContent):
            texts += [block.text] if block.text else []
        elif isinstance(block, ToolCall):
            tool_calls.append(block)
        elif isinstance(block, ProviderContent):
            raise TypeError("answers of this protocol have no provider content")
        else:
            assert_never(block)
    text, tool_calls = _BETWEEN.join(texts), _with_ids(tool_calls, signer, model)
    field = _dialect(model).reasoning_field
    blocks: list[AssistantContent] = []
    if field == DETAILS:
        entries = thinking_entries(thoughts, model, signer)
        if entries:
            blocks.append(ThinkingContent("".join(map(readable, entries)), msgspec.json.encode(entries).decode()))
        if tool_calls and tool_calls[0].thought_signature is None and _dialect(model).dummy_signature is not None:
            entry = call_entry(tool_calls[0], len(entries), signer)
            tool_calls[0] = _signed(tool_calls[0], msgspec.json.encode(entry).decode())
    elif field is not None:
        thought = _BETWEEN.join([block.thinking for block in thoughts if block.thinking and not block.redacted])
        if thought:
            blocks.append(ThinkingContent(thought, None if field == _TAGS else field))
    return [*blocks, *([TextContent(text)] if text else []), *tool_calls]


def _signed(call: ToolCall, signature: str) -> ToolCall:
    return msgspec.structs.replace(call, thought_signature=signature)


def _with_ids(tool_calls: list[ToolCall], signer: Signer, model: Model) -> list[ToolCall]:
    """The calls with ids that this target accepts. Kimi's ids are counted over the conversation, and are created when
    the answer is sent."""
    form = _dialect(model).id_form
    if form == "kimi":
        return tool_calls
    prefix, length = ("", 9) if form == "nine" else ("call_", 24)
    return [with_id(call, prefix, length, signer) for call in tool_calls]


# -- the message -----------------------------------------------------------------------------------------------------


def _content(answer: Answer) -> list[AssistantContent]:
    """The blocks as they are sent: calls without an id get one that counts the calls of the conversation (Kimi), and
    thinking in tags is part of the text."""
    before = sum(len(calls(message)) for _, message in messages(answer.request))
    tagged = _dialect(answer.model).reasoning_field == _TAGS
    thought = next((block.thinking for block in answer.content if isinstance(block, ThinkingContent)), None)
    text = next((block.text for block in answer.content if isinstance(block, TextContent)), "")
    content: list[AssistantContent] = []
    if tagged and thought is not None:
        content.append(TextContent(f"<think>\n{thought}\n</think>\n\n{text}"))
    for block in answer.content:
        if isinstance(block, ToolCall):
            call_id = block.id or f"functions.{block.name}:{before}"
            before += 1
            content.append(msgspec.structs.replace(block, id=call_id))
        elif not (tagged and thought is not None):
            content.append(block)
    return content


def _message(answer: Answer, quirks: Quirks) -> AssistantMessage:
    """The answer. The text of a refusal is not content, if it has its own field."""
    content = _content(answer)
    text = "".join(block.text for block in content if isinstance(block, TextContent))
    if not (answer.stop == "error" and quirks.refusals and text):
        return message_of(answer, content)
    return message_of(answer, [block for block in content if not isinstance(block, TextContent)], text)


def _finish_reason(message: AssistantMessage, reason: str) -> str:
    """The finish reason; a refusal in its own field ends with ``stop``."""
    return "stop" if refusal_in(message) else reason


def _head(answer: Answer, quirks: Quirks) -> Head:
    head = head_of(answer, f"chatcmpl-{answer_id(answer, 14)}")
    if quirks.usage != "always":
        return head
    return msgspec.structs.replace(head, request={**answer.request, "stream_options": {"include_usage": True}})


# -- answers ---------------------------------------------------------------------------------------------------------


def _whole(answer: Answer, quirks: Quirks) -> Body:
    message = _message(answer, quirks)
    body: Body = {**whole(_head(answer, quirks), message, refusal_in(message)), **quirks.marks}
    choice = body["choices"][0]
    choice["finish_reason"] = _finish_reason(message, choice["finish_reason"])
    if not quirks.refusals:
        del choice["message"]["refusal"]
    return body


def _events(answer: Answer, quirks: Quirks) -> Iterator[bytes]:
    if quirks.opening:
        yield quirks.opening
    message = _message(answer, quirks)
    plain, entries = _without_details(message)
    chunks = (chunk for _, chunk in frames_of(plain, Writer(_head(answer, quirks))))
    for at, chunk in enumerate(_with_whole_calls(chunks) if quirks.whole_calls else chunks):
        if chunk == DONE:
            yield frame("", DONE)
            continue
        chunk |= quirks.marks
        yield sse(_adapted(chunk, at, message, quirks))
        if at == 0:
            yield from (sse(each) for each in _detail_chunks(chunk, entries))


def _adapted(chunk: Body, at: int, message: AssistantMessage, quirks: Quirks) -> Body:
    """A chunk with what this provider adds: its mark on the first one, and the usage where it reports it."""
    if at == 0 and quirks.usage == "x_groq":
        return chunk | {"x_groq": {"id": "req_standin"}}
    choice = chunk["choices"][0] if chunk["choices"] else {}
    if choice.get("finish_reason") is None:
        return chunk
    choice["finish_reason"] = _finish_reason(message, choice["finish_reason"])
    usage = usage_body(message)
    if quirks.usage == "choice":
        choice["usage"] = usage
    elif quirks.usage == "last":
        return chunk | {"usage": usage}
    elif quirks.usage == "x_groq":
        return chunk | {"x_groq": {"id": "req_standin", "usage": usage}}
    return chunk


def _with_whole_calls(chunks: Iterator[Any]) -> Iterator[Any]:
    """The chunks, with each call in one of them."""
    whole_call: Body | None = None
    for chunk in chunks:
        pieces = chunk["choices"][0]["delta"].get("tool_calls") if chunk != DONE and chunk["choices"] else None
        if pieces and whole_call is not None and "id" not in pieces[0]:
            call = whole_call["choices"][0]["delta"]["tool_calls"][0]
            for kind, field in (("function", "arguments"), ("custom", "input")):
                if kind in pieces[0]:
                    call[kind][field] += pieces[0][kind][field]
            continue
        if whole_call is not None:
            yield whole_call
        whole_call = chunk if pieces else None
        if whole_call is None:
            yield chunk


# -- reasoning_details -----------------------------------------------------------------------------------------------


def _without_details(message: AssistantMessage) -> tuple[AssistantMessage, list[Body]]:
    """The answer without ``reasoning_details``, which are streamed in their own form, and their entries."""
    content: list[AssistantContent] = []
    entries: list[Body] = []
    for block in message.content:
        if isinstance(block, ThinkingContent) and details_of(block):
            entries += details_of(block)
        elif isinstance(block, ToolCall) and (entry := attached_entry(block.thought_signature or "")) is not None:
            entries.append(entry)
            content.append(msgspec.structs.replace(block, thought_signature=None))
        else:
            content.append(block)
    return msgspec.structs.replace(message, content=content), entries


def _detail_chunks(first: Body, entries: list[Body]) -> Iterator[Body]:
    for entry in entries:
        for text, piece in deltas(entry):
            delta = {"content": "", "reasoning": text or None, DETAILS: [piece]}
            yield first | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


# -- forged signatures -----------------------------------------------------------------------------------------------


def _forged(body: Body, signer: Signer, model: Model) -> Iterable[str]:
    """Only entries of ``reasoning_details`` are signed, not plain reasoning."""
    dialect = _dialect(model)
    if dialect.reasoning_field != DETAILS:
        return
    for path, message in answers(body):
        for index, entry in enumerate(many(message.get(DETAILS))):
            place = f"{path.replace('[', '.').rstrip(']')}.content.{index}"
            fault = forged_entry(entry, place, signer, dialect.dummy_signature) if isinstance(entry, dict) else None
            if fault is not None:
                yield fault


# -- the voices ------------------------------------------------------------------------------------------------------


def _voice(quirks: Quirks) -> Voice:
    def invalid(text: str) -> Refusal:
        refusal = quirks.invalid
        return Refusal(refusal.status, refusal.kind, refusal.text.replace("{}", text))

    return Voice(
        route=route_to("/chat/completions"),
        complete=_complete,
        whole=partial(_whole, quirks=quirks),
        events=partial(_events, quirks=quirks),
        forged=_forged,
        error=quirks.error,
        error_event=lambda refusal: quirks.error_event(quirks.error(refusal)),
        broken_event=b'data: {"id": "chatcmpl-\n\n',
        invalid=invalid,
        faults={**FAULTS, **quirks.faults},
    )


VOICES = {provider: _voice(quirks) for provider, quirks in QUIRKS.items()}
VOICE = _voice(Quirks())
