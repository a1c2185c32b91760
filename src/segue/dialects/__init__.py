"""How targets of one protocol differ: one record per protocol, whose fields have careful defaults."""

from .anthropic_messages import AnthropicMessages
from .base import REASONING_FIELDS, Dialect, ForeignReasoning, IdForm, NameForm, OwnReasoning, PrefixMismatch
from .bedrock_converse import BedrockConverse
from .google_generative_ai import GoogleGenerativeAI
from .ids import ID_SHAPES, IdShape, fresh_id
from .mistral_chat import MistralChat
from .names import NAME_SHAPES, NameShape, valid_name
from .openai_completions import OpenAICompletions
from .openai_responses import OpenAIResponses

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
    "DIALECTS",
    "ID_SHAPES",
    "NAME_SHAPES",
    "REASONING_FIELDS",
    "AnthropicMessages",
    "BedrockConverse",
    "Dialect",
    "ForeignReasoning",
    "GoogleGenerativeAI",
    "IdForm",
    "IdShape",
    "MistralChat",
    "NameForm",
    "NameShape",
    "OpenAICompletions",
    "OpenAIResponses",
    "OwnReasoning",
    "PrefixMismatch",
    "fresh_id",
    "valid_name",
]
