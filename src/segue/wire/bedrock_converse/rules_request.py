"""Rules about cache points and about parameters."""

import re
from collections.abc import Iterator
from typing import Any

from ...rules import Rule, shared
from ...types import Model
from ..common.checks import arguments_fault, half_characters, shown
from .dialect import claude, where
from .shapes import INFERENCE, items, kind_of, part, turns

Found = Iterator[tuple[str, str]]
Body = dict[str, Any]
OPTIONS = "wire/bedrock_converse/options.py"


@shared
def _lists(body: Body) -> list[tuple[str, list[Any]]]:
    """Every list that may contain cache points, in the order in which they count: tools, system, messages."""
    found = [("toolConfig.tools", items(part(body, "toolConfig").get("tools"))), ("system", items(body.get("system")))]
    for turn in turns(body):
        found.append((f"{turn.path}.content", turn.content))
        found += [(f"{path}.content", items(result.get("content"))) for path, result in turn.of("toolResult")]
    return found


@shared
def _points(body: Body) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{path}[{index}].cachePoint", part(block, "cachePoint"))
        for path, blocks in _lists(body)
        for index, block in enumerate(blocks)
        if isinstance(block, dict) and "cachePoint" in block
    ]


def _misplaced_points(body: Body, model: Model | None) -> Found:
    found = _points(body)
    if len(found) > 4:
        yield found[4][0], f"{len(found)} cache points; at most 4 are allowed"
    for path, blocks in _lists(body):
        before = ""
        for index, block in enumerate(blocks):
            kind = kind_of(block) or ("other" if isinstance(block, dict) else "")
            if kind == "cachePoint" and before in ("", "cachePoint", "document", "video"):
                yield (
                    f"{path}[{index}]",
                    f"a cache point after {before}" if before else "a cache point without a block before it",
                )
            before = kind


def _any_point(body: Body, model: Model | None) -> Found:
    return ((path, "a cache point, which this model does not have") for path, _ in _points(body))


def _long_points(body: Body, model: Model | None) -> Found:
    return (
        (f"{path}.ttl", "a cache point of an hour; this model caches for five minutes")
        for path, point in _points(body)
        if point.get("ttl") == "1h"
    )


def _long_after_short(body: Body, model: Model | None) -> Found:
    short = False
    for path, point in _points(body):
        if point.get("ttl") == "1h" and short:
            yield f"{path}.ttl", "a cache point of 1h after one of 5m"
        short = short or point.get("ttl") != "1h"


def _unknown_parameters(body: Body, model: Model | None) -> Found:
    config = part(body, "inferenceConfig")
    for name, value in config.items():
        if name not in INFERENCE:
            yield f"inferenceConfig.{name}", "unknown parameter"
        elif name in ("temperature", "topP") and not (isinstance(value, int | float) and 0 <= value <= 1):
            yield f"inferenceConfig.{name}", f"{value!r} is not between 0 and 1"
        elif name == "maxTokens" and not (isinstance(value, int) and value >= 1):
            yield f"inferenceConfig.{name}", f"{value!r} is not at least 1"
    for index, text in enumerate(items(config.get("stopSequences"))):
        if text == "":
            yield f"inferenceConfig.stopSequences[{index}]", "an empty stop sequence"


def _other_fields(body: Body, model: Model | None) -> Found:
    fields = body.get("additionalModelRequestFields")
    if fields is not None and not isinstance(fields, dict):
        yield "additionalModelRequestFields", "must be an object"
    for index, path in enumerate(items(body.get("additionalModelResponseFieldPaths"))):
        if isinstance(path, str) and not POINTER.fullmatch(path):
            yield f"additionalModelResponseFieldPaths[{index}]", f"{shown(path)!r} is not a JSON pointer"
    schema = part(body, "outputConfig", "textFormat", "structure", "jsonSchema").get("schema")
    if isinstance(schema, str) and (fault := arguments_fault(schema)):
        yield "outputConfig.textFormat.structure.jsonSchema.schema", fault.replace("arguments", "the schema")


POINTER = re.compile(r"(/([^~]|~[01])*)+")


def _blank_stops(body: Body, model: Model | None) -> Found:
    for index, text in enumerate(items(part(body, "inferenceConfig").get("stopSequences"))):
        if isinstance(text, str) and text.isspace():
            yield f"inferenceConfig.stopSequences[{index}]", "a blank stop sequence"


def _stops(body: Body, model: Model | None) -> Found:
    if items(part(body, "inferenceConfig").get("stopSequences")):
        yield "inferenceConfig.stopSequences", "stop sequences, which this model does not accept"


def _samplings(body: Body, model: Model | None) -> Found:
    for name in ("temperature", "topP"):
        if name in part(body, "inferenceConfig"):
            yield f"inferenceConfig.{name}", "a sampling option that this model does not accept"
    for name in ("top_k", "top_p", "temperature"):
        if name in part(body, "additionalModelRequestFields"):
            yield f"additionalModelRequestFields.{name}", "a sampling option that this model does not accept"


def _half_characters(body: Body, model: Model | None) -> Found:
    return half_characters(body)


