"""What OpenAI itself and nearly every member of the family refuse in options."""

from ...dialects import OpenAICompletions
from ...rules import Rule
from ...rules.shape import Entries, Node
from ...types import Model
from ..common.checks import openai_schema_fault, schema_fault, texts
from ..common.limits import CACHE_KEY, METADATA, NAME, NOT_EMPTY, SAFETY_ID, between, limits, within
from . import walk
from .walk import Found, Object, get, where

_has_openai_fields = where(lambda dialect: dialect.openai_fields)
_OPTIONS = "wire/openai_completions/options.py"
_SDK = "SDK openai 3.49.0, 2026-11"

_EVERYWHERE = limits(
    {
        "model": NOT_EMPTY,
        "temperature": between(0, 2),
        "top_p": between(0, 1),
        "presence_penalty": between(-2, 2),
        "frequency_penalty": between(-2, 2),
        "n": between(1),
        "top_logprobs": between(0),
        "logit_bias": Node(entries=Entries(of=between(-100, 100))),
        "response_format": Node(objects=("Format",)),
    },
    Format={"json_schema": Node(objects=("Schema",))},
    Schema={"name": NAME},
)
_OPENAI = limits(
    {
        "n": between(None, 128),
        "top_logprobs": between(None, 20),
        "max_tokens": between(1),
        "max_completion_tokens": between(1),
        "metadata": METADATA,
        "prompt_cache_key": CACHE_KEY,
        "safety_identifier": SAFETY_ID,
    }
)

# "temperature, top_p and n are fixed at 1, while presence_penalty and frequency_penalty are fixed at 0" (OpenAI's guide
# to reasoning, 2024): these values are accepted, others are not (zenn.dev/headwaters, 2025-09).
_FIXED = {"temperature": 1, "top_p": 1, "presence_penalty": 0, "frequency_penalty": 0, "logprobs": False}
_NEVER = ("logit_bias", "prediction")


def _reasoning_model(body: Object, model: Model | None) -> Found:
    dialect = walk.dialect_of(model)
    if body.get("max_tokens") is not None:
        yield "max_tokens", "use max_completion_tokens instead"
    if dialect is None or not walk.samples(body, dialect):
        changed = [(name, fixed) for name, fixed in _FIXED.items() if body.get(name) not in (None, fixed)]
        yield from ((name, f"only {fixed} is allowed") for name, fixed in changed)
        if body.get("top_logprobs") is not None:
            yield "top_logprobs", "refused by this model"
    yield from ((name, "refused by this model") for name in _NEVER if body.get(name))
    if dialect is None:
        return
    if body.get("stop") is not None and not dialect.stop:
        yield "stop", "refused by this model"
    if body.get("reasoning_effort") is not None and body["reasoning_effort"] not in dialect.effort:
        yield "reasoning_effort", f"{body['reasoning_effort']!r} is not one of {', '.join(dialect.effort)}"


def _no_levels(body: Object, model: Model | None) -> Found:
    reasons = model is None or model.reasoning or not (model.known and _has_openai_fields(model))
    if body.get("reasoning_effort") is not None and not reasons:
        yield "reasoning_effort", "this model does not reason"


def _modes(body: Object, model: Model | None) -> Found:
    if body.get("stream_options") is not None and body.get("stream") is not True:
        yield "stream_options", "set, but stream is not"
    wanted = get(body.get("response_format"), "type") == "json_object"
    if wanted and not any("json" in text.lower() for text in texts(body.get("messages"))):
        yield "response_format", "a message must contain the word json"


def _together(body: Object, model: Model | None) -> Found:
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        yield "max_tokens", "not together with max_completion_tokens"
    if body.get("top_logprobs") is not None and body.get("logprobs") is not True:
        yield "top_logprobs", "set, but logprobs is not true"
    modalities = body.get("modalities")
    if isinstance(modalities, list) and "audio" in modalities and body.get("audio") is None:
        yield "audio", "required with the modality audio"


