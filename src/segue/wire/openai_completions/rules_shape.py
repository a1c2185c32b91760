"""Rules about the shape of a body: its fields and parts, from the request types of the SDKs of OpenAI, Groq and
Cerebras (``shape*.json``).

All members refuse missing fields and values of the wrong type. Which fields and values are known differs from member to
member: the dialect states whose types apply (``sdk``), what else is known, and whether anything else is refused
(``strict_keys``). GRQ-01 and CER-01 also cover FWK-01 (in messages) and X-09; GRQ-02 and CER-02 also TOG-02
(``store``) and FWK-01 (other fields).
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ...dialects import OpenAICompletions
from ...rules import Fault, Rule
from ...rules.shape import Names, Table, faults, load
from ...types import Model
from . import walk
from .rules_family import FIELDS
from .walk import where

_HERE = Path(__file__).parent
_FILES = {"openai": "shape.json", "groq": "shape_groq.json", "cerebras": "shape_cerebras.json"}
_TURNS = "wire/openai_completions/turns.py"
_OPTIONS = "wire/openai_completions/options.py"
_REASONING = "wire/openai_completions/reasoning.py"


def _shape(body: Any, model: Model | None) -> Iterator[Fault]:
    dialect = walk.dialect_of(model) or OpenAICompletions()
    is_strict = model is not None and dialect.strict_keys
    for fault in faults(body, load(_HERE / _FILES[dialect.sdk]), _extra(dialect)):
        if fault.sort == "unknown":
            yield fault._replace(sort=_unknown_sort(fault.path, dialect))
        elif fault.sort != "kind" or is_strict or not fault.path.endswith(".image_url"):
            yield fault  # vLLM accepts a plain URL as an image (entrypoints/chat_utils.py, 2026)
    if isinstance(body, dict) and not dialect.openai_fields and dialect.sdk == "openai":
        for name in body:
            if name in _openai_only() and name not in dialect.body_fields:
                yield Fault("of openai", name, f"{name!r} is a field that only OpenAI has")


@cache
def _openai_only() -> frozenset[str]:
    """The fields of the body that only OpenAI's SDK has."""
    openai, *others = (load(_HERE / file).records["Body"].fields.keys() for file in _FILES.values())
    return frozenset(openai - set[str]().union(*others))


def _unknown_sort(path: str, dialect: OpenAICompletions) -> str:
    """The sort of an unknown field, and so its rule: a field of OpenAI's, another field of the body, reasoning in the
    wrong field, or a field inside a message or tool."""
    if "." not in path:
        return "of openai" if path in load(_HERE / _FILES["openai"]).records["Body"].fields else "unknown"
    if path.rpartition(".")[2] in FIELDS and dialect.reasoning_field is not None:
        return "unknown name of reasoning"
    return "unknown inside" if dialect.sdk == "openai" else "not in its SDK"


@cache
def _extra(dialect: OpenAICompletions) -> Names:
    """The fields that a target accepts in addition to the types of its SDK."""
    table = load(_HERE / _FILES[dialect.sdk])
    answers = {*dialect.message_fields, dialect.reasoning_field or "", *dialect.reasoning_accepts}
    extra = {"Body": frozenset(dialect.body_fields), _message_record(table, "assistant"): frozenset(answers)}
    if dialect.tool_name_field:
        extra[_message_record(table, "tool")] = frozenset({"name"})
    return extra


def _message_record(table: Table, role: str) -> str:
    """The name of the record for messages of this role."""
    messages = table.records["Body"].fields["messages"].items
    names = messages.of.objects if messages is not None else ()
    for name in names:
        text = table.records[name].fields["role"].text
        if text is not None and text.values == (role,):
            return name
    raise AssertionError(f"the table has no message with the role {role!r}")


_is_strict = where(lambda dialect: dialect.strict_keys)
_SDK = "SDK openai 3.49.0, 2026-11"

RULES: tuple[Rule, ...] = (
    Rule(
        number="OAC-60",
        title="No required field is missing",
        answers="Missing required parameter: 'messages[2].content[0].type'.",
        source=f"neuron-core/neuron-ai#292, 2025-09; {_SDK}",
        prevented_by=_TURNS,
        shape=_shape,
        sorts=("missing",),
    ),
    Rule(
        number="OAC-61",
        title="Every field has a value of the right type",
        answers="Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an "
        "integer instead.",
        source=f"error text of OpenAI, many reports until 2026; {_SDK}",
        prevented_by=_TURNS,
        shape=_shape,
        sorts=("kind",),
    ),
    Rule(
        number="OAC-62",
        title="Fields with listed values have one of them, and null only where it is listed",
        answers="Invalid type for 'max_tokens': expected an unsupported value, but got null instead.",
        source=f"cosmocode/dokuwiki-plugin-aichat#34, 2025-03; {_SDK}",
        prevented_by=_OPTIONS,
        shape=_shape,
        sorts=("value", "null", "union", "size"),
        only=_is_strict,
    ),
    Rule(
        number="GRQ-01",
        title="No unknown fields in messages, parts, calls and tools",
        answers="property is unsupported",
        source='chatbox#2083; Fireworks "Extra inputs are not permitted", litellm source, 2026; SDK '
        "openai 3.49.0 (OpenAI's own text for a field inside a message was not seen)",
        prevented_by=_TURNS,
        shape=_shape,
        sorts=("unknown inside", "not in its SDK"),
        only=_is_strict,
    ),
    Rule(
        number="CER-01",
        title="Reasoning is in a field that the target knows",
        answers="property 'messages.assistant.reasoning_content' is unsupported (wrong_api_format)",
        source="kilocode#10375, vercel/ai#15042, opencode#33413; Groq jan#8136, freellmapi#1070; 2026",
        prevented_by=_REASONING,
        shape=_shape,
        sorts=("unknown name of reasoning",),
        only=_is_strict,
    ),
    Rule(
        number="GRQ-02",
        title="No fields that only OpenAI has",
        answers="property 'store' is unsupported",
        source="fanenr/chatbot#21; Cerebras openclaude#740; Fireworks and Together, 2026",
        prevented_by=_OPTIONS,
        shape=_shape,
        sorts=("of openai",),
        only=_is_strict,
    ),
    Rule(
        number="CER-02",
        title="No fields that the target does not know",
        answers="property 'body.thinking' is unsupported",
        source="opencode#6648, Empryo#209; OpenAI \"Unknown parameter: 'reasoning'.\"; Groq musistudio/llms#64; 2026",
        prevented_by=_OPTIONS,
        shape=_shape,
        sorts=("unknown",),
        only=_is_strict,
    ),
)
