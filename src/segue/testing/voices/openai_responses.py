"""OpenAI Responses, the provider's side, without state: no response is stored, so none can be continued by its id.

Shapes: openai 3.49.0, types/responses/response_*_event.py (2026-11). Texts: openai/codex#8119 and Wei-Shaw/sub2api#2863
(encrypted content, 2025-12 and 2026-05), vercel/ai#7543 (items that are not stored), earendil-works/pi#886 (the item
after reasoning), Wei-Shaw/sub2api#6631 (overload, in the stream, 2026-09).
"""

from collections.abc import Iterable, Iterator
from typing import Any, assert_never

import msgspec
from msgspec.structs import replace

from ...dialects import OpenAIResponses
from ...types import AssistantContent, AssistantMessage, Model, ProviderContent, TextContent, ThinkingContent, ToolCall
from ...wire.common.openai_errors import openai_error
from ...wire.common.writing import Head
from ...wire.openai_responses.replay import annotations_of, message_of, message_signature
from ...wire.openai_responses.walk import items, made_by_model, text
from ...wire.openai_responses.write import APART, Writer, whole
from ..script import FaultKind
from ..signatures import Signer
from ..voice import Answer, Body, Refusal, Voice
from .common import answer_id, frames_of, head_of, message_of as answer_message, refusal_in, route_to, sse, with_ids
from .item_ids import encrypted, is_issued, new_id, owner_of, reasoning_of

# -- ids and signatures ----------------------------------------------------------------------------------------------


def _complete(content: list[AssistantContent], signer: Signer, model: Model) -> list[AssistantContent]:
    """Each block becomes an item with an id; the item after reasoning is bound to it (OAR-08)."""
    blocks: list[AssistantContent] = []
    after: str | None = None
    for at, block in enumerate(with_ids(content, "call_", 24, signer)):
        if isinstance(block, ThinkingContent):
            item = _reasoning(block, signer)
            after = item["id"]
            text = "" if block.redacted else block.thinking
            blocks.append(ThinkingContent(text, msgspec.json.encode(item).decode()))
        elif isinstance(block, TextContent):
            last = not any(isinstance(later, ToolCall) for later in content[at + 1 :])
            blocks.append(TextContent(block.text, _message_signature(block, last, after, signer, model)))
        elif isinstance(block, ToolCall):
            prefix = "ctc" if block.kind == "custom" else "fc"
            item_id = block.thought_signature or new_id(prefix, block.id, after, signer)
            blocks.append(replace(block, thought_signature=item_id))
        elif isinstance(block, ProviderContent):
            blocks.append(_hosted(block, after, signer))
        else:
            assert_never(block)
    return blocks


_PREFIXES = {"web_search_call": "ws", "code_interpreter_call": "ci", "image_generation_call": "ig", "mcp_call": "mcp"}


def _hosted(block: ProviderContent, after: str | None, signer: Signer) -> ProviderContent:
    """An item of a tool that the provider runs. It gets an id, like every item."""
    item = block.value
    if not isinstance(item, dict):
        return block
    item["id"] = new_id(_PREFIXES.get(block.kind, "item"), block.text or block.kind, after, signer)
    return replace(block, raw=msgspec.Raw(msgspec.json.encode({"type": block.kind} | item)))


def _reasoning(block: ThinkingContent, signer: Signer) -> Body:
    """A reasoning item; redacted thinking has no summary. The signature in a script is an item or encrypted content."""
    scripted = block.thinking_signature
    if scripted is not None and _is_item(scripted):
        return _stored(scripted)
    item_id = new_id("rs", block.thinking, None, signer)
    parts = [] if block.redacted or not block.thinking else block.thinking.split(APART)
    return {
        "id": item_id,
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": part} for part in (parts if all(parts) else [block.thinking])],
        "encrypted_content": scripted or encrypted(item_id, signer),
    }


def _is_item(signature: str) -> bool:
    try:
        return {"id", "type", "summary"} <= _stored(signature).keys()
    except msgspec.MsgspecError:
        return False


def _stored(signature: str) -> Body:
    item: Body = msgspec.json.decode(signature, type=dict[str, Any])
    return item


def _message_signature(block: TextContent, last: bool, after: str | None, signer: Signer, model: Model) -> str | None:
    item_id, phase = message_of(block.text_signature)
    if isinstance(model.dialect, OpenAIResponses) and model.dialect.phase:
        phase = phase or ("final_answer" if last else "commentary")
    item = {"id": item_id or new_id("msg", block.text, after, signer), "phase": phase}
    return message_signature(item, annotations=annotations_of(block))


# -- answers ---------------------------------------------------------------------------------------------------------


def _message(answer: Answer) -> AssistantMessage:
    """The answer; in a refusal, the last text is the refusal."""
    texts = [at for at, block in enumerate(answer.content) if isinstance(block, TextContent)]
    if answer.stop != "error" or not texts:
        return answer_message(answer, answer.content)
    refusal = answer.content[texts[-1]]
    assert isinstance(refusal, TextContent)
    rest = [block for at, block in enumerate(answer.content) if at != texts[-1]]
    return answer_message(answer, rest, refusal.text)