def _stops(body: Object, model: Model | None) -> Found:
    stop, dialect = body.get("stop"), walk.dialect_of(model) or OpenAICompletions()
    if isinstance(stop, list) and len(stop) > dialect.max_stops:
        yield "stop", f"{len(stop)} stop sequences, at most {dialect.max_stops}"


def _strict_format(body: Object, model: Model | None) -> Found:
    wanted = get(body.get("response_format"), "json_schema")
    schema = get(wanted, "schema")
    if schema is None or get(wanted, "strict") is not True:
        return
    if fault := schema_fault(schema) or openai_schema_fault(schema, is_strict=True):
        yield "response_format.json_schema.schema", fault


RULES: tuple[Rule, ...] = (
    Rule(
        number="OAC-14",
        title="Reasoning models use max_completion_tokens, fixed sampling, their own levels, and mostly no stop",
        answers="'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        source="measured by a third party on gpt-5.6-terra, 2026-09; many reports; with reasoning off, GPT-5.1 and "
        "later accept sampling options (vercel/ai#10932, 2025-12)",
        prevented_by=_OPTIONS,
        check=_reasoning_model,
        only=where(lambda dialect: dialect.max_tokens_field == "max_completion_tokens" and not dialect.sampling),
    ),
    Rule(
        number="OAC-15",
        title="stream_options only with stream; json_object needs the word json in a message",
        answers="'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        source="documentation of OpenAI, 2026; Qwen agno#5317",
        prevented_by=_OPTIONS,
        check=_modes,
    ),
    Rule(
        number="OAC-23",
        title="At most four stop sequences, or as many as the provider documents",
        answers="Invalid 'stop': array too long. Expected an array with maximum length 4",
        source="documentation of OpenAI: up to 4 sequences, 2026",
        prevented_by=_OPTIONS,
        check=_stops,
        by_model=True,
    ),
    Rule(
        number="OAC-25",
        title="Numbers are in their ranges, and names are names",
        answers="Invalid 'temperature': decimal above maximum value. Expected a value <= 2",
        source=f"{_SDK} (documentation of the fields)",
        prevented_by=_OPTIONS,
        check=within(_EVERYWHERE),
    ),
    Rule(
        number="OAC-25b",
        title="OpenAI's limits: one token or more, 128 choices, 16 pairs of metadata, 64 characters in a cache key",
        answers="Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64",
        source=f"{_SDK} (documentation of the fields); pi#4719, 2026-05; buhler-chat#181, 2026-09",
        prevented_by=_OPTIONS,
        check=within(_OPENAI),
        only=_has_openai_fields,
    ),
    Rule(
        number="OAC-26",
        title="Only one limit of tokens; top_logprobs with logprobs; the modality audio with audio",
        answers="Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
        source=f"langgraph#5943, 2025-08; Volcengine nanobot#2548, 2026-03; {_SDK} (documentation of the fields)",
        prevented_by=_OPTIONS,
        check=_together,
    ),
    Rule(
        number="OAC-27",
        title="The schema of a strict response_format is closed",
        answers="Invalid schema for response_format '…': 'additionalProperties' is required to be supplied and to be "
        "false.",
        source="error text of OpenAI, many reports until 2026; as of the schemas of tools (OAC-22b)",
        prevented_by=_OPTIONS,
        check=_strict_format,
        only=_has_openai_fields,
    ),
    Rule(
        number="OAC-28",
        title="OpenAI's models that do not reason have no reasoning_effort",
        answers="Unrecognized request argument supplied: reasoning_effort",
        source="error text of OpenAI, many reports, 2025 (of gpt-4o and gpt-4.1)",
        prevented_by=_OPTIONS,
        check=_no_levels,
        by_model=True,
    ),
    Rule(
        number="GRQ-07",
        title="Groq gives one answer",
        answers="'n' : number must be at most 1",
        source='SDK groq 1.7.0: "only n=1 is supported. Other values will result in a 400 response." (2026-11)',
        prevented_by=_OPTIONS,
        check=within(limits({"n": between(None, 1)})),
        only=where(lambda dialect: dialect.sdk == "groq"),
    ),
)
