"""How targets of one protocol differ: one record per protocol, whose fields have careful defaults."""

from .anthropic_messages import AnthropicMessages
from .base import (
    REASONING_FIELDS as REASONING_FIELDS,
    Dialect,
    ForeignReasoning as ForeignReasoning,
    IdForm as IdForm,
    NameForm as NameForm,
    OwnReasoning as OwnReasoning,
    PrefixMismatch as PrefixMismatch,
)
from .bedrock_converse import BedrockConverse
from .google_generative_ai import GoogleGenerativeAI
from .ids import ID_SHAPES as ID_SHAPES, IdShape as IdShape, fresh_id as fresh_id
from .mistral_chat import MistralChat
from .names import NAME_SHAPES as NAME_SHAPES, NameShape as NameShape, valid_name as valid_name
from .openai_completions import OpenAICompletions
from .openai_responses import OpenAIResponses
from .schemas import (
    SCHEMA_SHAPES as SCHEMA_SHAPES,
    SchemaForm as SchemaForm,
    SchemaRefs as SchemaRefs,
    SchemaShape as SchemaShape,
)

DIALECTS: dict[str, type[Dialect]] = {
    "anthropic-messages": AnthropicMessages,
    "openai-completions": OpenAICompletions,
    "openai-responses": OpenAIResponses,
    "google-generative-ai": GoogleGenerativeAI,
    "bedrock-converse": BedrockConverse,
    "mistral-chat": MistralChat,
}
"""All protocols by name, with the record of each."""

__all__ = [
    "AnthropicMessages",
    "BedrockConverse",
    "Dialect",
    "GoogleGenerativeAI",
    "MistralChat",
    "OpenAICompletions",
    "OpenAIResponses",
]
