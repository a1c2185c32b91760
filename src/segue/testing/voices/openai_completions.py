"""OpenAI Chat Completions, the side of each provider of the family, with its quirks.

Shapes: openai 3.49.0, groq 1.7.0 and cerebras-cloud-sdk 1.91.0, the types of chunks and completions (2026-11). An
answer is one message: its reasoning in the field of the model's dialect, one text, its calls.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, assert_never

import msgspec

from ...dialects import OpenAICompletions
from ...types import AssistantContent, Model, StopReason, TextContent, ThinkingContent, ToolCall, Usage
from ...wire.openai_completions.reasoning import DETAILS, EXTRA, extra_content
from ...wire.openai_completions.walk import answers, calls, get, many, messages
from ..signatures import Signer
from ..voice import Answer, Body, Refusal, Voice
from .common import answer_id, arguments_of, pieces, route_to, sse, with_id
from .completions_quirks import FAULTS, QUIRKS, Quirks
from .reasoning_details import call_entry, deltas, forged_entry, readable, thinking_entries

_STOPS: dict[StopReason, str] = {
    "stop": "stop",
    "length": "length",
    "toolUse": "tool_calls",
    "error": "content_filter",
    "aborted": "stop",
}
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
    return ToolCall(call.id, call.name, call.arguments, signature)


def _with_ids(tool_calls: list[ToolCall], signer: Signer, model: Model) -> list[ToolCall]:
    """The calls with ids that this target accepts. Kimi's ids are counted over the conversation, and are created when
    the answer is sent."""
    form = _dialect(model).id_form
    if form == "kimi":
        return tool_calls
    prefix, length = ("", 9) if form == "nine" else ("call_", 24)
    return [with_id(call, prefix, length, signer) for call in tool_calls]


# -- the message -----------------------------------------------------------------------------------------------------


def _calls(answer: Answer) -> list[Body]:
    """The calls of an answer, as in a message."""
    before = sum(len(calls(message)) for _, message in messages(answer.request))
    bodies: list[Body] = []
    for call in answer.content:
        if isinstance(call, ToolCall):
            call_id = call.id or f"functions.{call.name}:{before + len(bodies)}"
            function = {"name": call.name, "arguments": arguments_of(call)}
            extra = None if call.thought_signature is None else extra_content(call.thought_signature)
            attached = {} if extra is None else {EXTRA: extra}
            bodies.append({"id": call_id, "type": "function", "function": function, **attached})
    return bodies


def _thought(answer: Answer) -> ThinkingContent | None:
    return next((block for block in answer.content if isinstance(block, ThinkingContent)), None)


def _text(answer: Answer) -> str:
    """The text, after the thinking if that is in tags."""
    text = next((block.text for block in answer.content if isinstance(block, TextContent)), "")
    thought = _thought(answer)
    if thought is None or _dialect(answer.model).reasoning_field != _TAGS:
        return text
    return f"<think>\n{thought.thinking}\n</think>\n\n{text}"


def _details(answer: Answer) -> list[Body]:
    """The entries of all blocks, in their order."""
    entries: list[Body] = []
    for block in answer.content:
        signature = block.thinking_signature if isinstance(block, ThinkingContent) else None
        signature = block.thought_signature if isinstance(block, ToolCall) else signature
        if signature is not None and signature.startswith("["):
            entries += msgspec.json.decode(signature, type=list[dict[str, Any]])
        elif signature is not None and signature.startswith('{"type":"reasoning.'):
            entries.append(msgspec.json.decode(signature, type=dict[str, Any]))
    return entries


def _reasoning(answer: Answer) -> Body:
    thought, field = _thought(answer), _dialect(answer.model).reasoning_field
    if field == DETAILS:
        entries = _details(answer)
        return {"reasoning": "".join(map(readable, entries)) or None, DETAILS: entries} if entries else {}
    return {} if thought is None or field is None or field == _TAGS else {field: thought.thinking}


def _refuses(answer: Answer, quirks: Quirks) -> bool:
    return answer.stop == "error" and quirks.refusals and bool(_text(answer))


def _finish(answer: Answer, quirks: Quirks) -> str:
    return "stop" if _refuses(answer, quirks) else _STOPS[answer.stop]


def _usage(usage: Usage) -> Body:
    read: Body = {"cached_tokens": usage.cache_read}
    if usage.cache_write:
        read["cache_write_tokens"] = usage.cache_write
    return {
        "prompt_tokens": usage.input + usage.cache_read + usage.cache_write,
        "completion_tokens": usage.output,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": read,
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


# -- answers ---------------------------------------------------------------------------------------------------------


def _head(answer: Answer, kind: str, quirks: Quirks) -> Body:
    return {
        "id": f"chatcmpl-{answer_id(answer, 14)}",
        "object": kind,
        "created": answer.created,
        "model": answer.model.id,
        **quirks.marks,
    }


def _whole(answer: Answer, quirks: Quirks) -> Body:
    text, tool_calls = _text(answer), _calls(answer)
    message: Body = {"role": "assistant", "content": text or (None if tool_calls else "")}
    if quirks.refusals:
        message["refusal"] = None
    if _refuses(answer, quirks):
        message |= {"content": None, "refusal": text}
    message |= _reasoning(answer)
    if tool_calls:
        message["tool_calls"] = tool_calls
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(answer, quirks)}
    return {**_head(answer, "chat.completion", quirks), "choices": [choice], "usage": _usage(answer.usage)}


def _events(answer: Answer, quirks: Quirks) -> Iterator[bytes]:
    head = _head(answer, "chat.completion.chunk", quirks)
    if _wants_usage(answer):
        head["usage"] = None

    def chunk(delta: Body, **of_choice: Any) -> Body:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None, **of_choice}]}

    if quirks.opening:
        yield quirks.opening
    first = chunk({"role": "assistant", "content": ""})
    yield sse(first | {"x_groq": {"id": "req_standin"}} if quirks.usage == "x_groq" else first)
    for delta in _deltas(answer, quirks):
        yield sse(chunk(delta))
    for last in _last(answer, quirks, chunk({}, finish_reason=_finish(answer, quirks))):
        yield sse(last)
    yield b"data: [DONE]\n\n"


def _wants_usage(answer: Answer) -> bool:
    """Whether the request asks for the usage of a stream."""
    return get(answer.request, "stream_options", "include_usage") is True


def _last(answer: Answer, quirks: Quirks, chunk: Body) -> Iterator[Body]:
    """The chunk that ends the answer, with the usage where this provider reports it."""
    usage = _usage(answer.usage)
    if quirks.usage == "choice":
        chunk["choices"][0]["usage"] = usage
    elif quirks.usage == "last":
        chunk["usage"] = usage
    elif quirks.usage == "x_groq":
        chunk["x_groq"] = {"id": "req_standin", "usage": usage}
    yield chunk
    if _wants_usage(answer) or quirks.usage == "always":
        yield chunk | {"choices": [], "usage": usage}


def _deltas(answer: Answer, quirks: Quirks) -> Iterator[Body]:
    field, thought = _dialect(answer.model).reasoning_field, _thought(answer)
    if field == DETAILS:
        for entry in _details(answer):
            for text, piece in deltas(entry):
                yield {"content": "", "reasoning": text or None, DETAILS: [piece]}
    elif thought is not None and field is not None and field != _TAGS:
        yield from ({str(field): piece} for piece in pieces(thought.thinking))
    field_of_text = "refusal" if _refuses(answer, quirks) else "content"
    yield from ({field_of_text: piece} for piece in pieces(_text(answer)))
    for index, call in enumerate(_calls(answer)):
        yield from ({"tool_calls": [{"index": index, **piece}]} for piece in _call_pieces(call, quirks))


def _call_pieces(call: Body, quirks: Quirks) -> Iterator[Body]:
    if quirks.whole_calls:
        yield call
        return
    yield {**call, "function": {**call["function"], "arguments": ""}}
    yield from ({"function": {"arguments": piece}} for piece in pieces(call["function"]["arguments"]))


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
