"""Checks of a body with the types of each provider's SDK, independent of segue's tables."""

import warnings
from collections.abc import Callable
from enum import Enum
from typing import Any

from anthropic.types.beta import message_create_params as anthropic_types
from google.genai import types as google_types
from mistralai.client import models as mistral_types
from openai.types.chat import completion_create_params as openai_types
from pydantic import BaseModel, TypeAdapter, ValidationError
from wire.anthropic_messages.judge import check as anthropic_check
from wire.bedrock_converse.judge import SERVICE, VALIDATOR, _walk as bedrock_walk
from wire.openai_completions.judge import SDKS, _check as openai_check
from wire.openai_responses.judge import faults as openai_faults

Judge = Callable[[Any], list[str]]


def anthropic(body: Any) -> list[str]:
    streams = isinstance(body, dict) and body.get("stream") is True
    kinds = (anthropic_types.MessageCreateParamsNonStreaming, anthropic_types.MessageCreateParamsStreaming)
    return anthropic_check(kinds[streams])(body, "")


def completions(body: Any) -> list[str]:
    streams = isinstance(body, dict) and body.get("stream") is True
    kinds = (openai_types.CompletionCreateParamsNonStreaming, openai_types.CompletionCreateParamsStreaming)
    return openai_check(body, kinds[streams], "body")


def responses(body: Any) -> list[str]:
    return openai_faults(body) if isinstance(body, dict) else ["not an object"]


def groq(body: Any) -> list[str]:
    return openai_check(body, SDKS["groq"], "body")


def cerebras(body: Any) -> list[str]:
    return openai_check(body, SDKS["cerebras"], "body")


def bedrock(body: Any) -> list[str]:
    if not isinstance(body, dict):
        return ["not an object"]
    shape = SERVICE.operation_model("ConverseStream").input_shape
    arguments = {"modelId": "m", **body}
    found: list[str] = VALIDATOR.validate(arguments, shape).generate_report().splitlines()
    return found or bedrock_walk(arguments, shape, "")


def mistral(body: Any) -> list[str]:
    """Check with the typed dicts: the SDK's models accept null for every optional field, and have another name for
    `schema`."""
    return openai_check(_renamed(body), mistral_types.ChatCompletionRequestTypedDict, "body")


def _renamed(body: Any) -> Any:
    try:
        described = body["response_format"]["json_schema"]
        renamed = {"schema_definition" if name == "schema" else name: each for name, each in described.items()}
    except (AttributeError, KeyError, TypeError):
        return body
    return body | {"response_format": body["response_format"] | {"json_schema": renamed}}


# The REST body of generateContent, which google-genai has no type for (ai.google.dev/api/generate-content, 2026-11).
GOOGLE: dict[str, Any] = {
    "contents": list[google_types.Content],
    "systemInstruction": google_types.Content,
    "tools": list[google_types.Tool],
    "toolConfig": google_types.ToolConfig,
    "safetySettings": list[google_types.SafetySetting],
    "generationConfig": google_types.GenerationConfig,
    "cachedContent": str,
    "model": str,
    "labels": dict[str, str],
    "serviceTier": google_types.ServiceTier,
    "continuationToken": bytes,
    "store": bool,
    "modelArmorConfig": google_types.ModelArmorConfig,
    "outputConfig": google_types.GenerationOutputConfig,
}
_GOOGLE = {name: TypeAdapter(kind | None) for name, kind in GOOGLE.items()}


def google(body: Any) -> list[str]:
    """Enums of google-genai accept any value with a warning; here, unknown values are refused."""
    if not isinstance(body, dict):
        return ["not an object"]
    found = [f"{name}: not a field of the request" for name in body if name not in _GOOGLE]
    for name in body.keys() & _GOOGLE.keys():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                parsed = _GOOGLE[name].validate_python(body[name])
        except ValidationError as error:
            found += [f"{name}.{fault['loc']}: {fault['msg']}" for fault in error.errors(include_url=False)]
        except AttributeError as error:  # its enums call `upper` on every value
            found.append(f"{name}: {error}")
        else:
            found += [f"{name}: {value!r} is not in its list" for value in _made_up(parsed)]
    return found


def _made_up(value: Any) -> list[Any]:
    if isinstance(value, Enum):
        return [] if value in list(type(value)) else [value]
    if isinstance(value, BaseModel):
        return [found for name in type(value).model_fields for found in _made_up(getattr(value, name))]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [found for each in inside for found in _made_up(each)]


JUDGES: dict[str, Judge] = {
    "anthropic_messages/shape.json": anthropic,
    "openai_completions/shape.json": completions,
    "openai_completions/shape_groq.json": groq,
    "openai_completions/shape_cerebras.json": cerebras,
    "openai_responses/shape.json": responses,
    "google_generative_ai/shape.json": google,
    "bedrock_converse/shape.json": bedrock,
    "mistral_chat/shape.json": mistral,
}
"""The check for each table."""
