"""Read from the words of a refusal what to change: the field, the keyword or the limit that they name."""

import re
from functools import cache

from ..dialects import AnthropicMessages, BedrockConverse
from ..types.secret import LONGEST_TEXT
from .cure import Case, Cells, Treatment
from .refusal import CONTENT, FRAME, body_path

EXTRA = (
    # It begins at the beginning of a word, and a word is read once: otherwise a long one takes quadratic time.
    r"(?<![\w$.\[\]-])[\d.\[\]-]*+(?P<field>[A-Za-z_$][\w$.\[\]-]*+)`?'?:\s*"
    r"(?:Extra inputs are not permitted|property is unsupported)"
    r"|property '(?P<property>[\w$.\[\]-]+)' is unsupported"
)
UNKNOWN_NAME = r"Unknown name \"(?P<name>[\w$-]+)\" at '(?P<place>[^']*)'"


@cache
def pattern(words: str) -> re.Pattern[str]:
    """The expression for these words, compiled when a request is first refused."""
    return re.compile(words, re.IGNORECASE)


# The cells for a field of a body that is refused, by its path, or by its name at any depth (`**`). A field that is not
# here is left out (`refused_fields`).
_NO_REASONING: Cells = {"own_reasoning": "none", "reasoning_required": "never"}
CELLS: dict[str, dict[str, Cells]] = {
    "openai-completions": {
        "max_tokens": {"max_tokens_field": "max_completion_tokens"},
        "max_completion_tokens": {"max_tokens_field": "max_tokens"},
        # Models that refuse a temperature refuse `max_tokens`, too (hermes-agent#78305, 2026); only one resend is made.
        "temperature": {"sampling": False, "max_tokens_field": "max_completion_tokens"},
        "stop": {"stop": False},
        "stream_options": {"stream_usage": False},
        "tool_choice": {"forced_tool_choice": False},
        "reasoning_effort": {"reasoning_switch": "none"},
        "messages.*.reasoning_content": _NO_REASONING,
        "messages.*.reasoning": _NO_REASONING,
        "messages.*.reasoning_details": _NO_REASONING,
        "messages.*.name": {"tool_name_field": False, "exact_form": True},
        "**.cache_control": {"caching": "automatic"},
    },
    "anthropic-messages": {
        "tool_choice": {"forced_tool_choice": False},
        "**.cache_control": {"cache_markers": False},
    },
    "openai-responses": {"temperature": {"sampling": False}, "input.*.phase": {"phase": False}},
    "google-generative-ai": {
        "generationConfig.temperature": {"sampling": False},
        "contents.*.parts.*.functionCall.id": {"send_ids": False},
        "contents.*.parts.*.functionResponse.id": {"send_ids": False},
        "tools.*.functionDeclarations.*.parametersJsonSchema": {"schema_form": "gemini-subset"},
    },
    "bedrock-converse": {
        "inferenceConfig.temperature": {"sampling": False},
        "inferenceConfig.stopSequences": {"stop": False},
        "toolConfig.toolChoice": {"tool_choice": ("auto",)},
        "**.cachePoint": {"cache_points": "none"},
    },
    "mistral-chat": {"reasoning_effort": {"effort": ()}},
}


def without(case: Case, *groups: str) -> Treatment | None:
    """Leave out the field that the error names, in the way of the dialect if it has one."""
    return without_field(case, case.refused.param or case.group(*groups))


def without_field(case: Case, named: str | None) -> Treatment | None:
    """Leave out this field, unless it holds content."""
    path = None if named is None else body_path(case.body, named)
    if path is None:
        return None
    known, whole = CELLS.get(case.model.protocol, {}), ".".join(path)
    cells = known.get(whole) or known.get(f"**.{path[-1]}")
    if cells is not None:
        return Treatment(cells=cells)
    if path[-1] in (FRAME if len(path) == 1 else CONTENT):
        return None
    return Treatment(cells={"refused_fields": (whole,)})


def fields(case: Case) -> Treatment | None:
    """Leave out every field that the text names in front of the same words."""
    matches = pattern(EXTRA).finditer(case.refused.text[:LONGEST_TEXT])
    found = [match["field"] or match["property"] for match in matches]
    treatments = [each for name in found if (each := without_field(case, name)) is not None]
    return combined(treatments) if treatments else None


def combined(treatments: list[Treatment]) -> Treatment:
    """All treatments in one; there is at least one."""
    together = treatments[0]
    for each in treatments[1:]:
        together = together.joined(each)
    return together


def unknown_names(case: Case) -> Treatment | None:
    """Gemini: each unknown name with its path; inside the parameters of a tool it is a keyword of its schema."""
    treatments: list[Treatment | None] = []
    for match in pattern(UNKNOWN_NAME).finditer(case.refused.text[:LONGEST_TEXT]):
        name, place = match["name"], match["place"]
        if re.search(r"\.parameters(?:_json_schema|JsonSchema)?(?:\b|$)", place):
            treatments.append(Treatment(cells={"refused_keywords": (name,)}))
        else:
            treatments.append(without_field(case, f"{place}.{name}"))
    found = [each for each in treatments if each is not None]
    return combined(found) if found else None


def keyword(case: Case) -> Treatment | None:
    """Leave out the keyword of tool schemas that the words name."""
    name = case.group("keyword")
    return None if name is None else Treatment(cells={"refused_keywords": (name,)})


def levels(case: Case) -> Treatment | None:
    """The levels of reasoning that the words list."""
    listed = re.findall(r"'([a-z]+)'", case.group("levels") or "")
    return Treatment(cells={"effort": tuple(listed)}) if listed else None


def image_limits(case: Case) -> Treatment | None:
    """Enforce the size that the words name."""
    cells: Cells = {"enforced_image_limits": True}
    size, megabytes, pixels = case.number("bytes"), case.number("megabytes"), case.number("pixels")
    if size is not None or megabytes is not None:
        cells["max_image_bytes"] = size if size is not None else (megabytes or 0) * 1024 * 1024
    if pixels is not None:
        cells["max_image_pixels"] = pixels
    return Treatment(cells=cells) if len(cells) > 1 else None


def most_tokens(case: Case) -> Treatment | None:
    """Limit the output to what the words name."""
    limit = case.number("limit", "most", "bound", "range", "last")
    return Treatment(limits={"max_tokens": limit}) if limit else None


def id_length(case: Case) -> Treatment | None:
    """The form of ids with the length that the words name."""
    forms = {40: "call-40", 64: "call-64"}
    form = forms.get(case.number("length") or 0)
    return None if form is None else Treatment(cells={"id_form": form})


def binding(case: Case) -> Treatment:
    """Leave out thinking of the history; models that think adaptively can be asked to do so themselves."""
    dialect = case.model.dialect
    adaptive = (isinstance(dialect, AnthropicMessages) and "adaptive" in dialect.thinking) or (
        isinstance(dialect, BedrockConverse) and dialect.reasoning_switch == "thinking-adaptive"
    )
    cells: Cells = {"prefix_bound": True, "prefix_mismatch": "drop_block"} if adaptive else {}
    return Treatment(foreign="remembered", cells=cells)
