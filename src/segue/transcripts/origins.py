"""The origin of answers in transcripts: the names that tools have for providers, and what each provider speaks."""

from collections.abc import Mapping

from msgspec import Struct

ANTHROPIC, RESPONSES, CHAT = "anthropic-messages", "openai-responses", "openai-completions"
GOOGLE, BEDROCK, MISTRAL = "google-generative-ai", "bedrock-converse", "mistral-chat"

PROVIDERS: Mapping[str, tuple[str, str]] = {
    "anthropic": ("anthropic", ANTHROPIC),
    "claude": ("anthropic", ANTHROPIC),
    "vertexanthropic": ("google-vertex", ANTHROPIC),
    "google-vertex-anthropic": ("google-vertex", ANTHROPIC),
    "openai": ("openai", RESPONSES),
    "azure": ("azure", RESPONSES),
    "azure-openai": ("azure", RESPONSES),
    "google": ("google", GOOGLE),
    "google-gla": ("google", GOOGLE),
    "google_genai": ("google", GOOGLE),
    "gemini": ("google", GOOGLE),
    "google-cloud": ("google-vertex", GOOGLE),
    "google-vertex": ("google-vertex", GOOGLE),
    "google_vertexai": ("google-vertex", GOOGLE),
    "bedrock": ("amazon-bedrock", BEDROCK),
    "bedrock_converse": ("amazon-bedrock", BEDROCK),
    "amazon-bedrock": ("amazon-bedrock", BEDROCK),
    "mistral": ("mistral", MISTRAL),
    "mistralai": ("mistral", MISTRAL),
    "kimi": ("moonshot", CHAT),
    "moonshotai": ("moonshot", CHAT),
    "moonshot-ai": ("moonshot", CHAT),
    "alibaba": ("dashscope", CHAT),
    **{
        name: (name, CHAT)
        for name in (
            "moonshot", "deepseek", "groq", "xai", "cerebras", "together", "fireworks", "openrouter", "dashscope",
            "zai", "minimax", "ollama", "llamacpp", "vllm",
        )
    },
}  # fmt: skip
"""The names of providers in pydantic-ai, LangChain, the AI SDK, litellm and coding agents: ours, and the protocol."""

_NAMES = ("claude", "gpt", "o1", "o3", "o4", "gemini", "mistral", "codestral", "devstral", "kimi", "deepseek", "grok")
_MAKERS = ("anthropic", "openai", "openai", "openai", "openai", "google", *("mistral",) * 3, "kimi", "deepseek", "xai")


class Origin(Struct, frozen=True):
    """Where answers come from, as far as it is known."""

    protocol: str = ""
    provider: str = ""
    model: str = ""


def origin_of(provider: str, model: str, before: Origin, protocol: str | None = None) -> Origin:
    """The origin for the names that a tool has for a provider and a model. What is not named is as ``before``. A model
    without a provider belongs to the maker that its name shows, if it shows one."""
    if provider:
        name, spoken = PROVIDERS.get(provider.lower(), (provider, ""))
    elif model and not before.provider:
        name, spoken = PROVIDERS.get(maker_of(model), ("", ""))
    else:
        name, spoken = before.provider, before.protocol
    return Origin(spoken if protocol is None else protocol, name, model or before.model)


def maker_of(model: str) -> str:
    """Who makes the model of that name; an empty text if the name does not show it."""
    name = model.rpartition("/")[2].lower()
    return next((maker for start, maker in zip(_NAMES, _MAKERS, strict=True) if name.startswith(start)), "")
