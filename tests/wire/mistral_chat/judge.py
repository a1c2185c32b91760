"""Independent checks of Mistral bodies: mistral-common with its strictest settings, and the SDK's types.

``faults`` collects the faults that each of them finds in a body. Stricter than either: ids of nine characters for every
tokenizer, and no user message directly after a tool message, as in the API until spring 2026.
"""

import json
from contextlib import suppress
from functools import cache
from itertools import pairwise
from typing import Any

import httpx
import httpx2
from mistral_common.exceptions import InvalidMessageStructureException
from mistral_common.protocol.instruct.normalize import get_normalizer
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import (
    MistralRequestValidator,
    MistralRequestValidatorV3,
    ValidationMode,
    get_validator,
)
from mistral_common.tokens.tokenizers.base import TokenizerVersion
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
from mistralai.client import Mistral
from mistralai.client.errors import SDKError
from mistralai.client.models import ChatCompletionRequest as SdkRequest
from mistralai.gcp.client import MistralGCP
from mistralai.gcp.client.errors import SDKError as GCPError
from pydantic import BaseModel

from segue.dialects import MistralChat
from segue.render import Request
from segue.types import Model

V = TokenizerVersion
# Fields of the API that mistral-common, which serves one model, does not have.
BEYOND_COMMON = ("stream", "stop")


def versions(model: Model) -> tuple[TokenizerVersion, ...]:
    """Every tokenizer that a model of this dialect may have."""
    dialect = model.dialect
    assert isinstance(dialect, MistralChat)
    if not dialect.text_with_calls:
        return (V.v3,) if "image" in model.input else (V.v1, V.v2, V.v3)
    if dialect.images_in_results or dialect.effort:
        return (V.v15,)
    if dialect.own_reasoning == "any":
        return (V.v11, V.v13)
    return (V.v7, V.v11, V.v13)


def faults(body: dict[str, Any], model: Model) -> list[str]:
    """Every fault that a check finds in ``body``."""
    found = sdk_faults(body)
    for version in versions(model):
        try:
            _common(body, version)
        except Exception as error:  # noqa: BLE001 - any exception is a finding
            found.append(f"{version}: {type(error).__name__}: {error}")
    return found


# -- mistral-common --------------------------------------------------------------------------------------------------


def _common(body: dict[str, Any], version: TokenizerVersion) -> None:
    request: Any = ChatCompletionRequest.model_validate(_as_common(body))
    _strictest(version).validate_request(request)
    if version is not V.v15:  # its normalizer requires the settings of one model
        normal = get_normalizer(version).from_chat_completion_request(request)
        if version in (V.v1, V.v2, V.v3):
            both = [each for each in normal.messages if each.role == "assistant" and each.content and each.tool_calls]
            assert not both, "joining adjacent messages put text and calls into one"
    if version is V.v3 and "data:image" not in json.dumps(body):
        tokenizer().encode_chat_completion(request)


@cache
def tokenizer() -> MistralTokenizer:
    """The only tokenizer that is included in the package and has no other dependency."""
    return MistralTokenizer.v3(is_tekken=True)


@cache
def _strictest(version: TokenizerVersion) -> MistralRequestValidator[Any, Any, Any, Any]:
    base: Any = type(get_validator(version, ValidationMode.serving))

    class Strictest(base):  # type: ignore[misc]
        def _validate_message_order(self, messages: Any) -> None:
            super()._validate_message_order(messages)
            roles = [message.role for message in messages]
            if ("tool", "user") in pairwise(roles):
                raise InvalidMessageStructureException("Unexpected role 'user' after role 'tool'")
            if next((role for role in roles if role != "system"), "user") != "user":
                raise InvalidMessageStructureException("Conversation must start with a user message")

        def _validate_tool_call_id(self, tool_call: Any, is_last_message: bool) -> None:
            MistralRequestValidatorV3._validate_tool_call_id(self, tool_call, is_last_message)

        def _validate_tool_message_id(self, message: Any) -> None:
            MistralRequestValidatorV3._validate_tool_message_id(self, message)

        def _validate_assistant_message(self, message: Any, is_last_message: bool = False) -> None:
            super()._validate_assistant_message(message, is_last_message)
            message.to_openai(reasoning_field_format="thinking_chunks")  # refuses thinking that is not first
            assert message.content or message.tool_calls, "neither content nor calls"

    validator: MistralRequestValidator[Any, Any, Any, Any] = Strictest(ValidationMode.serving)
    return validator


def _as_common(body: dict[str, Any]) -> dict[str, Any]:
    """The body in the form of mistral-common: thinking is a string there, and has no signature."""
    request = {name: value for name, value in body.items() if name not in BEYOND_COMMON}
    request["messages"] = [_message_as_common(message) for message in body["messages"]]
    return request


def _message_as_common(message: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(message.get("content"), list):
        return message
    return message | {"content": [_chunk_as_common(chunk) for chunk in message["content"]]}


def _chunk_as_common(chunk: dict[str, Any]) -> dict[str, Any]:
    if chunk["type"] == "document_url":  # the API reads documents for its models; mistral-common has no part for them
        return {"type": "text", "text": chunk["document_url"]}
    if chunk["type"] != "thinking":
        return chunk
    return {"type": "thinking", "thinking": "".join(each["text"] for each in chunk["thinking"]), "closed": True}


# -- the SDK ---------------------------------------------------------------------------------------------------------


def sdk_faults(body: dict[str, Any]) -> list[str]:
    """What the request types of the SDK do not take, and every field that they do not have."""
    try:
        parsed = SdkRequest.model_validate(body)
    except ValueError as error:
        return [f"sdk: {error}"]
    return list(_unknown(parsed, body, "body"))


def _unknown(parsed: Any, raw: Any, path: str) -> list[str]:
    if type(parsed).__name__.startswith("Unknown") or type(parsed).__name__.startswith("Unrecognized"):
        return [f"sdk: {path} is a {type(parsed).__name__}"]
    if isinstance(parsed, BaseModel) and isinstance(raw, dict):
        known = {field.alias or name: name for name, field in type(parsed).model_fields.items()}
        found = [f"sdk: {path}.{name} is not known" for name in raw if name not in known]
        for name, value in raw.items():
            if name in known:
                found += _unknown(getattr(parsed, known[name]), value, f"{path}.{name}")
        return found + [f"sdk: {path}.{name} is null" for name, value in raw.items() if value is None]
    if isinstance(parsed, list) and isinstance(raw, list):
        pairs = enumerate(zip(parsed, raw, strict=True))
        return [fault for at, (one, other) in pairs for fault in _unknown(one, other, f"{path}[{at}]")]
    return []


def sent_by_sdk(request: Request) -> tuple[str, dict[str, Any]]:
    """The path and the body that the provider's own client sends for ``sdk_kwargs``."""
    sent: list[Any] = []

    def answer(each: Any) -> Any:
        sent.append(each)
        return type_of_answer(500, json={})

    dialect = request.model.dialect
    assert isinstance(dialect, MistralChat)
    vertex = dialect.surface == "vertex"
    library: Any = httpx2 if vertex else httpx
    type_of_answer = library.Response
    with library.Client(transport=library.MockTransport(answer)) as client:
        mistral: Any = (
            MistralGCP(project_id="p", region="r", access_token="none", client=client)
            if vertex
            else Mistral(api_key="none", client=client, server_url="https://api.mistral.ai")
        )
        send = mistral.chat.stream if request.options.stream else mistral.chat.complete
        with suppress(SDKError, GCPError):  # there is no answer; only the request matters
            send(**request.sdk_kwargs())
    return sent[0].url.path, json.loads(sent[0].content)
