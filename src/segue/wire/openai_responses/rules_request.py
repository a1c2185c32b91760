"""Rules about parameters."""

from ...dialects import OpenAIResponses
from ...rules import Rule
from ...rules.shape import Node
from ...types import Model
from ..common.checks import half_characters, openai_schema_fault, schema_fault, shown, texts
from ..common.limits import CACHE_KEY, METADATA, NAME, NOT_EMPTY, SAFETY_ID, between, limits, within
from .options import MIN_TOKENS
from .rules_items import PROBED, SDK
from .rules_shape import shape
from .walk import Body, Found, has_state

OPTIONS = "wire/openai_responses/options.py"
_LIMITS = limits(
    {
        "model": NOT_EMPTY,
        "temperature": between(0, 2),
        "top_p": between(0, 1),
        "top_logprobs": between(0, 20),
        "max_tool_calls": between(1),
        "metadata": METADATA,
        "prompt_cache_key": CACHE_KEY,
        "safety_identifier": SAFETY_ID,
        "text": Node(objects=("Text",)),
    },
    Text={"format": Node(objects=("Format",))},
    Format={"name": NAME},
)
_SAMPLING = ("temperature", "top_p", "top_logprobs")


def _dialect(model: Model | None) -> OpenAIResponses | None:
    return model.dialect if model is not None and isinstance(model.dialect, OpenAIResponses) else None


def _half_characters(body: Body, model: Model | None) -> Found:
    return half_characters(body)


def _parameters(body: Body, model: Model | None) -> Found:
    limit = body.get("max_output_tokens")
    if isinstance(limit, (int, float)) and limit < MIN_TOKENS:
        yield "max_output_tokens", f"at least {MIN_TOKENS}"
    reasoning = body.get("reasoning")
    if isinstance(reasoning, dict) and "generate_summary" in reasoning:  # the types still have it
        yield "reasoning.generate_summary", "there is no parameter 'generate_summary' here"
    if "model" not in body and not body.get("prompt"):
        yield "model", "required, unless a prompt has it"


def _capabilities(body: Body, model: Model | None) -> Found:
    dialect = _dialect(model)
    if dialect is None or model is None:
        return
    reasoning = body.get("reasoning")
    effort = reasoning.get("effort") if isinstance(reasoning, dict) else None
    if not dialect.sampling and not _is_off(effort, dialect):
        for name in _SAMPLING:
            if body.get(name) is not None:
                yield name, "not supported with this model"
        include = body.get("include")
        if isinstance(include, list) and "message.output_text.logprobs" in include:
            yield "include", "log probabilities are not supported with this model"
    if effort is not None and effort not in dialect.effort and (dialect.effort or model.known):
        known = f"one of {', '.join(dialect.effort)}" if dialect.effort else "accepted: the model has no levels"
        yield "reasoning.effort", f"{shown(effort)!r} is not {known}"


def _is_off(effort: object, dialect: OpenAIResponses) -> bool:
    """Whether the model does not reason in this request, and so accepts sampling options."""
    return not dialect.reasons_by_default if effort is None else effort == "none" and effort in dialect.effort


def _together(body: Body, model: Model | None) -> Found:
    if body.get("stream_options") is not None and body.get("stream") is not True:
        yield "stream_options", "set, but stream is not"
    if body.get("background") is True and body.get("store") is False:
        yield "background", "requires that the response is stored"


def _format(body: Body, model: Model | None) -> Found:
    text = body.get("text")
    wanted = text.get("format") if isinstance(text, dict) else None
    if not isinstance(wanted, dict):
        return
    if wanted.get("type") == "json_object" and not has_state(body):
        said = texts([body.get("input"), body.get("instructions")])
        if not any("json" in each.lower() for each in said):
            yield "text.format", "a message must contain the word json"
    schema = wanted.get("schema")
    if schema is None or wanted.get("strict") is not True:
        return
    if fault := schema_fault(schema) or openai_schema_fault(schema, is_strict=True):
        yield "text.format.schema", fault


def _one_state(body: Body, model: Model | None) -> Found:
    if body.get("previous_response_id") and body.get("conversation"):
        yield "conversation", "not together with previous_response_id"


REQUEST: tuple[Rule, ...] = (
    Rule(
        number="OAR-15",
        title="Only parameters that the protocol has",
        answers="Unknown parameter: '…'.",
        source=PROBED,
        prevented_by=OPTIONS,
        check=_parameters,
        shape=shape,
        sorts=("unknown", "value"),
    ),
    Rule(
        number="OAR-15b",
        title="Only parameters that the model has",
        answers="Unsupported parameter: '…' is not supported with this model.",
        source=PROBED,
        prevented_by=OPTIONS,
        check=_capabilities,
        only=lambda model: isinstance(model.dialect, OpenAIResponses),
    ),
    Rule(
        number="OAR-16",
        title="A request continues a response or a conversation, not both",
        answers="Cannot be used in conjunction with `conversation`.",
        source="SDK openai 3.49.0 (docstring), 2026-11",
        prevented_by="wire/openai_responses/encode.py: nothing is kept on the server",
        check=_one_state,
    ),
    Rule(
        number="OAR-24",
        title="Numbers, names and lengths are within their limits",
        answers="Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64",
        source=f"{SDK}, documentation of the fields; pi#4719, 2026-05; buhler-chat#181, 2026-09",
        prevented_by=OPTIONS,
        check=within(_LIMITS),
    ),
    Rule(
        number="OAR-25",
        title="stream_options only with stream, and background only with a store",
        answers="The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        source=f"{SDK}, documentation of the fields; OpenAI's guide to background mode, 2025: 'requires store=true; "
        "stateless requests are rejected'",
        prevented_by=OPTIONS,
        check=_together,
    ),
    Rule(
        number="OAR-26",
        title="A strict schema of an answer is closed; json_object needs the word json in a message",
        answers="Response input messages must contain the word 'json' in some form to use 'text.format' of type "
        "'json_object'.",
        source="error text of OpenAI, reports until 2026; of schemas as of tools (OAR-22)",
        prevented_by=OPTIONS,
        check=_format,
    ),
    Rule(
        number="OAR-23",
        title="No lone surrogates",
        answers="We could not parse the JSON body of your request.",
        source="error text of OpenAI, many reports until 2026",
        prevented_by="projection/passes/text.py",
        check=_half_characters,
    ),
)
