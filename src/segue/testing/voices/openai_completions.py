"""OpenAI Chat Completions as the providers of the family speak it, each in its manner.

Shapes: openai 3.49.0, groq 1.7.0 and cerebras-cloud-sdk 1.91.0, the types of chunks and completions (2026-11). An
answer is one message: its reasoning in the field that the model's dialect names, one text, its calls.
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
from ..voice import Body, Refusal, Spoken, Voice
from .common import answer_id, arguments_of, pieces, route_to, sse, with_id
from .completions_manners import FAULTS, MANNERS, Manner
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
"""Between the texts of a reply, and between its thoughts: a message has one of each."""


def _dialect(model: Model) -> OpenAICompletions:
    assert isinstance(model.dialect, OpenAICompletions)
    return model.dialect


# -- what the provider makes -----------------------------------------------------------------------------------------


def _complete(content: list[AssistantContent], signer: Signer, model: Model) -> list[AssistantContent]:
    """One block of thinking, one text, the calls: all that a message has, in the order of its fields."""
    thoughts: list[ThinkingContent] = []
    texts: list[str] = []
    asked: list[ToolCall] = []
    for block in content:
        if isinstance(block, ThinkingContent):
            thoughts.append(block)
        elif isinstance(block, TextContent):
            texts += [block.text] if block.text else []
        elif isinstance(block, ToolCall):
            asked.append(block)
        else:
            assert_never(block)
    text, called = _BETWEEN.join(texts), _with_ids(asked, signer, model)
    field = _dialect(model).reasoning_field
    made: list[AssistantContent] = []
    if field == DETAILS:
        entries = thinking_entries(thoughts, model, signer)
        if entries:
            made.append(ThinkingContent("".join(map(readable, entries)), msgspec.json.encode(entries).decode()))
        if called and called[0].thought_signature is None and _dialect(model).dummy_signature is not None:
            called[0] = _signed(called[0], msgspec.json.encode(call_entry(called[0], len(entries), signer)).decode())
    elif field is not None:
        thought = _BETWEEN.join([block.thinking for block in thoughts if block.thinking and not block.redacted])
        if thought:
            made.append(ThinkingContent(thought, None if field == _TAGS else field))
    return [*made, *([TextContent(text)] if text else []), *called]


def _signed(call: ToolCall, signature: str) -> ToolCall:
    return ToolCall(call.id, call.name, call.arguments, signature)


def _with_ids(called: list[ToolCall], signer: Signer, model: Model) -> list[ToolCall]:
    """Calls with ids that this target takes back. Those of Kimi count over the conversation, and are made when the
    answer to a request is spoken."""
    form = _dialect(model).id_form
    if form == "kimi":
        return called
    prefix, length = ("", 9) if form == "nine" else ("call_", 24)
    return [with_id(call, prefix, length, signer) for call in called]


# -- the message -----------------------------------------------------------------------------------------------------


def _called(spoken: Spoken) -> list[Body]:
    """The calls of an answer as a message has them."""
    before = sum(len(calls(message)) for _, message in messages(spoken.asked))
    made: list[Body] = []
    for call in spoken.content:
        if isinstance(call, ToolCall):
            call_id = call.id or f"functions.{call.name}:{before + len(made)}"
            function = {"name": call.name, "arguments": arguments_of(call)}
            extra = None if call.thought_signature is None else extra_content(call.thought_signature)
            attached = {} if extra is None else {EXTRA: extra}
            made.append({"id": call_id, "type": "function", "function": function, **attached})
    return made


def _thought(spoken: Spoken) -> ThinkingContent | None:
    return next((block for block in spoken.content if isinstance(block, ThinkingContent)), None)


def _text(spoken: Spoken) -> str:
    """The text, behind the thinking where that stands in tags before it."""
    text = next((block.text for block in spoken.content if isinstance(block, TextContent)), "")
    thought = _thought(spoken)
    if thought is None or _dialect(spoken.model).reasoning_field != _TAGS:
        return text
    return f"<think>\n{thought.thinking}\n</think>\n\n{text}"


def _details(spoken: Spoken) -> list[Body]:
    """The entries of all blocks, in the order in which they were made."""
    entries: list[Body] = []
    for block in spoken.content:
        held = block.thinking_signature if isinstance(block, ThinkingContent) else None
        held = block.thought_signature if isinstance(block, ToolCall) else held
        if held is not None and held.startswith("["):
            entries += msgspec.json.decode(held, type=list[dict[str, Any]])
        elif held is not None and held.startswith('{"type":"reasoning.'):
            entries.append(msgspec.json.decode(held, type=dict[str, Any]))
    return entries


def _reasoning(spoken: Spoken) -> Body:
    thought, field = _thought(spoken), _dialect(spoken.model).reasoning_field
    if field == DETAILS:
        entries = _details(spoken)
        return {"reasoning": "".join(map(readable, entries)) or None, DETAILS: entries} if entries else {}
    return {} if thought is None or field is None or field == _TAGS else {field: thought.thinking}


def _refuses(spoken: Spoken, manner: Manner) -> bool:
    return spoken.stop == "error" and manner.refusals and bool(_text(spoken))


def _finish(spoken: Spoken, manner: Manner) -> str:
    return "stop" if _refuses(spoken, manner) else _STOPS[spoken.stop]


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


def _head(spoken: Spoken, kind: str, manner: Manner) -> Body:
    return {
        "id": f"chatcmpl-{answer_id(spoken, 14)}",
        "object": kind,
        "created": spoken.created,
        "model": spoken.model.id,
        **manner.marks,
    }


def _whole(spoken: Spoken, manner: Manner) -> Body:
    text, called = _text(spoken), _called(spoken)
    message: Body = {"role": "assistant", "content": text or (None if called else "")}
    if manner.refusals:
        message["refusal"] = None
    if _refuses(spoken, manner):
        message |= {"content": None, "refusal": text}
    message |= _reasoning(spoken)
    if called:
        message["tool_calls"] = called
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(spoken, manner)}
    return {**_head(spoken, "chat.completion", manner), "choices": [choice], "usage": _usage(spoken.usage)}


def _events(spoken: Spoken, manner: Manner) -> Iterator[bytes]:
    head = _head(spoken, "chat.completion.chunk", manner)
    if _counts(spoken):
        head["usage"] = None

    def chunk(delta: Body, **of_choice: Any) -> Body:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None, **of_choice}]}

    if manner.opening:
        yield manner.opening
    first = chunk({"role": "assistant", "content": ""})
    yield sse(first | {"x_groq": {"id": "req_standin"}} if manner.usage == "x_groq" else first)
    for delta in _deltas(spoken, manner):
        yield sse(chunk(delta))
    for last in _last(spoken, manner, chunk({}, finish_reason=_finish(spoken, manner))):
        yield sse(last)
    yield b"data: [DONE]\n\n"


def _counts(spoken: Spoken) -> bool:
    """Whether the request asks for the tokens of a stream."""
    return get(spoken.asked, "stream_options", "include_usage") is True


def _last(spoken: Spoken, manner: Manner, chunk: Body) -> Iterator[Body]:
    """The chunk that ends the answer, and the tokens wherever this provider counts them."""
    usage = _usage(spoken.usage)
    if manner.usage == "choice":
        chunk["choices"][0]["usage"] = usage
    elif manner.usage == "last":
        chunk["usage"] = usage
    elif manner.usage == "x_groq":
        chunk["x_groq"] = {"id": "req_standin", "usage": usage}
    yield chunk
    if _counts(spoken) or manner.usage == "always":
        yield chunk | {"choices": [], "usage": usage}


def _deltas(spoken: Spoken, manner: Manner) -> Iterator[Body]:
    field, thought = _dialect(spoken.model).reasoning_field, _thought(spoken)
    if field == DETAILS:
        for entry in _details(spoken):
            for text, piece in deltas(entry):
                yield {"content": "", "reasoning": text or None, DETAILS: [piece]}
    elif thought is not None and field is not None and field != _TAGS:
        yield from ({str(field): piece} for piece in pieces(thought.thinking))
    said = "refusal" if _refuses(spoken, manner) else "content"
    yield from ({said: piece} for piece in pieces(_text(spoken)))
    for index, call in enumerate(_called(spoken)):
        yield from ({"tool_calls": [{"index": index, **piece}]} for piece in _call_pieces(call, manner))


def _call_pieces(call: Body, manner: Manner) -> Iterator[Body]:
    if manner.whole_calls:
        yield call
        return
    yield {**call, "function": {**call["function"], "arguments": ""}}
    yield from ({"function": {"arguments": piece}} for piece in pieces(call["function"]["arguments"]))


# -- what it did not make --------------------------------------------------------------------------------------------


def _forged(body: Body, signer: Signer, model: Model) -> Iterable[str]:
    """Only entries of ``reasoning_details`` are signed; plain reasoning anybody may write."""
    dialect = _dialect(model)
    if dialect.reasoning_field != DETAILS:
        return
    for path, message in answers(body):
        for index, entry in enumerate(many(message.get(DETAILS))):
            place = f"{path.replace('[', '.').rstrip(']')}.content.{index}"
            said = forged_entry(entry, place, signer, dialect.dummy_signature) if isinstance(entry, dict) else None
            if said is not None:
                yield said


# -- the voices ------------------------------------------------------------------------------------------------------


def _voice(manner: Manner) -> Voice:
    def invalid(words: str) -> Refusal:
        refused = manner.invalid
        return Refusal(refused.status, refused.kind, refused.text.replace("{}", words))

    return Voice(
        route=route_to("/chat/completions"),
        complete=_complete,
        whole=partial(_whole, manner=manner),
        events=partial(_events, manner=manner),
        forged=_forged,
        error=manner.error,
        error_event=lambda refusal: manner.error_event(manner.error(refusal)),
        broken_event=b'data: {"id": "chatcmpl-\n\n',
        invalid=invalid,
        faults={**FAULTS, **manner.faults},
    )


VOICES = {provider: _voice(manner) for provider, manner in MANNERS.items()}
VOICE = _voice(Manner())
