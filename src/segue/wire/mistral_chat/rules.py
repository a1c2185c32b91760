"""What Mistral refuses in a request body, rule by rule.

The source is the validator of mistral-common, which the hosted API runs: the errors in all reports have its texts. The
rows are here; their checks are in ``rules_order.py`` (order of roles, calls and results) and ``rules_content.py``
(chunks, names, schemas, options). Rows about fields are in ``rules_shape.py``.

Every numbered rule of the protocol is here. Not rules, because a body does not show them: the text and code (3051) of
an overflow, the finish reasons of an answer, and ids, arguments and chunks in streams, which the decoder reads.
"""

from ...dialects import MistralChat
from ...rules import Rule
from ...types import Model
from ..common.limits import NOT_EMPTY, between, limits, within
from . import rules_content as content, rules_order as order
from .rules_shape import SHAPE

_ENCODER = "wire/mistral_chat/encode.py"
_INTERACTIONS = "projection/passes/tool_interactions.py"


def _bridges(model: Model) -> bool:
    return isinstance(model.dialect, MistralChat) and not model.dialect.user_after_tool


def _pairs_by_id(model: Model) -> bool:
    """The rule applies from tokenizer v11 on; the closest field of the dialect is false for those before v7."""
    return isinstance(model.dialect, MistralChat) and model.dialect.text_with_calls


def _moves_images(model: Model) -> bool:
    return not model.dialect.images_in_results


def _any(model: Model) -> bool:
    """Any model: the check reads it. Without a model, a finding is a warning, because some models may accept it."""
    return True


def _tools(body: order.Body, model: Model | None) -> order.Found:
    yield from (*content.single_tools(body, model), *content.choice(body, model))


_LIMITS = limits(
    {
        "model": NOT_EMPTY,
        "temperature": between(0, 1.5),
        "top_p": between(0, 1),
        "presence_penalty": between(-2, 2),
        "frequency_penalty": between(-2, 2),
        "max_tokens": between(0),
        "random_seed": between(0),
        "n": between(1),
    }
)