def _warm_thinking(body: Body, model: Model | None) -> Found:
    fields, config = part(body, "additionalModelRequestFields"), part(body, "inferenceConfig")
    if part(fields, "thinking").get("type") not in ("enabled", "adaptive"):
        return
    if config.get("temperature") not in (None, 1):
        yield "inferenceConfig.temperature", f"a temperature of {config['temperature']} while the model thinks"
    if isinstance(config.get("topP"), int | float) and config["topP"] < 0.95:
        yield "inferenceConfig.topP", "at least 0.95 is required while the model thinks"
    if fields.get("top_k") is not None:
        yield "additionalModelRequestFields.top_k", "not allowed while the model thinks"


def _too_many_tokens(body: Body, model: Model | None) -> Found:
    wanted = part(body, "inferenceConfig").get("maxTokens")
    if model is not None and model.known and isinstance(wanted, int) and wanted > model.max_tokens:
        yield "inferenceConfig.maxTokens", f"{wanted} is more than the {model.max_tokens} that the model can generate"


REQUEST = (
    Rule(
        number="BED-21",
        title="there are at most 4 cache points, none of them first, after a document or video, or after another one",
        answers="A maximum of 4 blocks with cache_control may be provided. Found 5.",
        source="bifrost and pydantic-ai, measured on Bedrock, 2026; lisette#34",
        prevented_by=OPTIONS,
        check=_misplaced_points,
    ),
    Rule(
        number="BED-21b",
        title="some models have no cache points",
        answers="This model doesn't support the cachePoint field.",
        source="bifrost and pydantic-ai, table by family, as known 2026-11; wording not seen",
        prevented_by=OPTIONS,
        check=_any_point,
        only=where(lambda dialect: dialect.cache_points == "none"),
    ),
    Rule(
        number="BED-21c",
        title="some models cache for five minutes only",
        answers="Extended TTL prompt caching is only supported for Anthropic models",
        source="bifrost, measured on Bedrock, as known 2026-11",
        prevented_by=OPTIONS,
        check=_long_points,
        only=where(lambda dialect: dialect.cache_points == "5m"),
    ),
    Rule(
        number="BED-24",
        title="inferenceConfig has four parameters, each in its range",
        answers="The provided request is not valid",
        source="botocore 1.44.0, InferenceConfiguration, 2026-11; wording not seen",
        prevented_by=OPTIONS,
        check=_unknown_parameters,
    ),
    Rule(
        number="BED-24b",
        title="some models accept no stop sequences",
        answers="This model doesn't support the stopSequences field. Remove stopSequences and try again.",
        source="pydantic-ai models/bedrock.py on GLM, as known 2026-11; wording not seen",
        prevented_by=OPTIONS,
        check=_stops,
        only=where(lambda dialect: not dialect.stop),
    ),
    Rule(
        number="BED-24d",
        title="additional fields are an object, their paths JSON pointers, and the schema of an answer JSON",
        answers="The provided request is not valid",
        source="Converse API reference: 'Converse and ConverseStream reject an empty JSON Pointer or incorrectly "
        "structured JSON Pointer with a 400 error code', 2026; botocore 1.44.0, JsonSchemaDefinition; wording not seen",
        prevented_by=OPTIONS,
        check=_other_fields,
    ),
    Rule(
        number="BED-28",
        title="there are no half characters",
        answers="The request body is not valid JSON: no low surrogate in string",
        source="Anthropic's error text; the AWS SDKs cannot write one; wording of Converse not seen, 2026-11",
        prevented_by="projection/passes/text.py",
        check=_half_characters,
    ),
    Rule(
        number="ANT-56",
        title="a stop sequence is not blank",
        answers="stop_sequences: each stop sequence must contain non-whitespace",
        source="Anthropic's error text, behind Converse, as known 2026-11",
        prevented_by=OPTIONS,
        check=_blank_stops,
        only=claude,
    ),
    Rule(
        number="ANT-47",
        title="a cache point of an hour does not follow one of five minutes",
        answers="a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.",
        source="Anthropic's error text, behind Converse, as known 2026-11",
        prevented_by=OPTIONS,
        check=_long_after_short,
        only=claude,
    ),
    Rule(
        number="ANT-48",
        title="some models accept no temperature, top_p or top_k",
        answers="temperature: Extra inputs are not permitted",
        source="Anthropic's error text from Opus 4.7 on; litellm 1.108.4, 2026-11",
        prevented_by=OPTIONS,
        check=_samplings,
        only=where(lambda dialect: not dialect.sampling),
    ),
    Rule(
        number="ANT-48b",
        title="while the model thinks, the temperature is 1, topP is at least 0.95, and there is no top_k",
        answers="`temperature` may only be set to 1 when thinking is enabled.",
        source="Anthropic's error text, behind Converse, as known 2026-11; wording not seen",
        prevented_by=OPTIONS,
        check=_warm_thinking,
        only=claude,
    ),
    Rule(
        number="ANT-49",
        title="maxTokens is at most the model's limit",
        answers="max_tokens is more than the maximum allowed number of output tokens",
        source="Anthropic's error text, behind Converse, as known 2026-11; wording not seen",
        prevented_by=OPTIONS,
        check=_too_many_tokens,
        only=claude,
    ),
)
