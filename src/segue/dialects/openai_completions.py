"""OpenAI Chat Completions and the large family that speaks it, each member a little differently.

Defaults suit a self-hosted server whose chat template is unknown: plain strings, ids of nine characters, alternating
roles, one system message, no field that a strict server could refuse (templates of 68 models rendered, 2026-10).
"""

from typing import Literal

from .base import Dialect, IdForm

ReasoningField = Literal["reasoning_content", "reasoning", "reasoning_details", "think-tags"]


class OpenAICompletions(Dialect, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """State of the rules: 2026-11, SDK openai 3.49.0 and the error texts of the family's members."""

    id_form: IdForm = "nine"

    # How the system prompt is spoken: `developer` is refused outside OpenAI, OpenRouter, Cerebras and Groq
    # ("unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`", DeepSeek, 9router#773).
    system_role: Literal["system", "developer"] = "system"
    # "Conversation roles must alternate": templates of Mistral and Gemma; "deepseek-reasoner does not support
    # successive user or assistant messages" (DeepSeek-R1#21).
    alternate_roles: bool = True
    # "Unexpected role 'user' after role 'tool'": templates of Mistral models, and its API until spring 2026.
    user_after_tool: bool = False
    # A trailing assistant message: taken as prefill, or refused.
    ends_with_user: bool = True
    # Content next to tool calls when there is no text: `""` breaks GLM and MiniMax (pi#3365), null breaks nine
    # templates, and Ollama wants null only with calls.
    empty_content: Literal["null", "empty", "omit"] = "empty"
    # Content as a list of parts breaks 22 of 68 templates, so text alone is sent as a string; this says whether a
    # list may be used where there are images.
    image_parts: bool = True
    # `name` on tool messages; strict servers refuse what their type does not have (Groq, Fireworks, OpenRouter).
    tool_name_field: bool = False

    # The field in which reasoning of earlier answers goes back; strict servers refuse every other name ("property
    # 'reasoning_content' is unsupported", Groq and Cerebras).
    reasoning_field: ReasoningField | None = None
    # Which assistant messages must carry it, and the smallest placeholder that counts ("thinking is enabled but
    # reasoning_content is missing in assistant tool call message", Kimi, where "" counts as missing: pi#4178; "The
    # `reasoning_content` in the thinking mode must be passed back to the API", DeepSeek V4, where "" is accepted).
    reasoning_required: Literal["never", "calls", "always"] = "never"
    reasoning_placeholder: str = " "

    # "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    # How the reasoning level is asked for, and the levels that are known.
    reasoning_switch: Literal[
        "none", "reasoning_effort", "thinking", "enable_thinking", "reasoning-effort-object", "reasoning-enabled-object"
    ] = "none"
    effort: tuple[str, ...] = ()
    # "Unsupported value: 'temperature' does not support 0.5 with this model." (OpenAI reasoning models, Kimi K2.5+)
    sampling: bool = True
    # `stop` is refused by OpenAI's 5.6 and xAI's grok-4 class.
    stop: bool = True
    # Forced tool_choice: refused with thinking on by Kimi and DeepSeek.
    forced_tool_choice: bool = True
    # "Function tools with reasoning_effort are not supported … in /v1/chat/completions … or set reasoning_effort to
    # 'none'." (GPT-5.5 and later); gpt-6-astra refuses 'none' too and has no tools here at all.
    tools_with_reasoning: bool = True
    # `store`, `strict` in tools, `stream_options` and `metadata`: unknown body fields are a 400 or 422 at Groq,
    # Cerebras, Fireworks and Mistral.
    strict_tools: bool = False
    stream_usage: bool = True
    metadata: bool = False