RULES: tuple[Rule, ...] = (
    Rule(
        number="MIS-01",
        title="There is at least one message, and a single one is a user or system message",
        answers="Conversation must have at least one message; "
        "Conversation must start with a user message or system message",
        source="mistral-common 1.13 protocol/instruct/validator.py, 2026-11",
        prevented_by=_ENCODER,
        check=order.starts,
    ),
    Rule(
        number="MIS-02",
        title="Roles are in order: system only before the first answer, tool only after an answer",
        answers="Unexpected role 'tool' after role 'user'",
        source="charmbracelet/crush#279, 2025; mistral-common 1.13 validator.py, 2026-11",
        prevented_by=_INTERACTIONS,
        check=order.role_order,
    ),
    Rule(
        number="MIS-03",
        title="The last message is from the user or a tool, or is an answer with `prefix`, which no other message has",
        answers="Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
        source="huggingface/smolagents#757, crewAI#2194, NEKOparapa/AiNiee#641, 2025; mistral-common 1.13, 2026-11",
        prevented_by=_ENCODER,
        check=order.last_role,
    ),
    Rule(
        number="MIS-04",
        title="No user message directly after a tool message",
        answers="Unexpected role 'user' after role 'tool' (code 3230)",
        source="litellm#17761, onyx#6458, avante.nvim#2562, datapizza-ai#98, 2025; relaxed in mistral-common 1.11.1 "
        "(2026-04) and not seen on Mistral's API since (goose#5998, 2026-05), but on others: hermes-agent#20154, 2026",
        prevented_by=_ENCODER,
        check=order.user_after_tool,
        severity="warning",
        only=_bridges,
    ),
    Rule(
        number="MIS-05",
        title="There are as many tool messages as calls before the next answer and the end",
        answers="Not the same number of function calls and responses (code 3230)",
        source="mistralai/client-ts#106, mistralai/client-python#234, camel-ai/camel#1467, 2025",
        prevented_by=_INTERACTIONS,
        check=order.counts,
    ),
    Rule(
        number="MIS-06",
        title="A result has the id of a call in the answer before it, and each call has one result",
        answers="Unexpected tool call id … in tool results; Duplicate tool call id … in assistant message",
        source="pydantic-ai#3733, 2025-12; mistral-common 1.13 validator.py (tokenizer v11 and later), 2026-11",
        prevented_by="projection/passes/ids.py",
        check=order.pairs,
        only=_pairs_by_id,
    ),
    Rule(
        number="MIS-07",
        title="Call ids are nine letters and digits",
        answers="Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9. (code 3280)",
        source="opencode#1680, nearai/ironclaw#1241, langchain#24668, 2024-26; relaxed for tokenizer v13 in "
        "mistral-common 1.13.0, 2026",
        prevented_by="projection/passes/ids.py",
        check=order.ids,
    ),
    Rule(
        number="MIS-08",
        title="An answer has content or calls; on old tokenizers (v1 to v3) not both",
        answers="Assistant message must have either content or tool_calls, but not none. (code 3240)",
        source="OpenHands#8685, solbrowse#16, 2025; mistral-common 1.13 validator.py, 2026-11",
        prevented_by=_ENCODER,
        check=content.empty_answers,
    ),
    Rule(
        number="MIS-10",
        title="Function names have 1 to 64 letters, digits, underscores and dashes",
        answers="Function name was … but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum "
        "length of 64.",
        source="mistral-common 1.13 validator.py, 2026-11",
        prevented_by="projection/passes/names.py",
        check=content.names,
    ),
    Rule(
        number="MIS-11",
        title="The parameters of a tool are a JSON Schema of draft 7, of type object",
        answers="Invalid tool schema: 'objct' is not valid under any of the given schemas",
        source="mistral-common 1.13 validator.py, 2026-11",
        prevented_by="wire/common/schema",
        check=content.schemas,
    ),
    Rule(
        number="MIS-12",
        title="Thinking is only at the start of an answer, and only for models that accept it",
        answers="Unexpected content chunk types in assistant message: ['ThinkChunk']; ThinkChunks must be leading",
        source="mistral-common 1.13 validator.py and messages.py, 2026-11",
        prevented_by=_ENCODER,
        check=content.thinking,
    ),
    Rule(
        number="MIS-13",
        title="No image in a tool message before tokenizer v15",
        answers="Unexpected content chunk types in tool message: ['ImageURLChunk']",
        source="mistral-common 1.13 validator.py, 2026-11",
        prevented_by=_ENCODER,
        check=content.images_in_results,
        only=_moves_images,
    ),
    Rule(
        number="MIS-14",
        title="Only models with tokenizer v15 or later have `reasoning_effort`, each with its own levels",
        answers="reasoning_effort=… is not supported for this model",
        source="mistral-common 1.13 validator.py, 2026-11",
        prevented_by=_ENCODER,
        check=content.effort,
        only=_any,
    ),
    Rule(
        number="MIS-15",
        title="`max_tokens` is below the context window",
        answers="The token count of your prompt plus max_tokens cannot exceed the model's context length (HTTP 422)",
        source="openclaw#53177, 2026; documentation of max_tokens in mistralai 3.7.0, 2026-11",
        prevented_by=_ENCODER,
        check=content.max_tokens,
        only=_any,
    ),
    Rule(
        number="MIS-16",
        title="No audio together with a system message before tokenizer v13",
        answers="Found system messages at indexes … This is not allowed prior to the tokenizer version 13.",
        source="mistral-common 1.13 validator.py, 2026-11",
        prevented_by=_ENCODER,
        check=content.audio_with_system,
        severity="warning",
    ),
    Rule(
        number="MIS-17",
        title="The arguments of a call are a JSON object, or a string with one",
        answers="(refused; its words were not recorded)",
        source="types of mistralai 3.7.0; mistral-common 1.13 passes anything else on as text (_parse_json_content): "
        "the stricter reading, as in chat completions (OAC-10), 2026-11",
        prevented_by=_ENCODER,
        check=content.arguments,
    ),
    Rule(
        number="MIS-18",
        title="Images and documents have an http URL, or a data URL in base64 with their type; audio has data",
        answers="(refused; its words were not recorded)",
        source="mistral-common 1.13 (image.py: other URLs and data that cannot be decoded raise), 2026-11; of types "
        "and documents the stricter reading",
        prevented_by=_ENCODER,
        check=content.media,
    ),
    Rule(
        number="MIS-19",
        title="No lone surrogates",
        answers="(refused; its words were not recorded)",
        source="JSON is UTF-8 (RFC 8259, 8.1); a lone surrogate cannot be written in it, 2026-11",
        prevented_by="projection/passes/text.py",
        check=content.surrogates,
    ),
    Rule(
        number="MIS-20",
        title="No two tools have the same name; a forced tool is one of them",
        answers="(refused; its words were not recorded)",
        source="as in chat completions (OAC-12b, OAC-20), 2026-08: the stricter reading",
        prevented_by="projection/pipeline.py",
        check=_tools,
    ),
    Rule(
        number="MIS-21",
        title="Numbers are in their ranges",
        answers="Input should be less than or equal to 1.5 (HTTP 422, less_than_equal)",
        source="talemate#102, 2024-05 (then 1); SillyTavern#4856, 2025-12; top_p: modelparams.dev#231, 2026-08; "
        "tokens and seed: mistral-common 1.13 protocol/base.py; penalties and n: Mistral's API reference, 2026",
        prevented_by=_ENCODER,
        check=within(_LIMITS),
    ),
    Rule(
        number="MIS-22",
        title="A response format of type json_schema has a schema",
        answers="Response format `json_schema` must define the schema",
        source="mistral-common 1.13 protocol/instruct/request.py, 2026-11",
        prevented_by=_ENCODER,
        check=content.formats,
    ),
    Rule(
        number="MIS-23",
        title="A list of chunks is not empty",
        answers="(refused; its words were not recorded)",
        source="as in chat completions (OAC-21): the stricter reading, 2026-11",
        prevented_by=_ENCODER,
        check=content.no_parts,
    ),
    Rule(
        number="MIS-24",
        title="An answer has no images, audio or files",
        answers="Unexpected content chunk types in assistant message: ['ImageURLChunk']",
        source="mistral-common 1.13 validator.py, 2026-11",
        prevented_by=_ENCODER,
        check=content.chunks_of_answers,
    ),
    *SHAPE,
)
"""All rules of the protocol."""