def _head(answer: Answer) -> Head:
    """Nothing is stored, whatever the request asks for."""
    head = head_of(answer, f"resp_{answer_id(answer, 24)}")
    return msgspec.structs.replace(head, request={**answer.request, "store": False})


def _whole(answer: Answer) -> Body:
    message = _message(answer)
    return whole(_head(answer), message, refusal_in(message))


def _events(answer: Answer) -> Iterator[bytes]:
    for name, data in frames_of(_message(answer), Writer(_head(answer))):
        yield sse(data, name)


# -- forged ids and encrypted content --------------------------------------------------------------------------------


def _forged(body: Body, signer: Signer, model: Model) -> Iterable[str]:
    """Find foreign ids and encrypted content, and items without the items that they belong to.

    OpenAI accepts some foreign ids of messages that are not stored (UKGovernmentBEIS/inspect_ai#1545, 2025-03). Clients
    should not rely on that, so all foreign ids are refused here.
    """
    for name, message in _STORED.items():
        if body.get(name):
            stored_id = body[name].get("id") if isinstance(body[name], dict) else body[name]
            yield message.format(stored_id)
    sent: set[str] = set()
    before = ""  # the id of the reasoning that the next item must belong to
    for _, kind, item in items(body):
        item_id = text(item, "id")
        if item.get("encrypted_content"):
            yield from _not_verified(text(item, "encrypted_content"), item_id, signer)
        elif item_id and (made_by_model(kind, item) or kind == "item_reference") and not is_issued(item_id, signer):
            yield _not_found(item_id, body)
        needed = reasoning_of(item_id, signer) if is_issued(item_id, signer) else None
        if before and item_id and not item_id.startswith("rs_") and needed != before:
            yield f"Item '{before}' of type 'reasoning' was provided without its required following item."
        if needed is not None and needed not in sent:
            yield f"Item '{item_id}' of type '{kind}' was provided without its required 'reasoning' item: '{needed}'."
        before = item_id if item_id.startswith("rs_") else ""
        sent.add(item_id)


def _not_verified(content: str, item_id: str, signer: Signer) -> Iterator[str]:
    owner = owner_of(content, signer)
    if owner is None:
        short = f"{content[:4]}...{content[-4:]}"
        why = "Encrypted content could not be decrypted or parsed."
        yield f"The encrypted content {short} could not be verified. Reason: {why}"
    elif item_id and owner != item_id:
        why = "Encrypted content item_id did not match the target item id."
        yield f"The encrypted content for item {item_id} could not be verified. Reason: {why}"


def _not_found(item_id: str, body: Body) -> str:
    message = f"Item with id '{item_id}' not found."
    if body.get("store") is not False:
        return message
    return (
        f"{message} Items are not persisted when `store` is set to false. "
        "Try again with `store` set to true, or remove this item from your input."
    )


_STORED = {
    "previous_response_id": "Previous response with id '{}' not found.",
    "conversation": "Conversation with id '{}' not found.",
    "prompt": "Prompt with id '{}' not found.",
}
"""References to stored state, and the error if it does not exist. Here nothing is stored."""


# -- errors ----------------------------------------------------------------------------------------------------------

_CODES_BY_PREFIX = {
    "The encrypted content": "invalid_encrypted_content",
    "Previous response": "previous_response_not_found",
}


def _error(refusal: Refusal) -> Body:
    return openai_error(refusal.kind, refusal.text, code=refusal.code, param=refusal.param)


def _error_event(refusal: Refusal) -> bytes:
    """A nested error, as seen on the wire (Wei-Shaw/sub2api#6631, 2026-09); the SDK's type is flat."""
    return sse({"type": "error", "sequence_number": 0, **_error(refusal)}, "error")


def _invalid(message: str) -> Refusal:
    codes = (code for prefix, code in _CODES_BY_PREFIX.items() if message.startswith(prefix))
    return Refusal(400, next(codes, "invalid_request_error"), message)


_OVERLOADED = "Our servers are currently overloaded. Please try again later."
_FAULTS: dict[FaultKind, Refusal] = {
    "rate-limit": Refusal(
        429,
        "rate_limit_exceeded",
        "Rate limit reached for organization org-standin on tokens per min (TPM): Limit 250000, Used 250000, "
        "Requested 143071. Please try again in 34.337s.",
    ),
    "server-error": Refusal(
        500,
        "server_error",
        "The server had an error while processing your request. Sorry about that!",
    ),
    "unavailable": Refusal(
        503, "service_unavailable_error", "The engine is currently overloaded, please try again later."
    ),
    "overloaded": Refusal(503, "server_is_overloaded", _OVERLOADED),  # this provider has no 529
    "wrong-key": Refusal(
        401,
        "invalid_api_key",
        "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.",
    ),
    "overflow": Refusal(
        400,
        "context_length_exceeded",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
    ),
    "error-event": Refusal(200, "server_is_overloaded", _OVERLOADED),
}

VOICE = Voice(
    route=route_to("/responses"),
    complete=_complete,
    whole=_whole,
    events=_events,
    forged=_forged,
    error=_error,
    error_event=_error_event,
    invalid=_invalid,
    faults=_FAULTS,
)
