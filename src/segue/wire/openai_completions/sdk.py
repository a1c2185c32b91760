"""The body as keyword arguments of ``client.chat.completions.create`` in the Python SDK of the provider.

What the SDK of a provider has no argument for goes into ``extra_body``, which every SDK of this make has.
"""

from typing import Any

from ...dialects import OpenAICompletions
from ...types import Model

_COMMON = frozenset(
    {"model", "messages", "tools", "tool_choice", "temperature", "stop", "max_tokens", "max_completion_tokens"}
    | {"reasoning_effort", "stream", "user"}
)
# SDKs openai 3.49.0, groq 1.7.0 and cerebras-cloud-sdk 1.91.0: of the fields that the encoder writes, those they know.
ARGUMENTS: dict[str, frozenset[str]] = {
    "openai": _COMMON | {"stream_options", "safety_identifier", "prompt_cache_retention"},
    "groq": _COMMON | {"reasoning_format"},
    "cerebras": _COMMON | {"reasoning_format", "stream_options"},
}


def sdk_kwargs(body: dict[str, Any], model: Model) -> dict[str, Any]:
    """``create(**sdk_kwargs(body, model))`` sends ``body``."""
    assert isinstance(model.dialect, OpenAICompletions)
    known = ARGUMENTS[model.dialect.sdk]
    arguments = {name: value for name, value in body.items() if name in known}
    others = {name: value for name, value in body.items() if name not in known}
    return arguments | ({"extra_body": others} if others else {})
