"""Rules about generationConfig, toolConfig and safetySettings: ranges, and what excludes or needs what."""

from typing import Any

from ...rules import Rule
from ...types import Model
from ..common.checks import repeated, shown
from .rules_contents import ENCODER, Found, only
from .shapes import declarations, get, many

OPTIONS = "wire/google_generative_ai/options.py"
_REFERENCE = "ai.google.dev/api/generate-content, 2026-11"
# Of each number, the least and the most.
RANGES: dict[str, tuple[float, float | None]] = {
    "temperature": (0, 2),
    "topP": (0, 1),
    "topK": (0, None),
    "candidateCount": (1, 8),
    "maxOutputTokens": (1, None),
}
MOST_STOPS = 5
ANSWER_TYPES = ("text/plain", "application/json", "application/xml", "application/yaml", "text/x.enum")
TYPES_WITH_SCHEMA = ("application/json", "text/x.enum")


def _ranges(body: dict[str, Any], model: Model | None) -> Found:
    config = get(body, "generationConfig")
    for name, (least, most) in RANGES.items():
        value = _number(get(config, name))
        if value is not None and (value < least or (most is not None and value > most)):
            limits = f"at least {least:g}" if most is None else f"between {least:g} and {most:g}"
            yield f"generationConfig.{name}", f"{value:g} is not {limits}"
    stops = get(config, "stopSequences")
    if isinstance(stops, list) and len(stops) > MOST_STOPS:
        yield "generationConfig.stopSequences", f"{len(stops)} stop sequences; at most {MOST_STOPS} are allowed"


def _number(value: Any) -> float | None:
    """A number, which may be written as a string."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _answers(body: dict[str, Any], model: Model | None) -> Found:
    config, path = get(body, "generationConfig"), "generationConfig"
    kind = get(config, "responseMimeType")
    schemas = [name for name in ("responseSchema", "responseJsonSchema") if get(config, name) is not None]
    if isinstance(kind, str) and kind and kind not in ANSWER_TYPES:
        yield f"{path}.responseMimeType", f"{shown(kind)!r} is not one of {', '.join(ANSWER_TYPES)}"
    elif schemas and kind not in TYPES_WITH_SCHEMA:
        yield f"{path}.{schemas[0]}", f"responseMimeType must be {' or '.join(TYPES_WITH_SCHEMA)}"
    if len(schemas) > 1:
        yield f"{path}.{schemas[1]}", f"not allowed together with {schemas[0]}"
    if get(config, "logprobs") is not None and get(config, "responseLogprobs") is not True:
        yield f"{path}.logprobs", "allowed only with responseLogprobs"


def _thinking(body: dict[str, Any], model: Model | None) -> Found:
    asked = get(get(body, "generationConfig"), "thinkingConfig")
    if get(asked, "thinkingBudget") is not None and get(asked, "thinkingLevel") is not None:
        yield "generationConfig.thinkingConfig", "thinkingBudget and thinkingLevel exclude each other"


def _levels(body: dict[str, Any], model: Model | None) -> Found:
    if get(get(get(body, "generationConfig"), "thinkingConfig"), "thinkingLevel") is not None:
        yield "generationConfig.thinkingConfig.thinkingLevel", "this model has a thinkingBudget instead"


def _calling(body: dict[str, Any], model: Model | None) -> Found:
    config, path = get(get(body, "toolConfig"), "functionCallingConfig"), "toolConfig.functionCallingConfig"
    mode, allowed = get(config, "mode"), get(config, "allowedFunctionNames")
    if not isinstance(mode, str):
        return
    names = [get(declaration, "name") for _, declaration in declarations(body)]
    if mode.upper() == "ANY" and not names:
        yield path, "there are no functions to call"
    for at, name in enumerate(allowed if isinstance(allowed, list) else []):
        if mode.upper() not in ("ANY", "VALIDATED"):
            yield f"{path}.allowedFunctionNames[{at}]", f"not allowed in the mode {shown(mode)}"
        elif name not in names:
            yield f"{path}.allowedFunctionNames[{at}]", f"no function is called {shown(name)!r}"


def _safety(body: dict[str, Any], model: Model | None) -> Found:
    settings = enumerate(many(get(body, "safetySettings")))
    return repeated(
        ((f"safetySettings[{at}].category", get(each, "category")) for at, each in settings), "the category"
    )


RULES: tuple[Rule, ...] = (
    Rule(
        number="GEM-31",
        title="options are in their ranges, with at most 5 stop sequences",
        answers="Unable to submit request because it has a temperature value that is out of the supported range",
        source=f"{_REFERENCE}; docs.cloud.google.com, Generate content, 2026-11",
        prevented_by=OPTIONS,
        check=_ranges,
    ),
    Rule(
        number="GEM-32",
        title="an answer with a schema has a type that allows one, and only one schema",
        answers="allowed mimetypes are `text/plain`, `application/json`, `application/xml`, `application/yaml` and "
        "`text/x.enum`",
        source=_REFERENCE,
        prevented_by=OPTIONS,
        check=_answers,
    ),
    Rule(
        number="GEM-33",
        title="thinking has a budget or a level",
        answers="You can only set only one of thinking budget and thinking level.",
        source="ai.google.dev/gemini-api/docs/thinking, 2026-11; wording not seen again",
        prevented_by=OPTIONS,
        check=_thinking,
    ),
    Rule(
        number="GEM-33b",
        title="models before Gemini 3 have no thinking level",
        answers="Thinking level is not supported for this model.",
        source="ai.google.dev/gemini-api/docs/thinking, 2026-11",
        prevented_by=OPTIONS,
        check=_levels,
        only=only(lambda dialect: dialect.reasoning_switch == "thinkingBudget"),
    ),
    Rule(
        number="GEM-34",
        title="functions that may or must be called are declared, and are named in the modes ANY and VALIDATED only",
        answers="Function calling config is set without function_declarations.",
        source=f"error text in public clients, 2026; {_REFERENCE}",
        prevented_by=ENCODER,
        check=_calling,
    ),
    Rule(
        number="GEM-35",
        title="a category of safety has one setting",
        answers="(refused with status 400; the error text was not recorded)",
        source=f"{_REFERENCE}: 'There should not be more than one setting for each SafetyCategory type'",
        prevented_by=OPTIONS,
        check=_safety,
    ),
)
