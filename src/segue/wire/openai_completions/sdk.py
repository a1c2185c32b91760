"""Convert a body to keyword arguments of ``client.chat.completions.create`` in the provider's Python SDK.

Fields without an argument go into ``extra_body``, which every SDK of this family has.
"""

from typing import Any

from ...dialects import OpenAICompletions
from ...types import Model

_COMMON = frozenset(
    {"model", "messages", "tools", "tool_choice", "temperature", "stop", "max_tokens", "max_completion_tokens"}
    | {"reasoning_effort", "stream", "user"}
)
# Those fields of the encoder that are arguments in the SDKs openai 3.49.0, groq 1.7.0 and cerebras-cloud-sdk 1.91.0.
ARGUMENTS: dict[str, frozenset[str]] = {
    "openai": _COMMON | {"stream_options", "safety_identifier", "prompt_cache_retention"},
    "groq": _COMMON | {"reasoning_format"},
    "cerebras": _COMMON | {"reasoning_format", "stream_options"},
}


def sdk_kwargs(body: dict[str, Any], model: Model) -> dict[str, Any]:
    """Return the arguments with which ``create`` sends ``body``."""
    assert isinstance(model.dialect, OpenAICompletions)
    known = ARGUMENTS[model.dialect.sdk]
    arguments = {name: value for name, value in body.items() if name in known}
    others = {name: value for name, value in body.items() if name not in known}
    return arguments | ({"extra_body": others} if others else {})
