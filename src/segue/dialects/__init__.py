"""How targets of one protocol differ: one record per protocol, each field with its careful default."""

from .anthropic_messages import AnthropicMessages
from .base import (
    REASONING_FIELDS as REASONING_FIELDS,
)
from .base import (
    Dialect,
)
from .base import (
    ForeignReasoning as ForeignReasoning,
)
from .base import (
    IdForm as IdForm,
)
from .base import (
    NameForm as NameForm,
)
from .base import (
    OwnReasoning as OwnReasoning,
)
from .base import (
    PrefixMismatch as PrefixMismatch,
)
from .bedrock_converse import BedrockConverse
from .google_generative_ai import GoogleGenerativeAI
from .ids import ID_SHAPES as ID_SHAPES
from .ids import IdShape as IdShape
from .ids import fresh_id as fresh_id
from .mistral_chat import MistralChat
from .names import NAME_SHAPES as NAME_SHAPES
from .names import NameShape as NameShape
from .names import valid_name as valid_name
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
"""The protocols that segue speaks, and the record of each."""

__all__ = [
    "AnthropicMessages",
    "BedrockConverse",
    "Dialect",
    "GoogleGenerativeAI",
    "MistralChat",
    "OpenAICompletions",
    "OpenAIResponses",
]
